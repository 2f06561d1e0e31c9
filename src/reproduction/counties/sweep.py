"""The county experiment in several scenarios: one table of all, and what their figure shows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import scipy

from isdp.exact import total_law
from reproduction.counties.experiment import BAND

RHAT = 1.01
ESS_A_CHAIN = 100
CURVE_POINTS = 60
SMOOTH = 2.0  # below this sd the rounding to integers shows, and the continuous law is not drawn


def scenario_table(
    name: str,
    settings: Mapping,
    states: pd.DataFrame,
    noise: pd.DataFrame,
    counties: pd.DataFrame,
    provenance: Mapping,
) -> pd.DataFrame:
    """Describe one scenario; one row a state.

    `range90` is the median over the counties of the width of the central 90 % of the noise,
    `das_rms` the root mean square of the DAS errors of the state's counties, blank without them.
    `convergence` is "yes", "no" or, where a county never moved, "frozen".

    Parameters
    ----------
    name : str
    settings : mapping
        Its config: data.vintage, and epsilon and norm of the counties.
    states, noise : DataFrame
        From `reproduction.counties.experiment.state_table` and `noise_table`.
    counties : DataFrame
        Columns state and das_error.
    provenance : mapping
        Of the counties.
    """
    table = states[["state", "counties", "chains", "draws"]].copy()
    table.insert(0, "scenario", name)
    table["epsilon"] = settings["counties"]["epsilon"]
    table["norm"] = settings["counties"]["norm"]
    table["vintage"] = settings["data"]["vintage"]
    table["data"] = (
        f"{provenance['source']}, {provenance['vintage']}"
        if provenance["das_available"]
        else "published counts alone"
    )
    widths = (noise["q95"] - noise["q05"]).groupby(noise["state"]).median()
    table["sd"], table["sd_exact"] = states["sd"], states["sd_exact"]
    table["range90"] = table["state"].map(widths)
    for column in ("p_abs_le_30", "p_abs_le_30_exact", "tv_to_exact", "rhat_max", "ess_min"):
        table[column] = states[column]
    good = (table["rhat_max"] <= RHAT) & (table["ess_min"] >= ESS_A_CHAIN * table["chains"])
    table["convergence"] = np.where(states["frozen"] > 0, "frozen", np.where(good, "yes", "no"))
    squares = counties["das_error"].astype(float) ** 2
    table["das_rms"] = table["state"].map(np.sqrt(squares.groupby(counties["state"]).mean()))
    return table


def figure_table(table: pd.DataFrame) -> pd.DataFrame:
    """Everything that the figure of a sweep shows, with the laws' curves between its epsilons.

    Parameters
    ----------
    table : DataFrame
        The rows of all scenarios, from `scenario_table`.

    Returns
    -------
    DataFrame with columns series (chains, exact law, continuous law, or das), state, norm,
        vintage, epsilon, sd, p_abs_le_30, rhat_max and convergence
    """
    keys = ["state", "norm", "epsilon"]
    shown = ["sd", "p_abs_le_30", "rhat_max", "convergence"]
    chains = table.drop_duplicates(keys)[keys + shown]  # the vintage leaves the noise as it is
    das = table.drop_duplicates(["state", "vintage"])[["state", "vintage", "das_rms"]]
    das = das.dropna(subset=["das_rms"]).rename(columns={"das_rms": "sd"}).astype({"vintage": str})
    curves = [
        _curve(state, norm, int(part["counties"].iloc[0]), part["epsilon"])
        for (state, norm), part in table.groupby(["state", "norm"], sort=False)
    ]
    parts = [chains.assign(series="chains"), *curves, das.assign(series="das")]
    columns = ["series", "state", "norm", "vintage", "epsilon", *shown]
    filled = [part.reindex(columns=columns).astype(object) for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True).infer_objects()


def _curve(state: str, norm: str, cells: int, epsilons: pd.Series) -> pd.DataFrame:
    if cells == 1:
        return pd.DataFrame()
    law = {"l1": _exact_l1, "l2": continuous_l2}[norm]
    rows = [
        {"epsilon": epsilon, "sd": sd, "p_abs_le_30": within}
        for epsilon in np.geomspace(epsilons.min() / 1.2, epsilons.max() * 1.2, CURVE_POINTS)
        for sd, within in [law(cells, epsilon)]
        if norm == "l1" or sd >= SMOOTH
    ]
    series = {"l1": "exact law", "l2": "continuous law"}[norm]
    return pd.DataFrame(rows).assign(series=series, state=state, norm=norm)


def _exact_l1(cells: int, epsilon: float) -> tuple[float, float]:
    law = total_law(cells, epsilon)
    return law.sd, law.within(BAND)


def continuous_l2(cells: int, epsilon: float) -> tuple[float, float]:
    """Noise of a cell under one total for the l2 mechanism, as if it were not rounded.

    On the hyperplane of sum zero, of dimension d = cells - 1, the noise has a norm R ~ Gamma(d,
    1 / epsilon) and a uniform direction. A cell is sqrt(d / cells) R T with T a coordinate of a
    uniform point on the unit sphere, T^2 ~ Beta(1/2, (d - 1)/2); so its variance is d / epsilon^2.

    Returns
    -------
    sd : float
    within : float
        P(|u| < 30.5), which is P(|u| <= 30) for the nearest whole number.
    """
    d = cells - 1
    within = scipy.stats.gamma.cdf(_reaches(cells), d, scale=1 / epsilon).mean()
    return float(np.sqrt(d) / epsilon), float(within)


@cache
def _reaches(cells: int) -> np.ndarray:
    """Norms at which a cell is BAND from zero, for 2000 directions that stand for all."""
    d = cells - 1
    middles = (np.arange(2000) + 0.5) / 2000
    squares = scipy.stats.beta(0.5, (d - 1) / 2).ppf(middles) if d > 1 else np.ones(1)
    return (BAND + 0.5) / np.sqrt(squares * d / cells)
