"""Implied constraints of the slides' examples and of the published group quarters (TDA).

TDA is *The TopDown algorithm and invariants* (slides).
"""

from collections.abc import Mapping
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd
from scipy.optimize import LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from isdp import Invariants, Polytope
from isdp.constraints.implied import implied_constraints
from isdp.constraints.presence import Presence
from isdp.streams import stream
from isdp.topdown.measurement_noise import draw_noise
from reproduction.topdown.theory.total_unimodularity import totally_unimodular, whole_vertices
from reproduction.topdown.workarounds import (
    DORMITORIES,
    round_to_simplices,
    tabulate_cuts,
    tabulate_failsafe,
)

# Female-only, co-ed and male-only dormitories (TDA, "An Example").
IMPOSSIBLE_TOTALS = (49, 50, 101)
N_STUDENTS = 200
TRUE_TOTALS = ((2, 100, 98), (99, 2, 99), (50, 100, 50), (10, 180, 10))
# The constraints of the last slide of the example. Each has three coefficients and a lower bound.
NAIVE_CONSTRAINTS = (((1, 0, 0), 1), ((0, 1, 0), 2), ((0, 0, 1), 1))
PRINTED_CONSTRAINTS = (*NAIVE_CONSTRAINTS, ((-1, 0, 0), -99), ((1, 1, 0), 101))
# The row sums and column sums of the slides' regions A and B.
REGION_MARGINS = {"A": ((6, 16), (17, 5)), "B": ((15, 5), (5, 15))}
TWO_WAY = ((0, 1), (0, 2), (1, 2))
# Half of this 3 x 4 x 6 table has integer two-way margins that no integer table has.
WITNESS = (
    ("010100", "001100", "010001", "001001"),
    ("010010", "101000", "110000", "001010"),
    ("000110", "100100", "100001", "000011"),
)


def derive_constraints(
    which: Literal["implied", "workarounds"],
    seed: int,
    counties: pd.DataFrame,
    people,
    settings: Mapping,
) -> dict[str, pd.DataFrame]:
    """Make the tables of the implied constraints, or the tables of the workarounds.

    `people` gives the persons in group quarters, with shape (counties, types of group quarters).
    The settings are the block "topdown.implied" of the configuration.
    """
    if settings["states"] != "all":
        kept = counties["state"].isin(settings["states"]).to_numpy()
        counties, people = counties[kept].reset_index(drop=True), people[kept]
    if which == "implied":
        return {
            "dormitories": tabulate_dormitories(),
            "naive": tabulate_naive(stream(seed, "topdown", "naive"), **settings["naive"]),
            "regions": tabulate_regions(),
            "witness": check_witness(),
            "implied": tabulate_group_quarters(counties, people),
            "unimodular": check_unimodularity(stream(seed, "topdown", "unimodular")),
        }
    return {
        "cuts": tabulate_cuts(seed, **settings["cuts"]),
        "failsafe": tabulate_failsafe(
            stream(seed, "topdown", "failsafe"), counties, people, **settings["failsafe"]
        ),
    }


def list_totals() -> np.ndarray:
    """List all non-negative female, co-ed and male totals with the sum 200."""
    pairs = np.array([(f, c) for f in range(N_STUDENTS + 1) for c in range(N_STUDENTS + 1 - f)])
    return np.column_stack([pairs, N_STUDENTS - pairs.sum(axis=1)])


def list_possible_totals() -> np.ndarray:
    """List the totals of all pairs of possible regions, without repetition."""
    female = np.arange(1, 100)
    first = np.column_stack([female, 100 - female, 0 * female])
    second = first[:, ::-1]
    return np.unique((first[:, None] + second[None]).reshape(-1, 3), axis=0)


def eliminate_variables() -> tuple[Polytope, int]:
    """Derive the constraints on the totals by Fourier-Motzkin elimination.

    Returns the constraints, and the maximum number of inequalities during the elimination.
    """
    # Columns: three totals, female and co-ed of region 1, co-ed and male of region 2.
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


def tabulate_dormitories(printed=PRINTED_CONSTRAINTS) -> pd.DataFrame:
    """Compare the totals that each description allows with the possible totals."""
    points, real = list_totals(), list_possible_totals()
    listed = pd.MultiIndex.from_arrays(points.T).isin(pd.MultiIndex.from_arrays(real.T))
    derived, peak = eliminate_variables()
    flows = DORMITORIES.polytope()
    described = {
        "non-negative": (),
        "occupied dormitories": NAIVE_CONSTRAINTS,
        "printed": printed,
        "printed without co-ed >= 2": (printed[0], *printed[2:]),
    }
    allowed = {name: (len(rows), meets(points, rows)) for name, rows in described.items()} | {
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
    refused = (points == IMPOSSIBLE_TOTALS).all(axis=1)
    return table.assign(allows_49_50_101=[some[refused].any() for _, some in allowed.values()])


def meets(points: np.ndarray, constraints) -> np.ndarray:
    """Return True for each row of points that meets all constraints (coefficients, lower bound)."""
    met = [points @ np.array(row) >= bound for row, bound in constraints]
    return np.all([np.full(len(points), True), *met], axis=0)


def simulate_naive_releases(rng: np.random.Generator, truth, epsilon: float, draws: int) -> float:
    """Estimate the share of releases that meet the obvious constraints but are impossible.

    The three totals receive discrete Laplace noise. They are projected onto the totals that meet
    the minimum counts and the grand total, and then rounded.
    """
    least = DORMITORIES.minimums.sum(axis=0)
    noise = draw_noise(rng, "pure", [epsilon], [3 * draws]).reshape(draws, 3)
    sums = np.full(draws, DORMITORIES.totals.sum() - least.sum())
    released = least + round_to_simplices(rng, np.asarray(truth) + noise - least, sums)
    return 1 - float(DORMITORIES.polytope().contains(released).mean())


def tabulate_naive(rng: np.random.Generator, epsilons, draws: int) -> pd.DataFrame:
    """Estimate the share of impossible releases for each table of totals and each epsilon."""
    rows = []
    for truth, epsilon in product(TRUE_TOTALS, epsilons):
        share = simulate_naive_releases(rng, truth, epsilon, draws)
        error = float(np.sqrt(share * (1 - share) / draws))
        rows.append((", ".join(map(str, truth)), epsilon, draws, share, error))
    return pd.DataFrame(rows, columns=["truth", "epsilon", "draws", "share", "error"])


def tabulate_group_quarters(counties: pd.DataFrame, people) -> pd.DataFrame:
    """Count the bounds on the totals by type that the counties of each state imply.

    A county's total in group quarters and the types that it has are taken as known. Bounds that
    follow from the minimum counts and the grand total are not counted.
    """
    rows = []
    for state, places in counties.groupby("state").indices.items():
        presence = build_presence(people[places])
        members, bounds = presence.subset_bounds()
        patterns = len(np.unique(presence.present, axis=0))
        # The minimum counts and the grand total imply these bounds without the counties.
        implied = presence.totals.sum() - ~members @ presence.minimums.sum(axis=0)
        found = patterns, len(bounds), int((bounds < implied).sum()), count_needed(presence)
        rows.append((state, len(places), presence.groups, *found))
    columns = ["state", "counties", "kinds", "patterns", "subsets", "binding", "needed"]
    return pd.DataFrame(rows, columns=columns)


def count_needed(presence: Presence) -> int:
    """Count the bounds that, with the minimum counts and the grand total, imply all other bounds.

    Two types are connected if they are present in one region whose total exceeds its minimum
    counts. Each connected component has a known total. The bound of a subset follows from this
    total and the minimum counts if each region of the component has a type of the subset.
    """
    joined = presence.present[presence.surpluses > 0].astype(int)
    components, label = connected_components(joined.T @ joined, directed=False)
    needed = components - 1  # The known totals of the components sum to the grand total.
    for subset in presence.irredundant_subsets():
        regions = joined[joined[:, label == label[subset[0]]].any(axis=1)]
        needed += not regions[:, subset].any(axis=1).all()
    return needed


def build_presence(people) -> Presence:
    """Find the types of group quarters that are present in each county of a state."""
    kept = people[:, people.sum(axis=0) > 0]
    return Presence(kept.sum(axis=1), kept > 0)


def tabulate_regions() -> pd.DataFrame:
    """Count the tables that the margins of the slides' regions and of their parent allow."""
    bounds = {name: _corner(*margins) for name, margins in REGION_MARGINS.items()}
    bounds["parent, reached"] = tuple(np.sum(list(bounds.values()), axis=0))
    bounds["parent, own margins"] = _corner(*np.sum(list(REGION_MARGINS.values()), axis=0))
    rows = [(name, low, high, high - low + 1) for name, (low, high) in bounds.items()]
    return pd.DataFrame(rows, columns=["region", "least", "most", "tables"])


def _corner(rows, columns) -> tuple[int, int]:
    """Compute Frechet's bounds of the first cell of a table with two rows and two columns."""
    return max(0, rows[0] - columns[1]), min(rows[0], columns[0])


def check_witness() -> pd.DataFrame:
    """Check that a real table, but no integer table, has the margins of the counterexample."""
    twice = np.array([[list(map(int, line)) for line in layer] for layer in WITNESS]).ravel()
    matrix = Invariants.margins((3, 4, 6), TWO_WAY).matrix
    fixed = LinearConstraint(matrix, matrix @ twice / 2, matrix @ twice / 2)
    met = [
        milp(np.zeros(twice.size), constraints=fixed, integrality=integer).status == 0
        for integer in (False, True)
    ]
    margins = "all two-way margins of 3 x 4 x 6"
    return pd.DataFrame({"margins": margins, "numbers": ["fractions", "whole"], "met": met})


def check_unimodularity(rng: np.random.Generator) -> pd.DataFrame:
    """Test the constraint matrices of TopDown for total unimodularity."""
    rows = []
    for name, matrix in _matrices().items():
        verdict = totally_unimodular(rng, matrix)
        vertices = whole_vertices(rng, matrix, verdict)
        found = verdict.unimodular, verdict.reason, verdict.determinant
        rows.append((name, *matrix.shape, *found, vertices.unimodular, vertices.reason))
    columns = ["constraints", "rows", "columns", "unimodular", "proof", "determinant"]
    return pd.DataFrame(rows, columns=[*columns, "whole_vertices", "why"])


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
