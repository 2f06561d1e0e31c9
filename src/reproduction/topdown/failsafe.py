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
from reproduction.topdown.dormitories import DORMITORIES, rounded_simplices

QUARTERS = "group quarters, states and counties"
STUDENTS = "dormitories, a state of two regions"
# two regions of 100 students each; the second number of each is co-ed
STUDENTS_PEOPLE = np.array([[98, 2, 0], [0, 2, 98]])
COLUMNS = [
    *("error_failsafe", "error_implied", "error_minimal", "moved"),
    *("counties_failsafe", "counties_implied", "counties_minimal"),
]


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy totals by kind of some states and of their counties, int64."""

    people: np.ndarray  # (counties, kinds), true
    state: np.ndarray  # (counties,), from 0 up
    presence: Presence  # of the counties of all states
    above: np.ndarray  # (states, kinds), noisy
    below: np.ndarray  # (counties, kinds), noisy


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

    Where `implied`, the state is held to what its counties imply; else to the least numbers and
    the grand total alone.

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
    table = np.zeros((here.sum(), len(kinds)), dtype=np.int64)
    table[:, kinds] = found
    return table, moved


def failsafe_table(
    rng: np.random.Generator, counties: pd.DataFrame, people, epsilons, runs: int
) -> pd.DataFrame:
    """Compare the ways on the real group quarters, then on the slides' dormitories."""
    state = counties["state"].astype("category").cat.codes.to_numpy(np.int64)
    presence = Presence(people.sum(axis=1), people > 0)
    states = len(np.unique(state)) * runs  # as many releases of the dormitories
    copies = np.tile(STUDENTS_PEOPLE, (states, 1))
    known = Presence(np.tile(DORMITORIES.totals, states), np.tile(DORMITORIES.present, (states, 1)))
    pairs = np.repeat(np.arange(states), len(STUDENTS_PEOPLE))
    cases = [(QUARTERS, epsilon, (people, state, presence), runs) for epsilon in epsilons]
    cases += [(STUDENTS, epsilon, (copies, pairs, known), 1) for epsilon in (0.1, 1.0)]
    rows = [
        {"where": where, "epsilon": epsilon} | compare_ways(rng, *data, epsilon, times)
        for where, epsilon, data, times in cases
    ]
    return pd.DataFrame(rows)


def compare_ways(rng: np.random.Generator, people, state, presence, epsilon: float, runs: int):
    """Make releases in the three ways, from the same measurements; a row of topdown_failsafe."""
    rows, failed = [], 0
    for _ in range(runs):
        measured = measure_kinds(rng, people, state, presence, epsilon)
        everywhere = minimal_schema(rng, measured)
        for number in range(len(measured.above)):
            here = measured.state == number
            failed += not _keeps(everywhere[here], presence, here)
            table, moved = state_first(rng, measured, number, implied=False)
            _check(table, presence, here)
            found = {"failsafe": table}
            if moved:
                again, no_move = state_first(rng, measured, number, implied=True)
                if no_move:
                    raise AssertionError("a state that meets the implied constraints does not fit")
                _check(again, presence, here)
                found |= {"implied": again, "minimal": everywhere[here]}
            row = {"moved": moved}
            for way, each in found.items():
                off = each - measured.people[here]
                row[f"error_{way}"] = np.abs(off.sum(axis=0)).sum()
                row[f"counties_{way}"] = np.abs(off).sum()
            rows.append(row)
    every = pd.DataFrame(rows, columns=COLUMNS).astype(float)
    fired = every[every["moved"] > 0]
    costs = {
        "releases": len(every),
        "minimal_failed": failed,
        "fired": len(fired),
        "error_plain": every.loc[every["moved"] == 0, "error_failsafe"].mean(),
    } | fired.mean().to_dict()
    for way in ("implied", "minimal"):
        over = fired["error_failsafe"] - fired[f"error_{way}"]
        costs |= {f"over_{way}": over.mean(), f"over_{way}_error": over.sem()}
    return costs


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
