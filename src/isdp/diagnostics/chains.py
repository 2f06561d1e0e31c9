"""Convergence of chains: R-hat, effective sample size, Monte Carlo error.

The functions are those of `arviz_stats` on arrays, because importing all of ArviZ takes a second
longer. Coordinates that do not move within a chain have no R-hat and no effective sample size; they
are marked as frozen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isdp.errors import InputError

TAILS = 0.05, 0.95  # quantiles whose effective sample sizes `ess_tail` is the smaller of
Statistic = Literal["rhat", "ess_bulk", "ess_tail", "mcse_mean"]
STATISTICS: dict[
    Statistic, tuple[str, dict[str, object]]
] = {  # the function of ArviZ, and its options
    "rhat": ("rhat", {}),
    "ess_bulk": ("ess", {"method": "bulk"}),
    "ess_tail": ("ess", {"method": "tail", "prob": TAILS}),
    "mcse_mean": ("mcse", {"method": "mean"}),
}


def convergence(draws: ArrayLike, statistics: Iterable[Statistic] = STATISTICS) -> pd.DataFrame:
    """Diagnose each coordinate of several chains.

    Parameters
    ----------
    draws : array, shape (chain, draw, coordinate)
        At least two chains of four draws.
    statistics : iterable of str
        Those of `rhat` (rank-normalised split R-hat), `ess_bulk`, `ess_tail` and `mcse_mean` that
        are wanted; each takes its time.

    Returns
    -------
    DataFrame with one row per coordinate
        `mean`, `frozen` (whether some chain holds the coordinate at one value) and the statistics,
        which are nan where frozen is true.

    Raises
    ------
    InputError
        If there are too few chains or draws.
    """
    draws = np.asarray(draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4:
        raise InputError(
            f"diagnostics: R-hat needs an array (chain, draw, coordinate) of at least 2 chains "
            f"and 4 draws, got shape {draws.shape}"
        )
    # when it is first needed: it takes longer than most jobs that could do without
    from arviz_stats.base import array_stats

    frozen = (draws == draws[:, :1]).all(axis=1).any(axis=0)
    moving = draws[..., ~frozen].astype(float)
    table = pd.DataFrame({"mean": draws.mean(axis=(0, 1)), "frozen": frozen})
    for name in statistics:
        function, options = STATISTICS[name]
        table[name] = np.nan
        if not frozen.all():
            values = getattr(array_stats, function)(moving, chain_axis=0, draw_axis=1, **options)
            table.loc[~frozen, name] = values
    return table
