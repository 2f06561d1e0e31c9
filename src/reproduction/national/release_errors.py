"""Release the table of every state by every system at every budget."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.streams import stream
from reproduction.comparison.experiment import POPULATION_CLASSES, build_areas, measure_queries
from reproduction.comparison.systems import list_budgets, list_systems
from reproduction.comparison.tables import QUERIES_BY_SIZE
from reproduction.data.histogram import Histogram
from reproduction.national.settings import NATIONAL_FAMILIES
from reproduction.topdown.errors import SIZE_CLASSES
from reproduction.topdown.experiment import keep_states
from reproduction.topdown.system_errors import add_labels, gather_tables

NATION = "nation"
RELEASE_KEYS = ["system", "parameter", "budget"]
SIZES = ["all", *POPULATION_CLASSES, *SIZE_CLASSES]
Release = tuple[str, float, str]  # system, budget, and a state or the nation


def list_releases(family: str, states: Sequence[str], settings: Mapping) -> list[Release]:
    """List the releases of a family of systems, sorted by system, budget and state."""
    places = [NATION] if family in NATIONAL_FAMILIES else states
    return [
        (system.name, budget, place)
        for system in list_systems()[family]
        for budget in list_budgets(system, settings)
        for place in places
    ]


def run_batch(
    seed: int, histogram: Histogram, family: str, batch: Sequence[Release]
) -> pd.DataFrame:
    """Compute a batch of releases, and measure their errors.

    Each release has its own random stream. A release of the nation is measured state by state.
    """
    by_name = {system.name: system for system in list_systems()[family]}
    tables = []
    for name, budget, place in batch:
        system = by_name[name]
        part = histogram if place == NATION else keep_states(histogram, [place])
        rng = stream(seed, "national", f"{name}, {budget!r}, {place}")
        released = system.release(rng, build_areas(part), budget)
        labels = {"system": name, "parameter": system.parameter, "budget": budget}
        for state in part.counties["state"].unique():
            rows = (part.counties["state"] == state).to_numpy()
            found = {"errors": measure_queries(released[rows], part.counts[rows])}
            tables.append(add_labels(found, **labels, state=state))
    return gather_tables(tables)["errors"]


def select_state_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of the table of `run_batch` that pool all sizes."""
    rows = errors[errors["size"] == "all"].drop(columns="size")
    rows.insert(len(RELEASE_KEYS) + 1, "query", rows.pop("query"))
    return rows.reset_index(drop=True)


def pool_states(errors: pd.DataFrame) -> pd.DataFrame:
    """Compute the table national_errors, which pools the errors of all states.

    The errors of totals and cells are also pooled by the size of the true count.
    """
    kept = errors[(errors["size"] == "all") | errors["query"].isin(QUERIES_BY_SIZE)]
    means = ["bias", "mae", "rmse"]
    sums = kept.assign(states=1, rmse=kept["rmse"] ** 2)
    sums[means] = sums[means].mul(sums["answers"], axis=0)
    by = [*RELEASE_KEYS, "query", "size"]
    found = sums.groupby(by, sort=False)[["states", "answers", *means, "negative"]].sum()
    found[means] = found[means].div(found["answers"], axis=0)
    found = found.assign(rmse=np.sqrt(found["rmse"])).reset_index()
    # all labels keep their order in `errors`, except the sizes
    order = {label: list(errors[label].unique()) for label in by[:-1]} | {"size": SIZES}
    return found.sort_values(
        by, key=lambda each: each.map(order[each.name].index), ignore_index=True
    )
