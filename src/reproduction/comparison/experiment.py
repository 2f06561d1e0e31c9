"""Release the same counts by every system, at every budget, and measure each in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.compare import Areas, Share, System, errors_by_size, share_errors, summary
from isdp.seeds import stream
from reproduction.comparison.spread import spreads
from reproduction.comparison.systems import budgets_of
from reproduction.data.histogram import AXES, CELLS, SHAPE, Histogram
from reproduction.topdown.configurations import SCHEMA
from reproduction.topdown.errors import CLASSES
from reproduction.topdown.experiment import only_states
from reproduction.topdown.systems import gathered, labelled

EVERYWHERE, SWAPPED = "all counties", "swapped states"
KINDS = ("errors", "shares", "summary", "cost")
POPULATIONS = {
    "under 5,000": 0,
    "5,000 to 20,000": 5_000,
    "20,000 to 100,000": 20_000,
    "over 100,000": 100_000,
}
QUERIES = ("total", "race", "hispanic", "adult", "detail")
ALONE = {"Black alone": "B", "American Indian alone": "I"}
BUREAU = "Bureau, 2021-06-08"


def areas_of(histogram: Histogram) -> Areas:
    """Counties within states, Puerto Rico counted among the states."""
    counties = histogram.counties
    return Areas(histogram.counts, counties["state"].tolist(), SCHEMA, counties["fips"].tolist())


def shares() -> list[Share]:
    """Name the shares that people use: of a county's people."""
    cells = np.arange(len(CELLS)).reshape(SHAPE)
    found = [
        Share("Hispanic", cells[:, 1].ravel()),
        Share("under 18", cells[:, :, AXES.index("adult") - 2].ravel()),
    ]
    races = [cell.split(":")[0] for cell in CELLS]
    for name, race in ALONE.items():
        found.append(Share(name, [i for i, each in enumerate(races) if each == race]))
    return found


def run_family(
    seed: int,
    histogram: Histogram,
    systems: Sequence[System],
    settings: Mapping,
) -> dict[str, pd.DataFrame]:
    """Run some systems at all of their budgets.

    Parameters
    ----------
    seed : int
    histogram : Histogram
    systems : sequence of System
    settings : mapping
        The block "comparison" of the config.

    Returns
    -------
    dict from each of `KINDS` to DataFrame
        Columns system, parameter, budget, scope and run, and then: of "errors" query, those of
        `isdp.compare.errors_by_size` and the spreads of bias and of the mean square; of "shares"
        share, those of `isdp.compare.share_errors` and the spreads of bias and mae; of "summary"
        those of `isdp.compare.summary`; of "cost" areas, cells, people and seconds (of one
        processor, measured). Spreads: `reproduction.comparison.spread`.
    """
    return gathered(_runs(seed, histogram, systems, settings))


def _runs(seed, histogram, systems, settings) -> Iterator[dict]:
    swapped = only_states(histogram, settings["swapped"])
    for system in systems:
        part = swapped if system.parameter == "rate" else histogram
        areas = areas_of(part)
        for budget in budgets_of(system, settings):
            releases, costs = [], []
            for number in range(settings["runs"]):
                rng = stream(seed, "comparison", f"{system.name}, {budget!r}", number)
                began = time.process_time()
                releases.append(system.release(rng, areas, budget))
                costs.append(_cost(part, time.process_time() - began))
            every = measured(part, releases, settings["swapped"])
            for number, (found, cost) in enumerate(zip(every, costs, strict=True)):
                found["cost"] = cost
                yield labelled(
                    found,
                    system=system.name,
                    parameter=system.parameter,
                    budget=budget,
                    run=number,
                )


def bureau(histogram: Histogram, private: Histogram, rho: float, swapped) -> dict:
    """Measure the Bureau's own file in the same way.

    Parameters
    ----------
    histogram, private : Histogram
        Published and noisy counts of the same counties, in one order.
    rho : float
        What the Bureau spent on the levels and queries that are run here.
    swapped : sequence of str
        The states of the second scope.

    Returns
    -------
    dict from each of `KINDS` but "cost" to DataFrame
    """
    (found,) = measured(histogram, [private.counts], swapped)
    return labelled(found, system=BUREAU, parameter="rho", budget=rho, run=0)


def measured(
    part: Histogram, releases: Sequence[np.ndarray], swapped: Sequence[str]
) -> list[dict[str, pd.DataFrame]]:
    """Measure releases of one kind in all counties, and in those that are swapped as well."""
    inside = part.counties["state"].isin(list(swapped)).to_numpy()
    scopes = {SWAPPED: inside} if inside.all() else {EVERYWHERE: np.full(len(inside), True)}
    scopes |= {SWAPPED: inside} if inside.any() else {}
    found: list[dict[str, list]] = [{"errors": [], "shares": [], "summary": []} for _ in releases]
    for scope, rows in scopes.items():
        want, states = part.counts[rows], pd.factorize(part.counties["state"][rows])[0]
        got = [released[rows] for released in releases]
        apart = _query_spreads(got, want, states), _share_spreads(got, want, states)
        for tables, released, of_queries, of_shares in zip(found, got, *apart, strict=True):
            errors, of = query_errors(released, want), _share_errors(released, want)
            tables["errors"].append(pd.concat([errors, of_queries], axis=1).assign(scope=scope))
            tables["shares"].append(pd.concat([of, of_shares], axis=1).assign(scope=scope))
            tables["summary"].append(pd.DataFrame([summary(released, want)]).assign(scope=scope))
    return [
        {kind: pd.concat(tables, ignore_index=True) for kind, tables in each.items()}
        for each in found
    ]


def _share_errors(released, true) -> pd.DataFrame:
    people = true.sum(axis=1)
    tables = [
        share_errors(released, true, share, people, POPULATIONS).assign(share=share.name)
        for share in shares()
    ]
    return pd.concat(tables, ignore_index=True)


def _query_spreads(releases, true, states) -> list[pd.DataFrame]:
    """Spreads of the errors of every query, a row each as from `query_errors`."""
    parts = []
    for query in QUERIES:
        answers = SCHEMA.margins([query]).sparse
        want = (answers @ true.T).T
        each = ((answers @ released.T).T - want.astype(float) for released in releases)
        classes = np.digitize(want, list(_sizes(query).values())) - 1
        measures = {"bias_spread": np.copy, "square_spread": np.square}
        parts.append(spreads(each, classes, states, measures))
    return [pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)]


def _share_spreads(releases, true, states) -> list[pd.DataFrame]:
    """Spreads of the errors of every share, a row each as from `_share_errors`."""
    classes = np.digitize(true.sum(axis=1), list(POPULATIONS.values())) - 1
    measures = {"bias_spread": np.copy, "mae_spread": np.abs}
    parts = []
    for share in shares():
        want = share.of(true)
        known = ~np.isnan(want)
        each = (100 * (share.of(released) - want)[known, None] for released in releases)
        parts.append(spreads(each, classes[known, None], states[known], measures))
    return [pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)]


def _sizes(query: str) -> Mapping[str, int]:
    return POPULATIONS if query == "total" else CLASSES


def query_errors(released, true) -> pd.DataFrame:
    """Measure the errors of every query by true size.

    Parameters
    ----------
    released, true : array, shape (areas, cells)

    Returns
    -------
    DataFrame
        Columns of `isdp.compare.errors_by_size`, and query.
    """
    tables = []
    for query in QUERIES:
        answers = SCHEMA.margins([query]).sparse
        table = errors_by_size((answers @ released.T).T, (answers @ true.T).T, _sizes(query))
        tables.append(table.assign(query=query))
    return pd.concat(tables, ignore_index=True)


def _cost(part: Histogram, seconds: float) -> pd.DataFrame:
    people = int(part.counts.sum())
    row = {"areas": len(part.counts), "cells": part.counts.size, "people": people}
    return pd.DataFrame([row | {"seconds": seconds}])
