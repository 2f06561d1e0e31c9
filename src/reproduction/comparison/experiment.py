"""Release the same counts by every system at every budget, and measure the errors."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.compare import Areas, System
from isdp.streams import stream
from reproduction.comparison.measures import Share, errors_by_size, share_errors, summary
from reproduction.comparison.spread import estimate_spreads
from reproduction.comparison.systems import list_budgets
from reproduction.data.histogram import CELLS, Histogram
from reproduction.topdown.configurations import SCHEMA
from reproduction.topdown.errors import SIZE_CLASSES
from reproduction.topdown.experiment import keep_states
from reproduction.topdown.system_errors import add_labels, gather_tables

ALL_COUNTIES, SWAPPED_STATES = "all counties", "swapped states"
TABLE_KINDS = ("errors", "shares", "summary", "cost")
POPULATION_CLASSES = {
    "under 5,000": 0,
    "5,000 to 20,000": 5_000,
    "20,000 to 100,000": 20_000,
    "over 100,000": 100_000,
}
QUERIES = ("total", "race", "hispanic", "adult", "detail")
# Each share counts the cells whose name has this letter at this position.
SHARES = {
    "Hispanic": (1, "h"),
    "under 18": (2, "c"),
    "Black alone": (0, "B"),
    "American Indian alone": (0, "I"),
}
DEMONSTRATION_SYSTEM = "Bureau, 2021-06-08"


def build_areas(histogram: Histogram) -> Areas:
    """Group the counties into states. Puerto Rico counts as a state."""
    counties = histogram.counties
    return Areas(histogram.counts, counties["state"].tolist(), SCHEMA, counties["fips"].tolist())


def list_shares() -> list[Share]:
    """List the shares in `SHARES` with their cells."""
    names = [cell.split(":") for cell in CELLS]
    return [
        Share(share, [number for number, name in enumerate(names) if name[part] == letter])
        for share, (part, letter) in SHARES.items()
    ]


def run_family(
    seed: int, histogram: Histogram, systems: Sequence[System], settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Release the counts by each system at each budget, and return the tables `TABLE_KINDS`.

    The settings are the block "comparison" of the configuration.
    """
    found = []
    swapped = keep_states(histogram, settings["swapped"])
    for system in systems:
        part = swapped if system.parameter == "rate" else histogram
        areas, people = build_areas(part), int(part.counts.sum())
        size = {"areas": len(part.counts), "cells": part.counts.size, "people": people}
        for budget in list_budgets(system, settings):
            releases, seconds = [], []
            for number in range(settings["runs"]):
                rng = stream(seed, "comparison", f"{system.name}, {budget!r}", number)
                began = time.process_time()
                releases.append(system.release(rng, areas, budget))
                seconds.append(time.process_time() - began)
            labels = {"system": system.name, "parameter": system.parameter, "budget": budget}
            for number, tables in enumerate(measure_releases(part, releases, settings["swapped"])):
                tables["cost"] = pd.DataFrame([size | {"seconds": seconds[number]}])
                found.append(add_labels(tables, **labels, run=number))
    return gather_tables(found)


def measure_demonstration(histogram: Histogram, private: Histogram, rho: float, swapped) -> dict:
    """Measure the demonstration data as a release of the same counties with budget `rho`."""
    (found,) = measure_releases(histogram, [private.counts], swapped)
    return add_labels(found, system=DEMONSTRATION_SYSTEM, parameter="rho", budget=rho, run=0)


def measure_releases(
    part: Histogram, releases: Sequence[np.ndarray], swapped: Sequence[str]
) -> list[dict[str, pd.DataFrame]]:
    """Measure the errors in all counties, and in the counties of the states `swapped`."""
    inside = part.counties["state"].isin(list(swapped)).to_numpy()
    scopes = {} if inside.all() else {ALL_COUNTIES: np.full(len(inside), True)}
    scopes |= {SWAPPED_STATES: inside} if inside.any() else {}
    by_scope = []
    for scope, rows in scopes.items():
        states = pd.factorize(part.counties["state"][rows])[0]
        found = _measured([released[rows] for released in releases], part.counts[rows], states)
        by_scope.append([add_labels(tables, scope=scope) for tables in found])
    return [gather_tables(tables) for tables in zip(*by_scope, strict=True)]


def _measured(releases, true, states) -> list[dict[str, pd.DataFrame]]:
    errors, shares = [], []
    for query in QUERIES:
        answers = SCHEMA.margins([query]).sparse
        want = (answers @ true.T).T
        each = ((answers @ released.T).T - want.astype(float) for released in releases)
        classes = np.digitize(want, list(_sizes(query).values())) - 1
        measures = {"bias_spread": np.copy, "square_spread": np.square}
        errors.append(estimate_spreads(each, classes, states, measures))
    people = true.sum(axis=1)[:, None]
    for share in list_shares():
        want = share.of(true)
        known = ~np.isnan(want)
        each = (100 * (share.of(released) - want)[known, None] for released in releases)
        classes = np.digitize(people[known], list(POPULATION_CLASSES.values())) - 1
        measures = {"bias_spread": np.copy, "mae_spread": np.abs}
        shares.append(estimate_spreads(each, classes, states[known], measures))
    return [
        {
            "errors": measure_queries(released, true).join(pd.concat(by_query, ignore_index=True)),
            "shares": measure_shares(released, true).join(pd.concat(by_share, ignore_index=True)),
            "summary": pd.DataFrame([summary(released, true)]),
        }
        for released, by_query, by_share in zip(
            releases, zip(*errors, strict=True), zip(*shares, strict=True), strict=True
        )
    ]


def _sizes(query: str) -> Mapping[str, int]:
    return POPULATION_CLASSES if query == "total" else SIZE_CLASSES


def measure_shares(released, true) -> pd.DataFrame:
    """Measure the errors of each share in a table of shape (areas, cells), by true population."""
    tables = [
        share_errors(released, true, share, POPULATION_CLASSES).assign(share=share.name)
        for share in list_shares()
    ]
    return pd.concat(tables, ignore_index=True)


def measure_queries(released, true) -> pd.DataFrame:
    """Measure the errors of each query in a table of shape (areas, cells), by true answer."""
    tables = []
    for query in QUERIES:
        answers = SCHEMA.margins([query]).sparse
        table = errors_by_size((answers @ released.T).T, (answers @ true.T).T, _sizes(query))
        tables.append(table.assign(query=query))
    return pd.concat(tables, ignore_index=True)
