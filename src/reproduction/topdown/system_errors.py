"""Errors of single runs of TopDown, of exact integer noise, and of the demonstration data.

ISDP is *Integer Subspace Differential Privacy*, and SDP is *Subspace Differential Privacy*.
"""

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from isdp.streams import stream
from reproduction.data.histogram import Histogram
from reproduction.topdown.configurations import SCHEMA, identity_budget, list_plans, slides_budget
from reproduction.topdown.experiment import (
    census_hierarchy,
    draw_state_noise,
    fit_trend,
    measure_release,
    release_integer_noise,
    release_once,
    sum_to_levels,
)

DEMONSTRATION_SYSTEM = "Bureau"
INTEGER_SYSTEMS = {
    "cells": "integer noise, state cells held",
    "totals": "integer noise, state totals held",
}
TOTALS_SYSTEM = "integer noise of county totals"
# Configurations that are also run without invariants, from the same measurements.
COMPARED_WITHOUT_INVARIANTS = ("identity 1", "identity 4")


def run_topdown(seed: int, histogram: Histogram, runs: Mapping[str, int]) -> dict:
    """Run each configuration of TopDown the given number of times, and measure the errors.

    Returns the tables of `measure_release`, and the table "nodes" with one row per parent.
    """
    known, found = list_plans(), []
    for name, times in runs.items():
        for number in range(times):
            release = release_once(stream(seed, "topdown", name, number), histogram, known[name])
            tables = measure_release(histogram, known[name].schema, release.tables, number == 0)
            tables["nodes"] = pd.DataFrame(release.nodes)
            found.append(add_labels(tables, system=name, run=number))
    return gather_tables(found)


def run_other_systems(
    seed: int, histogram: Histogram, runs: int, totals: int, private: Histogram | None = None
) -> dict:
    """Measure the errors of exact integer noise, and of the demonstration data if available.

    The cells have the privacy loss per person of the county cells in "identity 4". The county
    populations have epsilon = 0.192 per unit, as in SDP and ISDP. The cells are released `runs`
    times and the populations alone `totals` times. `private` gives the demonstration data.
    """
    found = []

    def add(system: str, number: int, counts) -> None:
        tables = measure_release(histogram, SCHEMA, sum_to_levels(histogram, counts), number == 0)
        found.append(add_labels(tables, system=system, run=number))

    if private is not None:
        add(DEMONSTRATION_SYSTEM, 0, private.counts)
    # A person who changes cell changes the l1 distance by 2.
    per_unit = float(identity_budget(4).loss("county", "detail")) / 2
    for held, name in INTEGER_SYSTEMS.items():
        for number in range(runs):
            rng = stream(seed, "topdown", name, number)
            add(name, number, release_integer_noise(rng, histogram, per_unit, held))
    counties = histogram.counties
    epsilon = float(slides_budget().loss("county", "total"))
    noise = draw_state_noise(stream(seed, "topdown", TOTALS_SYSTEM), counties, epsilon, totals)
    for number, errors in enumerate(noise[:, :, 0]):
        slopes, trend = fit_trend(counties, errors)
        row = {"mae_total": float(np.abs(errors).mean())} | trend
        tables = {"slopes": slopes, "summary": pd.DataFrame([row])}
        if number == 0:
            tables["counties"] = counties[["fips", "state", "population"]].assign(error=errors)
        found.append(add_labels(tables, system=TOTALS_SYSTEM, run=number))
    return gather_tables(found)


def compare_invariants(
    seed: int, histogram: Histogram, configurations, release: Callable = release_once
) -> pd.DataFrame:
    """Compare runs with and without the states' populations as invariants.

    Both runs have the same noisy measurements. Only the configurations in
    `COMPARED_WITHOUT_INVARIANTS` are run.
    """
    known, tree = list_plans(), census_hierarchy(histogram)
    true = dict(zip(tree.levels, tree.aggregate(histogram.counts), strict=True))
    rows = []
    for name in [name for name in COMPARED_WITHOUT_INVARIANTS if name in configurations]:
        both, squares = {}, {}
        for held, plan in ((True, known[name]), (False, known[f"{name}, nothing held"])):
            rng = stream(seed, "topdown: held or not", name)  # Both runs draw the same noise.
            both[held] = release(rng, histogram, plan).tables
            error = both[held]["state"] - true["state"]
            squares[held] = (error.astype(float) ** 2).mean(axis=1)
        gap = np.abs(both[True]["county"] - both[False]["county"])
        for held, tables in both.items():
            state, county = (tables[level] - true[level] for level in ("state", "county"))
            lost = (tables["state"] == 0) & (true["state"] > 0)
            pairs = np.column_stack([squares[held], squares[False]])
            rows.append(
                {
                    "configuration": name,
                    "runs": 1,
                    "held": held,
                    "rmse_state": np.sqrt(squares[held].mean()),
                    "gain_percent": _gain(pairs.sum(axis=0)),
                    "gain_error": jackknife_error(pairs, _gain),
                    "rmse_county": np.sqrt((county.astype(float) ** 2).mean()),
                    "mae_state": np.abs(state.sum(axis=1)).mean(),
                    "lost_cells": lost.sum(),
                    "lost_people": true["state"][lost].sum(),
                    "differ": (gap > 0).mean(),
                    "apart": gap.sum(),
                    "error": np.abs(county).sum(),
                }
            )
    return pd.DataFrame(rows)


def _gain(squares) -> float:
    """Compute the percentage by which the first root mean square error is below the second."""
    return float(100 * (1 - np.sqrt(squares[0] / squares[1])))


def jackknife_error(parts, statistic: Callable[[np.ndarray], float]) -> float:
    """Estimate the standard error of a statistic by the jackknife.

    The statistic is a function of the column sums of `parts`. Row i of `parts` is the contribution
    of unit i. The error is NaN for fewer than two units.
    """
    parts = np.asarray(parts, dtype=float)
    if len(parts) < 2:
        return math.nan
    without = np.array([statistic(each) for each in parts.sum(axis=0) - parts])
    return float(np.sqrt((len(parts) - 1) * without.var()))


def add_labels(found: dict, **labels) -> dict:
    """Insert the labels as the first columns of each table."""
    for table in found.values():
        for place, (name, value) in enumerate(labels.items()):
            table.insert(place, name, value)
    return found


def gather_tables(each: Iterable[dict]) -> dict[str, pd.DataFrame]:
    """Concatenate the tables with equal names."""
    parts: dict[str, list] = {}
    for found in each:
        for kind, table in found.items():
            parts.setdefault(kind, []).append(table)
    return {kind: pd.concat(tables, ignore_index=True) for kind, tables in parts.items()}
