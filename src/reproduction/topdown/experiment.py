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


def measure(histogram: Histogram, plan: Plan, tables: Mapping[str, np.ndarray]) -> dict:
    """Every table of errors of one release.

    Parameters
    ----------
    histogram : Histogram
        The true counts.
    plan : Plan
        Of which the schema is used.
    tables : mapping from level to int64 array (units, cells)
        Released.

    Returns
    -------
    dict from name to DataFrame
        bias, margins, slopes (a row a state) and summary (one row).
    """
    counts = counts_for(histogram, plan.schema)
    true = dict(zip(tables, census_hierarchy(histogram).aggregate(counts), strict=True))
    county = tables["county"]
    slopes, trend = trend_of(histogram.counties, (county - true["county"]).sum(axis=1))
    margins = [
        margin_errors(plan.schema, tables[level], true[level]).assign(level=level)
        for level in tables
    ]
    row = summary(county, true["county"]) | trend
    return {
        "bias": bias_by_size(county, true["county"]),
        "margins": pd.concat(margins, ignore_index=True)[["level", "query", "rmse"]],
        "slopes": slopes,
        "summary": pd.DataFrame([row]),
    }


def trend_of(counties: pd.DataFrame, errors) -> tuple[pd.DataFrame, dict]:
    """Regress errors of county totals on log population.

    Parameters
    ----------
    counties : DataFrame
        Columns state and population.
    errors : array, shape (counties,)
        Persons.

    Returns
    -------
    slopes : DataFrame
        From `reproduction.topdown.slopes.state_slopes`.
    trend : dict
        states, negative_slopes and significant_slopes (negative ones, at 0.01; numbers of
        states), pooled_slope (persons a unit of natural log), pooled_z and pooled_z_robust.
    """
    slopes, pooled = state_slopes(counties, errors), pooled_slope(counties, errors)
    return slopes, {
        "states": len(slopes),
        "negative_slopes": int((slopes["slope"] < 0).sum()),
        "significant_slopes": int(((slopes["slope"] < 0) & (slopes["p"] < ALPHA)).sum()),
        "pooled_slope": pooled.slope,
        "pooled_z": pooled.z,
        "pooled_z_robust": pooled.z_robust,
    }


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
            noise = exact.sample(rng, Invariants.total(len(rows)), law, cells).T
        else:
            noise = exact.sample(rng, Invariants.total(len(rows) * cells), law, 1)
            noise = noise.reshape(len(rows), cells)
        released[rows] += noise
    return released
