"""What all runs of all systems come to: bias, trends, margins, and what makes the bias."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reproduction.topdown.configurations import configuration_table
from reproduction.topdown.swapping_trace import beyond_the_algorithm

# what is switched off, and the configuration in which it is; the first of each pair is the rule
CAUSES = {
    "nothing (all cells, one pass)": "identity 4",
    "non-negativity (all cells)": "identity 4, negatives allowed",
    "sparse cells: four a county": "identity 4, four cells",
    "nothing (four queries, one pass)": "slides",
    "non-negativity (four queries)": "slides, negatives allowed",
    "one pass: totals first": "slides, total first",
}
SMALL = ("0", "6-10", "over 1000")  # classes of cells shown beside each cause


def over_runs(table: pd.DataFrame, by: list[str], values: list[str]) -> pd.DataFrame:
    """Average values over the runs of each system, and of each of its groups by some columns.

    NAME_error is the standard error of an average, missing where there is one run.
    """
    groups = table.groupby(["system", *by], sort=False)
    runs = groups["run"].nunique()
    errors = groups[values].std().div(np.sqrt(runs), axis=0)
    found = groups[values].mean().join(errors.add_suffix("_error"))
    found.insert(0, "runs", runs)
    return found.reset_index()


def bias_table(bias: pd.DataFrame) -> pd.DataFrame:
    """Mean and root mean square errors by true size of the cell, system by system."""
    found = over_runs(bias, ["cell_class"], ["mean", "rmse", "zeros"])
    keys = ["system", "cell_class"]
    cells = bias.drop_duplicates(keys)[[*keys, "cells"]]
    found.insert(2, "cells", found.merge(cells, on=keys, validate="one_to_one")["cells"])
    return found.drop(columns=["rmse_error", "zeros_error"])


def trend_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Sum the county totals' errors up: sizes, zeros, slopes on log population."""
    values = list(summary.columns.drop(["system", "run"]))
    shown = {"mae_total", "rmse_cell", "negative_slopes", "significant_slopes", "pooled_slope"}
    found = over_runs(summary, [], values)
    return found.drop(columns=[f"{name}_error" for name in values if name not in shown])


def cause_table(trend: pd.DataFrame, bias: pd.DataFrame) -> pd.DataFrame:
    """Show what the bias does when one thing is switched off; the table topdown_causes."""
    causes = pd.DataFrame(CAUSES.items(), columns=["switched_off", "system"])
    means = bias.pivot(index="system", columns="cell_class", values="mean").reindex(columns=SMALL)
    means = means.rename(columns=lambda name: f"mean_{name.replace(' ', '_')}")
    columns = ["system", "runs", "mae_total", "negative_slopes", "negative_slopes_error"]
    columns += ["significant_slopes", "pooled_slope", "pooled_slope_error", "pooled_z_robust"]
    found = causes.merge(trend[columns], on="system", validate="one_to_one")
    found = found.merge(means, on="system", how="left", validate="one_to_one")
    return found[["switched_off", "system", "runs", *means, *columns[2:]]]


def rounding_table(nodes: pd.DataFrame) -> pd.DataFrame:
    """Sum the solutions of all parents and runs up by level."""
    share = nodes["dropped"] / (nodes["cells"] + nodes["dropped"])
    levels = nodes.assign(dropped=share).groupby(["system", "level"], sort=False, as_index=False)
    return levels.agg(
        parents=("parent", "size"),
        dropped=("dropped", "mean"),
        variables=("variables", "max"),
        cost=("cost", "mean"),
        off_whole=("off_whole", "max"),
    )


def collected(
    kinds: Mapping[str, pd.DataFrame], runs: Mapping[str, int], shown: str
) -> dict[str, pd.DataFrame]:
    """Summarize the single runs of all systems, in tables and in the points of figures.

    `kinds` are the tables that `reproduction.topdown.systems` gives, and `shown` is the state whose
    counties are drawn.
    """
    bias, trend = bias_table(kinds["bias"]), trend_table(kinds["summary"])
    slopes = kinds["slopes"].query("run == 0").drop(columns="run")
    fingerprint = kinds["fingerprint"].drop(columns="run")
    fingerprint = beyond_the_algorithm(fingerprint, "Bureau", "production")
    sizes = kinds["sizes"].drop(columns="run")
    means = ["runs", "negative_slopes", "significant_slopes", "pooled_slope", "pooled_slope_error"]
    keys = ["system", "group"]
    both = fingerprint.merge(sizes, on=keys, suffixes=("", "_of_size"), validate="one_to_many")
    return {
        "bias": bias,
        "trend": trend,
        "slopes": slopes,
        "margins": over_runs(kinds["margins"], ["level", "query"], ["rmse"]),
        "causes": cause_table(trend, bias),
        "configurations": configuration_table(runs),
        "rounding": rounding_table(kinds["nodes"]),
        "fingerprint": fingerprint,
        "sizes": sizes,
        "bias_points": bias,
        "slopes_points": slopes.merge(
            trend[["system", *means]], on="system", validate="many_to_one"
        ),
        "counties_points": kinds["counties"].query("state == @shown"),
        "swapping_points": both,
    }
