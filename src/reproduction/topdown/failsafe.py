"""Releases that no regions below can make up, and three ways around them (TDA, "Workarounds").

Totals by kind of a state and of its counties are measured; a county's grand total, and which kinds
it has, are known. Three releases are made from the same measurements: the state without the implied
constraints, then the counties, with the failsafe where these cannot add up to it; the state with
the implied constraints, then the counties; and the minimal schema, both levels at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from isdp.constraints.presence import Presence
from isdp.topdown.kinds import nearest_kinds
from isdp.topdown.minimal import Tree, nearest_everywhere
from isdp.topdown.noise import draw_noise
from isdp.topdown.projections import onto_transportation
from isdp.topdown.rounding import round_tables
from reproduction.topdown.implied import DORMITORIES, rounded_simplices

QUARTERS = "group quarters, states and counties"
STUDENTS = "dormitories, a state of two regions"
# two regions of 100 students each; the second number of each is co-ed
STUDENTS_PEOPLE = np.array([[98, 2, 0], [0, 2, 98]])
WAYS = ("failsafe", "implied", "minimal")


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy totals by kind of some states and of their counties.

    Attributes
    ----------
    people : int64 array, shape (counties, kinds)
        True.
    state : int64 array, shape (counties,)
        From 0 up.
    presence : Presence
        Of the counties, which all states together have.
    above : int64 array, shape (states, kinds)
    below : int64 array, shape (counties, kinds)
    """

    people: np.ndarray
    state: np.ndarray
    presence: Presence
    above: np.ndarray
    below: np.ndarray


def measure_kinds(rng: np.random.Generator, people, state, presence, epsilon: float) -> Measured:
    """Measure states and counties, each with noise of the same epsilon."""
    people = np.asarray(people)
    above = np.zeros((state.max() + 1, people.shape[1]), dtype=np.int64)
    np.add.at(above, state, people)
    noisy = [
        true + draw_noise(rng, "pure", [epsilon], [true.size]).reshape(true.shape)
        for true in (above, people)
    ]
    return Measured(people, state, presence, *noisy)


def minimal_schema(rng: np.random.Generator, measured: Measured) -> np.ndarray:
    """Estimate all states and counties in one least squares problem, and round them in one."""
    tree = Tree([measured.state], [1, 1])
    return nearest_everywhere(rng, [measured.above, measured.below], tree, measured.presence)


def state_first(rng: np.random.Generator, measured: Measured, state: int, implied: bool):
    """Release one state, then its counties.

    Parameters
    ----------
    rng : numpy.random.Generator
    measured : Measured
    state : int
    implied : bool
        Whether the state is held to what its counties imply; else to the least numbers and the
        grand total alone.

    Returns
    -------
    table : int64 array, shape (counties of the state, kinds)
    moved : int
        l1 distance by which the failsafe moved the state; 0 where it did not fire.
    """
    here = measured.state == state
    known = measured.presence
    kinds = known.present[here].any(axis=0)
    some = np.ix_(here, kinds)
    presence = Presence(known.totals[here], known.present[some], known.least[some])
    least = presence.least.sum(axis=0)
    noisy = measured.above[state, kinds]
    if implied:
        top = nearest_kinds(rng, noisy, presence).totals
    else:
        rest = np.array([presence.totals.sum() - least.sum()])
        top = least + rounded_simplices(rng, (noisy - least)[None], rest)[0]
    points = np.where(presence.present, measured.below[some] - presence.least, -np.inf)
    moved = 0
    if presence.broken(top) is None:
        sums = presence.caps, top - least
        real = onto_transportation(points, *sums)
        found = presence.least + round_tables(rng, real, sums[1], sums[0]).table
    else:
        found = presence.least + rounded_simplices(rng, points, presence.caps)
        moved = int(np.abs(found.sum(axis=0) - top).sum())
    table = np.zeros((int(here.sum()), len(kinds)), dtype=np.int64)
    table[:, kinds] = found
    return table, moved


def failsafe_table(
    rng: np.random.Generator, counties: pd.DataFrame, people, epsilons, runs: int
) -> pd.DataFrame:
    """How often a state's released group quarters fit no counties, and what each way around costs.

    Returns
    -------
    DataFrame
        As from `compare_ways`, the real group quarters first, then the slides' dormitories.
    """
    state = counties["state"].astype("category").cat.codes.to_numpy(np.int64)
    presence = Presence(people.sum(axis=1), people > 0)
    rows = [
        {"where": QUARTERS, "epsilon": epsilon}
        | compare_ways(rng, people, state, presence, epsilon, runs)
        for epsilon in epsilons
    ]
    states = len(np.unique(state)) * runs  # as many releases of the dormitories
    copies = np.tile(STUDENTS_PEOPLE, (states, 1))
    known = Presence(np.tile(DORMITORIES.totals, states), np.tile(DORMITORIES.present, (states, 1)))
    pairs = np.repeat(np.arange(states), len(STUDENTS_PEOPLE))
    rows += [
        {"where": STUDENTS, "epsilon": epsilon}
        | compare_ways(rng, copies, pairs, known, epsilon, 1)
        for epsilon in (0.1, 1.0)
    ]
    return pd.DataFrame(rows)


def compare_ways(rng: np.random.Generator, people, state, presence, epsilon: float, runs: int):
    """Make releases in the three ways, from the same measurements.

    Returns
    -------
    dict
        releases; minimal_failed (of them, those in which the minimal schema gave no table that
        keeps what is known of every county); fired (of them, without the implied constraints);
        error_plain (mean l1 error of a state's totals by kind where the failsafe did not fire,
        persons); of the releases where it fired: error_failsafe, error_implied and error_minimal
        (the same), moved (mean l1 distance that the failsafe moved a state by), counties_failsafe,
        counties_implied and counties_minimal (mean l1 error of all counties of a state, persons);
        over_implied and over_minimal (by how much error_failsafe is the larger one), each with its
        standard error over these releases, which are independent of each other; missing where that
        is one.
    """
    errors: list[int] = []
    fired: list[dict] = []
    failed = 0
    for _ in range(runs):
        measured = measure_kinds(rng, people, state, presence, epsilon)
        everywhere = minimal_schema(rng, measured)
        for number in range(len(measured.above)):
            here = state == number
            failed += not _keeps(everywhere[here], presence, here)
            table, moved = state_first(rng, measured, number, implied=False)
            _check(table, presence, here)
            true = measured.people[here]
            if not moved:
                errors.append(np.abs((table - true).sum(axis=0)).sum())
                continue
            again, no_move = state_first(rng, measured, number, implied=True)
            if no_move:
                raise AssertionError("a state that meets the implied constraints fits no counties")
            found = dict(zip(WAYS, (table, again, everywhere[here]), strict=True))
            row = {"moved": moved}
            _check(again, presence, here)
            for way, each in found.items():
                row[f"error_{way}"] = np.abs((each - true).sum(axis=0)).sum()
                row[f"counties_{way}"] = np.abs(each - true).sum()
            fired.append(row)
    each = pd.DataFrame(fired, columns=_columns()).astype(float)
    return {
        "releases": len(errors) + len(fired),
        "minimal_failed": failed,
        "fired": len(fired),
        "error_plain": float(np.mean(errors)) if errors else np.nan,
        **each.mean(),
        **_over(each, "implied"),
        **_over(each, "minimal"),
    }


def _over(fired: pd.DataFrame, way: str) -> dict[str, float]:
    """By how much the failsafe's error of a state is larger than another way's, with its error."""
    over = fired["error_failsafe"] - fired[f"error_{way}"]
    return {f"over_{way}": over.mean(), f"over_{way}_error": over.sem()}


def _columns() -> list[str]:
    return [
        *(f"error_{way}" for way in WAYS),
        "moved",
        *(f"counties_{way}" for way in WAYS),
    ]


def _keeps(table, presence: Presence, here) -> bool:
    """Whether a table of some counties is whole and keeps what is known of them."""
    return bool(
        np.issubdtype(table.dtype, np.integer)
        and (table.sum(axis=1) == presence.totals[here]).all()
        and (table >= presence.least[here]).all()
        and not table[~presence.present[here]].any()
    )


def _check(table, presence: Presence, here) -> None:
    if not _keeps(table, presence, here):
        raise AssertionError("a released county does not keep what is known of it")
