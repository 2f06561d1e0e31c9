"""Convergence of chains: R-hat, effective sample size, Monte Carlo error.

They are ArviZ's, from its part on arrays: to import all of ArviZ takes a second more of CPU.
Coordinates that do not move within a chain have no R-hat and no effective sample size; they are
told apart as frozen instead of passing as nan or as a number.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from isdp.errors import InputError

TAILS = 0.05, 0.95  # quantiles whose effective sample sizes `ess_tail` is the smaller of


def convergence(draws) -> pd.DataFrame:
    """Diagnose each coordinate of several chains.

    Parameters
    ----------
    draws : array, shape (chain, draw, coordinate)
        At least two chains of four draws.

    Returns
    -------
    DataFrame with one row a coordinate
        `rhat` (rank-normalised split R-hat), `ess_bulk`, `ess_tail`, `mean`, `mcse_mean`, and
        `frozen`: whether some chain holds the coordinate at one value. Where frozen is true,
        the diagnostics are nan.

    Raises
    ------
    InputError
        If there are too few chains or draws.
    """
    table = _measured(draws, ("rhat", "ess_bulk", "ess_tail", "mcse_mean"))
    table["mean"] = np.mean(draws, axis=(0, 1))
    return table[["rhat", "ess_bulk", "ess_tail", "mean", "mcse_mean", "frozen"]]


def effective_draws(draws) -> np.ndarray:
    """Give the effective sample size of each coordinate: the smaller of bulk and tail.

    Parameters
    ----------
    draws : array, shape (chain, draw, coordinate)
        As in `convergence`, of which this takes half the time.

    Returns
    -------
    float array, shape (coordinates,)
        nan where a chain holds the coordinate at one value.

    Raises
    ------
    InputError
        If there are too few chains or draws.
    """
    return _measured(draws, ("ess_bulk", "ess_tail")).drop(columns="frozen").min(axis=1).to_numpy()


def _measured(draws, names: Iterable[str]) -> pd.DataFrame:
    """Measure each coordinate in the ways that are named; nan where frozen."""
    draws = np.asarray(draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4:
        raise InputError(
            f"diagnostics: R-hat needs an array (chain, draw, coordinate) of at least 2 chains "
            f"and 4 draws, got shape {draws.shape}"
        )
    # when it is first needed: it takes longer than most jobs that could do without
    from arviz_stats.base import array_stats

    ways = {
        "rhat": (array_stats.rhat, {}),
        "ess_bulk": (array_stats.ess, {"method": "bulk"}),
        "ess_tail": (array_stats.ess, {"method": "tail", "prob": TAILS}),
        "mcse_mean": (array_stats.mcse, {"method": "mean"}),
    }
    frozen = (draws == draws[:, :1]).all(axis=1).any(axis=0)
    moving = draws[..., ~frozen].astype(float)
    table = pd.DataFrame({"frozen": frozen})
    for name in names:
        function, options = ways[name]
        table[name] = np.nan
        if not frozen.all():
            table.loc[~frozen, name] = function(moving, chain_axis=0, draw_axis=1, **options)
    return table
