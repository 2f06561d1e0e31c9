"""Exact Bernoulli draws, with probabilities that ball arithmetic bounds to any precision.

A probability such as exp(-p/q) is usually irrational. The binary expansion of a uniform number is
compared with integer bounds on the probability, which ball arithmetic (Arb) computes. If the drawn
bits do not decide the comparison, more bits are drawn and the bounds are refined. The result of a
draw never depends on a rounded number.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from isdp.exact.bits.source import BitSource

PROBABILITY_MARGIN = 2.0**-24  # far above the rounding error of a probability in double precision


def to_ball(number: Fraction) -> arb:
    """Convert a fraction to a ball at the current precision."""
    return arb(number.numerator) / arb(number.denominator)


def exact_floor(compute: Callable[..., arb], *arguments: object) -> int:
    """Return the floor of the irrational number ``compute(*arguments)``.

    The function `compute` returns the number as a ball at the current precision.
    """
    precision = 128
    while True:
        with ctx.workprec(precision):
            whole = compute(*arguments).floor().unique_fmpz()
        if whole is not None:
            return int(whole)
        precision *= 2


def decide_bernoulli(
    bits: BitSource, uniform: int, log_probability: Callable[..., arb], *arguments: object
) -> bool:
    """Decide a Bernoulli draw, given its first 64 random bits `uniform`.

    ``log_probability(*arguments)`` returns the logarithm of the probability as a ball at the
    current precision.
    """
    n_bits = 64
    while True:
        with ctx.workprec(2 * n_bits + 64):
            scaled = log_probability(*arguments).exp() * arb(1 << n_bits)
            if scaled > arb(1 << n_bits):
                raise _probability_error(scaled / (1 << n_bits))
            if scaled >= uniform + 1:
                return True
            if scaled <= uniform:
                return False
        uniform, n_bits = uniform << 64 | bits.take_one(), n_bits + 64


def _probability_error(probability: object) -> ArithmeticError:
    return ArithmeticError(
        f"exact: a Bernoulli probability is {probability}, above 1. This is an error of the "
        f"library. Report the mechanism and the invariants."
    )


def draw_bernoulli(
    bits: BitSource,
    probabilities: NDArray[np.float64],
    log_probability: Callable[[int], arb],
    margin: float = PROBABILITY_MARGIN,
) -> NDArray[np.bool_]:
    """Draw Bernoulli variables exactly, as a bool array of shape (n,).

    Raise `ArithmeticError` if a probability is above 1, because the caller's bound is then invalid.

    Parameters
    ----------
    probabilities : float64 array, shape (n,)
        Approximations within ``margin / 2`` of the exact probabilities.
    log_probability : callable
        ``log_probability(i)`` returns the logarithm of the i-th exact probability, as a ball at the
        current precision.
    margin : float
        Use a larger margin if `probabilities` are bounds on the exact probabilities.
    """
    if len(probabilities) and not probabilities.max() <= 1 + margin:
        raise _probability_error(probabilities.max())
    uniform = bits.take(len(probabilities))
    near = uniform.astype(np.float64) * 2.0**-64
    successes: NDArray[np.bool_] = near < probabilities
    for i in np.flatnonzero(np.abs(near - probabilities) <= margin).tolist():
        successes[i] = decide_bernoulli(bits, int(uniform[i]), log_probability, i)
    return successes
