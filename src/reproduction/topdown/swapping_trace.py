"""Trace of swapping in the errors of the demonstration data.

Households had been swapped within states before the published Summary File 1 was made. The input of
the demonstration data was not swapped. Swapping brings a county's share of a group closer to the
state's share. Therefore the difference between noisy and published counts should grow with the
distance between the two shares. This holds only for variables that swapping changed.
"""

import numpy as np
import pandas as pd

from reproduction.topdown.errors import fit_slope


def count_groups(counts) -> pd.DataFrame:
    """Count the persons of each group in each county, from a histogram of shape (counties, 252).

    The groups white, black and asian are persons who reported one race.
    """
    table = np.asarray(counts).reshape(-1, 63, 2, 2)
    by_race = table.sum(axis=(2, 3))
    return pd.DataFrame(
        {
            "hispanic": table[:, :, 1].sum(axis=(1, 2)),
            "white": by_race[:, 0],
            "black": by_race[:, 1],
            "asian": by_race[:, 3],
            "adult": table[:, :, :, 1].sum(axis=(1, 2)),
        }
    )


def trace_swapping(counties: pd.DataFrame, published, released) -> pd.DataFrame:
    """Regress the errors of each group on the distance of its count from the state's share.

    Both counts have shape (counties, 252). Errors and distances are divided by the square root of
    the population. The robust error is HC3, because the scaled errors of small counties have the
    largest variance. Puerto Rico is excluded, because its data are from a separate run.
    """
    home = (counties["state"] != "PR").to_numpy()
    true, ours = count_groups(np.asarray(published)[home]), count_groups(np.asarray(released)[home])
    population = counties["population"][home].reset_index(drop=True).astype(float)
    state = counties["state"][home].to_numpy()
    people = population.groupby(state).transform("sum")
    share = true.groupby(state).transform("sum").div(people, axis=0)
    error, root = ours - true, np.sqrt(population)
    x = (true - share.mul(population, axis=0)).div(root, axis=0)
    y = error.div(root, axis=0)
    x, y = x - x.mean(), y - y.mean()
    fits = {group: fit_slope(x[group], y[group], 1 / len(x), 1) for group in true}
    found = pd.DataFrame(fits, index=["slope", "plain_error", "robust_error"]).T
    found["z"] = found["slope"] / found.pop("plain_error")
    found["z_robust"] = found["slope"] / found["robust_error"]
    found.insert(0, "rmse", np.sqrt((error**2).mean()))
    return found.reset_index(names="group")


def subtract_algorithm(trace: pd.DataFrame, system: str, algorithm: str) -> pd.DataFrame:
    """Subtract, from the slopes of a system, the mean slopes of an algorithm that does not swap.

    TopDown causes a slope even without swapping, because its counts are non-negative. `trace` has
    the rows of `trace_swapping` for all systems. The new columns are missing for all other systems.
    """
    own = trace[trace["system"] == algorithm].groupby("group")
    mean, runs = own["slope"].mean(), own["slope"].size()
    error = np.sqrt(own["robust_error"].agg(lambda each: (each**2).mean()) / runs)
    groups = trace["group"].where(trace["system"] == system)
    beyond = 1000 * (trace["slope"] - groups.map(mean))
    beyond_error = 1000 * np.hypot(trace["robust_error"], groups.map(error))
    return trace.assign(beyond=beyond, beyond_error=beyond_error, z_beyond=beyond / beyond_error)


def measure_rmse_by_size(counties: pd.DataFrame, published, released, edges) -> pd.DataFrame:
    """Compute the root mean square error of each group by population of the county.

    The edges are the smallest populations of the classes, in ascending order from 0.
    """
    start = np.array(edges)[np.digitize(counties["population"], edges) - 1]
    classes = ((count_groups(released) - count_groups(published)) ** 2).groupby(start)
    found = np.sqrt(classes.mean()).assign(counties=classes.size())
    each = found.rename_axis("from_population").reset_index()
    each = each.melt(["from_population", "counties"], var_name="group", value_name="rmse")
    return each.sort_values("from_population", kind="stable", ignore_index=True)
