"""Meeting times of coupled chains, and the bounds that follow (ISDP, Sections 5 and D)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.metropolis import LatticeWalk

N_GRID_POINTS = 160
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
    """Choose a lag by the paper's rule, and measure meeting times at multiples of it.

    The options are those of the block lattices.coupling of the configuration. The second value
    lists the lags that were tried, from `isdp.mcmc.coupling.choose_lag`.
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

    The times are evenly spaced on a log scale, and include each lag's time to the bound 0.01.
    """
    longest = max(int(each.tau.max()) - each.lag for each in times) + 1
    spaced = np.round(np.geomspace(1, longest + 1, N_GRID_POINTS)).astype(np.int64) - 1
    marks = [time for each in times if (time := time_to_bound(each)) is not None]
    grid = np.unique([*spaced, *marks]).astype(np.int64)
    return pd.concat([tv_bound(each, grid) for each in times], ignore_index=True)


def tabulate_meetings(times: list[MeetingTimes], cap: int) -> pd.DataFrame:
    """Describe the meeting times at each lag; columns as in the table meeting_times.

    The time to a bound is missing if runs are censored or chains never moved, because the chain is
    then not shown to have converged.
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
    whole = {"iterations_to_bound_0_1": "Int64", "iterations_to_bound_0_01": "Int64"}
    return pd.DataFrame(rows).astype(whole)


def couple_variants(
    walks: Mapping[str, tuple[np.random.Generator, LatticeWalk]], settings: Mapping, names: Mapping
) -> dict[str, pd.DataFrame]:
    """Couple chains of each variant of one experiment and distribution.

    The tables are curves, trails (the lags that were tried) and meetings, with columns for the
    experiment and the distribution. `settings` are the options of `couple_chains`.
    """
    tables: dict[str, list] = {"curves": [], "trails": [], "meetings": []}
    for variant, (rng, walk) in walks.items():
        times, trail = couple_chains(rng, walk, **settings)
        meetings = tabulate_meetings(times, settings["cap"])
        chosen = trail.loc[trail["chosen"], "lag"]
        made = {"curves": compute_bound_curves(times), "trails": trail, "meetings": meetings}
        for name, table in made.items():
            own = table.assign(variant=variant, chosen=table["lag"].isin(chosen))
            tables[name].append(own)
    labelled = {name: pd.concat(parts).assign(**names) for name, parts in tables.items()}
    return {name: table.set_index(VARIANT_KEYS).reset_index() for name, table in labelled.items()}


def tabulate_convergence(meetings: pd.DataFrame) -> pd.DataFrame:
    """Compare the variants of each experiment and distribution, from the table meeting_times.

    `fewer_than_paper` compares means over the lags, which vary less than the value of one lag. It
    and `spread` are missing if the chain is not shown to have converged.
    """
    times = {"iterations_to_bound_0_1": float, "iterations_to_bound_0_01": float}
    groups = meetings.astype(times).groupby(VARIANT_KEYS, sort=False)
    table = meetings[meetings["chosen"]].set_index(VARIANT_KEYS)
    table = table[["lag", "bound_at_0", "cap", "censored", "standing", "iterations_to_bound_0_01"]]
    table = table.assign(
        censored=groups["censored"].sum(),
        mean_over_lags=groups["iterations_to_bound_0_01"].agg(lambda t: t.mean(skipna=False)),
        spread=groups["iterations_to_bound_0_1"].agg(
            lambda t: t.max(skipna=False) / t.min(skipna=False)
        ),
    )
    paper = table["mean_over_lags"].xs("paper", level="variant")
    papers = paper.reindex(table.index.droplevel("variant")).to_numpy()
    return table.assign(fewer_than_paper=papers / table["mean_over_lags"]).reset_index()


def gather_bound_points(curves: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """Combine the coupling bounds and the actual distances of the distributions, by `series`."""
    own = distances[distances["law"].isin(curves["law"])]
    actual = own.rename(columns={"distance": "actual_distance"})
    points = pd.concat([curves.assign(series="bound"), actual.assign(series="actual distance")])
    return points.drop(columns="chosen")
