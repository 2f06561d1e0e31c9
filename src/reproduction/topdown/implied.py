"""Implied constraints at work (TDA): dormitories, group quarters, regions, and where they fail."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from isdp import Invariants
from isdp.constraints.presence import Presence
from isdp.lattice.unimodular import totally_unimodular, whole_vertices
from isdp.topdown.noise import draw_noise
from isdp.topdown.projections import onto_simplices
from isdp.topdown.rounding import round_tables

# two regions of 100 students; female-only, co-ed and male-only dormitories
DORMITORIES = Presence(np.array([100, 100]), np.array([[1, 1, 0], [0, 1, 1]]))
SLIDES_REFUSED = (49, 50, 101)
# rows' and columns' sums of the slides' regions A and B
REGIONS = {"A": ((6, 16), (17, 5)), "B": ((15, 5), (5, 15))}
TWO_WAY = ((0, 1), (0, 2), (1, 2))
# cells of a 3 x 4 x 6 table; half a person in each meets two-way margins that no whole table has
WITNESS = (
    ("010100", "001100", "010001", "001001"),
    ("010010", "101000", "110000", "001010"),
    ("000110", "100100", "100001", "000011"),
)


def naive_releases(rng: np.random.Generator, truth, epsilon: float, draws: int) -> float:
    """Share of releases that meet the obvious constraints of the dormitories but no regions can.

    The three totals get double geometric noise, are projected onto the least numbers and the grand
    total, and rounded.

    Parameters
    ----------
    rng : numpy.random.Generator
    truth : sequence of int
        Students in female-only, co-ed and male-only dormitories.
    epsilon : float
    draws : int
    """
    least = DORMITORIES.least.sum(axis=0)
    total = int(DORMITORIES.totals.sum())
    noisy = np.asarray(truth) + draw_noise(rng, "pure", [epsilon], [3 * draws]).reshape(draws, 3)
    sums = np.full(draws, total - least.sum())
    released = least + rounded_simplices(rng, noisy - least, sums)
    return 1 - float(DORMITORIES.polytope().contains(released).mean())


def group_quarters_table(counties: pd.DataFrame, people) -> pd.DataFrame:
    """Bounds on the kinds of group quarters that each state's counties imply.

    A county's total in group quarters and which kinds it has are taken as known.

    Returns
    -------
    DataFrame
        Columns state, counties, kinds (present), patterns (of presence), subsets, binding (bounds
        below the total) and needed (of which the others follow).
    """
    rows = []
    for state, places in counties.groupby("state").indices.items():
        presence = state_presence(people[places])
        _, bounds = presence.subset_bounds()
        rows.append(
            {
                "state": state,
                "counties": len(places),
                "kinds": presence.kinds,
                "patterns": len(np.unique(presence.present, axis=0)),
                "subsets": len(bounds),
                "binding": int((bounds < presence.totals.sum()).sum()),
                "needed": len(presence.needed()),
            }
        )
    return pd.DataFrame(rows)


def state_presence(people) -> Presence:
    """Take the kinds that a state has, and in which of its counties each is present."""
    kept = people[:, people.sum(axis=0) > 0]
    return Presence(kept.sum(axis=1), kept > 0)


def region_table() -> pd.DataFrame:
    """Count the two-by-two tables of the slides' regions, and the parents that they can make.

    Returns
    -------
    DataFrame
        Columns region, least and most (of the first cell) and tables; the last two rows are the
        parents that sums of the regions reach, and those that the parent's own margins allow.
    """
    bounds = {name: _corner(*margins) for name, margins in REGIONS.items()}
    reached = tuple(sum(ends) for ends in zip(*bounds.values(), strict=True))
    margins = [
        tuple(sum(pair) for pair in zip(*sides, strict=True))
        for sides in zip(*REGIONS.values(), strict=True)
    ]
    bounds |= {"parent, reached": reached, "parent, own margins": _corner(*margins)}
    rows = [(name, low, high, high - low + 1) for name, (low, high) in bounds.items()]
    return pd.DataFrame(rows, columns=["region", "least", "most", "tables"])


def _corner(rows, columns) -> tuple[int, int]:
    """Least and most of the first cell of a two-by-two table (Frechet's bounds)."""
    return max(0, rows[0] - columns[1]), min(rows[0], columns[0])


def witness_margins() -> tuple[np.ndarray, np.ndarray]:
    """Two-way margins of 3 x 4 x 6 that halves meet and whole numbers do not.

    Returns
    -------
    matrix : int64 array, shape (margins, 72)
    sums : int64 array, shape (margins,)
        All 0 or 1.
    """
    halves = np.array([[[int(c) for c in line] for line in layer] for layer in WITNESS]).ravel()
    matrix = Invariants.margins((3, 4, 6), TWO_WAY).matrix
    return matrix, matrix @ halves // 2


def can_be_met(matrix, sums, *, integer: bool) -> bool:
    """Whether a non-negative table has these sums, in whole numbers or in fractions."""
    cells = matrix.shape[1]
    if not integer:
        return scipy.optimize.linprog(np.zeros(cells), A_eq=matrix, b_eq=sums).status == 0
    found = scipy.optimize.milp(
        np.zeros(cells),
        constraints=scipy.optimize.LinearConstraint(matrix, sums, sums),
        integrality=np.ones(cells),
        bounds=scipy.optimize.Bounds(0, np.inf),
    )
    return found.status == 0


def unimodular_table(rng: np.random.Generator) -> pd.DataFrame:
    """Which constraint matrices of TopDown are totally unimodular, each with its proof or minor.

    Returns
    -------
    DataFrame
        Columns constraints, rows, columns, unimodular, proof (or what refutes it), determinant (of
        the part that refutes it, else 0), whole_vertices (whether all vertices under equalities are
        whole, which asks for less) and why.
    """
    rows = []
    for name, matrix in _matrices().items():
        verdict = totally_unimodular(rng, matrix)
        vertices = whole_vertices(rng, matrix, verdict)
        rows.append(
            {
                "constraints": name,
                "rows": matrix.shape[0],
                "columns": matrix.shape[1],
                "unimodular": verdict.unimodular,
                "proof": verdict.reason,
                "determinant": verdict.determinant,
                "whole_vertices": vertices.unimodular,
                "why": vertices.reason,
            }
        )
    return pd.DataFrame(rows)


def _matrices() -> dict[str, np.ndarray]:
    cells = np.kron(np.ones((1, 3), dtype=int), np.eye(4, dtype=int))
    nested = np.kron(np.eye(3, dtype=int), [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    found = {
        "sum of all cells": np.ones((1, 6), dtype=int),
        "sums cell by cell": cells,
        "sums cell by cell, totals of children": Invariants.margins((3, 4)).matrix,
        "sums cell by cell, nested groups in each child": np.vstack([cells, nested]),
        "all subsets of three kinds": np.array(
            [[int(k in s) for k in range(3)] for s in ({0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2})]
        ),
    }
    for shape in ((2, 2, 2), (2, 2, 3), (2, 3, 4), (3, 3, 3)):
        name = "all two-way margins of " + " x ".join(map(str, shape))
        found[name] = Invariants.margins(shape, TWO_WAY).matrix
    return found


def rounded_simplices(rng: np.random.Generator, points, sums) -> np.ndarray:
    """Nearest non-negative whole rows with given sums, after projection and rounding.

    Parameters
    ----------
    rng : numpy.random.Generator
    points : array, shape (rows, entries)
    sums : int array, shape (rows,)
    """
    real = onto_simplices(np.asarray(points, dtype=float).T, sums)
    return round_tables(rng, real, cell_sums=np.asarray(sums)).table.T
