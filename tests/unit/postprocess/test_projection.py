import numpy as np
import pytest
import scipy
from scipy.optimize import minimize

from isdp import InputError, Invariants
from isdp.constraints.polytope import Polytope
from isdp.postprocess.projection import (
    DRAWS_PER_PROGRAM,
    correct_evenly,
    correct_one_cell,
    corrected_cell,
    nearest_l1,
    nearest_l2,
)
from reproduction.data.table_p12 import sex_by_age_invariants

RNG = np.random.default_rng(20221201)


def brute_force(noise, invariants, reach):
    """Least l1 distance to a feasible integer vector, by looking at all within `reach`."""
    steps = np.arange(-reach, reach + 1)
    grid = np.stack(np.meshgrid(*[steps] * len(noise), indexing="ij"), axis=-1)
    moves = grid.reshape(-1, len(noise))
    feasible = (invariants.apply(noise + moves) == 0).all(axis=1)
    return np.abs(moves[feasible]).sum(axis=1).min()


@pytest.mark.parametrize(
    "invariants",
    [Invariants.total(4), Invariants.margins((2, 2)), Invariants.subsets([[0, 1], [1, 2, 3]], 4)],
)
def test_linear_and_integer_programmes_against_brute_force(invariants):
    for _ in range(4):
        noise = RNG.integers(-2, 3, 4)
        least = brute_force(noise, invariants, 5)
        linear = nearest_l1(noise, invariants)
        integer = nearest_l1(noise, invariants, integer=True)
        assert np.abs(linear - noise).sum() == pytest.approx(least, abs=1e-9)
        assert np.abs(integer - noise).sum() == least
        assert (invariants.apply(integer) == 0).all()


def test_over_the_reals_a_vector_may_be_nearer_than_any_of_whole_numbers():
    """2 x + 3 y = 0 from (1, 0): the second entry may fall by 2/3, or the first by 1."""
    held = Invariants([[2, 3]])
    assert nearest_l1([1, 0], held) == pytest.approx([1, -2 / 3])
    assert nearest_l1([1, 0], held, integer=True).tolist() == [0, 0]


def test_one_cell_and_even_shares_are_nearest_under_a_total():
    noise = RNG.integers(-9, 10, (50, 7))
    excess = np.abs(noise.sum(axis=1))
    cells = RNG.integers(7, size=50)
    even = correct_evenly(RNG, noise)
    for projected in (correct_one_cell(noise, 2), correct_one_cell(noise, cells), even):
        assert (projected.sum(axis=1) == 0).all()
        assert (np.abs(projected - noise).sum(axis=1) == excess).all()
    parts = np.abs(even - noise)
    assert (parts.max(axis=1) - parts.min(axis=1) <= 1).all()


def test_highs_returns_the_vertex_of_the_closed_form():
    noise = RNG.integers(-9, 10, (20, 30))
    for u in noise:
        cell = corrected_cell(u, nearest_l1(u, Invariants.total(30)))
        assert cell >= 0 or u.sum() == 0
        assert (
            nearest_l1(u, Invariants.total(30)) == correct_one_cell(u[None], max(cell, 0))
        ).all()


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("cells", [9, 60])
def test_draws_solved_together_get_the_vertex_that_each_gets_alone(cells, integer):
    held = Invariants.total(cells)
    noise = RNG.integers(-40, 41, (DRAWS_PER_PROGRAM + 3, cells))
    together = nearest_l1(noise, held, integer=integer)
    alone = [nearest_l1(u, held, integer=integer) for u in noise]
    assert together.shape == noise.shape
    assert (together == alone).all()
    assert (np.abs(together - noise).sum(axis=1) == np.abs(noise.sum(axis=1))).all()


def kkt_gap(table, nearest, polytope):
    """How far the projection is from the conditions that make it the nearest one."""
    a = polytope.equalities.matrix
    gradient = nearest - table
    free = nearest > 1e-9
    prices = np.linalg.lstsq(a[:, free].T, gradient[free], rcond=None)[0]
    left = gradient - a.T @ prices
    return max(np.abs(left[free]).max(initial=0), -min(left[~free].min(initial=0), 0))


def test_least_squares_meets_its_optimality_conditions():
    invariants = sex_by_age_invariants()
    bound = 0
    for _ in range(50):
        counts = RNG.integers(0, 6, 46)
        polytope = Polytope.of_counts(invariants, counts)
        table = counts + RNG.integers(-8, 9, 46)
        nearest = nearest_l2(table, polytope)
        assert np.abs(invariants.matrix @ nearest - polytope.totals).max() < 1e-8
        assert nearest.min() > -1e-9
        assert kkt_gap(table, nearest, polytope) < 1e-7
        bound += (nearest < 1e-9).sum()
    assert bound > 100  # the inequalities did bite


def test_least_squares_against_a_general_solver_with_other_inequalities():
    walls = Invariants(np.array([[1, 1, 0, 0], [0, -1, 1, 0], [0, 0, 0, 1]]))
    polytope = Polytope(Invariants.total(4), np.array([4]), walls, np.array([2, 1, -1]))
    for _ in range(10):
        table = RNG.normal(0, 5, 4)
        nearest = nearest_l2(table, polytope)
        general = minimize(
            lambda z, table=table: ((z - table) ** 2).sum(),
            np.array([1, 1, 2, 0]),
            method="SLSQP",
            constraints=[
                {"type": "eq", "fun": lambda z: z.sum() - 4},
                {"type": "ineq", "fun": lambda z: walls.matrix @ z - polytope.lower_bounds},
            ],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert np.abs(nearest - general.x).max() < 1e-4


def test_a_solver_that_ends_too_early_is_noticed(monkeypatch):
    polytope = Polytope.of_counts(Invariants.total(3), np.array([1, 2, 3]))
    assert nearest_l2(np.array([-3.0, 4.0, 5.0]), polytope) == pytest.approx([0, 2.5, 3.5])
    solved = scipy.optimize.nnls
    for far in (0, 0.9, 1.1):  # of the weights of the conditions
        monkeypatch.setattr(
            scipy.optimize,
            "nnls",
            lambda *given, far=far: (far * solved(*given)[0], 0.0),
        )
        with pytest.raises(InputError, match="least squares"):
            nearest_l2(np.array([-3.0, 4.0, 5.0]), polytope)


@pytest.mark.parametrize("equalities", [sex_by_age_invariants(), Invariants(np.zeros((0, 46)))])
def test_tables_together_are_projected_as_alone(equalities):
    counts = RNG.integers(0, 6, 46)
    polytope = Polytope.of_counts(equalities, counts)
    tables = counts + RNG.integers(-8, 9, (5, 46))
    tables[2] = counts  # lies within
    nearest = nearest_l2(tables, polytope)
    assert nearest.shape == (5, 46)
    for table, there in zip(tables, nearest, strict=True):
        assert there == pytest.approx(nearest_l2(table, polytope), abs=1e-12)
    assert nearest[2] == pytest.approx(counts, abs=1e-12)


def test_nothing_to_project_onto_is_refused_with_the_conflict():
    rows = Invariants.subsets([[0, 1], [0]], 2, ["pair", "one"])
    empty = Polytope.nonnegative(rows, np.array([2, 5]))
    with pytest.raises(InputError, match="pair; one; cell 1 is not negative"):
        nearest_l2(np.zeros(2), empty)
    twice = Invariants.subsets([[0, 1], [0, 1]], 2)
    with pytest.raises(InputError, match="contradict"):
        nearest_l2(np.zeros(2), Polytope.nonnegative(twice, np.array([1, 2])))
