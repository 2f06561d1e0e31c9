"""TopDown on the published 2010 counts of all counties, run by run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp import GeneralizedLaplace, Invariants, exact
from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown import Plan, Release, Schema, run
from reproduction.data.histogram import AXES, SHAPE, Histogram
from reproduction.topdown.errors import bias_by_size, margin_errors, summary
from reproduction.topdown.slopes import pooled_slope, state_slopes

ALPHA = 0.01  # of the papers' regressions


def census_hierarchy(histogram: Histogram) -> Hierarchy:
    """Nation, states and counties, Puerto Rico counted among the states."""
    counties = histogram.counties
    columns = {"state": counties["state"].tolist(), "county": counties["fips"].tolist()}
    return Hierarchy.from_columns(columns, root="nation")


def only_states(histogram: Histogram, states) -> Histogram:
    """Restrict the histogram to some states; "all" leaves it whole."""
    if states == "all":
        return histogram
    some = histogram.counties["state"].isin(list(states)).to_numpy()
    return Histogram(histogram.counties[some].reset_index(drop=True), histogram.counts[some])


def release_once(rng: np.random.Generator, histogram: Histogram, plan: Plan) -> Release:
    """One run over nation, states and counties."""
    return run(rng, counts_for(histogram, plan.schema), census_hierarchy(histogram), plan)


def counts_for(histogram: Histogram, schema: Schema) -> np.ndarray:
    """Sum the histogram over the axes that a schema lacks; shape (counties, cells)."""
    lacking = tuple(1 + AXES.index(axis) for axis in AXES if axis not in schema.axes)
    table = histogram.counts.reshape(-1, *SHAPE).sum(axis=lacking)
    return table.reshape(len(table), schema.cells)


def measure(histogram: Histogram, schema: Schema, tables: Mapping[str, np.ndarray]) -> dict:
    """Every table of errors of one release, given as an int64 array (units, cells) by level.

    Returns
    -------
    dict from name to DataFrame
        bias, margins, slopes (one row per state) and summary (one row).
    """
    counts = counts_for(histogram, schema)
    true = dict(zip(tables, census_hierarchy(histogram).aggregate(counts), strict=True))
    county = tables["county"]
    slopes, trend = trend_of(histogram.counties, (county - true["county"]).sum(axis=1))
    margins = {level: margin_errors(schema, tables[level], true[level]) for level in tables}
    return {
        "bias": bias_by_size(county, true["county"]),
        "margins": pd.concat(margins, names=["level", None]).reset_index("level"),
        "slopes": slopes,
        "summary": pd.DataFrame([summary(county, true["county"]) | trend]),
    }


def trend_of(counties: pd.DataFrame, errors) -> tuple[pd.DataFrame, dict]:
    """Regress errors of county totals on log population, state by state and in all at once.

    Returns
    -------
    slopes : DataFrame
        From `reproduction.topdown.slopes.state_slopes`.
    trend : dict
        negative_slopes, significant_slopes (negative ones, at 0.01), and what
        `reproduction.topdown.slopes.pooled_slope` gives.
    """
    slopes, pooled = state_slopes(counties, errors), pooled_slope(counties, errors)
    negative = slopes["slope"] < 0
    significant = negative & (slopes["p"] < ALPHA)
    signs = {"negative_slopes": int(negative.sum()), "significant_slopes": int(significant.sum())}
    return slopes, {"states": pooled["states"]} | signs | pooled


def tables_of(histogram: Histogram, counts) -> dict[str, np.ndarray]:
    """Sum a released table of the counties to all levels; negative counts are allowed."""
    tree = census_hierarchy(histogram)
    tables = {}
    for level, units, member in zip(tree.levels, tree.units, tree.leaf_units, strict=True):
        tables[level] = np.zeros((len(units), counts.shape[1]), dtype=np.int64)
        np.add.at(tables[level], member, counts)
    return tables


def integer_noise(
    rng: np.random.Generator, histogram: Histogram, epsilon: float, held: str
) -> np.ndarray:
    """Release the counties by exact integer noise instead (ISDP, l1).

    Parameters
    ----------
    rng : numpy.random.Generator
    histogram : Histogram
    epsilon : float
        Per unit of l1 distance.
    held : {"cells", "totals"}
        What each state keeps: all of its cells, or its population alone.

    Returns
    -------
    int64 array, shape (counties, cells)
    """
    released = histogram.counts.copy()
    cells = released.shape[1]
    law = GeneralizedLaplace(epsilon, "l1")
    for rows in histogram.counties.groupby("state").indices.values():
        if held == "cells":  # the noise of a cell adds up to zero over the counties
            released[rows] += exact.sample(rng, Invariants.total(len(rows)), law, cells).T
        else:
            noise = exact.sample(rng, Invariants.total(len(rows) * cells), law, 1)
            released[rows] += noise.reshape(len(rows), cells)
    return released
