"""Tabulate the county experiment in several scenarios, and the values of their figure."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import scipy

from isdp.exact import total_distribution
from isdp.io.draws import Draws
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from reproduction.counties.experiment import MAX_USUAL_NOISE, describe_noise
from reproduction.data.published import select_counties

MAX_RHAT = 1.01
MIN_ESS_PER_CHAIN = 100  # draws
CURVE_POINTS = 60  # number of epsilons on each curve
MIN_CONTINUOUS_SD = 2.0  # persons; minimum for which the continuous approximation is shown


def describe_states(
    settings: Mapping, draws: Mapping[str, Draws], counties: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Describe the noise of each state of a scenario by `describe_noise`."""
    mechanism = GeneralizedLaplace(settings["counties"]["epsilon"], settings["counties"]["norm"])
    parts = []
    for state, drawn in draws.items():
        rows = select_counties(counties, state)
        parts.append(describe_noise(rows, drawn.noise_of(rows["fips"]), mechanism))
    return {key: pd.concat([part[key] for part in parts], ignore_index=True) for key in parts[0]}


def tabulate_scenario(
    name: str,
    settings: Mapping,
    tables: Mapping[str, pd.DataFrame],
    counties: pd.DataFrame,
    provenance: Mapping,
) -> pd.DataFrame:
    """Describe one scenario, with one row per state. The tables are from `describe_states`."""
    states, noise = tables["state"], tables["noise"]
    data = "published counts alone"
    if provenance["das_available"]:
        data = f"{provenance['source']}, {provenance['vintage']}"
    widths = (noise["q95"] - noise["q05"]).groupby(noise["state"]).median()
    squares = (counties["das_error"].astype(float) ** 2).groupby(counties["state"]).mean()
    good = states["rhat_max"] <= MAX_RHAT
    good &= states["ess_min"] >= MIN_ESS_PER_CHAIN * states["chains"]
    table = states.assign(
        scenario=name,
        epsilon=settings["counties"]["epsilon"],
        norm=settings["counties"]["norm"],
        vintage=settings["data"]["vintage"],
        data=data,
        range90=states["state"].map(widths),
        convergence=np.where(states["frozen"] > 0, "frozen", np.where(good, "yes", "no")),
        das_rms=np.sqrt(states["state"].map(squares)),
    )
    columns = [
        *("scenario", "state", "counties", "chains", "draws", "epsilon", "norm", "vintage", "data"),
        *("sd", "sd_exact", "range90", "p_abs_le_30", "p_abs_le_30_exact", "tv_to_exact"),
        *("rhat_max", "ess_min", "convergence", "das_rms"),
    ]
    return table[columns]


def tabulate_figure(table: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the values that the figure of a sweep shows, with curves by distribution."""
    keys = ["state", "norm", "epsilon"]
    shown = ["sd", "p_abs_le_30", "rhat_max", "convergence"]
    chains = table.drop_duplicates(keys)[keys + shown]  # the noise does not depend on the vintage
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
    between = np.geomspace(epsilons.min() / 1.2, epsilons.max() * 1.2, CURVE_POINTS)
    if norm == "l1":
        series = "exact law"  # published tables contain this value
        exact = [total_distribution(cells, epsilon) for epsilon in between]
        values = [(each.sd, each.within(MAX_USUAL_NOISE)) for each in exact]
    else:
        series = "continuous law"
        values = [continuous_l2(cells, epsilon) for epsilon in between]
    table = pd.DataFrame(values, columns=["sd", "p_abs_le_30"])
    table = table.assign(series=series, state=state, norm=norm, epsilon=between)
    return table[(table["norm"] == "l1") | (table["sd"] >= MIN_CONTINUOUS_SD)]


def continuous_l2(cells: int, epsilon: float) -> tuple[float, float]:
    """Compute the standard deviation and P(|u| < 30.5) of a cell by a continuous approximation.

    The noise under one total is on the hyperplane of sum zero, with a density proportional to
    exp(-epsilon ||u||) in the l2 norm. The hyperplane has d = cells - 1 dimensions.
    The norm R has the distribution Gamma(d, 1 / epsilon), and the direction is uniform. A cell is
    sqrt(d / cells) R T, where T is a coordinate of a uniform point on the unit sphere. T^2 has the
    distribution Beta(1/2, (d - 1)/2). Therefore the variance of a cell is d / epsilon^2. An integer
    cell with |u| <= 30 corresponds to the interval |u| < 30.5.
    """
    d = cells - 1
    within = scipy.stats.gamma.cdf(_limiting_norms(cells), d, scale=1 / epsilon).mean()
    return float(np.sqrt(d) / epsilon), float(within)


@cache
def _limiting_norms(cells: int) -> np.ndarray:
    """Compute the norms at which a cell reaches 30.5, for 2000 equally probable directions."""
    d = cells - 1
    middles = (np.arange(2000) + 0.5) / 2000
    squares = scipy.stats.beta(0.5, (d - 1) / 2).ppf(middles) if d > 1 else np.ones(1)
    return (MAX_USUAL_NOISE + 0.5) / np.sqrt(squares * d / cells)
