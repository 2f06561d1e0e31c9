"""Many exact coins at once: doubles decide where they safely can, ball arithmetic elsewhere.

A coin of chance p is heads if a uniform number lies below p. A double that is known to be within
MARGIN of p, and 64 bits of the uniform number, decide all but a few; for these the chance is found
by ball arithmetic, and the number is drawn on, bit by bit, until they part. So the chance is p
itself, as long as the double is within the margin, which is millions of times what rounding does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb, ctx

from isdp.exact.coins import BitSource

MARGIN = 2.0**-24


def toss_all(
    words: BitSource, chances: np.ndarray, log_chance: Callable[[int], arb], margin: float = MARGIN
) -> np.ndarray:
    """Toss a coin for each chance, exactly.

    Parameters
    ----------
    chances : float64 array, shape (coins,)
        Each within half of `margin` of the chance itself; at most 1, but for that.
    log_chance : callable
        ``log_chance(i)`` is the logarithm of the i-th chance, as a ball at the precision in force.
    margin : float
        Wider where the doubles are bounds alone.

    Returns
    -------
    bool array, shape (coins,)

    Raises
    ------
    ArithmeticError
        If a chance is above 1: whoever asks has a bound wrong.
    """
    if len(chances) and not chances.max() <= 1 + margin:
        raise ArithmeticError(f"a coin of chance {chances.max()} was asked for")
    uniform = words.take(len(chances))
    near = uniform.astype(np.float64) * 2.0**-64
    heads = near < chances
    for i in np.flatnonzero(np.abs(near - chances) <= margin).tolist():
        heads[i] = _decide(words, int(uniform[i]), i, log_chance)
    return heads


def _decide(words: BitSource, uniform: int, i: int, log_chance: Callable[[int], arb]) -> bool:
    """Go on from 64 bits of a uniform number, one word at a time."""
    bits = 64
    while True:
        with ctx.workprec(2 * bits + 64):
            log = log_chance(i)
            if log > 0:
                raise ArithmeticError(f"a coin of chance {log.exp()} was asked for")
            chance = log.exp() * arb(1 << bits)
            if chance >= uniform + 1:
                return True
            if chance <= uniform:
                return False
        uniform, bits = uniform << 64 | words.one(), bits + 64
