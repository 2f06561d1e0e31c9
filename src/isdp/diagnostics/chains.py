"""Convergence of chains: R-hat, effective sample size, Monte Carlo error.

The only module that imports ArviZ. Coordinates that do not move within a chain have no R-hat and
no effective sample size; they are told apart as frozen instead of passing as nan or as a number.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd

from isdp.errors import InputError


@cache
def _arviz():
    """Import ArviZ when it is first needed: it takes longer than most jobs that could do without.

    Version 0.23 announces its 1.x interface at import.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, message=r"[\s\S]*ArviZ")
        import arviz
    return arviz


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
    draws = np.asarray(draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4:
        raise InputError(
            f"diagnostics: R-hat needs an array (chain, draw, coordinate) of at least 2 chains "
            f"and 4 draws, got shape {draws.shape}"
        )
    az = _arviz()
    frozen = (draws == draws[:, :1]).all(axis=1).any(axis=0)
    moving = az.convert_to_dataset({"x": draws[..., ~frozen].astype(float)})
    table = pd.DataFrame({"mean": draws.mean(axis=(0, 1)), "frozen": frozen})
    for name, function, options in (
        ("rhat", az.rhat, {}),
        ("ess_bulk", az.ess, {"method": "bulk"}),
        ("ess_tail", az.ess, {"method": "tail"}),
        ("mcse_mean", az.mcse, {"method": "mean"}),
    ):
        table[name] = np.nan
        if not frozen.all():
            table.loc[~frozen, name] = function(moving, **options)["x"].to_numpy()
    return table[["rhat", "ess_bulk", "ess_tail", "mean", "mcse_mean", "frozen"]]
