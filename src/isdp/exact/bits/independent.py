"""Independent integer noise for a real release: double geometric and discrete Gaussian.

No rounding decides a draw and the randomness is the operating system's, as in
`isdp.exact.bits.geometric`, on whose parts this is built.
"""

from __future__ import annotations

import os

import numpy as np

from isdp.exact.bits.discrete_gaussian import check_variance, draw_gaussian_around
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.source import BitSource, Source
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
    random_bits = BitSource(os.urandom if source is None else source)
    return cached_geometric(parse_epsilon(epsilon)).draw_difference(random_bits, count)


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
    variance = check_variance(variance)
    random_bits = BitSource(os.urandom if source is None else source)
    return draw_gaussian_around(random_bits, variance, np.zeros(count, dtype=np.int64), 1)
