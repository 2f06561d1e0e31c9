"""The distribution of the permutation: simulated swaps of small strata by chi-square."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from isdp.swapping.loss import log_weights
from isdp.swapping.permutation import Strata, draw_permutation


def law_table(
    rng: np.random.Generator, sizes: Iterable[int], rates: Iterable[float], strata: int
) -> pd.DataFrame:
    """Compare drawn permutations with their exact distribution, for each size and rate.

    Sizes are at least 2 and small, because every permutation is a cell of the chi-square test.
    """
    return pd.DataFrame([_row(rng, *each, strata) for each in product(sizes, rates)])


def _row(rng: np.random.Generator, size: int, rate: float, strata: int) -> dict:
    every = np.array(list(permutations(range(size))))
    moved = (every != np.arange(size)).sum(axis=1)
    # no permutation moves one record, whose weight is NaN
    expected = strata * np.exp(log_weights(rate, size)[moved])
    drawn = draw_permutation(rng, Strata.consecutive(np.full(strata, size)), rate)
    within = drawn.reshape(strata, size) - size * np.arange(strata)[:, None]
    code = size ** np.arange(size)[::-1]  # rises along `every`, which is in the order of words
    place = np.searchsorted(every @ code, within @ code)
    seen = np.bincount(place, minlength=len(every))
    statistic = float(((seen - expected) ** 2 / expected).sum())
    return {
        "records": size,
        "rate": rate,
        "strata": strata,
        "permutations": len(every),
        "seen": int((seen > 0).sum()),
        "expected_least": float(expected.min()),
        "chi_square": statistic,
        "degrees": len(every) - 1,
        "p": float(chdtrc(len(every) - 1, statistic)),
    }
