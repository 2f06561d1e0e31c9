"""The slides' dormitories: which totals can be extended to the regions (TDA, "An Example")."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from isdp import Invariants, Polytope
from isdp.constraints.implied import implied_constraints
from isdp.constraints.presence import Presence
from isdp.topdown.noise import draw_noise
from isdp.topdown.projections import onto_simplices
from isdp.topdown.rounding import round_tables

# two regions of 100 students; female-only, co-ed and male-only dormitories
DORMITORIES = Presence(np.array([100, 100]), np.array([[1, 1, 0], [0, 1, 1]]))
SLIDES_REFUSED = (49, 50, 101)
PEOPLE = 200
TRUTHS = ((2, 100, 98), (99, 2, 99), (50, 100, 50), (10, 180, 10))
# the last slide of the example: rows of >= constraints on female, co-ed and male
NAIVE = (((1, 0, 0), 1), ((0, 1, 0), 2), ((0, 0, 1), 1))
PRINTED = (*NAIVE, ((-1, 0, 0), -99), ((1, 1, 0), 101))


def all_totals() -> np.ndarray:
    """List female, co-ed and male totals from 0 up that add up to 200; shape (20301, 3)."""
    pairs = np.array([(f, c) for f in range(PEOPLE + 1) for c in range(PEOPLE + 1 - f)])
    return np.column_stack([pairs, PEOPLE - pairs.sum(axis=1)])


def extendable() -> np.ndarray:
    """List all totals of the dormitories by listing both regions, distinct rows, sorted."""
    female = np.arange(1, 100)  # of the first region; the rest of its 100 are co-ed
    first = np.column_stack([female, 100 - female, 0 * female])
    second = first[:, ::-1]  # male and co-ed
    return np.unique((first[:, None] + second[None]).reshape(-1, 3), axis=0)


def eliminated() -> tuple[Polytope, int]:
    """Derive the constraints on the totals by exact Fourier-Motzkin elimination.

    The number is the largest number of inequalities on the way.
    """
    # cells: the three totals, then female and co-ed of region 1, co-ed and male of region 2
    equal = np.array(
        [
            [1, 0, 0, -1, 0, 0, 0],
            [0, 1, 0, 0, -1, -1, 0],
            [0, 0, 1, 0, 0, 0, -1],
            [0, 0, 0, 1, 1, 0, 0],
            [0, 0, 0, 0, 0, 1, 1],
        ]
    )
    present = np.eye(7, dtype=int)[3:]
    whole = Polytope(
        Invariants(equal), np.array([0, 0, 0, 100, 100]), Invariants(present), np.ones(4, dtype=int)
    )
    found = implied_constraints(whole, [0, 1, 2])
    return found.polytope, found.peak


def dormitory_table() -> pd.DataFrame:
    """Count the whole totals that each description allows, against a list of all that exist."""
    points, real = all_totals(), extendable()
    listed = pd.MultiIndex.from_arrays(points.T).isin(pd.MultiIndex.from_arrays(real.T))
    derived, peak = eliminated()
    flows = DORMITORIES.polytope()
    described = {
        "non-negative": (),
        "occupied dormitories": NAIVE,
        "printed": PRINTED,
        "printed without co-ed >= 2": (PRINTED[0], *PRINTED[2:]),
    }
    allowed = {name: (len(rows), _meets(points, rows)) for name, rows in described.items()} | {
        f"elimination (at most {peak} on the way)": (
            derived.inequalities.constraints,
            derived.contains(points),
        ),
        "minimal cuts": (flows.inequalities.constraints, flows.contains(points)),
        "both regions listed": (0, listed),
    }
    columns = ["constraints", "inequalities", "totals", "missing", "impossible"]
    rows = [
        (name, number, some.sum(), (listed & ~some).sum(), (some & ~listed).sum())
        for name, (number, some) in allowed.items()
    ]
    table = pd.DataFrame(rows, columns=columns)
    table["wrong"] = table["missing"] + table["impossible"]
    refused = (points == SLIDES_REFUSED).all(axis=1)
    return table.assign(allows_49_50_101=[some[refused].any() for _, some in allowed.values()])


def _meets(points, constraints) -> np.ndarray:
    """Whether each point meets all constraints, each a row and a lower bound."""
    met = np.ones(len(points), dtype=bool)
    for row, least in constraints:
        met &= points @ np.array(row) >= least
    return met


def naive_releases(rng: np.random.Generator, truth, epsilon: float, draws: int) -> float:
    """Share of releases that meet the obvious constraints of the dormitories but no regions can.

    The three totals (female-only, co-ed and male-only) get double geometric noise, are projected
    onto the least numbers and the grand total, and rounded.
    """
    least = DORMITORIES.least.sum(axis=0)
    noise = draw_noise(rng, "pure", [epsilon], [3 * draws]).reshape(draws, 3)
    sums = np.full(draws, DORMITORIES.totals.sum() - least.sum())
    released = least + rounded_simplices(rng, np.asarray(truth) + noise - least, sums)
    return 1 - float(DORMITORIES.polytope().contains(released).mean())


def naive_table(rng: np.random.Generator, epsilons, draws: int) -> pd.DataFrame:
    """Share of releases under the obvious constraints alone that no regions can have."""
    rows = []
    for truth, epsilon in product(TRUTHS, epsilons):
        share = naive_releases(rng, truth, epsilon, draws)
        error = float(np.sqrt(share * (1 - share) / draws))
        rows.append((", ".join(map(str, truth)), epsilon, draws, share, error))
    return pd.DataFrame(rows, columns=["truth", "epsilon", "draws", "share", "error"])


def rounded_simplices(rng: np.random.Generator, points, sums) -> np.ndarray:
    """Nearest non-negative whole rows with given sums, after projection and rounding."""
    real = onto_simplices(np.asarray(points, dtype=float).T, sums)
    return round_tables(rng, real, cell_sums=np.asarray(sums)).table.T
