"""What all runs of all systems come to: bias, trends, margins, and what makes the bias."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reproduction.topdown.configurations import configuration_table
from reproduction.topdown.fingerprint import beyond_the_algorithm

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
    """Average over runs, with the standard errors of the averages.

    Parameters
    ----------
    table : DataFrame
        Columns system and run, those of `by` and of `values`.
    by, values : list of str

    Returns
    -------
    DataFrame
        Columns system, those of `by`, runs, and for each of `values` its mean and NAME_error,
        missing where there is one run.
    """
    groups = table.groupby(["system", *by], sort=False)
    found = groups[values].mean()
    errors = groups[values].std().div(np.sqrt(groups["run"].nunique()), axis=0)
    found = found.join(errors.add_suffix("_error"))
    found.insert(0, "runs", groups["run"].nunique())
    return found.reset_index()


def bias_table(bias: pd.DataFrame) -> pd.DataFrame:
    """Mean and root mean square errors by true size of the cell, system by system."""
    found = over_runs(bias, ["cell_class"], ["mean", "rmse", "zeros"])
    cells = bias.groupby(["system", "cell_class"], sort=False)["cells"].first()
    found.insert(2, "cells", found.set_index(["system", "cell_class"]).index.map(cells))
    return found.drop(columns=["rmse_error", "zeros_error"])


def trend_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Sum the county totals' errors up: sizes, zeros, slopes on log population."""
    values = [name for name in summary.columns if name not in ("system", "run")]
    found = over_runs(summary, [], values)
    shown = ("mae_total", "rmse_cell", "negative_slopes", "significant_slopes", "pooled_slope")
    extra = [f"{name}_error" for name in values if name not in shown]
    return found.drop(columns=extra)


def cause_table(trend: pd.DataFrame, bias: pd.DataFrame) -> pd.DataFrame:
    """Show what the bias does when one thing is switched off at a time.

    Returns
    -------
    DataFrame
        Columns switched_off, system, runs, mean_0, mean_6-10 and mean_over_1000 (mean errors of
        cells of these true sizes, persons; missing where there is no such cell), mae_total,
        negative_slopes, its error, significant_slopes (of 48), pooled_slope, its error, and
        pooled_z_robust.
    """
    by_system = trend.set_index("system")
    means = bias.set_index(["system", "cell_class"])["mean"]
    columns = ["mae_total", "negative_slopes", "negative_slopes_error", "significant_slopes"]
    columns += ["pooled_slope", "pooled_slope_error", "pooled_z_robust"]
    rows = []
    for words, system in CAUSES.items():
        if system in by_system.index:
            known = by_system.loc[system]
            row = {"switched_off": words, "system": system, "runs": int(known["runs"])}
            row |= {f"mean_{name.replace(' ', '_')}": means.get((system, name)) for name in SMALL}
            row |= known[columns].to_dict()
            rows.append(row)
    return pd.DataFrame(rows)


def collected(
    kinds: Mapping[str, pd.DataFrame], runs: Mapping[str, int], shown: str
) -> dict[str, pd.DataFrame]:
    """Summarize the single runs of all systems, in tables and in the points of figures.

    Parameters
    ----------
    kinds : mapping from kind to DataFrame
        As `reproduction.topdown.settings.KINDS`, of all systems.
    runs : mapping from configuration to number of runs
    shown : str
        State whose counties are drawn.

    Returns
    -------
    dict from the name of a table, or NAME_points for the points of a figure, to DataFrame
    """
    bias, trend = bias_table(kinds["bias"]), trend_table(kinds["summary"])
    slopes = kinds["slopes"][kinds["slopes"]["run"] == 0].drop(columns="run")
    fingerprint = beyond_the_algorithm(
        kinds["fingerprint"].drop(columns="run"), "Bureau", "production"
    )
    sizes = kinds["sizes"].drop(columns="run")
    means = ["runs", "negative_slopes", "significant_slopes", "pooled_slope", "pooled_slope_error"]
    counties = kinds["counties"]
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
        "slopes_points": slopes.merge(trend[["system", *means]], on="system"),
        "counties_points": counties[counties["state"] == shown],
        "swapping_points": fingerprint.merge(
            sizes, on=["system", "group"], suffixes=("", "_of_size")
        ),
    }


def rounding_table(nodes: pd.DataFrame) -> pd.DataFrame:
    """Sum the solutions of all runs up by level."""
    found = nodes.groupby(["system", "level"], sort=False).agg(
        parents=("parents", "sum"),
        dropped=("dropped", "mean"),
        variables=("variables", "max"),
        cost=("cost", "mean"),
        off_whole=("off_whole", "max"),
    )
    return found.reset_index()
