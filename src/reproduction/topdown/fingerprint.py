"""What the Bureau's errors tell of the file behind them: the trace that swapping would leave.

The run's input is not the published Summary File 1, in which households had been swapped within
states. Swapping draws a county's share of a group towards its state's. If the noisy file starts
from unswapped counts, its difference from the published ones grows with the county's distance
from the state's share, and only for what swapping did not hold.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.topdown.slopes import slope_and_errors

GROUPS = ("hispanic", "white", "black", "asian", "adult")


def group_counts(counts) -> dict[str, np.ndarray]:
    """People of each group in each county, from the histogram; races are those alone.

    Parameters
    ----------
    counts : int array, shape (counties, 252)

    Returns
    -------
    dict from group to int64 array, shape (counties,)
    """
    table = np.asarray(counts).reshape(-1, 63, 2, 2)
    by_race = table.sum(axis=(2, 3))
    return {
        "hispanic": table[:, :, 1].sum(axis=(1, 2)),
        "white": by_race[:, 0],
        "black": by_race[:, 1],
        "asian": by_race[:, 3],
        "adult": table[:, :, :, 1].sum(axis=(1, 2)),
    }


def fingerprint(counties: pd.DataFrame, published, released) -> pd.DataFrame:
    """Regress errors on the distance from the state's share, both over the root of the population.

    Puerto Rico is left out: it is a run of its own.

    Parameters
    ----------
    counties : DataFrame
        Columns state and population.
    published, released : int array, shape (counties, 252)

    Returns
    -------
    DataFrame
        Columns group, rmse (persons), slope (of the error on the distance, both in people) with
        its robust_error (HC3: the scaled errors of small counties vary most), and its z, plain
        and robust; a row a group.
    """
    home = (counties["state"] != "PR").to_numpy()
    states = counties["state"][home].to_numpy()
    population = counties["population"][home].to_numpy(float)
    true, ours = group_counts(np.asarray(published)[home]), group_counts(np.asarray(released)[home])
    rows = []
    for group in GROUPS:
        frame = pd.DataFrame({"state": states, "count": true[group], "population": population})
        sums = frame.groupby("state")[["count", "population"]].transform("sum")
        expected = population * (sums["count"] / sums["population"]).to_numpy()
        error = (ours[group] - true[group]).astype(float)
        root = np.sqrt(population)
        x, y = (true[group] - expected) / root, error / root
        x, y = x - x.mean(), y - y.mean()
        slope, plain, robust = slope_and_errors(x, y, 1 / len(x), 1)
        rmse = float(np.sqrt((error**2).mean()))
        rows.append((group, rmse, slope, robust, slope / plain, slope / robust))
    names = ["group", "rmse", "slope", "robust_error", "z", "z_robust"]
    return pd.DataFrame(rows, columns=names)


def beyond_the_algorithm(trace: pd.DataFrame, system: str, algorithm: str) -> pd.DataFrame:
    """Take from a system's slopes those that the algorithm leaves by itself.

    Where no count may be below zero, TopDown's own errors have a slope too; what is beyond it is
    not the algorithm's.

    Parameters
    ----------
    trace : DataFrame
        Of `fingerprint`, with column system; of the algorithm one run or more.
    system, algorithm : str

    Returns
    -------
    DataFrame
        With the columns beyond and beyond_error (persons of error for each 1000 persons of
        distance; both systems' robust errors are in it) and z_beyond, missing but for the system,
        and for it where the algorithm was not run.
    """
    own = trace[trace["system"] == algorithm].groupby("group")
    mean, runs = own["slope"].mean(), own["slope"].size()
    error = np.sqrt(own["robust_error"].agg(lambda each: (each**2).mean()) / runs)
    rows = trace["system"] == system
    groups = trace["group"].where(rows)
    beyond = 1000 * (trace["slope"] - groups.map(mean))
    beyond_error = 1000 * np.hypot(trace["robust_error"], groups.map(error))
    return trace.assign(beyond=beyond, beyond_error=beyond_error, z_beyond=beyond / beyond_error)


def rmse_by_size(counties: pd.DataFrame, published, released, edges) -> pd.DataFrame:
    """Root mean square errors of the groups by population of the county.

    Parameters
    ----------
    counties : DataFrame
        Column population.
    published, released : int array, shape (counties, 252)
    edges : sequence of int
        First populations of the classes, increasing, from 0.

    Returns
    -------
    DataFrame
        Columns from_population, counties, group and rmse (persons).
    """
    true, ours = group_counts(published), group_counts(released)
    which = np.digitize(counties["population"].to_numpy(), edges) - 1
    rows = []
    for number, edge in enumerate(edges):
        some = which == number
        for group in GROUPS:
            error = (ours[group] - true[group])[some].astype(float)
            if some.any():
                rmse = float(np.sqrt((error**2).mean()))
                rows.append((edge, int(some.sum()), group, rmse))
    return pd.DataFrame(rows, columns=["from_population", "counties", "group", "rmse"])
