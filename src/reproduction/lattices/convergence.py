"""Compute meeting times and bounds of coupled chains (ISDP, Sections 5 and D).

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.metropolis import LatticeWalk

N_GRID_POINTS = 160  # number of iterations at which a curve is computed
VARIANT_KEYS = ["experiment", "law", "variant"]


def couple_chains(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    runs: int,
    pilot_runs: int,
    near_one: float,
    lag_factors: list[float],
    cap: int,
) -> tuple[list[MeetingTimes], pd.DataFrame]:
    """Choose a lag by the paper's rule, and measure the meeting times at multiples of this lag.

    The options are the keys of the block `lattices.coupling` of the configuration. The second value
    is the table of `isdp.mcmc.coupling.choose_lag`, which lists the lags of the search.
    """
    pilot, *streams = rng.spawn(1 + len(lag_factors))
    lag, trail = choose_lag(pilot, walk, near_one=near_one, runs=pilot_runs, cap=cap)
    lags = dict.fromkeys(max(1, round(factor * lag)) for factor in lag_factors)
    times = [
        meeting_times(stream, walk, lag=each, runs=runs, cap=cap)
        for stream, each in zip(streams, lags, strict=False)
    ]
    return times, trail.assign(chosen=trail["lag"] == lag)


def compute_bound_curves(times: list[MeetingTimes]) -> pd.DataFrame:
    """Compute the coupling bounds by iteration for several lags.

    The iterations are evenly spaced on a log scale. They include the first iteration at which the
    bound of each lag is below 0.01.
    """
    last = max(int(each.tau.max()) - each.lag for each in times) + 1
    spaced = np.round(np.geomspace(1, last + 1, N_GRID_POINTS)).astype(np.int64) - 1
    converged = [time for each in times if (time := time_to_bound(each)) is not None]
    grid = np.unique([*spaced, *converged]).astype(np.int64)
    return pd.concat([tv_bound(each, grid) for each in times], ignore_index=True)


def tabulate_meetings(times: list[MeetingTimes], cap: int) -> pd.DataFrame:
    """Summarise the meeting times at each lag in the columns of the table meeting_times.

    The number of iterations to a bound is missing if runs are censored or chains never moved. In
    these cases the bound does not show convergence.
    """
    rows = [
        {
            "lag": each.lag,
            "chains": len(each.tau),
            "censored": int(each.censored.sum()),
            "mean": float((each.tau - each.lag).mean()),
            "max": int((each.tau - each.lag).max()),
            "iterations_to_bound_0_01": time_to_bound(each, 0.01),
            "cap": cap,
            "standing": int((each.jumps == 0).sum()),
            "bound_at_0": float(tv_bound(each, [0])["bound"].iloc[0]),
            "iterations_to_bound_0_1": time_to_bound(each, 0.1),
        }
        for each in times
    ]
    integers = {"iterations_to_bound_0_1": "Int64", "iterations_to_bound_0_01": "Int64"}
    return pd.DataFrame(rows).astype(integers)


def couple_variants(
    walks: Mapping[str, tuple[np.random.Generator, LatticeWalk]], settings: Mapping, names: Mapping
) -> dict[str, pd.DataFrame]:
    """Couple chains of each variant of the walk for one experiment and distribution.

    `settings` are the options of `couple_chains`, and `names` are the labels of the experiment and
    the distribution. Returns the tables curves, trails (the lags of the search) and meetings.
    """
    tables: dict[str, list] = {"curves": [], "trails": [], "meetings": []}
    for variant, (rng, walk) in walks.items():
        times, trail = couple_chains(rng, walk, **settings)
        meetings = tabulate_meetings(times, settings["cap"])
        chosen = trail.loc[trail["chosen"], "lag"]
        found = {"curves": compute_bound_curves(times), "trails": trail, "meetings": meetings}
        for name, table in found.items():
            tables[name].append(table.assign(variant=variant, chosen=table["lag"].isin(chosen)))
    labelled = {name: pd.concat(parts).assign(**names) for name, parts in tables.items()}
    return {name: table.set_index(VARIANT_KEYS).reset_index() for name, table in labelled.items()}


def tabulate_convergence(
    meetings: pd.DataFrame, printed: Mapping[str, Mapping] = MappingProxyType({})
) -> pd.DataFrame:
    """Compare the variants of the walk by their rows of the table meeting_times.

    The column `fewer_than_paper` compares means over the lags, because means vary less than the
    value at one lag. This column and the column `spread` are missing if the bound does not show
    convergence. The columns `meeting_growth` and `bound_growth` compare each lag with the next
    smaller one, and are missing if pairs are censored or never moved.

    `printed` is the block `from_the_papers` of the configuration. The column `iterations_printed`
    has its numbers of iterations for the paper's variant, and is otherwise missing.
    """
    times = {"iterations_to_bound_0_1": float, "iterations_to_bound_0_01": float}
    groups = meetings.astype(times).groupby(VARIANT_KEYS, sort=False)
    table = meetings[meetings["chosen"]].set_index(VARIANT_KEYS)
    table = table[["lag", "bound_at_0", "cap", "censored", "standing", "iterations_to_bound_0_01"]]
    complete = (meetings["censored"] == 0) & (meetings["standing"] == 0)
    by_lag = meetings.assign(time=meetings["lag"] + meetings["mean"]).sort_values("lag")
    by_lag[["time", "bound_at_0"]] = by_lag[["time", "bound_at_0"]].where(complete)
    successive = by_lag.groupby(VARIANT_KEYS, sort=False)
    table = table.assign(
        censored=groups["censored"].sum(),
        mean_over_lags=groups["iterations_to_bound_0_01"].agg(lambda t: t.mean(skipna=False)),
        spread=groups["iterations_to_bound_0_1"].agg(
            lambda t: t.max(skipna=False) / t.min(skipna=False)
        ),
        meeting_growth=successive["time"].agg(lambda x: (x / x.shift())[1:].min(skipna=False)),
        bound_growth=successive["bound_at_0"].agg(lambda x: (x / x.shift())[1:].max(skipna=False)),
    )
    paper = table["mean_over_lags"].xs("paper", level="variant")
    papers = paper.reindex(table.index.droplevel("variant")).to_numpy()
    filled = [
        printed.get(experiment, {}).get(f"iterations_{law}") if variant == "paper" else None
        for experiment, law, variant in table.index
    ]
    return table.assign(
        fewer_than_paper=papers / table["mean_over_lags"],
        iterations_printed=pd.array(filled, dtype="Int64"),
    ).reset_index()


def gather_bound_points(curves: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """Combine coupling bounds and actual distances in one table, labelled by the column series."""
    actual = distances[distances["law"].isin(curves["law"])]
    actual = actual.rename(columns={"distance": "actual_distance"})
    points = pd.concat([curves.assign(series="bound"), actual.assign(series="actual distance")])
    return points.drop(columns="chosen")
