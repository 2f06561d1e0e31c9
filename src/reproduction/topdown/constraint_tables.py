"""Tables of the constraints that invariants imply, and of releases that they rule out (TDA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.seeds import stream
from reproduction.topdown import cuts, dormitories, failsafe, implied


def select_counties(
    counties: pd.DataFrame, people, states: Sequence[str] | str
) -> tuple[pd.DataFrame, np.ndarray]:
    """Restrict group quarters to the counties of some states; "all" keeps every county.

    Parameters
    ----------
    counties : DataFrame
        Column state.
    people : array, shape (counties, kinds)
    states : sequence of str, or "all"

    Returns
    -------
    counties, people
    """
    if states == "all":
        return counties, people
    kept = counties["state"].isin(states).to_numpy()
    return counties[kept].reset_index(drop=True), people[kept]


def implied_tables(
    seed: int, counties: pd.DataFrame, people, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Derive the implied constraints of the slides' examples and of the real group quarters.

    Parameters
    ----------
    seed : int
    counties, people
        From `select_counties`.
    settings : mapping
        The block "topdown.implied" of the config.

    Returns
    -------
    dict from the name of a table to DataFrame
    """
    return {
        "dormitories": dormitories.dormitory_table(),
        "naive": dormitories.naive_table(stream(seed, "topdown", "naive"), **settings["naive"]),
        "regions": implied.region_table(),
        "witness": dormitories.witness_table(),
        "implied": implied.group_quarters_table(counties, people),
        "unimodular": implied.unimodular_table(stream(seed, "topdown", "unimodular")),
    }


def workaround_tables(
    seed: int, counties: pd.DataFrame, people, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Release group quarters by cutting planes, and by the failsafe and its two alternatives.

    Parameters and result are those of `implied_tables`.
    """
    rng = stream(seed, "topdown", "failsafe")
    return {
        "cuts": cuts.cuts_table(seed, **settings["cuts"]),
        "failsafe": failsafe.failsafe_table(rng, counties, people, **settings["failsafe"]),
    }
