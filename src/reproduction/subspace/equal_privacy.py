"""Subspace and integer-subspace mechanisms at equal privacy, in the privacy units of both papers.

The epsilon of *Subspace Differential Privacy* (SDP) is for one replaced record between any two
datasets. It protects the part of the answers that the invariants do not determine. The epsilon of
*Integer Subspace Differential Privacy* (ISDP) is for each unit of l1 distance between two tables
with equal invariants. A guarantee in the first unit gives half of its epsilon in the second unit,
because a replaced record is two units of l1. The converse holds if the projected differences are
differences of tables with equal invariants, as under a total.
"""

from itertools import combinations, product

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.exact import total_distribution
from isdp.exact.release_noise import draw_noise
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.subspace import (
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    differences,
    min_trace_shape,
    null_space,
)
from isdp.subspace.accuracy import min_variance_approximate, min_variance_pure
from isdp.subspace.privacy.difference_hull import MAX_HULL_DIMENSIONS
from reproduction.subspace.theory.two_way_error import MAX_COLUMNS, continuous_error, lattice_error

RECORD_UNIT, L1_UNIT = "replaced record", "unit of l1"  # the two privacy units of epsilon
LIMIT_EPSILON = 0.05  # epsilon at which integer noise approximates continuous noise to about 0.1 %


def compare_total(cells: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Compute the squared error of every mechanism under one total, in both privacy units.

    A replaced record is two units of l1 between tables of equal totals. Integer noise with epsilon
    per unit of l1 therefore has 2 epsilon per record.
    """
    query, held = Query.histogram(cells), Invariants.total(cells)
    min_error = min_trace_shape(query, held).lower
    rows = []
    for unit, person in ((RECORD_UNIT, epsilon), (L1_UNIT, 2 * epsilon)):
        a = np.exp(-person / 2)
        errors = {
            "projected Laplace": ("SDP", ProjectedLaplace(query, held, person).error),
            "extended Laplace, Haar basis": ("SDP", ExtendedLaplace(query, held, person).error),
            "K-norm": ("SDP", KNorm(query, held, person).error),
            "generalized Laplace": ("ISDP", cells * total_distribution(cells, person / 2).sd ** 2),
            "centred double geometric": ("ISDP", (cells - 1) * 2 * a / (1 - a) ** 2),
        }
        bound = min_variance_pure(person) * min_error
        rows += [
            (unit, name, paper, "pure", error, 0, bound) for name, (paper, error) in errors.items()
        ]
        bound = min_variance_approximate(person, delta) * min_error
        for constant in ("paper", "exact"):
            name = f"projected Gaussian, {constant} constant"
            error = ProjectedGaussian(query, held, person, delta, constant=constant).error
            rows.append((unit, name, "SDP", "approximate", error, 0, bound))
    return _finished(rows, epsilon, cells)


def build_swap_query(rows: int, columns: int) -> Query:
    """Build the query whose columns are all changes by 1 in the four corners of a rectangle.

    These are the smallest differences between two-way tables with equal margins.
    """
    moves = []
    for (a, b), (c, d) in product(combinations(range(rows), 2), combinations(range(columns), 2)):
        move = np.zeros((rows, columns), dtype=np.int64)
        move[[a, b], [c, d]], move[[a, b], [d, c]] = 1, -1
        moves.append(move.ravel())
    return Query.linear(np.array(moves).T)


def compare_margins(
    rng: np.random.Generator,
    shape: tuple[int, int],
    epsilon: float,
    delta: float,
    draws: int,
    walk_steps: int,
) -> pd.DataFrame:
    """Compute the squared error of every mechanism for a two-way table with both margins fixed.

    The projected difference of a replaced record is not a vector of integers. Integer noise
    therefore has no guarantee in that privacy unit, and continuous noise replaces it there. The
    epsilon of continuous noise is chosen so that the loss at the largest projected difference is
    epsilon. `draws` is the number of draws of integer and of continuous noise. They are used if the
    smaller side of the table is too large for the exact computation. `walk_steps`, a multiple of
    20, is the number of steps of the walk for K-norm noise in many dimensions.
    """
    query, held = Query.histogram(shape[0] * shape[1]), Invariants.margins(shape)
    replaced = min_trace_shape(query, held).lower
    swapped = min_trace_shape(build_swap_query(*shape), held, "add-remove").lower
    knorm = KNorm(query, held, 1.0, method="hit-and-run")
    if knorm.dimension <= MAX_HULL_DIMENSIONS:
        at_one = np.array([KNorm(query, held, 1.0).error, 0])
    else:
        at_one = np.array(knorm.estimated_error(rng, walk_steps)[:2])
    if min(shape) <= MAX_COLUMNS:
        continuous = np.array([continuous_error(shape), 0])
        integer = np.array([lattice_error(shape, epsilon), 0])
    else:
        integer = _simulated_error(rng, held, epsilon, draws)
        continuous = LIMIT_EPSILON**2 * _simulated_error(rng, held, LIMIT_EPSILON, draws)
    rows = []
    record_bound = min_variance_pure(epsilon) * replaced
    # the l1 distance of two tables with equal margins is at least four
    l1_bound = min_variance_pure(4 * epsilon) * swapped
    for unit, person, per_l1, bound in (
        (RECORD_UNIT, epsilon, epsilon / max_projected_step(query, held), record_bound),
        (L1_UNIT, 2 * epsilon, epsilon, l1_bound),
    ):
        found = {
            "projected Laplace": ("SDP", (ProjectedLaplace(query, held, person).error, 0)),
            "K-norm": ("SDP", at_one / person**2),
            "generalized Laplace, continuous": ("ISDP", continuous / per_l1**2),
        }
        if unit == L1_UNIT:
            found["generalized Laplace"] = ("ISDP", integer)
        rows += [
            (unit, name, paper, "pure", *error, bound) for name, (paper, error) in found.items()
        ]
    error = ExtendedGaussian(query, held, epsilon, delta).error
    bound = min_variance_approximate(epsilon, delta) * replaced
    rows.append((RECORD_UNIT, "extended Gaussian", "SDP", "approximate", error, 0, bound))
    return _finished(rows, epsilon, query.answers)


def max_projected_step(query: Query, held: Invariants) -> float:
    """Compute the maximum l1 norm of a replaced record's difference after projection."""
    projected = null_space(held).project(differences(query))
    return float(np.abs(projected).sum(axis=1).max())


def tabulate_orders(table: pd.DataFrame) -> pd.DataFrame:
    """Sort the pure mechanisms by error in each privacy unit, and compare the two orders."""
    pure = table[table["flavour"] == "pure"].sort_values("error", kind="stable")
    pure = pure[pure.groupby("mechanism")["currency"].transform("nunique") == 2]
    orders = pure.groupby("currency", sort=False)["mechanism"].agg(" < ".join)
    return orders.rename("order").reset_index().assign(flips=len(set(orders)) > 1)


def _simulated_error(
    rng: np.random.Generator, held: Invariants, epsilon: float, draws: int
) -> np.ndarray:
    noise = draw_noise(GeneralizedLaplace(epsilon), held, n_draws=draws, rng=rng)
    squares = np.square(noise.astype(float)).sum(axis=1)
    return np.array([squares.mean(), squares.std(ddof=1) / np.sqrt(len(squares))])


def _finished(rows: list[tuple], epsilon: float, cells: int) -> pd.DataFrame:
    columns = ["currency", "mechanism", "paper", "flavour", "error", "error_se", "bound"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(1, "epsilon", epsilon)
    table["variance"] = table["error"] / cells
    table["sd"] = np.sqrt(table["variance"])
    table["ratio"] = table["error"] / table["bound"]
    return table
