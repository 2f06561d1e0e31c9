"""Messages by convolution: against exact sums over pairs of states."""

import math
from fractions import Fraction

import numpy as np
import pytest

from isdp.exact.elimination.compiled_messages import make_split
from isdp.exact.elimination.convolution import convolve, make_convolution
from tests.unit.exact.elimination.test_compiled_messages import SPLITS, states

ROUNDED = 2.0**-51
MORE_SPLITS = {
    "nothing left open": (np.zeros((2, 0)), [[1], [-1]], [], [4], [6]),
    "one of two closes": (
        [[1], [0], [0], [0]],
        [[0, 1], [1, 0], [-1, 1], [0, -1]],
        [5],
        [2, 3],
        [3, 2],
    ),
    "a skew line": ([[1, 0], [0, 1], [0, 0]], [[2], [-3], [1]], [6, 7], [5, 6], [3]),
    "wider than its parts": (*SPLITS["two in each"][:2], [7, 5], [2, 1], [1, 2]),
    "windows of one state": ([[1], [0]], [[-1], [1]], [2], [0], [2]),
}
ALL_SPLITS = {**SPLITS, **MORE_SPLITS}


def split_of(name):
    given, free, half, left, right = (np.array(p, dtype=np.int64) for p in ALL_SPLITS[name])
    return given, free, make_split(given, free, half, left, right)


def pairs_by_state(given, free, split):
    """Positions of the parts' states that make up each of the union's."""
    ways = np.array(states([15] * free.shape[1]), dtype=np.int64) @ free.T
    parts = [slice(split.left), slice(split.left, None)]
    where = [{state: at for at, state in enumerate(states(split.part_half[p]))} for p in parts]
    found = []
    for x in states(split.half):
        both = given @ np.array(x, dtype=np.int64) + ways
        both = both[(np.abs(both) <= split.part_half).all(axis=1)]
        one, two = (
            [known[tuple(at)] for at in both[:, p].tolist()]
            for known, p in zip(where, parts, strict=True)
        )
        found.append(list(zip(one, two, strict=True)))
    return found


def exact_sums(pairs, left, right):
    left, right = ([Fraction(float(v)) for v in part] for part in (left, right))
    return [sum((left[i] * right[j] for i, j in of), Fraction(0)) for of in pairs]


@pytest.mark.parametrize("name", ALL_SPLITS)
def test_no_entry_is_too_small_nor_larger_than_the_bound_says(name):
    given, free, split = split_of(name)
    found = make_convolution(given, free, split.part_half, split.left)
    pairs, rng = pairs_by_state(given, free, split), np.random.default_rng(1)
    for scale in (1.0, 2.0**-90, 2.0**40):
        sizes = (
            math.prod(2 * h + 1 for h in half) for half in np.split(split.part_half, [split.left])
        )
        left, right = (scale * np.exp(-rng.exponential(9, size)) for size in sizes)
        left[0] = 0.0 if len(left) > 1 else left[0]
        message, excess = convolve(found, split, left, right)
        assert len(message) == len(pairs)
        for value, exact in zip(message.tolist(), exact_sums(pairs, left, right), strict=True):
            assert value >= exact * (1 - Fraction(ROUNDED))
            assert value <= (exact + Fraction(excess)) * (1 + Fraction(ROUNDED))


def test_no_slot_runs_over_where_all_entries_are_largest():
    half = np.array([40])
    given, free = np.array([[1], [0]]), np.array([[-1], [1]])
    split = make_split(given, free, half, half, half)
    found = make_convolution(given, free, split.part_half, split.left)
    ones = np.full(81, np.nextafter(1.0, 0.0))
    message, _ = convolve(found, split, ones, ones)
    assert message == pytest.approx(81 - np.abs(np.arange(-40, 41)), rel=1e-15)
