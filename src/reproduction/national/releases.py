"""Release every state's table by every system at every budget, in batches that are a job each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.compare import System
from isdp.seeds import stream
from reproduction.comparison.experiment import POPULATIONS, areas_of, query_errors
from reproduction.comparison.systems import budgets_of, systems
from reproduction.comparison.tables import BY_SIZE
from reproduction.data.histogram import Histogram
from reproduction.national.settings import TOGETHER
from reproduction.topdown.errors import CLASSES
from reproduction.topdown.experiment import only_states
from reproduction.topdown.systems import gathered, labelled

NATION = "nation"
LABELS = ["system", "parameter", "budget"]
SIZES = ["all", *POPULATIONS, *CLASSES]
Release = tuple[str, float, str]  # system, budget, and a state or the nation


def releases(family: str, states: Sequence[str], settings: Mapping) -> list[Release]:
    """List the releases of a family of systems: by system, then by budget, then by state.

    Parameters
    ----------
    family : str
        One of `reproduction.comparison.systems.FAMILIES`.
    states : sequence of str
    settings : mapping
        The block "national" of the config.
    """
    places = [NATION] if family in TOGETHER else states
    return [
        (system.name, budget, place)
        for system in systems()[family]
        for budget in budgets_of(system, settings)
        for place in places
    ]


def run_batch(
    seed: int, histogram: Histogram, family: str, batch: Sequence[Release]
) -> pd.DataFrame:
    """Release and measure; what one release draws does not depend on the others of its batch.

    Parameters
    ----------
    seed : int
    histogram : Histogram
        Of the states that are run.
    family : str
    batch : sequence of Release

    Returns
    -------
    DataFrame
        Columns system, parameter, budget and state, and those of
        `reproduction.comparison.experiment.query_errors`; the nation's release is measured state
        by state.
    """
    by_name = {system.name: system for system in systems()[family]}
    tables = [_released(seed, histogram, by_name[name], *each) for name, *each in batch]
    return pd.concat(tables, ignore_index=True)


def _released(
    seed: int, histogram: Histogram, system: System, budget: float, place: str
) -> pd.DataFrame:
    part = histogram if place == NATION else only_states(histogram, [place])
    rng = stream(seed, "national", f"{system.name}, {budget!r}, {place}")
    released = system.release(rng, areas_of(part), budget)
    tables = []
    state_of = part.counties["state"].to_numpy()
    for state in dict.fromkeys(state_of):
        rows = state_of == state
        found = {"errors": query_errors(released[rows], part.counts[rows])}
        labels = {"system": system.name, "parameter": system.parameter, "budget": budget}
        tables.append(labelled(found, **labels, state=state))
    return gathered(tables)["errors"]


def state_table(errors: pd.DataFrame) -> pd.DataFrame:
    """Tell each state's errors, of all sizes together.

    Parameters
    ----------
    errors : DataFrame
        All that `run_batch` gave.
    """
    rows = errors[errors["size"] == "all"].drop(columns="size")
    rows.insert(len(LABELS) + 1, "query", rows.pop("query"))
    return rows.reset_index(drop=True)


def nation_table(errors: pd.DataFrame) -> pd.DataFrame:
    """Pool the states' errors; those of totals and cells by true size as well.

    Returns
    -------
    DataFrame
        Columns system, parameter, budget, query, size, states, answers, bias, mae, rmse (persons)
        and negative (answers below zero).
    """
    kept = errors[(errors["size"] == "all") | errors["query"].isin(BY_SIZE)]
    sums = kept.assign(
        states=1,
        bias=kept["bias"] * kept["answers"],
        mae=kept["mae"] * kept["answers"],
        rmse=kept["rmse"] ** 2 * kept["answers"],
        size=pd.Categorical(kept["size"], SIZES),
    )
    by = [*LABELS, "query", "size"]
    # in the order of the runs, but for the sizes, which are in their own
    for label in by[:-1]:
        sums[label] = pd.Categorical(sums[label], sums[label].unique())
    columns = ["states", "answers", "bias", "mae", "rmse", "negative"]
    found = sums.groupby(by, observed=True)[columns].sum().reset_index()
    found = found.astype({label: errors[label].dtype for label in by})
    for name in ("bias", "mae", "rmse"):
        found[name] /= found["answers"]
    found["rmse"] = np.sqrt(found["rmse"])
    return found
