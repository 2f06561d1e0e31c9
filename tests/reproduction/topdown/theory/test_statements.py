"""The checks of the statements of TDA, by values known otherwise and by wrong inputs."""

import numpy as np
import pandas as pd
import pytest

from reproduction.data.histogram import Histogram
from reproduction.topdown.theory.statements import (
    check_random_record,
    check_roundings,
    check_vertices,
    compare_regions,
    convert_pure_budgets,
    count_combinations,
    count_inequalities,
    count_people,
    measure_feasible_distance,
    measure_problems,
    solve_roundings,
)


def test_problems_have_a_variable_for_each_child_and_each_cell_of_its_parent():
    # state A has three counties and two cells with persons; B has one county and one such cell
    counts = np.array([[1, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 5, 0]])
    states = ["A", "A", "A", "PR"]
    counties = pd.DataFrame({"state": states, "population": counts.sum(axis=1)})
    histogram = Histogram(counties, counts)
    found = {(row["statement"], row["setting"]): row for row in measure_problems(histogram)}
    assert found["size of problems", "nation to states"]["value"] == 2 * 3
    assert found["size of problems", "states to counties"]["value"] == (3 * 2 + 1 * 1) / 2
    assert found["number of problems", "states to counties"]["ratio"] == 1 / 2
    assert count_people(histogram)["value"] == 4


def test_equalities_hold_and_a_matrix_that_is_not_unimodular_has_fractional_vertices():
    rows = {row["setting"]: row for row in check_vertices()}
    assert rows["sum of 4 cells"]["cases"] == 4 * 5  # four vertices, sums of 0 to 4
    # the pairs have the inverse [[1, -1, 1], [1, 1, -1], [-1, 1, 1]] / 2
    assert rows.pop("all pairs of three cells")["failures"] == 3
    roundings = list(check_roundings())
    # with the denominator d, the last of n parts follows from the others, so that d^(n - 1) remain
    cases = [sum(d ** (n - 1) for d in (2, 3, 4, 5)) for n in (2, 3, 4)]
    assert [row["cases"] for row in roundings[:3]] == cases
    others = [*rows.values(), *roundings, check_random_record()]
    assert sum(row["failures"] for row in others) == 0
    assert compare_regions()["failures"] == 21 - 11


def test_only_the_programme_between_integers_has_integer_solutions():
    found = {row["setting"]: row["value"] for row in solve_roundings(np.random.default_rng(5), 3)}
    assert found.pop("as printed") >= 1 / 8  # the estimate itself
    assert max(found.values()) < 1e-9


def test_bounds_and_inequalities_grow_exponentially_and_doubly_so():
    assert [row["value"] for row in count_combinations()] == [2, 6, 14, 30, 62]
    assert {row["ratio"] for row in count_combinations()} == {1}
    first = [
        row for row in count_inequalities(np.random.default_rng(2)) if "1 var" in row["setting"]
    ]
    assert [row["bound"] for row in first] == [6 * 6, 8 * 8]


def test_the_farthest_students_and_the_smallest_rho_are_those_computed_by_hand():
    # at least 98 of 197 students leave the type with room for 99
    assert measure_feasible_distance()["value"] == 197 - 99
    rho = {row["setting"]: row for row in convert_pure_budgets()}
    # the Kullback-Leibler divergence of randomised response is epsilon tanh(epsilon / 2)
    assert rho["randomised response, epsilon 2"]["value"] == pytest.approx(2 * np.tanh(1))
    assert max(row["ratio"] for row in rho.values()) < 1
