"""Single runs of TopDown on the published 2010 counts of all counties.

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp import GeneralizedLaplace, Invariants
from isdp.constraints.hierarchy import Hierarchy
from isdp.exact.release_noise import draw_noise
from isdp.topdown import Plan, Release, Schema, run
from reproduction.data.histogram import AXES, SHAPE, Histogram
from reproduction.topdown.configurations import SCHEMA
from reproduction.topdown.errors import (
    fit_pooled_slope,
    fit_state_slopes,
    measure_bias,
    measure_margins,
    summarise_errors,
)
from reproduction.topdown.swapping_trace import measure_rmse_by_size, trace_swapping

ALPHA = 0.01  # The significance level of the papers' regressions.
POPULATION_EDGES = (0, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 1_000_000)


def census_hierarchy(histogram: Histogram) -> Hierarchy:
    """Return the hierarchy of nation, states and counties. Puerto Rico counts as a state."""
    counties = histogram.counties
    columns = {"state": counties["state"].tolist(), "county": counties["fips"].tolist()}
    return Hierarchy.from_columns(columns, root="nation")


def keep_states(histogram: Histogram, states) -> Histogram:
    """Select the counties of the given states from the histogram. "all" selects every county."""
    if states == "all":
        return histogram
    some = histogram.counties["state"].isin(list(states)).to_numpy()
    return Histogram(histogram.counties[some].reset_index(drop=True), histogram.counts[some])


def release_once(rng: np.random.Generator, histogram: Histogram, plan: Plan) -> Release:
    """Run TopDown once on the counties of the histogram."""
    return run(rng, sum_counts(histogram, plan.schema), census_hierarchy(histogram), plan)


def sum_counts(histogram: Histogram, schema: Schema) -> np.ndarray:
    """Sum the histogram over the axes that a schema lacks, to shape (counties, cells)."""
    lacking = tuple(1 + AXES.index(axis) for axis in AXES if axis not in schema.axes)
    table = histogram.counts.reshape(-1, *SHAPE).sum(axis=lacking)
    return table.reshape(len(table), schema.cells)


def measure_release(
    histogram: Histogram, schema: Schema, tables: Mapping, details: bool = False
) -> dict:
    """Measure the errors of one release.

    `tables` gives the released counts of each level, of shape (units, cells). With `details`, the
    result includes the table counties and, for the full schema, the tables fingerprint and sizes.
    """
    counties = histogram.counties
    levels = census_hierarchy(histogram).aggregate(sum_counts(histogram, schema))
    true = dict(zip(tables, levels, strict=True))
    released, real = tables["county"], true["county"]
    error = (released - real).sum(axis=1)
    slopes, trend = fit_trend(counties, error)
    margins = {level: measure_margins(schema, tables[level], true[level]) for level in tables}
    found = {
        "bias": measure_bias(released, real),
        "margins": pd.concat(margins, names=["level", None]).reset_index("level"),
        "slopes": slopes,
        "summary": pd.DataFrame([summarise_errors(released, real) | trend]),
    }
    if details:
        found["counties"] = counties[["fips", "state", "population"]].assign(error=error)
        if schema == SCHEMA:
            found["fingerprint"] = trace_swapping(counties, real, released)
            found["sizes"] = measure_rmse_by_size(counties, real, released, POPULATION_EDGES)
    return found


def fit_trend(counties: pd.DataFrame, errors) -> tuple[pd.DataFrame, dict]:
    """Regress the errors of county populations on log population, by state and for all states."""
    slopes, pooled = fit_state_slopes(counties, errors), fit_pooled_slope(counties, errors)
    negative = slopes["slope"] < 0
    significant = negative & (slopes["p"] < ALPHA)
    signs = {"negative_slopes": int(negative.sum()), "significant_slopes": int(significant.sum())}
    return slopes, {"states": pooled["states"]} | signs | pooled


def sum_to_levels(histogram: Histogram, counts) -> dict[str, np.ndarray]:
    """Sum a released county table, which may have negative counts, to all levels."""
    tree, table = census_hierarchy(histogram), pd.DataFrame(counts)
    members = zip(tree.levels, tree.leaf_units, strict=True)
    return {level: table.groupby(units).sum().to_numpy() for level, units in members}


def draw_state_noise(
    rng: np.random.Generator, counties: pd.DataFrame, epsilon: float, draws: int, cells: int = 1
) -> np.ndarray:
    """Draw integer noise of shape (draws, counties, cells) that sums to zero in each state.

    The mechanism is that of ISDP with the l1 norm. Epsilon is the loss per unit of l1 distance.
    """
    law = GeneralizedLaplace(epsilon, "l1")
    noise = np.empty((draws, len(counties), cells), dtype=np.int64)
    for rows in counties.groupby("state").indices.values():
        drawn = draw_noise(law, Invariants.total(len(rows) * cells), n_draws=draws, rng=rng)
        noise[:, rows] = drawn.reshape(draws, len(rows), cells)
    return noise


def release_integer_noise(
    rng: np.random.Generator, histogram: Histogram, epsilon: float, held: str
) -> np.ndarray:
    """Add exact integer noise to the counties. The invariants are each state's `held`."""
    cells = histogram.counts.shape[1]
    if held == "cells":
        noise = draw_state_noise(rng, histogram.counties, epsilon, draws=cells)[:, :, 0].T
    else:
        noise = draw_state_noise(rng, histogram.counties, epsilon, draws=1, cells=cells)[0]
    return histogram.counts + noise
