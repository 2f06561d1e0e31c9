"""Subspace and integer-subspace mechanisms at equal privacy, in both of the papers' currencies.

The currency of SDP: epsilon for one replaced record, any neighbours, for what the invariants leave
free. The currency of ISDP: epsilon for each unit of l1 distance between two tables with equal
invariants. A guarantee in the first gives half of its epsilon in the second, as a replaced record
is two units of l1; the second gives the first only where the projected differences are themselves
differences of tables with equal invariants, as they are under a total.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.exact import sample, total_law
from isdp.mechanisms.laplace import GeneralizedLaplace
from isdp.subspace import (
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    differences,
    least_trace,
    null_space,
)
from isdp.subspace.bounds import approximate_spread, pure_spread
from isdp.subspace.conditioned import conditioned_laplace
from isdp.subspace.hull import MOST_HULL_DIMENSIONS

RECORD, UNIT = "replaced record", "unit of l1"  # the two privacy units of epsilon
TWIN_STEPS = 200  # of each walk to the continuous twin of the integer law


def _row(currency: str, epsilon: float, mechanism: str, paper: str, error: float, **more) -> dict:
    return {
        "currency": currency,
        "epsilon": epsilon,
        "mechanism": mechanism,
        "paper": paper,
        "flavour": "pure",
        "error": error,
        "error_se": 0.0,
    } | more


def total_table(cells: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Error of every mechanism for counts under one total, at one epsilon in either currency.

    Under a total a replaced record is a swap of two units between tables of equal totals, so the
    integer law at epsilon/2 a unit has epsilon a record, and every row holds in both currencies;
    those of a record's epsilon are the rows of half of it a unit.

    Parameters
    ----------
    cells : int
    epsilon : float
        Of a replaced record, and again of a unit of l1.
    delta : float
        For the Gaussians.

    Returns
    -------
    DataFrame
        currency, epsilon, mechanism, paper (whose), flavour, error (all cells together), error_se
        (0: all are exact), variance and sd of one cell, and ratio to the least error that any
        additive mechanism of that flavour can have.
    """
    query, held = Query.histogram(cells), Invariants.total(cells)
    rows = []
    for currency, person in ((RECORD, epsilon), (UNIT, 2 * epsilon)):
        lattice = total_law(cells, person / 2)
        a = np.exp(-person / 2)
        laws = {
            "projected Laplace": ("SDP", ProjectedLaplace(query, held, person).error),
            "extended Laplace, Haar basis": ("SDP", ExtendedLaplace(query, held, person).error),
            "K-norm": ("SDP", KNorm(query, held, person).error),
            "generalized Laplace": ("ISDP", cells * lattice.sd**2),
            "centred double geometric": ("ISDP", (cells - 1) * 2 * a / (1 - a) ** 2),
        }
        least = least_trace(query, held).lower
        for name, (paper, error) in laws.items():
            rows.append(
                _row(currency, epsilon, name, paper, error, bound=pure_spread(person) * least)
            )
        for constant in ("paper", "exact"):
            law = ProjectedGaussian(query, held, person, delta, constant=constant)
            bound = approximate_spread(person, delta) * least
            name = f"projected Gaussian, {constant} constant"
            more = {"flavour": "approximate", "bound": bound}
            rows.append(_row(currency, epsilon, name, "SDP", law.error, **more))
    return _finished(rows, cells)


def swaps(rows: int, columns: int) -> Query:
    """All moves between two-way tables of equal margins that change four cells by one."""
    moves = []
    for (a, b), (c, d) in product(combinations(range(rows), 2), combinations(range(columns), 2)):
        move = np.zeros((rows, columns), dtype=np.int64)
        move[[a, b], [c, d]], move[[a, b], [d, c]] = 1, -1
        moves.append(move.ravel())
    return Query.linear(np.array(moves).T)


def margins_table(
    rng: np.random.Generator,
    shape: tuple[int, int],
    epsilon: float,
    delta: float,
    draws: int,
    walk_steps: int,
) -> pd.DataFrame:
    """Error of every mechanism for a two-way table with both margins held, in either currency.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : pair of int
    epsilon : float
        Of a replaced record, and again of a unit of l1.
    delta : float
    draws : int
        Of the integer law, and of its continuous twin.
    walk_steps : int
        Steps of the hit-and-run walk where K-norm noise has no exact sampler; a multiple of 20.

    Returns
    -------
    DataFrame
        As `total_table`; error_se is positive where the error was simulated. A replaced record's
        projected move is no lattice point, so that the integer law has no guarantee for it: in
        that currency its continuous twin stands for it, with the epsilon of a unit that makes the
        largest projected move cost epsilon.
    """
    query, held = Query.histogram(shape[0] * shape[1]), Invariants.margins(shape)
    longest = largest_step(query, held)
    replaced = least_trace(query, held).lower
    swapped = least_trace(swaps(*shape), held, "add-remove").lower
    bounds = {
        RECORD: pure_spread(epsilon) * replaced,
        UNIT: pure_spread(4 * epsilon) * swapped,  # no two tables of equal margins are nearer
    }
    knorm = _knorm_error(rng, query, held, walk_steps)
    twin = _mean_square(conditioned_laplace(rng, held, 1.0, draws, TWIN_STEPS))
    lattice = _mean_square(sample(rng, held, GeneralizedLaplace(epsilon), draws))
    rows = []
    for currency, person, unit in (
        (RECORD, epsilon, epsilon / longest),
        (UNIT, 2 * epsilon, epsilon),
    ):
        found = {
            "projected Laplace": ("SDP", (ProjectedLaplace(query, held, person).error, 0.0)),
            "K-norm": ("SDP", knorm / person**2),
            "generalized Laplace, continuous": ("ISDP", twin / unit**2),
        }
        if currency == UNIT:
            found["generalized Laplace"] = ("ISDP", lattice)
        for name, (paper, (error, se)) in found.items():
            more = {"error_se": se, "bound": bounds[currency]}
            rows.append(_row(currency, epsilon, name, paper, error, **more))
    law = ExtendedGaussian(query, held, epsilon, delta)
    bound = approximate_spread(epsilon, delta) * replaced
    more = {"flavour": "approximate", "bound": bound}
    rows.append(_row(RECORD, epsilon, "extended Gaussian", "SDP", law.error, **more))
    return _finished(rows, query.answers)


def largest_step(query: Query, held: Invariants) -> float:
    """Largest l1 length of a replaced record's move once it is projected on the null space."""
    projected = null_space(held).project(differences(query))
    return float(np.abs(projected).sum(axis=1).max())


def order_table(table: pd.DataFrame) -> pd.DataFrame:
    """Order the pure mechanisms of both currencies by error, and say whether the order flips.

    Parameters
    ----------
    table : DataFrame
        Of `total_table` or `margins_table`.

    Returns
    -------
    DataFrame
        currency, order (names from the least error up, of those that stand in both), flips (whether
        it differs between them).
    """
    pure = table[table["flavour"] == "pure"].sort_values("error", kind="stable")
    shared = pure.groupby("mechanism")["currency"].transform("nunique") == 2
    pure = pure[shared]
    orders = pure.groupby("currency", sort=False)["mechanism"].agg(" < ".join)
    found = orders.rename("order").reset_index()
    found["flips"] = len(set(orders)) > 1
    return found


def _knorm_error(
    rng: np.random.Generator, query: Query, held: Invariants, steps: int
) -> np.ndarray:
    """Error of K-norm noise at epsilon 1, and its standard error."""
    law = KNorm(query, held, 1.0, method="hit-and-run")
    if law.dimension <= MOST_HULL_DIMENSIONS:
        return np.array([KNorm(query, held, 1.0).error, 0.0])
    return np.array(law.estimated_error(rng, steps)[:2])


def _mean_square(noise: np.ndarray) -> np.ndarray:
    """Error of noise from draws, and its standard error."""
    squares = np.square(noise.astype(float)).sum(axis=1)
    return np.array([squares.mean(), squares.std(ddof=1) / np.sqrt(len(squares))])


def _finished(rows: list[dict], cells: int) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    table["variance"] = table["error"] / cells
    table["sd"] = np.sqrt(table["variance"])
    table["ratio"] = table["error"] / table["bound"]
    return table
