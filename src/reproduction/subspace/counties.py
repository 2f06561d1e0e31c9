"""Projected Laplace noise on the counties of a state (SDP, Figure 1, right panel).

ISDP is *Integer Subspace Differential Privacy*, and SDP is *Subspace Differential Privacy*.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr

from isdp.constraints.invariants import Invariants
from isdp.subspace import ProjectedLaplace, Query

ALPHA = 0.01  # significance level of the two-sided t test of a slope
SLOPE_COLUMNS = ["slope_runs", "mean_slope", "mcse", "share_negative", "share_significant"]


def draw_county_noise(
    rng: np.random.Generator, counties: int, epsilon: float, runs: int, scale: float = 2.0
) -> np.ndarray:
    """Draw projected Laplace noise for the counties of a state under the state's total.

    `scale` is epsilon times the scale b of the noise. It is 2 by the definitions of SDP, because a
    replaced person changes two counts. It is 1 with the privacy unit of ISDP. The result has the
    shape (runs, counties).
    """
    query, held = Query.histogram(counties), Invariants.total(counties)
    return ProjectedLaplace(query, held, 2 * epsilon / scale).sample(rng, runs)


def tabulate_runs(place: pd.DataFrame, noise: Mapping[float, np.ndarray]) -> pd.DataFrame:
    """List the runs of one state, with one row for each scale, run and county.

    `place` has the counties of the state, from `select_counties`. `noise` maps a scale to an array
    of shape (runs, counties).
    """
    runs = {
        (scale, run): place.assign(error=errors)
        for scale, drawn in noise.items()
        for run, errors in enumerate(drawn)
    }
    table = pd.concat(runs, names=["scale", "run", "rank"]).reset_index()
    return table[["county", "population", "rank", "run", "error", "scale", "das_error"]]


def tabulate_spread(
    counties: int, epsilon: float, scales: Sequence[float], runs: int
) -> pd.DataFrame:
    """Compute the exact variance of the noise of a county for each scale.

    The columns `sd_low` and `sd_high` are an approximate 90 % interval of the root mean square over
    all counties and runs. The interval uses the fourth moment of the Laplace distribution.
    """
    table = pd.DataFrame({"counties": counties, "scale": scales})
    table["b"] = table["scale"] / epsilon
    table["variance"] = 2 * table["b"] ** 2 * (1 - 1 / counties)
    table["sd"] = np.sqrt(table["variance"])
    # the variance of a squared Laplace variable is five times its squared mean
    se = np.sqrt(5 / (runs * counties)) * table["variance"]
    for column, level in (("sd_low", 0.05), ("sd_high", 0.95)):
        table[column] = np.sqrt(np.maximum(table["variance"] + ndtri(level) * se, 0))
    return table


def regress_slopes(
    rng: np.random.Generator,
    population: Sequence[int],
    epsilon: float,
    runs: int,
    scales: Sequence[float] = (2.0, 1.0),
) -> pd.DataFrame:
    """Regress the noise on log population, as SDP does with the errors of the Census DAS.

    The state must have at least three counties.
    """
    x = np.log(np.asarray(population))
    x = x - x.mean()
    rows = []
    for scale in scales:
        noise = draw_county_noise(rng, len(x), epsilon, runs, scale)
        slopes = noise @ x / (x @ x)
        residuals = noise - np.outer(slopes, x)  # the mean of the noise is zero under the total
        se = np.sqrt(np.square(residuals).sum(axis=1) / (len(x) - 2) / (x @ x))
        p = 2 * stdtr(len(x) - 2, -np.abs(slopes) / se)
        mcse = slopes.std(ddof=1) / np.sqrt(runs)
        rows.append((scale, runs, slopes.mean(), mcse, (slopes < 0).mean(), (p < ALPHA).mean()))
    return pd.DataFrame(rows, columns=["scale", *SLOPE_COLUMNS])


def compare_state(
    rng: np.random.Generator, place: pd.DataFrame, noise: Mapping, epsilon: float, slope_runs: int
) -> pd.DataFrame:
    """Compare the runs of one state with the exact variance and with the errors of the Census DAS.

    `tabulate_runs` describes `place` and `noise`. Slopes are missing for states of one or two
    counties.
    """
    scales = list(noise)
    table = tabulate_spread(len(place), epsilon, scales, len(noise[scales[0]]))
    table["seen"] = [float(np.sqrt(np.square(drawn).mean())) for drawn in noise.values()]
    table["largest"] = [float(np.abs(drawn).max()) for drawn in noise.values()]
    if len(place) > 2:
        slopes = regress_slopes(rng, place["population"], epsilon, slope_runs, scales)
        table = table.merge(slopes, on="scale", validate="one_to_one")
    table = table.reindex(columns=list(dict.fromkeys([*table, *SLOPE_COLUMNS])))
    share = table["share_negative"]
    table["share_negative_se"] = np.sqrt(share * (1 - share) / slope_runs)
    table["das_sd"] = np.sqrt(np.square(place["das_error"].astype(float)).mean())
    table["das_ratio"] = table["das_sd"] / table["sd"]
    return table
