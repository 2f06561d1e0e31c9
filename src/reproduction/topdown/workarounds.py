"""Workarounds for totals by type that no regions can have (TDA, "Workarounds").

Cutting planes find the bounds that a release violates. The slides' 28 types of group quarters have
2^28 subsets, which are too many to list. The published tables have only 7 types, so the regions are
synthetic.

Three other workarounds release a state and its counties from the same noisy totals by type. The
grand total of a county and the types that it has are known. The failsafe releases the totals of the
state, and then counties that sum to them. If no possible counties sum to these totals, the failsafe
changes the totals. The implied constraints restrict the state to the sums of possible counties. The
minimal schema releases both levels together.

TDA is *The TopDown algorithm and invariants* (slides).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from isdp.constraints.presence import Presence
from isdp.streams import stream
from isdp.topdown.controlled_rounding import round_tables
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.presence_estimate import RegionTree, estimate_all_levels
from isdp.topdown.projections import project_onto_simplices, project_onto_transportation_polytope
from reproduction.topdown.theory.subset_bounds import nearest_group_totals

# Each of the two regions has 100 students. The types are female-only, co-ed and male-only.
DORMITORIES = Presence(np.array([100, 100]), np.array([[1, 1, 0], [0, 1, 1]]))
QUARTERS_CASE = "group quarters, states and counties"
STUDENTS_CASE = "dormitories, a state of two regions"
STUDENTS_PEOPLE = np.array([[98, 2, 0], [0, 2, 98]])
COST_COLUMNS = [
    *("error_failsafe", "error_implied", "error_minimal", "moved"),
    *("counties_failsafe", "counties_implied", "counties_minimal"),
]
KINDS = 28  # The number of types of group quarters in the slides.
MAX_KINDS = 4  # The maximum number of types in a synthetic region.
MEDIAN_REGION_SIZE = 60  # The median population of a region, minus one person of each type.


@dataclass(frozen=True, eq=False)
class Measured:
    """True and noisy totals by type of group quarters, int64."""

    people: np.ndarray  # True totals by county and type.
    state: np.ndarray  # The state of each county, numbered from 0.
    presence: Presence  # The types that each county has.
    above: np.ndarray  # Noisy totals by state and type.
    below: np.ndarray  # Noisy totals by county and type.


def measure_kinds(rng: np.random.Generator, people, state, presence, epsilon: float) -> Measured:
    """Add noise with the same epsilon to the totals of states and of counties."""
    people = np.asarray(people)
    above = pd.DataFrame(people).groupby(state).sum().to_numpy()
    noisy = [
        true + draw_noise(rng, "pure", [epsilon], [true.size]).reshape(true.shape)
        for true in (above, people)
    ]
    return Measured(people, state, presence, *noisy)


def release_minimal(rng: np.random.Generator, measured: Measured) -> np.ndarray:
    """Release all states and counties by the minimal schema: one estimate and one rounding."""
    tree = RegionTree([measured.state], [1, 1])
    return estimate_all_levels(rng, [measured.above, measured.below], tree, measured.presence)


def release_state_first(rng: np.random.Generator, measured: Measured, state: int, implied: bool):
    """Release one state, and then its counties.

    With `implied`, the state meets the constraints that its counties imply. Otherwise it meets only
    the minimum counts and the grand total, and the failsafe may change it. Returns the county
    table, and the l1 distance between the state's totals before and after the failsafe.
    """
    here = measured.state == state
    known = measured.presence
    kinds = known.present[here].any(axis=0)
    some = np.ix_(here, kinds)
    presence = Presence(known.totals[here], known.present[some], known.minimums[some])
    least = presence.minimums.sum(axis=0)
    noisy = measured.above[state, kinds]
    if implied:
        top = nearest_group_totals(rng, noisy, presence).totals
    else:
        rest = np.array([presence.totals.sum() - least.sum()])
        top = least + round_to_simplices(rng, (noisy - least)[None], rest)[0]
    points = np.where(presence.present, measured.below[some] - presence.minimums, -np.inf)
    moved = 0
    if presence.violated_bound(top) is None:
        sums = presence.surpluses, top - least
        real = project_onto_transportation_polytope(points, *sums)
        found = presence.minimums + round_tables(rng, real, sums[1], sums[0]).table
    else:
        found = presence.minimums + round_to_simplices(rng, points, presence.surpluses)
        moved = int(np.abs(found.sum(axis=0) - top).sum())
    table = np.zeros((here.sum(), len(kinds)), dtype=np.int64)
    table[:, kinds] = found
    return table, moved


def tabulate_failsafe(
    rng: np.random.Generator, counties: pd.DataFrame, people, epsilons, runs: int
) -> pd.DataFrame:
    """Compare the workarounds on the published group quarters and on the slides' dormitories."""
    state = counties["state"].astype("category").cat.codes.to_numpy(np.int64)
    presence = Presence(people.sum(axis=1), people > 0)
    states = len(np.unique(state)) * runs
    copies = np.tile(STUDENTS_PEOPLE, (states, 1))
    known = Presence(np.tile(DORMITORIES.totals, states), np.tile(DORMITORIES.present, (states, 1)))
    pairs = np.repeat(np.arange(states), len(STUDENTS_PEOPLE))
    cases = [(QUARTERS_CASE, epsilon, (people, state, presence), runs) for epsilon in epsilons]
    cases += [(STUDENTS_CASE, epsilon, (copies, pairs, known), 1) for epsilon in (0.1, 1.0)]
    rows = [
        {"where": where, "epsilon": epsilon} | compare_workarounds(rng, *data, epsilon, times)
        for where, epsilon, data, times in cases
    ]
    return pd.DataFrame(rows)


def compare_workarounds(
    rng: np.random.Generator, people, state, presence, epsilon: float, runs: int
) -> dict:
    """Release the same measurements by each workaround (a row of topdown_failsafe)."""
    rows, failed = [], 0
    for _ in range(runs):
        measured = measure_kinds(rng, people, state, presence, epsilon)
        everywhere = release_minimal(rng, measured)
        for number in range(len(measured.above)):
            here = measured.state == number
            failed += not _keeps(everywhere[here], presence, here)
            table, moved = release_state_first(rng, measured, number, implied=False)
            found = {"failsafe": table}
            if moved:
                found["implied"], moved_twice = release_state_first(
                    rng, measured, number, implied=True
                )
                if moved_twice:
                    raise AssertionError(
                        "topdown: a state meets the implied constraints, but no counties sum to it"
                    )
            if not all(_keeps(each, presence, here) for each in found.values()):
                raise AssertionError("topdown: a released county contradicts its known values")
            if moved:
                found["minimal"] = everywhere[here]
            row = {"moved": moved}
            for name, released in found.items():
                error = released - measured.people[here]
                row[f"error_{name}"] = np.abs(error.sum(axis=0)).sum()
                row[f"counties_{name}"] = np.abs(error).sum()
            rows.append(row)
    every = pd.DataFrame(rows, columns=COST_COLUMNS).astype(float)
    fired = every[every["moved"] > 0]
    costs = {
        "releases": len(every),
        "minimal_failed": failed,
        "fired": len(fired),
        "error_plain": every.loc[every["moved"] == 0, "error_failsafe"].mean(),
    } | fired.mean().to_dict()
    for name in ("implied", "minimal"):
        over = fired["error_failsafe"] - fired[f"error_{name}"]
        costs |= {f"over_{name}": over.mean(), f"over_{name}_error": over.sem()}
    return costs


def _keeps(table, presence: Presence, here) -> bool:
    """Return True if an integer table of some counties agrees with their known values."""
    return bool(
        np.issubdtype(table.dtype, np.integer)
        and (table.sum(axis=1) == presence.totals[here]).all()
        and (table >= presence.minimums[here]).all()
        and not table[~presence.present[here]].any()
    )


def draw_regions(rng: np.random.Generator, regions: int) -> tuple[np.ndarray, Presence]:
    """Draw the persons of synthetic regions. A region has persons of one to four of 28 types."""
    people = np.zeros((regions, KINDS), dtype=np.int64)
    for row in people:
        kinds = rng.choice(KINDS, rng.integers(1, MAX_KINDS + 1), replace=False)
        size = int(MEDIAN_REGION_SIZE * np.exp(1.5 * rng.standard_normal()))
        row[kinds] = 1 + rng.multinomial(size, rng.dirichlet(np.ones(len(kinds))))
    return people, Presence(people.sum(axis=1), people > 0)


def cut_once(seed: int, regions: int, epsilon: float, number: int):
    """Release the totals by type of one synthetic state."""
    people, presence = draw_regions(stream(seed, "topdown cuts", "regions", number), regions)
    rng = stream(seed, "topdown cuts", f"noise {epsilon}", number)
    noisy = people.sum(axis=0) + draw_noise(rng, "pure", [epsilon], [KINDS])
    return people, presence, noisy, nearest_group_totals(rng, noisy, presence)


def tabulate_cuts(seed: int, regions: int, epsilons, runs: int) -> pd.DataFrame:
    """Count the bounds that the releases of synthetic states need (table topdown_cuts)."""
    rows = []
    for epsilon, number in product(epsilons, range(runs)):
        people, presence, noisy, found = cut_once(seed, regions, epsilon, number)
        true = people.sum(axis=0)
        errors = np.abs(noisy - true).sum(), np.abs(found.totals - true).sum()
        broken = presence.violated_bound(found.totals) is not None
        rows.append((epsilon, len(found.cuts), presence.present.sum(), *errors, broken))
    columns = ["epsilon", "cuts", "variables", "error_noisy", "error", "broken"]
    table = pd.DataFrame(rows, columns=columns).groupby("epsilon", sort=False, as_index=False)
    found = table.agg(
        releases=("cuts", "size"),
        cuts_mean=("cuts", "mean"),
        cuts_most=("cuts", "max"),
        variables=("variables", "max"),
        error_noisy=("error_noisy", "mean"),
        error=("error", "mean"),
        broken=("broken", "sum"),
    )
    found.insert(2, "subsets", 2**KINDS - 1)
    return found


def round_to_simplices(rng: np.random.Generator, points, sums) -> np.ndarray:
    """Project each row onto the non-negative rows with a given sum, and round it to integers."""
    real = project_onto_simplices(np.asarray(points, dtype=float).T, sums)
    return round_tables(rng, real, cell_sums=np.asarray(sums)).table.T
