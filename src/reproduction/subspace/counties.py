"""Figure 1, right: ten runs of projected Laplace noise on the counties of a state, unbiased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace import ProjectedLaplace, Query

SLOPES = ["scale", "runs", "mean_slope", "mcse", "share_negative", "share_significant"]


def county_noise(
    rng: np.random.Generator, counties: int, epsilon: float, runs: int, scale: float = 2.0
) -> np.ndarray:
    """Draw projected Laplace noise for the counties of a state whose population is held.

    Parameters
    ----------
    rng : numpy.random.Generator
    counties, runs : int
    epsilon : float
    scale : float
        b by 1/epsilon: 2 is the paper's own definitions read literally (a replaced person moves
        two counts), 1 what the integer sequel calls epsilon.

    Returns
    -------
    float64 array, shape (runs, counties)
    """
    law = ProjectedLaplace(
        Query.histogram(counties), Invariants.total(counties), 2 * epsilon / scale
    )
    return law.sample(rng, runs)


def run_table(noise: np.ndarray, population: Sequence[int], names: Sequence[str]) -> pd.DataFrame:
    """File the runs in order of population, one row a run and county.

    Returns
    -------
    DataFrame with columns county, population, rank (from the least populous), run and error
    """
    runs, counties = noise.shape
    if len(population) != counties or len(names) != counties:
        raise InputError(
            f"counties: {counties} columns of noise for {len(population)} populations and "
            f"{len(names)} names"
        )
    order = np.argsort(population, kind="stable")
    rank = np.empty(counties, dtype=int)
    rank[order] = np.arange(counties)
    return pd.DataFrame(
        {
            "county": np.tile(names, runs),
            "population": np.tile(population, runs),
            "rank": np.tile(rank, runs),
            "run": np.repeat(np.arange(runs), counties),
            "error": noise.ravel(),
        }
    ).sort_values(["run", "rank"], ignore_index=True)


def spread_table(counties: int, epsilon: float, scales: Sequence[float], runs: int) -> pd.DataFrame:
    """State the exact variance and sd of one county, and what ten runs are likely to show.

    Returns
    -------
    DataFrame
        scale, b, variance, sd (all exact) and sd_low, sd_high: a rough 90 % interval of the sd
        over all counties of `runs` runs, by the Laplace law's fourth moment.
    """
    rows = []
    for scale in scales:
        b = scale / epsilon
        variance = 2 * b**2 * (1 - 1 / counties)
        # a Laplace variable's square has a variance of five times its squared mean
        se = np.sqrt(5 / (runs * counties)) * variance
        low, high = np.sqrt(np.maximum(variance + ndtri([0.05, 0.95]) * se, 0))
        rows.append(
            {
                "counties": counties,
                "scale": scale,
                "b": b,
                "variance": variance,
                "sd": np.sqrt(variance),
                "sd_low": low,
                "sd_high": high,
            }
        )
    return pd.DataFrame(rows)


def can_be_regressed(population: Sequence[int]) -> bool:
    """Whether a regression on log population leaves an error to judge its slope by."""
    different = set(np.asarray(population).tolist())
    return len(population) > 2 and min(different) > 0 and len(different) > 1


def slope_table(
    rng: np.random.Generator,
    population: Sequence[int],
    epsilon: float,
    runs: int,
    scales: Sequence[float] = (2.0, 1.0),
    alpha: float = 0.01,
) -> pd.DataFrame:
    """Regress the noise on log population, as the paper does with the Bureau's errors.

    Parameters
    ----------
    rng : numpy.random.Generator
    population : sequence of int
        All positive, and not all alike.
    epsilon : float
    runs : int
        Simulated releases.
    scales : sequence of float
        As in `county_noise`.
    alpha : float
        Level of the two-sided t test.

    Returns
    -------
    DataFrame
        scale, runs, mean_slope with its mcse, share_negative, share_significant.

    Raises
    ------
    InputError
        If a county has no inhabitants, or all have as many.
    """
    population = np.asarray(population)
    if not can_be_regressed(population):
        raise InputError(
            "counties: three counties or more are needed for a regression, with populations that "
            "are positive and not all alike"
        )
    x = np.log(population)
    x = x - x.mean()
    rows = []
    for scale in scales:
        noise = county_noise(rng, len(x), epsilon, runs, scale)
        slopes = noise @ x / (x @ x)
        left = noise - np.outer(slopes, x)  # the mean is zero already
        se = np.sqrt(np.square(left).sum(axis=1) / (len(x) - 2) / (x @ x))
        p = 2 * stdtr(len(x) - 2, -np.abs(slopes) / se)
        rows.append(
            {
                "scale": scale,
                "runs": runs,
                "mean_slope": slopes.mean(),
                "mcse": slopes.std(ddof=1) / np.sqrt(runs),
                "share_negative": (slopes < 0).mean(),
                "share_significant": (p < alpha).mean(),
            }
        )
    return pd.DataFrame(rows)


def ranked(counties: pd.DataFrame, state: str) -> pd.DataFrame:
    """Counties of a state, from the least populous to the most.

    Raises
    ------
    InputError
        If there is no such state.
    """
    rows = counties[counties["state"] == state]
    if rows.empty:
        raise InputError(f"counties: there is no state {state!r} among the counts")
    return rows.sort_values(["population", "fips"], ignore_index=True)


def state_runs(
    rng: np.random.Generator,
    place: pd.DataFrame,
    epsilon: float,
    scales: Sequence[float],
    runs: int,
) -> dict[float, np.ndarray]:
    """Draw the runs of a state at each reading of the unit; each array (runs, counties)."""
    return {scale: county_noise(rng, len(place), epsilon, runs, scale) for scale in scales}


def state_table(
    rng: np.random.Generator,
    place: pd.DataFrame,
    noise: Mapping[float, np.ndarray],
    epsilon: float,
    slope_runs: int,
) -> pd.DataFrame:
    """State what the runs of one state show, beside the exact law and the Bureau's errors.

    Parameters
    ----------
    rng : numpy.random.Generator
    place : DataFrame
        From `ranked`: columns population and das_error (missing where there are no data).
    noise : mapping
        From `state_runs`, by scale.
    epsilon : float
    slope_runs : int
        Further simulated releases, for the slopes on log population.

    Returns
    -------
    DataFrame
        One row a scale: the columns of `spread_table`, seen (sd of the runs), largest (of their
        errors, without sign), the slopes' columns of `slope_table`, share_negative_se, das_sd (root
        mean square of the Bureau's errors) and das_ratio (that by the exact sd). A state of one or
        two counties has no slopes; they are missing.
    """
    scales = list(noise)
    runs = len(next(iter(noise.values())))
    table = spread_table(len(place), epsilon, scales, runs)
    table["seen"] = [float(np.sqrt(np.square(drawn).mean())) for drawn in noise.values()]
    table["largest"] = [float(np.abs(drawn).max()) for drawn in noise.values()]
    if can_be_regressed(place["population"]):
        slopes = slope_table(rng, place["population"], epsilon, slope_runs, scales)
    else:
        slopes = pd.DataFrame({"scale": scales}).reindex(columns=SLOPES)
    table = table.merge(slopes.rename(columns={"runs": "slope_runs"}), on="scale")
    share = table["share_negative"]
    table["share_negative_se"] = np.sqrt(share * (1 - share) / slope_runs)
    table["das_sd"] = np.sqrt(np.square(place["das_error"].astype(float)).mean())
    table["das_ratio"] = table["das_sd"] / table["sd"]
    return table


def all_states(
    rng: Callable[[str], np.random.Generator],
    counties: pd.DataFrame,
    states: Iterable[str],
    epsilon: float,
    settings: Mapping,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the figure's state and all others, each with a stream of its own.

    Parameters
    ----------
    rng : callable
        Makes the generator of a state.
    counties : DataFrame
        Of all states: columns state, county, fips, population and das_error.
    states : iterable of str
    epsilon : float
    settings : mapping
        The figure's `state`, `runs`, `scales` and `slope_runs`.

    Returns
    -------
    table : DataFrame
        From `state_table`, with the columns state and shown (whether it is the figure's) in front.
    boxes : DataFrame
        From `run_table` for the figure's state, with columns scale and das_error.
    """
    rows, boxes, shown = [], [], settings["state"]
    for state in dict.fromkeys([shown, *states]):
        place = ranked(counties, state)
        runs_rng, slopes_rng = rng(state).spawn(2)
        drawn = state_runs(runs_rng, place, epsilon, settings["scales"], settings["runs"])
        row = state_table(slopes_rng, place, drawn, epsilon, settings["slope_runs"])
        rows.append(row.assign(state=state, shown=state == shown))
        if state == shown:
            for scale, noise in drawn.items():
                runs = run_table(noise, place["population"], place["county"])
                errors = dict(zip(place["county"], place["das_error"], strict=True))
                boxes.append(runs.assign(scale=scale, das_error=runs["county"].map(errors)))
    table = pd.concat(rows, ignore_index=True)
    table = table[["state", "shown", *table.columns.drop(["state", "shown"])]]
    return table, pd.concat(boxes, ignore_index=True)
