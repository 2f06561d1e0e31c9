"""Messages of unions, each computed by one multiplication of large integers.

A state of a union determines the image t = T (x1, x2) of its parts' states. The splits of the state
are all pairs of states with this image. The message is therefore the convolution of its parts'
messages along T, evaluated at the images of the union's states. If the images are numbered in mixed
radix, the convolution is a product of two polynomials in one variable. Kronecker substitution
writes the coefficients into slots of 128 bits, and the product of polynomials becomes a product of
two integers. FLINT computes it by fast Fourier transforms modulo primes.

The product is exact. Only the inputs are rounded. They are rounded up to multiples of a quantum, so
that a message is never too small. The excess is bounded.
"""

import math
from typing import NamedTuple

import numpy as np
from flint import fmpz

from isdp.arrays import FloatArray, IntArray
from isdp.constraints.invariants import Invariants
from isdp.exact.elimination.compiled_messages import Split
from isdp.exact.elimination.tree import reducer
from isdp.lattice.null_lattice import kernel_lattice

MAX_PLACES = 2**24  # maximum number of coefficients of a product; this number needs 2 GB
SLOT_BITS = 128
MAX_INPUT_BITS = 62  # an input of this size fits in a 64-bit integer


class Convolution(NamedTuple):
    """The exponents of states in the polynomials.

    Attributes
    ----------
    strides, bounds : int64 arrays, shape (images,)
        The exponent of an image t is ``strides @ t``. The entries of t satisfy ``|t| <= bounds``.
    image : int64 array, shape (images, dimension)
        The image of a state x of the union is ``image @ x``.
    left, right : int64 arrays, shape (dimension of the part,)
        The exponent of a state x of a part is ``left @ x`` or ``right @ x``.
    places : int
        The number of coefficients of the product.
    """

    strides: IntArray
    bounds: IntArray
    image: IntArray
    left: IntArray
    right: IntArray
    places: int


def make_convolution(
    given: IntArray, free: IntArray, part_half: IntArray, left: int
) -> Convolution | None:
    """Return the convolution of a union, or None if the product has too many coefficients.

    The arrays `given` and `free` are those of `isdp.exact.elimination.tree.Node`. `part_half` has
    the half-widths of the windows of both parts, stacked. `left` is the number of coordinates of
    the left part.
    """
    # The rows of T span the vectors that vanish on the splits of the zero state. States of the
    # parts are possible together if their sum is a state of the union. Every integer vector with
    # T (x1, x2) = 0 is therefore a split of the zero state.
    images = kernel_lattice(Invariants(np.ascontiguousarray(free.T)), "lll").basis.T
    if len(images) > 1:
        images = (reducer(images * np.maximum(part_half, 1.0)) @ images).astype(np.int64)
    bounds = np.abs(images) @ part_half
    if math.prod(2 * int(b) + 1 for b in bounds) > MAX_PLACES:
        return None
    strides = np.append(np.cumprod((2 * bounds + 1)[:0:-1])[::-1], 1)[: len(bounds)]
    weights = strides @ images
    places = 2 * int(np.abs(weights) @ part_half) + 1
    return Convolution(strides, bounds, images @ given, weights[:left], weights[left:], places)


def convolve(
    convolution: Convolution, split: Split, left: FloatArray, right: FloatArray
) -> tuple[FloatArray, float]:
    """Compute the message of a union from the messages of its parts.

    The split is that of the same union. The messages `left` and `right` are non-negative, each with
    at least one positive entry.

    Returns
    -------
    message : float array
        The sums over all splits, rounded up. A relative rounding error of 2^-51 is not included.
    excess : float
        A bound on the amount by which an entry exceeds the sum over its splits.

    Notes
    -----
    The entries of both parts are rounded up to multiples of quanta p and q. A sum of at most n
    products therefore increases by at most p |right|_1 + q |left|_1 + n p q.
    """
    terms = min(len(left), len(right))
    bits = min((SLOT_BITS - 1 - terms.bit_length()) // 2, MAX_INPUT_BITS)
    half_widths = split.part_half[: split.left], split.part_half[split.left :]
    exponents = [int(np.frexp(part.max())[1]) for part in (left, right)]
    factors = [
        _integer(part, _at(weights, half), bits - exponent)
        for part, weights, half, exponent in zip(
            (left, right),
            (convolution.left, convolution.right),
            half_widths,
            exponents,
            strict=True,
        )
    ]
    # no coefficient overflows its slot, because n 2^(2 bits) < 2^128
    product = int(factors[0] * factors[1]).to_bytes(convolution.places * SLOT_BITS // 8, "little")
    low, high = np.frombuffer(product, "<u8").reshape(-1, 2).T
    at = _at(convolution.strides @ convolution.image, split.half) + convolution.places // 2
    inside = (at >= 0) & (at < convolution.places)
    for row, bound in zip(convolution.image, convolution.bounds, strict=True):
        inside &= np.abs(_at(row, split.half)) <= bound
    at = at[inside]
    message = np.zeros(len(inside))
    # 2^64 high + low is rounded three times, and factors that are powers of two are exact
    message[inside] = np.ldexp(
        np.ldexp(high[at].astype(float), 64) + low[at], sum(exponents) - 2 * bits
    )
    p, q = (math.ldexp(1.0, exponent - bits) for exponent in exponents)
    return message, (1 + 1e-9) * (p * right.sum() + q * left.sum() + terms * p * q)


def _at(weights: IntArray, half: IntArray) -> IntArray:
    """Return ``weights @ x`` for the states x of a box. The last coordinate changes fastest."""
    places = np.zeros(1, dtype=np.int64)
    for weight, bound in zip(weights.tolist(), half.tolist(), strict=True):
        places = np.add.outer(places, weight * np.arange(-bound, bound + 1)).ravel()
    return places


def _integer(message: FloatArray, exponents: IntArray, shift: int) -> fmpz:
    """Multiply a message by 2^shift, round it up, and write it into the slots of an integer."""
    exponents = exponents - exponents.min()
    slots = np.zeros((int(exponents.max()) + 1, 2), dtype="<u8")
    slots[exponents, 0] = np.ceil(np.ldexp(message, shift)).astype(np.uint64)
    return fmpz(int.from_bytes(slots.tobytes(), "little"))
