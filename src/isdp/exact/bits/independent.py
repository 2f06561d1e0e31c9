"""Independent discrete Laplace and discrete Gaussian noise for releases.

The random bits come from the operating system, and no rounded number decides a draw.
"""

import os

import numpy as np
from numpy.typing import NDArray

from isdp.checks import ExactNumber
from isdp.exact.bits.discrete_gaussian import check_variance, draw_gaussian_around
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.source import BitSource, Source
from isdp.exact.release_noise import parse_epsilon


def draw_discrete_laplace(
    epsilon: ExactNumber, count: int, source: Source | None = None
) -> NDArray[np.int64]:
    """Draw exactly from P(k) proportional to exp(-epsilon |k|), as int64 of shape (count,).

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        A number between 1e-14 and 1000. A float is read as its shortest decimal form.
    source : callable, optional
        ``source(k)`` returns k random bytes. The default is `os.urandom`. Use another source only
        in tests.
    """
    bits = BitSource(source or os.urandom)
    return cached_geometric(parse_epsilon(epsilon)).draw_difference(bits, count)


def draw_discrete_gaussian(
    variance: object, count: int, source: Source | None = None
) -> NDArray[np.int64]:
    """Draw exactly from P(k) proportional to exp(-k^2 / (2 variance)), as int64 of shape (count,).

    The variance is a Fraction or an int from 1e-6 to 1e20. The `source` is that of
    `draw_discrete_laplace`.
    """
    centres = np.zeros(count, dtype=np.int64)
    bits = BitSource(source or os.urandom)
    return draw_gaussian_around(bits, check_variance(variance), centres, 1)
