"""Tables of the errors of all systems, and the data of the figures."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp.accounting import as_fraction, upper_decimal
from reproduction.data.histogram import Histogram
from reproduction.nested.experiment import TABLE_KINDS, list_budgets
from reproduction.nested.systems import (
    COUNTY_PAIRS,
    CROSSING,
    DEMONSTRATION,
    PRODUCTION,
    PROJECTED,
    SPLITS,
    SYSTEMS,
    build_crossing,
    build_noise,
    expected_error,
    hold_totals,
    plan_topdown,
    published_rho,
)
from reproduction.topdown.errors import SIZE_CLASSES
from reproduction.topdown.system_errors import DEMONSTRATION_SYSTEM

# The queries of the tables, as pairs of a level and a margin, in the order of the figure.
SHOWN_QUERIES = {
    "county cell": ("county", "detail"),
    "county race": ("county", "race"),
    "county total": ("county", "total"),
    "county Hispanic": ("county", "hispanic"),
    "state cell": ("state", "detail"),
    "state Hispanic": ("state", "hispanic"),
    "nation cell": ("nation", "detail"),
}
TOPDOWN_NAMES = {"production": PRODUCTION, DEMONSTRATION_SYSTEM: DEMONSTRATION}
KEYS = ["system", "budget"]
CURVE = "nested noise, any share"
SHARES = np.linspace(0, 0.96, 49)  # shares of the county's total in the budget, on the curve


def read_topdown_runs(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Select the runs with production settings and the demonstration data of the TopDown study."""
    found = {}
    for kind in TABLE_KINDS:
        rows = tables[kind][tables[kind]["system"].isin(list(TOPDOWN_NAMES))]
        rows = rows.assign(system=rows["system"].map(TOPDOWN_NAMES), budget=float(published_rho()))
        found[kind] = rows.reset_index(drop=True)
    return found


def average(table: pd.DataFrame, by: list[str], values: list[str]) -> pd.DataFrame:
    """Average values over the runs, with standard errors in the columns NAME_error.

    A root mean square error is the root of the mean square. The standard error of a root follows by
    the delta method, and is missing for one run.
    """
    table = table.assign(rmse=table["rmse"] ** 2) if "rmse" in values else table
    groups = table.groupby([*KEYS, *by], sort=False)
    runs = groups["run"].nunique()
    found = pd.DataFrame({"runs": runs})
    errors = groups[values].std().div(np.sqrt(runs), axis=0)
    for name in values:
        found[name], found[f"{name}_error"] = groups[name].mean(), errors[name]
    if "rmse" in values:
        found["rmse"] = np.sqrt(found["rmse"])
        found["rmse_error"] /= 2 * found["rmse"]
    found = found.reset_index()
    rank = found["system"].map(SYSTEMS.index)
    return found.iloc[np.lexsort([found.index, found["budget"], rank])].reset_index(drop=True)


def expected_errors(histogram: Histogram, settings: Mapping) -> pd.DataFrame:
    """Compute the errors of each noise in closed form, at all budgets."""
    states = histogram.counties["state"].tolist()
    held, rows = hold_totals(states), []
    for system, split in SPLITS.items():
        for rho, _ in list_budgets(settings):
            noise = build_crossing(states, split, rho)
            for name, (level, query) in SHOWN_QUERIES.items():
                expected = expected_error(noise, held, level, query)
                rows.append((system, float(rho), name, expected))
    return pd.DataFrame(rows, columns=[*KEYS, "query", "expected"])


def tabulate_errors(margins: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the errors by query, with the errors in closed form (table nested_errors)."""
    names = pd.DataFrame(
        [(name, *pair) for name, pair in SHOWN_QUERIES.items()], columns=["name", "level", "query"]
    )
    rows = margins.merge(names, on=["level", "query"]).drop(columns=["level", "query"])
    found = average(rows.rename(columns={"name": "query"}), ["query"], ["rmse"])
    found = found.merge(expected, on=[*KEYS, "query"], how="left", validate="one_to_one")
    found["z"] = (found["rmse"] - found["expected"]) / found["rmse_error"]
    order = [list(SHOWN_QUERIES).index(query) for query in found["query"]]
    return found.iloc[
        np.lexsort([order, found["budget"], found["system"].map(SYSTEMS.index)])
    ].reset_index(drop=True)


def tabulate_sizes(bias: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the errors of county cells by true size (table nested_sizes)."""
    order = bias["cell_class"].map(list(SIZE_CLASSES).index)
    found = average(bias.iloc[order.argsort()], ["cell_class", "cells"], ["mean", "rmse"])
    return found.rename(columns={"cell_class": "size"})


def tabulate_summary(
    summary: pd.DataFrame, histogram: Histogram, settings: Mapping
) -> pd.DataFrame:
    """Tabulate negative counts, guarantees and times (table nested_summary)."""
    found = average(summary, [], ["negative", "zeros"])
    seconds = summary.groupby(KEYS)["seconds"].median()
    states = histogram.counties["state"].tolist()
    held, losses = hold_totals(states), {}
    for rho, _ in list_budgets(settings):
        for system in SYSTEMS:
            if split := SPLITS.get(CROSSING if system == PROJECTED else system):
                loss = build_noise(states, split, rho).guarantee_of(held).loss_per_person
            else:
                known = PRODUCTION if system == DEMONSTRATION else system
                loss = plan_topdown(known, rho).budget.guarantee_of("").loss_per_person
            losses[system, float(rho)] = upper_decimal(as_fraction(loss))
    places = list(zip(found["system"], found["budget"], strict=True))
    found.insert(3, "loss", [losses[place] for place in places])
    return found.assign(seconds=[seconds[place] for place in places])


def tabulate_splits() -> pd.DataFrame:
    """List the share of each total in the budget of each noise (table nested_splits)."""
    rows = [
        (system, level, group, float(share))
        for system, split in SPLITS.items()
        for (level, group), share in split.items()
    ]
    return pd.DataFrame(rows, columns=["system", "level", "totals", "share"])


def trace_frontier(histogram: Histogram, errors: pd.DataFrame) -> pd.DataFrame:
    """Compute the errors of a cell and of a county's total as the share of the total increases.

    The curve is in closed form, at the published budget. The points are rows of `errors`.
    """
    states = histogram.counties["state"].tolist()
    held, rows = hold_totals(states), []
    for share in map(as_fraction, SHARES.round(2).tolist()):
        split = dict(zip(COUNTY_PAIRS, (share, 1 - share), strict=True))
        noise = build_crossing(states, split, published_rho())
        pair = (expected_error(noise, held, "county", query) for query in ("detail", "total"))
        rows.append((CURVE, float(share), *pair))
    curve = pd.DataFrame(rows, columns=["system", "share", "cell", "total"])
    at = errors[errors["budget"] == float(published_rho())].set_index(["system", "query"])["rmse"]
    points = at.unstack().reindex(at.index.unique("system"))[["county cell", "county total"]]
    points = points.set_axis(["cell", "total"], axis=1).reset_index()
    return pd.concat([curve, points], ignore_index=True)


def collect_tables(
    runs: Mapping[str, pd.DataFrame], histogram: Histogram, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Summarise the single runs of all systems in tables, and select the data of the figures."""
    errors = tabulate_errors(runs["margins"], expected_errors(histogram, settings))
    sizes = tabulate_sizes(runs["bias"])
    published = float(published_rho())
    return {
        "errors": errors,
        "sizes": sizes,
        "summary": tabulate_summary(runs["summary"], histogram, settings),
        "splits": tabulate_splits(),
        "frontier_points": trace_frontier(histogram, errors),
        "errors_points": errors[errors["budget"] == published].reset_index(drop=True),
        "sizes_points": sizes[sizes["budget"] == published].reset_index(drop=True),
    }
