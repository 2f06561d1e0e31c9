"""The slides' dormitories: which totals can be extended to the regions (TDA, "An Example")."""

from __future__ import annotations

import numpy as np
import pandas as pd

from isdp import Invariants, Polytope
from isdp.constraints.implied import implied_constraints
from reproduction.topdown.implied import (
    DORMITORIES,
    SLIDES_REFUSED,
    can_be_met,
    naive_releases,
    witness_margins,
)

PEOPLE = 200
TRUTHS = ((2, 100, 98), (99, 2, 99), (50, 100, 50), (10, 180, 10))
# the last slide of the example: rows of >= constraints on female, co-ed and male
PRINTED = (
    ((1, 0, 0), 1),
    ((0, 1, 0), 2),
    ((0, 0, 1), 1),
    ((-1, 0, 0), -99),
    ((1, 1, 0), 101),
)
NAIVE = PRINTED[:3]


def all_totals() -> np.ndarray:
    """List female, co-ed and male totals from 0 up that add up to 200; shape (20301, 3)."""
    pairs = np.array([(f, c) for f in range(PEOPLE + 1) for c in range(PEOPLE + 1 - f)])
    return np.column_stack([pairs, PEOPLE - pairs.sum(axis=1)])


def extendable() -> np.ndarray:
    """List all totals of the dormitories by listing both regions, distinct rows, sorted."""
    female = np.arange(1, 100)  # of the first region; the rest of its 100 are co-ed
    male = np.arange(1, 100)
    first = np.column_stack([female, 100 - female, 0 * female])
    second = np.column_stack([0 * male, 100 - male, male])
    return np.unique((first[:, None] + second[None]).reshape(-1, 3), axis=0)


def eliminated() -> tuple[Polytope, int]:
    """Derive the constraints on the totals by exact Fourier-Motzkin elimination.

    Returns
    -------
    polytope : Polytope
        On the totals of female, co-ed and male.
    peak : int
        Most inequalities on the way.
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
    """Count the whole totals that each description allows, against a list of all that exist.

    Returns
    -------
    DataFrame
        Columns constraints, inequalities, totals (number of whole triples), missing (that exist
        and are ruled out), impossible (allowed, and no regions have them), wrong (both of these
        together) and allows_49_50_101 (the slides' example of totals that only look possible).
    """
    points, real = all_totals(), extendable()
    listed = np.isin(_numbers(points), _numbers(real))
    derived, peak = eliminated()
    flows = DORMITORIES.polytope()
    allowed = {
        "non-negative": (0, np.ones(len(points), dtype=bool)),
        "occupied dormitories": (len(NAIVE), _meets(points, NAIVE)),
        "printed": (len(PRINTED), _meets(points, PRINTED)),
        "printed without co-ed >= 2": (
            len(PRINTED) - 1,
            _meets(points, (PRINTED[0], *PRINTED[2:])),
        ),
        f"elimination (at most {peak} on the way)": (
            derived.inequalities.constraints,
            derived.contains(points),
        ),
        "minimal cuts": (flows.inequalities.constraints, flows.contains(points)),
        "both regions listed": (0, listed),
    }
    rows = []
    for name, (inequalities, some) in allowed.items():
        missing, impossible = len(real) - int((some & listed).sum()), int((some & ~listed).sum())
        rows.append(
            {
                "constraints": name,
                "inequalities": inequalities,
                "totals": int(some.sum()),
                "missing": missing,
                "impossible": impossible,
                "wrong": missing + impossible,
                "allows_49_50_101": bool(some[(points == SLIDES_REFUSED).all(axis=1)].any()),
            }
        )
    return pd.DataFrame(rows)


def _numbers(totals) -> np.ndarray:
    """One number for each row of totals by kind, whose sum is known."""
    return totals[:, 0] * (PEOPLE + 1) + totals[:, 1]


def _meets(points, constraints) -> np.ndarray:
    rows, least = zip(*constraints, strict=True)
    return (points @ np.array(rows).T >= np.array(least)).all(axis=1)


def naive_table(rng: np.random.Generator, epsilons, draws: int) -> pd.DataFrame:
    """How often totals that meet the obvious constraints alone fit no regions.

    Returns
    -------
    DataFrame
        Columns truth (female, co-ed, male), epsilon, draws, share (of releases that cannot be
        extended) and error (its standard error).
    """
    rows = []
    for truth in TRUTHS:
        for epsilon in epsilons:
            share = naive_releases(rng, truth, epsilon, draws)
            error = float(np.sqrt(share * (1 - share) / draws))
            rows.append((", ".join(map(str, truth)), epsilon, draws, share, error))
    return pd.DataFrame(rows, columns=["truth", "epsilon", "draws", "share", "error"])


def witness_table() -> pd.DataFrame:
    """Whether the witness's margins can be met in fractions, and in whole numbers.

    Returns
    -------
    DataFrame
        Columns margins, numbers and met.
    """
    matrix, sums = witness_margins()
    return pd.DataFrame(
        [
            ("all two-way margins of 3 x 4 x 6", words, can_be_met(matrix, sums, integer=integer))
            for words, integer in (("fractions", False), ("whole", True))
        ],
        columns=["margins", "numbers", "met"],
    )
