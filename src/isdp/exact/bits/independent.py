"""Independent integer noise for a real release: double geometric and discrete Gaussian.

No rounding decides a draw and the randomness is the operating system's, as in
`isdp.exact.bits.geometric`, on whose parts this is built.
"""

from __future__ import annotations

import os

import numpy as np

from isdp.exact.bits.discrete_gaussian import centred_gaussian, checked_variance
from isdp.exact.bits.geometric import BitSource, Source, _geometric
from isdp.exact.release_noise import parse_epsilon


def double_geometric(epsilon, count: int, source: Source | None = None) -> np.ndarray:
    """Draw from P(k) proportional to exp(-epsilon |k|) on the integers, exactly.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        Between 1e-14 and 1000; a float stands for its shortest decimal form.
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.

    Returns
    -------
    int64 array, shape (count,)
    """
    words = BitSource(os.urandom if source is None else source)
    return _geometric(parse_epsilon(epsilon)).draw_difference(words, count)


def discrete_gaussian(variance, count: int, source: Source | None = None) -> np.ndarray:
    """Draw from P(k) proportional to exp(-k^2 / (2 variance)) on the integers, exactly.

    Parameters
    ----------
    variance : Fraction or int
        Sigma squared, between 1e-6 and 1e20. Close to the variance of a draw where it is not
        small.
    source : callable, optional
        As for `double_geometric`.

    Returns
    -------
    int64 array, shape (count,)

    Raises
    ------
    InputError
        If the variance is not rational or out of range.
    """
    variance = checked_variance(variance)
    words = BitSource(os.urandom if source is None else source)
    return centred_gaussian(words, variance, np.zeros(count, dtype=np.int64), 1)
