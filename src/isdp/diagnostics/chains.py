"""Convergence of chains: R-hat, effective sample size and Monte Carlo standard error.

The functions are those of `arviz_stats`, whose import is a second faster than that of ArviZ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isdp.errors import InputError

TAILS = 0.05, 0.95  # `ess_tail` is the minimum effective sample size of these quantiles
Statistic = Literal["rhat", "ess_bulk", "ess_tail", "mcse_mean"]
# functions of `arviz_stats` and their options
STATISTICS: dict[Statistic, tuple[str, dict[str, object]]] = {
    "rhat": ("rhat", {}),
    "ess_bulk": ("ess", {"method": "bulk"}),
    "ess_tail": ("ess", {"method": "tail", "prob": TAILS}),
    "mcse_mean": ("mcse", {"method": "mean"}),
}


def convergence(draws: ArrayLike, statistics: Iterable[Statistic] = STATISTICS) -> pd.DataFrame:
    """Compute convergence statistics of each coordinate of several chains.

    Parameters
    ----------
    draws : array, shape (chain, draw, coordinate)
        There must be two or more chains of four or more draws.
    statistics : iterable of str
        The statistics to compute: `rhat` (rank-normalised split R-hat), `ess_bulk`, `ess_tail` or
        `mcse_mean`.

    Returns
    -------
    DataFrame with one row per coordinate
        The columns are `mean`, `frozen` and the statistics. A coordinate is frozen if it is
        constant in one of the chains. The statistics of a frozen coordinate are nan.

    Raises
    ------
    InputError
        If there are too few chains or draws.
    """
    draws = np.asarray(draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4:
        raise InputError(
            f"diagnostics: draws has shape {draws.shape}. Give (chain, draw, coordinate) with at "
            f"least 2 chains and 4 draws"
        )
    # this import is slow, and most jobs do not need it
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
