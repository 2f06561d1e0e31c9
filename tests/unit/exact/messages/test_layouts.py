"""Which of two trees is taken, the order of the second one, and bounds on their coordinates."""

from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.exact.messages import layouts
from isdp.exact.messages.layouts import Layouts
from isdp.exact.messages.order import totals_in_turn
from isdp.exact.messages.tree import lay_out

SOUGHT, IN_TURN = "sought", "in turn"


def plan(products, used=1.0):
    return SimpleNamespace(products=products, bytes=used)


@pytest.fixture
def trees(monkeypatch):
    def laid_out(*arguments, in_turn=False):
        return IN_TURN if in_turn else SOUGHT

    monkeypatch.setattr(layouts, "lay_out", laid_out)
    return Layouts(Invariants.total(3), 1)


@pytest.mark.parametrize(
    ("plans", "chosen"),
    [
        ({SOUGHT: plan(2e8), IN_TURN: plan(1.9e8)}, IN_TURN),
        ({SOUGHT: plan(2e8), IN_TURN: plan(2.1e8)}, SOUGHT),
        ({SOUGHT: plan(2e8, 11.0), IN_TURN: plan(3e8)}, IN_TURN),
        ({SOUGHT: plan(2e8), IN_TURN: plan(1e8, 11.0)}, SOUGHT),
        ({SOUGHT: plan(1e3, 11.0), IN_TURN: plan(3e8)}, IN_TURN),
    ],
)
def test_the_quicker_tree_is_taken_of_those_that_fit_in_memory(trees, plans, chosen):
    assert trees.cheapest(lambda layout, convolve: plans[layout], 10.0) == (chosen, plans[chosen])


def test_no_second_tree_is_sought_where_the_first_is_quick(trees):
    plans = {SOUGHT: plan(1e8)}
    assert trees.cheapest(lambda layout, convolve: plans[layout], 10.0)[0] == SOUGHT


@pytest.mark.parametrize(("added", "chosen"), [(5.0, plan(4e8, 5.0)), (11.0, plan(3e8, 12.0))])
def test_messages_are_added_up_where_memory_has_no_room_for_convolutions(trees, added, chosen):
    def plan_of(layout, convolve):
        return plan(3e8, 12.0) if convolve else plan(4e8, added)

    assert trees.cheapest(plan_of, 10.0)[1] == chosen


def test_convolutions_that_are_not_allowed_are_not_planned(trees):
    def plan_of(layout, convolve):
        assert not convolve
        return plan(3e8, 12.0)

    trees.cheapest(plan_of, 10.0, convolve=False)


def test_a_tree_whose_sums_are_too_large_is_no_choice(monkeypatch):
    def laid_out(*arguments, in_turn=False):
        if in_turn:
            raise InputError("coefficients beyond 2^31")
        return SOUGHT

    monkeypatch.setattr(layouts, "lay_out", laid_out)
    chosen = Layouts(Invariants.total(3), 1).cheapest(lambda *_: plan(1e9), 10.0)
    assert chosen[0] == SOUGHT


def test_shortest_totals_are_closed_first_and_then_merged_by_halves():
    columns = Invariants.margins((2, 5)).matrix
    order = totals_in_turn(columns)
    assert order[:5] == [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9)]
    assert order[5:] == [(10, 11), (12, 13), (15, 16), (17, 14)]


def test_types_within_no_total_of_their_own_are_left_out_of_none():
    nested = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    assert totals_in_turn(nested) == [(0, 1), (2, 3), (4, 5)]


@pytest.mark.parametrize(("shape", "most"), [((3, 9), 2), ((9, 3), 2), ((4, 4), 3), ((4, 6), 3)])
def test_a_table_has_one_sum_less_open_than_its_shorter_side(shape, most):
    layout = lay_out(Invariants.margins(shape), 1, in_turn=True)
    (tree,) = layout.trees
    assert max(len(node.scale) for node in tree) == most
    assert sorted(node.cell for node in tree if node.cell >= 0) == list(range(shape[0] * shape[1]))


def cycles():
    """Noise of a 3 x 3 table around a cycle of 4 or 6 cells: the corners of all of length 1."""
    for size in (2, 3):
        for rows, columns in product(permutations(range(3), size), repeat=2):
            table = np.zeros((3, 3))
            table[rows, columns] = 1 / (2 * size)
            table[rows, np.roll(columns, 1)] = -1 / (2 * size)
            yield table.ravel()


def test_scales_are_the_largest_coordinates_of_noise_of_length_one():
    (tree,) = lay_out(Invariants.margins((3, 3)), 1).trees
    largest = [np.zeros(len(node.scale)) for node in tree]
    for noise in cycles():
        found = []
        for node, most in zip(tree, largest, strict=True):
            if node.cell >= 0:
                found.append(np.array([noise[node.cell] / node.gap]))
            else:
                both = np.concatenate([found[node.left], found[node.right]])
                split = np.hstack([node.given, node.free])
                found.append(np.linalg.lstsq(split, both)[0][: len(node.scale)])
            np.maximum(most, np.abs(found[-1]), out=most)
    assert max(len(node.scale) for node in tree) > 1
    for node, most in zip(tree, largest, strict=True):
        assert node.scale == pytest.approx(most)
