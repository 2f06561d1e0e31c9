"""Check the statements of the slides (TDA) by exact computation, in the table topdown_statements.

A row either compares a value with the bound that a statement gives for it, or counts the cases in
which an equality fails. Evidence on a finite number of settings is no proof.

TDA is *The TopDown algorithm and invariants* (slides).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
import scipy
from flint import fmpq_mat, fmpz_mat
from scipy.spatial import cKDTree

from isdp.accounting.divergences import normalised_renyi
from isdp.constraints.invariants import Invariants
from isdp.constraints.presence import Presence
from isdp.mechanisms.generalized_laplace import double_geometric_pmf
from reproduction.data.histogram import Histogram
from reproduction.jobs.statements import Row, build_table, compare, count_failures
from reproduction.topdown.implied_constraints import (
    N_STUDENTS,
    NAIVE_CONSTRAINTS,
    REGION_MARGINS,
    count_needed,
    list_possible_totals,
    list_totals,
    meets,
)

DENOMINATORS = (2, 3, 4, 5)  # of the fractional tables that are rounded
TIMES = 60  # their common multiple
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0)
PAIRS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])  # the sums of all pairs of three cells
UNIMODULAR = {
    "sum of 4 cells": np.ones((1, 4), dtype=int),
    "sums cell by cell, 3 children": Invariants.margins((3, 2), ((1,),)).matrix,
    "sums cell by cell, totals of children": Invariants.margins((3, 3)).matrix,
    "2 x 2 x 2, all two-way margins": Invariants.margins(
        (2, 2, 2), ((0, 1), (0, 2), (1, 2))
    ).matrix,
}


def tabulate_statements(rng: np.random.Generator, histogram: Histogram) -> pd.DataFrame:
    """Check all statements, with one row per statement and setting.

    `histogram` has the published 2010 counts of all counties.
    """
    return build_table(
        [
            count_people(histogram),
            *measure_problems(histogram),
            *check_roundings(),
            *solve_roundings(rng),
            *check_vertices(),
            *count_combinations(),
            *count_inequalities(rng),
            compare_regions(),
            measure_feasible_distance(),
            check_random_record(),
            *convert_pure_budgets(),
        ]
    )


def count_people(histogram: Histogram) -> Row:
    """Sum the published population of the states and DC."""
    counted = histogram.counties.loc[histogram.counties["state"] != "PR", "population"]
    return {"statement": "persons", "setting": "50 states and DC, 2010", "value": counted.sum()}


def measure_problems(histogram: Histogram) -> Iterator[Row]:
    """Compare the number and the size of the problems with those of the level above.

    A problem has one variable for each child of its parent and each cell that is not zero at the
    parent. The counts are the published ones, without noise.
    """
    states = histogram.counties["state"].to_numpy()
    by_state = pd.DataFrame(histogram.counts).groupby(states).sum().to_numpy()
    children = pd.Series(states).value_counts(sort=False).sort_index().to_numpy()
    nonzero = (by_state > 0).sum(axis=1)
    national = int((by_state.sum(axis=0) > 0).sum())
    # the cells of each problem, and the number of its children
    levels = {
        "nation": ([histogram.counts.shape[1]], [1]),
        "states": ([national], [len(by_state)]),
        "counties": (nonzero.tolist(), children.tolist()),
    }
    for upper, lower in (("nation", "states"), ("states", "counties")):
        (above, parents), (below, regions) = levels[upper], levels[lower]
        setting = f"{upper} to {lower}"
        yield compare("number of problems", setting, [len(above)], [len(below)])
        yield compare("cells of a problem", setting, [np.mean(below)], [np.mean(above)])
        sizes = [np.mean(np.multiply(*pair)) for pair in ((below, regions), (above, parents))]
        yield compare("size of problems", setting, sizes[:1], sizes[1:])


def check_roundings() -> Iterator[Row]:
    """Search an integer table within 1 of each table of fractions, with the same sums.

    All fractional parts with the denominators 2 to 5 are enumerated. The whole parts do not
    matter, because the search only rounds up or down.
    """
    for children in (2, 3, 4):
        tables = _list_parts((children, 1), by_child=False)
        yield count_failures("rounding exists", f"one cell, {children} children", tables)
    for shape in ((2, 2), (2, 3)):
        tables = _list_parts(shape, by_child=True)
        setting = f"{shape[0]} children of {shape[1]} cells, with the children's totals"
        yield count_failures("rounding exists", setting, tables)


def _list_parts(shape: tuple[int, int], *, by_child: bool) -> list[bool]:
    """Test, for each table of fractional parts with integer sums, whether a rounding keeps them."""
    cells = shape[0] * shape[1]
    every = np.array(list(product((0, 1), repeat=cells))).reshape(-1, *shape)
    axes = (1, 2) if by_child else (1,)
    sums = [every.sum(axis=axis) * TIMES for axis in axes]
    found = []
    for denominator in DENOMINATORS:
        values = range(0, TIMES, TIMES // denominator)
        parts = np.array(list(product(values, repeat=cells))).reshape(-1, *shape)
        whole = [(parts.sum(axis=axis) % TIMES == 0).all(axis=1) for axis in axes]
        for part in parts[np.all(whole, axis=0)]:
            # a cell without a fractional part stays
            kept = ~(every.astype(bool) & (part == 0)).any(axis=(1, 2))
            for axis, each in zip(axes, sums, strict=True):
                kept &= (each == part.sum(axis=axis - 1)).all(axis=1)
            found.append(bool(kept.any()))
    return found


def solve_roundings(rng: np.random.Generator, trials: int = 20) -> Iterator[Row]:
    """Measure the distance of solutions of linear programs that round from integers.

    Each table has three children of four cells. In the programme as printed, a cell may take every
    value within 1 of the estimate. In the other programme, its objective is linear between the two
    nearest integers, as in a programme over integers.
    """
    matrix = Invariants.margins((3, 4)).matrix
    away: dict[str, list[float]] = {}
    for _ in range(trials):
        whole = rng.integers(0, 9, (3, 4))
        # moves keep the sums; these shares of three moves never cancel each other
        moves = sum(share * _random_move(rng) for share in (1 / 2, 1 / 4, 1 / 8))
        estimate = (2 + whole + moves).ravel()
        low, part = np.floor(estimate), estimate - np.floor(estimate)
        sums = np.rint(matrix @ estimate)
        for solver in ("highs-ds", "highs-ipm"):
            up = scipy.optimize.linprog(
                1 - 2 * part,
                A_eq=matrix,
                b_eq=sums - matrix @ low,
                bounds=[(0, float(each > 0)) for each in part],
                method=solver,
            )
            name = "simplex" if solver == "highs-ds" else "interior point with crossover"
            away.setdefault(name, []).append(float(np.abs(up.x - np.rint(up.x)).max()))
        # x = estimate + increase - decrease
        changes = scipy.optimize.linprog(
            np.ones(2 * len(estimate)),
            A_eq=np.hstack([matrix, -matrix]),
            b_eq=sums - matrix @ estimate,
            bounds=[*[(0, 1)] * len(estimate), *((0, min(1.0, each)) for each in estimate)],
            method="highs-ds",
        ).x
        printed = estimate + changes[: len(estimate)] - changes[len(estimate) :]
        away.setdefault("as printed", []).append(float(np.abs(printed - np.rint(printed)).max()))
    for setting, distances in away.items():
        value = min(distances) if setting == "as printed" else max(distances)
        statement = "rounding as printed" if setting == "as printed" else "rounding is integer"
        yield {"statement": statement, "setting": setting, "value": value, "cases": trials}


def _random_move(rng: np.random.Generator) -> np.ndarray:
    """Draw a table with zero sums: 1 at two opposite corners of a rectangle, -1 at the others."""
    move = np.zeros((3, 4), dtype=int)
    rows, columns = rng.permutation(3)[:2], rng.permutation(4)[:2]
    move[np.ix_(rows, columns)] = [[1, -1], [-1, 1]]
    return move


def check_vertices() -> Iterator[Row]:
    """Solve the square systems of unimodular constraints, and of others, for integer sums.

    A vertex of {x >= 0: A x = b} solves a square system of independent columns. All sets of columns
    are enumerated, and the sums b are those of the tables with entries 0 and 1.
    """
    for name, matrix in (UNIMODULAR | {"all pairs of three cells": PAIRS}).items():
        rows = _independent_rows(matrix)
        kept = matrix[rows]
        tables = np.array(list(product((0, 1), repeat=matrix.shape[1])))
        # sums that need not belong to a table with entries 0 and 1
        sums = np.unique(np.vstack([tables @ kept.T, np.eye(len(rows), dtype=int)]), axis=0)
        holds = []
        for columns in combinations(range(matrix.shape[1]), len(rows)):
            part = fmpz_mat(kept[:, columns].tolist())
            if part.det() != 0:
                solved = fmpq_mat(part).inv() * fmpq_mat(fmpz_mat(sums.T.tolist()))
                holds += [
                    all(solved[i, j].q == 1 for i in range(len(rows))) for j in range(len(sums))
                ]
        statement = "vertices, unimodular" if name in UNIMODULAR else "vertices, not unimodular"
        yield count_failures(statement, name, holds)


def _independent_rows(matrix: np.ndarray) -> list[int]:
    rows: list[int] = []
    for row in range(len(matrix)):
        if fmpz_mat(matrix[[*rows, row]].tolist()).rank() > len(rows):
            rows.append(row)
    return rows


def count_combinations() -> Iterator[Row]:
    """Count the irredundant bounds if every combination of types occurs in some region.

    The set of all types has the known grand total, so that 2^k - 2 combinations remain.
    """
    for kinds in (2, 3, 4, 5, 6):
        every = np.array(list(product((False, True), repeat=kinds)))[1:]
        presence = Presence(np.full(len(every), kinds + 2), every)
        needed, combined = count_needed(presence), 2**kinds - 2
        yield compare("bounds by combination", f"{kinds} types", [combined], [needed])


def count_inequalities(rng: np.random.Generator, steps: int = 3) -> Iterator[Row]:
    """Compare the number of inequalities of Fourier-Motzkin elimination with a double exponential.

    The inequalities are -1 <= a x <= 1 for random integer vectors a, and redundant ones are kept.
    If each elimination leaves at least m^2 / 8 of m inequalities, then k eliminations leave at
    least 8 (m / 8)^(2^k).
    """
    for pairs in (6, 8):
        size = pairs, steps + 2
        half = (rng.integers(1, 10, size) * rng.choice((-1, 1), size)).astype(object)
        rows = np.vstack([half, -half])
        for step in range(steps):
            first = rows[:, step]
            above, below, rest = rows[first > 0], rows[first < 0], rows[first == 0]
            number = len(above) * len(below) + len(rest)
            setting = f"{2 * pairs} inequalities, {step + 1} variables eliminated"
            yield compare("growth of the inequalities", setting, [len(rows) ** 2 / 8], [number])
            if step < steps - 1:
                mixed = (
                    below[None] * above[:, None, step, None]
                    - above[:, None] * below[None, :, step, None]
                )
                rows = np.vstack([mixed.reshape(-1, size[1]), rest])
                rows = rows[(rows != 0).any(axis=1)]  # 0 <= 1 is no constraint


def compare_regions() -> Row:
    """Count the tables with the margins of the regions' parent that are no sum of both regions."""
    tables = {
        name: {
            (a, rows[0] - a, columns[0] - a, rows[1] - columns[0] + a)
            for a in range(sum(rows) + 1)
            if min(rows[0] - a, columns[0] - a, rows[1] - columns[0] + a) >= 0
        }
        for name, (rows, columns) in REGION_MARGINS.items()
    }
    sums = {tuple(np.add(one, other).tolist()) for one, other in product(*tables.values())}
    rows, columns = np.sum(list(REGION_MARGINS.values()), axis=0)
    parent = [
        (a, rows[0] - a, columns[0] - a, rows[1] - columns[0] + a) for a in range(rows.sum() + 1)
    ]
    holds = [table in sums for table in parent if min(table) >= 0]
    return count_failures("parent of two regions", "regions A and B", holds)


def measure_feasible_distance() -> Row:
    """Find the totals that meet the obvious constraints and are farthest from all possible totals.

    The distance of the measured totals from the nearest possible totals is the smallest l1
    distance between a table without and a table with the invariants.
    """
    obvious = list_totals()
    obvious = obvious[meets(obvious, NAIVE_CONSTRAINTS)]
    distances, _ = cKDTree(list_possible_totals()).query(obvious, p=1)
    farthest = int(distances.argmax())
    setting = f"dormitories, measured totals {tuple(obvious[farthest].tolist())}"
    # a student who changes type counts twice in the l1 distance
    return compare("students who change", setting, [distances[farthest] / 2], [N_STUDENTS])


def check_random_record() -> Row:
    """Compute delta of a release of one random record, in rational arithmetic.

    The algorithm releases a record with probability q, and otherwise nothing. Two datasets of n
    records differ in one record. Without a loss (epsilon = 0), delta should be q / n.
    """
    q, holds = Fraction(1, 10**6), []
    for n in range(1, 13):
        for before in combinations_with_replacement(range(2), n):
            after = (2, *before[1:])
            outputs = [
                {value: q * data.count(value) / n for value in range(3)} for data in (before, after)
            ]
            excess = (outputs[0][value] - outputs[1][value] for value in range(3))
            holds.append(sum(max(each, 0) for each in excess) == q / n)
    return count_failures("random record", "1 to 12 records", holds)


def convert_pure_budgets() -> Iterator[Row]:
    """Compare the smallest rho of mechanisms with a pure loss of epsilon with epsilon^2 / 2."""
    for epsilon in EPSILONS:
        points = np.arange(-1, 2 + int(min(40 / epsilon, 400)))
        points = np.union1d(-points, points)
        kept = 1 / (1 + np.exp(-epsilon))
        noise = [double_geometric_pmf(points + shift, np.exp(-epsilon)) for shift in (0, 1)]
        pairs = {
            "randomised response": [np.array([kept, 1 - kept]), np.array([1 - kept, kept])],
            "geometric mechanism": [each / each.sum() for each in noise],
        }
        for name, pair in pairs.items():
            rho = normalised_renyi(*pair) ** 2
            yield compare("zCDP of pure", f"{name}, epsilon {epsilon:g}", [rho], [epsilon**2 / 2])
