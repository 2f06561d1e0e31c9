"""Tables that summarise the runs of all systems."""

from collections.abc import Mapping
from itertools import chain

import numpy as np
import pandas as pd

from reproduction.topdown.configurations import tabulate_configurations
from reproduction.topdown.swapping_trace import subtract_algorithm

# Maps each feature to the configuration without it. An entry "nothing" is the reference of the
# following entries.
SWITCHED_OFF = {
    "nothing (all cells, one pass)": "identity 4",
    "non-negativity (all cells)": "identity 4, negatives allowed",
    "sparse cells: four a county": "identity 4, four cells",
    "nothing (four queries, one pass)": "slides",
    "non-negativity (four queries)": "slides, negatives allowed",
    "one pass: totals first": "slides, total first",
}
SHOWN_CLASSES = ("0", "6-10", "over 1000")
MEANS_OF_CAUSES = ("mae_total", "negative_slopes", "significant_slopes", "pooled_slope")
STATISTICS = ("states", "pooled_z", "pooled_z_robust")  # Their averages have no standard error.


def average_runs(table: pd.DataFrame, by: list[str], values: list[str]) -> pd.DataFrame:
    """Average the values over the runs, for each system and each group of the columns `by`.

    The column NAME_error is the standard error of NAME, which is missing for one run.
    """
    groups = table.groupby(["system", *by], sort=False)
    runs = groups["run"].nunique()
    errors = groups[values].std().div(np.sqrt(runs), axis=0)
    found = groups[values].mean().join(errors.add_suffix("_error"))
    found.insert(0, "runs", runs)
    return found.reset_index()


def tabulate_bias(bias: pd.DataFrame) -> pd.DataFrame:
    """Average the errors of county cells over the runs, by true count."""
    found = average_runs(bias, ["cell_class"], ["mean", "rmse", "zeros"])
    keys = ["system", "cell_class"]
    cells = bias.drop_duplicates(keys)[[*keys, "cells"]]
    found.insert(2, "cells", found.merge(cells, on=keys, validate="one_to_one")["cells"])
    return found


def tabulate_trend(summary: pd.DataFrame) -> pd.DataFrame:
    """Average the errors and slopes of county populations over the runs."""
    values = list(summary.columns.drop(["system", "run"]))
    found = average_runs(summary, [], values)
    return found.drop(columns=[f"{name}_error" for name in STATISTICS if name in values])


def tabulate_causes(trend: pd.DataFrame, bias: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the bias and slopes of TopDown without one feature at a time (topdown_causes)."""
    causes = pd.DataFrame(SWITCHED_OFF.items(), columns=["switched_off", "system"])
    means = {
        f"mean_{name}{error}".replace(" ", "_"): bias[bias["cell_class"] == name]
        .set_index("system")["mean" + error]
        .reindex(causes["system"])
        .to_numpy()
        for name in SHOWN_CLASSES
        for error in ("", "_error")
    }
    pairs = [(name, f"{name}_error") for name in MEANS_OF_CAUSES]
    columns = ["system", "runs", *chain.from_iterable(pairs), "pooled_z_robust"]
    found = causes.assign(**means).merge(trend[columns], on="system", validate="one_to_one")
    return found[["switched_off", "system", "runs", *means, *columns[2:]]]


def tabulate_rounding(nodes: pd.DataFrame) -> pd.DataFrame:
    """Summarise the solutions of all runs by level."""
    share = nodes["dropped"] / (nodes["cells"] + nodes["dropped"])
    levels = nodes.assign(dropped=share).groupby(["system", "level"], sort=False, as_index=False)
    return levels.agg(
        parents=("parent", "size"),
        dropped=("dropped", "mean"),
        variables=("variables", "max"),
        cost=("cost", "mean"),
        off_whole=("off_whole", "max"),
    )


def collect_tables(
    kinds: Mapping[str, pd.DataFrame], runs: Mapping[str, int], shown: str
) -> dict[str, pd.DataFrame]:
    """Summarise the single runs of all systems in tables, and select the data of the figures.

    `shown` is the state whose counties are plotted.
    """
    bias, trend = tabulate_bias(kinds["bias"]), tabulate_trend(kinds["summary"])
    slopes = kinds["slopes"].query("run == 0").drop(columns="run")
    fingerprint = kinds["fingerprint"].drop(columns="run")
    fingerprint = subtract_algorithm(fingerprint, "Bureau", "production")
    sizes = kinds["sizes"].drop(columns="run")
    means = ["runs", "negative_slopes", "significant_slopes", "pooled_slope", "pooled_slope_error"]
    keys = ["system", "group"]
    both = fingerprint.merge(sizes, on=keys, suffixes=("", "_of_size"), validate="one_to_many")
    return {
        "bias": bias,
        "trend": trend,
        "slopes": slopes,
        "margins": average_runs(kinds["margins"], ["level", "query"], ["rmse"]),
        "causes": tabulate_causes(trend, bias),
        "configurations": tabulate_configurations(runs),
        "rounding": tabulate_rounding(kinds["nodes"]),
        "fingerprint": fingerprint,
        "sizes": sizes,
        "bias_points": bias,
        "slopes_points": slopes.merge(
            trend[["system", *means]], on="system", validate="many_to_one"
        ),
        "counties_points": kinds["counties"].query("state == @shown"),
        "swapping_points": both,
    }
