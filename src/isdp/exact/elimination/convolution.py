"""Messages of unions, each computed by one multiplication of large integers.

A state of a union determines an image t = T (x1, x2) of its parts' states, and its splits are all
pairs of states with that image. So a message is the convolution of its parts' messages along T,
evaluated at the images of the union's states. Numbered in mixed radix, the images turn it into a
product of two polynomials in one variable. Kronecker substitution, with coefficients in slots of
128 bits, turns that into a product of two integers, which FLINT computes by fast Fourier transforms
modulo primes.

The product is exact. Only the inputs are rounded, up to the next multiple of a quantum. A message
may therefore be a little too large, never too small, and the excess is bounded.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from flint import fmpz

from isdp.constraints.invariants import Invariants
from isdp.exact.elimination.compiled_messages import Split
from isdp.exact.elimination.tree import reducer
from isdp.lattice.null_lattice import kernel_lattice

MAX_PLACES = 2**24  # coefficients of a product, which need 2 GB
SLOT_BITS = 128  # bits
MAX_INPUT_BITS = 62  # of the inputs, as 64-bit integers


class Convolution(NamedTuple):
    """The exponents of states in the polynomials.

    Attributes
    ----------
    strides, bounds : int64 arrays, shape (images,)
        The images t have ``|t| <= bounds`` and the exponents ``strides @ t``.
    image : int64 array, shape (images, dimension)
        ``t = image @ x`` for the union's state x.
    left, right : int64 arrays, shape (dimension of the part,)
        A part's state x has the exponent ``left @ x`` or ``right @ x``.
    places : int
        Number of coefficients of the product.
    """

    strides: np.ndarray
    bounds: np.ndarray
    image: np.ndarray
    left: np.ndarray
    right: np.ndarray
    places: int


def make_convolution(given, free, part_half, left: int) -> Convolution | None:
    """Return the convolution of a split; arrays as in `isdp.exact.elimination.tree.Node`.

    Parameters
    ----------
    part_half : int64 array
        Windows of both parts' coordinates, stacked.
    left : int
        Number of coordinates of the left part.

    Returns
    -------
    Convolution, or None
        None if the product would have too many coefficients.
    """
    # T spans the vectors that vanish on the splits of the zero state. These splits contain every
    # integer vector with T (x1, x2) = 0, since parts' states that add up to a feasible one are
    # feasible together
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


def convolve(convolution: Convolution, split: Split, left, right) -> tuple[np.ndarray, float]:
    """Compute the message of a union from those of its parts.

    Parameters
    ----------
    split : Split
        The split of the same union, for its windows.
    left, right : float arrays
        Non-negative messages, each with at least one positive entry.

    Returns
    -------
    message : float array
        No entry is smaller than the sum over all splits of the products of the parts' entries, but
        for a rounding of 2^-51 of itself.
    excess : float
        No entry is larger by more, but for a rounding of 2^-51 of itself.

    Notes
    -----
    With entries rounded up to multiples of quanta p and q, a sum of at most n products grows by
    p |right|_1 + q |left|_1 + n p q at most.
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
    # n 2^(2 bits) < 2^128: no coefficient overflows its slot
    product = int(factors[0] * factors[1]).to_bytes(convolution.places * SLOT_BITS // 8, "little")
    low, high = np.frombuffer(product, "<u8").reshape(-1, 2).T
    at = _at(convolution.strides @ convolution.image, split.half) + convolution.places // 2
    inside = (at >= 0) & (at < convolution.places)
    for row, bound in zip(convolution.image, convolution.bounds, strict=True):
        inside &= np.abs(_at(row, split.half)) <= bound
    at = at[inside]
    message = np.zeros(len(inside))
    # 2^64 high + low takes three roundings; powers of two are exact
    message[inside] = np.ldexp(
        np.ldexp(high[at].astype(float), 64) + low[at], sum(exponents) - 2 * bits
    )
    p, q = (math.ldexp(1.0, exponent - bits) for exponent in exponents)
    return message, (1 + 1e-9) * (p * right.sum() + q * left.sum() + terms * p * q)


def _at(weights: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return ``weights @ x`` for the states x of a box, last coordinate fastest."""
    places = np.zeros(1, dtype=np.int64)
    for weight, most in zip(weights.tolist(), half.tolist(), strict=True):
        places = np.add.outer(places, weight * np.arange(-most, most + 1)).ravel()
    return places


def _integer(message: np.ndarray, at: np.ndarray, shift: int) -> fmpz:
    """Write a message, times 2^shift and rounded up, into the slots of an integer."""
    at = at - at.min()
    slots = np.zeros((int(at.max()) + 1, 2), dtype="<u8")
    slots[at, 0] = np.ceil(np.ldexp(message, shift)).astype(np.uint64)
    return fmpz(int.from_bytes(slots.tobytes(), "little"))
