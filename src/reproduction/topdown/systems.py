"""Every system's errors, run by run: TopDown's, those of exact integer noise, and the Bureau's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from isdp import GeneralizedLaplace, Invariants, exact
from isdp.seeds import stream
from isdp.topdown import Plan
from reproduction.data.histogram import Histogram
from reproduction.topdown.configurations import HELD, SCHEMA, identity, plans, slides
from reproduction.topdown.experiment import (
    census_hierarchy,
    counts_for,
    integer_noise,
    measure,
    release_once,
    tables_of,
    trend_of,
)
from reproduction.topdown.fingerprint import fingerprint, rmse_by_size
from reproduction.topdown.jackknife import jackknife_error

BUREAU = "Bureau"
INTEGER = {"cells": "integer noise, state cells held", "totals": "integer noise, state totals held"}
TOTALS = "integer noise of county totals"
EDGES = (0, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 1_000_000)  # populations
AS_IF = Plan(SCHEMA, identity(4), HELD)  # whose schema the other systems are measured by


def topdown_runs(seed: int, histogram: Histogram, runs: Mapping[str, int]) -> dict:
    """Run configurations of TopDown, each several times.

    Parameters
    ----------
    seed : int
    histogram : Histogram
    runs : mapping from configuration to number of runs
        Names as in `reproduction.topdown.configurations.plans`.

    Returns
    -------
    dict from each of `reproduction.topdown.settings.KINDS` to DataFrame
        Columns system and run, and those of `reproduction.topdown.experiment.measure`; of the
        first run "counties" (fips, state, population and error of the total, persons),
        "fingerprint" and "sizes" (not without races), and "nodes" (a row a level).
    """
    return gathered(_topdown(seed, histogram, runs))


def _topdown(seed, histogram, runs) -> Iterator[dict]:
    known = plans()
    for name, times in runs.items():
        plan = known[name]
        for number in range(times):
            release = release_once(stream(seed, "topdown", name, number), histogram, plan)
            found = errors_of(histogram, plan, release.tables, number == 0)
            found["nodes"] = node_table(release.nodes)
            yield labelled(found, system=name, run=number)


def other_runs(
    seed: int, histogram: Histogram, runs: int, totals: int, private: Histogram | None = None
) -> dict:
    """Measure exact integer noise in the same way, and the Bureau's errors where they are there.

    Noise of the cells has the loss a person of the counties' cells in "identity 4"; that of the
    totals has epsilon = 0.192 a unit, as the slides' query of county totals (SDP, ISDP).

    Parameters
    ----------
    seed : int
    histogram : Histogram
    runs, totals : int
        Releases of all cells, and of the totals alone.
    private : Histogram, optional
        The Bureau's noisy counts of the same counties, in their order.

    Returns
    -------
    dict from each of `reproduction.topdown.settings.KINDS` but "nodes" to DataFrame
        As from `topdown_runs`; of the totals "slopes", "summary" and "counties" alone.
    """
    return gathered(_others(seed, histogram, runs, totals, private))


def _others(seed, histogram, runs, totals, private) -> Iterator[dict]:
    if private is not None:
        tables = tables_of(histogram, private.counts)
        yield labelled(errors_of(histogram, AS_IF, tables, True), system=BUREAU, run=0)
    # a person who changes cell moves the l1 distance by 2
    per_unit = float(identity(4).loss("county", "detail")) / 2
    for held, name in INTEGER.items():
        for number in range(runs):
            rng = stream(seed, "topdown", name, number)
            released = integer_noise(rng, histogram, per_unit, held)
            tables = tables_of(histogram, released)
            yield labelled(
                errors_of(histogram, AS_IF, tables, number == 0), system=name, run=number
            )
    noise = totals_noise(stream(seed, "topdown", TOTALS), histogram, totals)
    for number, errors in enumerate(noise):
        slopes, trend = trend_of(histogram.counties, errors)
        row = {"mae_total": float(np.abs(errors).mean())} | trend
        found = {"slopes": slopes, "summary": pd.DataFrame([row])}
        if number == 0:
            found["counties"] = _county_errors(histogram, errors)
        yield labelled(found, system=TOTALS, run=number)


def totals_noise(rng: np.random.Generator, histogram: Histogram, draws: int) -> np.ndarray:
    """Draw integer noise of the county totals under their states' totals (ISDP, l1).

    Returns
    -------
    int64 array, shape (draws, counties)
    """
    law = GeneralizedLaplace(float(slides().loss("county", "total")), "l1")
    noise = np.empty((draws, len(histogram.counties)), dtype=np.int64)
    for rows in histogram.counties.groupby("state").indices.values():
        noise[:, rows] = exact.sample(rng, Invariants.total(len(rows)), law, draws)
    return noise


def errors_of(histogram: Histogram, plan: Plan, tables: Mapping, once: bool) -> dict:
    """Measure one release; where `once`, also what is shown of a single run."""
    found = measure(histogram, plan, tables)
    if once:
        true = counts_for(histogram, plan.schema)
        found["counties"] = _county_errors(histogram, (tables["county"] - true).sum(axis=1))
        if plan.schema == SCHEMA:
            pair = histogram.counties, true, tables["county"]
            found["fingerprint"] = fingerprint(*pair)
            found["sizes"] = rmse_by_size(*pair, EDGES)
    return found


def _county_errors(histogram: Histogram, error) -> pd.DataFrame:
    return histogram.counties[["fips", "state", "population"]].assign(error=error)


def node_table(nodes: list[dict]) -> pd.DataFrame:
    """Sum up a run's solutions by level.

    Returns
    -------
    DataFrame
        Columns level, parents, dropped (share of a parent's cells that are zero there), variables
        (largest number that a rounding chose between), cost (persons, mean of a parent) and
        off_whole (largest distance of a programme's solution from whole numbers).
    """
    frame = pd.DataFrame(nodes)
    frame["share"] = frame["dropped"] / (frame["cells"] + frame["dropped"])
    found = frame.groupby("level", sort=False).agg(
        parents=("parent", "size"),
        dropped=("share", "mean"),
        variables=("variables", "max"),
        cost=("cost", "mean"),
        off_whole=("off_whole", "max"),
    )
    return found.reset_index()


def with_and_without(seed: int, histogram: Histogram, configurations) -> pd.DataFrame:
    """Run from the same measurements with the states' totals held, and with nothing held.

    Parameters
    ----------
    seed : int
    histogram : Histogram
    configurations : sequence of str
        Those that are also there under NAME, nothing held.

    Returns
    -------
    DataFrame, two rows a configuration
        Columns configuration, runs, held, rmse_state and rmse_county (of cells, persons),
        gain_percent (by which rmse_state is below that of the row with nothing held), gain_error
        (its jackknife standard error over the states), mae_state (of state totals, persons),
        lost_cells and lost_people (state cells that are released as zero and are not), differ
        (share of county cells in which the two differ), apart (their l1 distance, persons) and
        error (l1 error of the county table, persons).
    """
    known, tree = plans(), census_hierarchy(histogram)
    true = dict(zip(tree.levels, tree.aggregate(histogram.counts), strict=True))
    rows = []
    for name in configurations:
        both = {}
        for held, plan in ((True, known[name]), (False, known[f"{name}, nothing held"])):
            rng = stream(seed, "topdown: held or not", name)  # the same noise twice
            both[held] = release_once(rng, histogram, plan).tables
        gap = np.abs(both[True]["county"] - both[False]["county"])
        squares = {
            held: ((tables["state"] - true["state"]).astype(float) ** 2).mean(axis=1)
            for held, tables in both.items()
        }
        for held, tables in both.items():
            error = {level: (tables[level] - true[level]).astype(float) for level in tables}
            lost = (tables["state"] == 0) & (true["state"] > 0)
            rows.append(
                {
                    "configuration": name,
                    "runs": 1,
                    "held": held,
                    "rmse_state": float(np.sqrt(squares[held].mean())),
                    "gain_percent": _gain((squares[held].sum(), squares[False].sum())),
                    "gain_error": jackknife_error(
                        np.column_stack([squares[held], squares[False]]), _gain
                    ),
                    "rmse_county": float(np.sqrt((error["county"] ** 2).mean())),
                    "mae_state": float(np.abs(error["state"].sum(axis=1)).mean()),
                    "lost_cells": int(lost.sum()),
                    "lost_people": int(true["state"][lost].sum()),
                    "differ": float((gap > 0).mean()),
                    "apart": int(gap.sum()),
                    "error": int(np.abs(error["county"]).sum()),
                }
            )
    return pd.DataFrame(rows)


def _gain(squares) -> float:
    """Per cent by which the first root mean square error is below the second, from their sums."""
    return float(100 * (1 - np.sqrt(squares[0] / squares[1])))


def labelled(found: dict, **labels) -> dict:
    """Put labels before the columns of each table."""
    for table in found.values():
        for place, (name, value) in enumerate(labels.items()):
            table.insert(place, name, value)
    return found


def gathered(each: Iterator[dict]) -> dict[str, pd.DataFrame]:
    """Put the tables of one kind below each other."""
    parts: dict[str, list] = {}
    for found in each:
        for kind, table in found.items():
            parts.setdefault(kind, []).append(table)
    return {kind: pd.concat(tables, ignore_index=True) for kind, tables in parts.items()}
