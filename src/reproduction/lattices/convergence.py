"""Meeting times of coupled chains, and the bounds that follow (ISDP, Sections 5 and D)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from isdp.mcmc.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.mcmc.metropolis import LatticeWalk

GRID_POINTS = 160


def couple(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    runs: int,
    pilot_runs: int,
    near_one: float,
    lag_factors: list[float],
    cap: int,
) -> tuple[list[MeetingTimes], pd.DataFrame]:
    """Choose a lag by the paper's rule, and measure meeting times at it and at multiples of it.

    Parameters
    ----------
    rng : numpy.random.Generator
    walk : LatticeWalk
    runs, pilot_runs : int
        Coupled pairs for each bound, and for each lag that is tried.
    near_one : float
        The lag is raised until the bound at time 0 is at most this.
    lag_factors : list of float
        Multiples of the chosen lag to show; 1 is the chosen lag itself.
    cap : int
        Time after which a run is given up.

    Returns
    -------
    times : list of MeetingTimes
        One a factor.
    trail : DataFrame
        The lags that were tried, from `isdp.mcmc.coupling.choose_lag`.
    """
    pilot, *streams = rng.spawn(1 + len(lag_factors))
    lag, trail = choose_lag(pilot, walk, near_one=near_one, runs=pilot_runs, cap=cap)
    lags = dict.fromkeys(max(1, round(factor * lag)) for factor in lag_factors)
    times = [
        meeting_times(stream, walk, lag=each, runs=runs, cap=cap)
        for stream, each in zip(streams, lags, strict=False)
    ]
    return times, trail.assign(chosen=trail["lag"] == lag)


def bound_curves(times: list[MeetingTimes]) -> pd.DataFrame:
    """Bounds against time for several lags.

    Times are spaced evenly in their logarithm; each lag's time to the bound 0.01 is among them.
    """
    longest = max(int(each.tau.max()) - each.lag for each in times) + 1
    spaced = np.round(np.geomspace(1, longest + 1, GRID_POINTS)).astype(np.int64) - 1
    marks = [time for each in times if (time := time_to_bound(each)) is not None]
    grid = np.unique([*spaced, *marks]).astype(np.int64)
    return pd.concat([tv_bound(each, grid) for each in times], ignore_index=True)


def meeting_table(times: list[MeetingTimes], cap: int) -> pd.DataFrame:
    """One row a lag: chains, cap, censored, mean and largest meeting time, times to the bounds.

    Times are counted from the lag on (tau - lag). `standing` counts runs that met because the
    leading chain had not moved within the lag. Where runs are censored or standing, the time to a
    bound is missing: the chain is not shown to have converged.
    """
    rows = [
        {
            "lag": each.lag,
            "chains": len(each.tau),
            "cap": cap,
            "censored": int(each.censored.sum()),
            "standing": int((each.jumps == 0).sum()),
            "mean": float((each.tau - each.lag).mean()),
            "max": int((each.tau - each.lag).max()),
            "bound_at_0": float(tv_bound(each, [0])["bound"].iloc[0]),
            "iterations_to_bound_0_1": time_to_bound(each, 0.1),
            "iterations_to_bound_0_01": time_to_bound(each, 0.01),
        }
        for each in times
    ]
    whole = {"iterations_to_bound_0_1": "Int64", "iterations_to_bound_0_01": "Int64"}
    return pd.DataFrame(rows).astype(whole)


def convergence_table(meetings: pd.DataFrame) -> pd.DataFrame:
    """Compare the variants of each experiment and law, from the table meeting_times.

    Returns
    -------
    DataFrame with columns experiment, law, variant, lag (the chosen one), bound_at_0, cap
        (when a run is cut off), iterations_to_bound_0_01, mean_over_lags (the same over all lags
        shown), spread (of the time to bound 0.1 over the lags: largest by smallest) and
        fewer_than_paper (the paper's iterations to 0.01 by this variant's, each the mean over the
        lags, which is steadier than one lag's last two runs)
    """
    rows = []
    for key, part in meetings.groupby(["experiment", "law", "variant"], sort=False):
        chosen = part[part["chosen"]].iloc[0]
        steps = part["iterations_to_bound_0_1"].astype("Float64")
        over_lags = part["iterations_to_bound_0_01"].astype("Float64")
        rows.append(
            {
                **dict(zip(("experiment", "law", "variant"), key, strict=True)),
                "lag": chosen["lag"],
                "bound_at_0": chosen["bound_at_0"],
                "cap": chosen["cap"],
                "censored": int(part["censored"].sum()),
                "standing": int(chosen["standing"]),
                "iterations_to_bound_0_01": chosen["iterations_to_bound_0_01"],
                "mean_over_lags": over_lags.mean() if over_lags.notna().all() else np.nan,
                "spread": steps.max() / steps.min() if steps.notna().all() else np.nan,
            }
        )
    table = pd.DataFrame(rows).astype({"iterations_to_bound_0_01": "Int64"})
    table["fewer_than_paper"] = _paper_by_ours(table, "mean_over_lags")
    return table


def _paper_by_ours(table: pd.DataFrame, column: str) -> np.ndarray:
    """Divide the paper variant's value by each variant's, within experiment and law."""
    keys = ["experiment", "law"]
    paper = table.loc[table["variant"] == "paper", [*keys, column]]
    both = table[keys].merge(paper, on=keys, how="left")[column].astype("Float64")
    return (both.to_numpy(float, na_value=np.nan)) / table[column].astype("Float64").to_numpy(
        float, na_value=np.nan
    )


def speed_table(meetings: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Time that one chain takes until its bound is below 0.01, variant by variant.

    Parameters
    ----------
    meetings : DataFrame
        From `meeting_table`, of all experiments.
    seconds : DataFrame
        Columns experiment, law, variant, lag and seconds of the coupled runs.

    Returns
    -------
    DataFrame with columns experiment, law, variant, iterations_to_bound_0_01,
        microseconds_per_iteration (of a coupled pair), milliseconds_to_bound_0_01 (of a pair) and
        faster_than_paper
    """
    keys = ["experiment", "law", "variant", "lag"]
    table = meetings[meetings["chosen"]].merge(seconds, on=keys)
    iterations = table["chains"] * (table["mean"] + table["lag"])
    table["microseconds_per_iteration"] = 1e6 * table["seconds"] / iterations
    table["milliseconds_to_bound_0_01"] = (
        table["iterations_to_bound_0_01"].astype("Float64")
        * table["microseconds_per_iteration"]
        / 1000
    )
    table["faster_than_paper"] = _paper_by_ours(table, "milliseconds_to_bound_0_01")
    return table[
        [
            *keys[:3],
            "iterations_to_bound_0_01",
            "microseconds_per_iteration",
            "milliseconds_to_bound_0_01",
            "faster_than_paper",
        ]
    ]


def meeting_columns(meetings: pd.DataFrame) -> pd.DataFrame:
    """Put the columns of the meeting times in the order in which others read them."""
    first = ["experiment", "law", "variant", "lag", "chains", "censored", "mean", "max"]
    first.append("iterations_to_bound_0_01")
    return meetings[[*first, *meetings.columns.drop(first)]]


def overview_tables(
    meetings: pd.DataFrame, seconds: pd.DataFrame, norms: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Tabulate meeting times, convergence, speed and norms of all experiments.

    Parameters
    ----------
    meetings, seconds : DataFrame
        As in `speed_table`.
    norms : DataFrame
        Rows of `reproduction.lattices.noise.norm_row` with the column experiment.

    Returns
    -------
    dict with the keys meetings, convergence, speed and norms
    """
    first = ["experiment", *norms.columns.drop("experiment")]
    return {
        "meetings": meeting_columns(meetings),
        "convergence": convergence_table(meetings),
        "speed": speed_table(meetings, seconds),
        "norms": norms[first],
    }


def bound_points(curves: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """Put the coupling bounds and the actual distances in one table, told apart by `series`.

    Parameters
    ----------
    curves : DataFrame
        From `bound_curves`.
    distances : DataFrame
        From `isdp.diagnostics.distance.distance_curve`; its distance becomes actual_distance. Laws
        without a curve are left out.
    """
    own = distances[distances["law"].isin(curves["law"])]
    actual = own.rename(columns={"distance": "actual_distance"})
    return pd.concat([curves.assign(series="bound"), actual.assign(series="actual distance")])
