"""Sums over the ways in which a state splits, against a sum over all pairs of states."""

import itertools
import math

import numpy as np
import pytest

from isdp.exact.elimination import compiled_messages as loops
from isdp.exact.elimination.truncation import TruncationPlan, union_message

# given, free, windows of the union and of both parts; x1, x2 = given @ x + free @ y
SPLITS = {
    "sum of two": ([[1], [0]], [[-1], [1]], [3], [2], [2]),
    "twice the second": ([[1], [0]], [[-2], [1]], [3], [4], [2]),
    "thrice, turned": ([[1], [0]], [[3], [-1]], [4], [5], [2]),
    "no freedom": ([[1, 0], [0, 1]], np.zeros((2, 0)), [2, 1], [1], [2]),
    "two in each": (
        [[1, 0], [0, 1], [0, 0], [0, 0]],
        [[-1, 0], [0, -1], [1, 0], [0, 1]],
        [2, 1],
        [2, 1],
        [1, 2],
    ),
}


def states(half):
    return list(itertools.product(*(range(-h, h + 1) for h in half)))


class Case:
    """A split, and all pairs of states of its parts by the union's state, found one by one."""

    def __init__(self, name):
        given, free, half, left, right = (np.array(part, dtype=np.int64) for part in SPLITS[name])
        self.split = loops.make_split(given, free, half, left, right)
        self.union, self.left, self.right = states(half), states(left), states(right)
        rng = np.random.default_rng(1)
        self.messages = rng.random(len(self.left)), rng.random(len(self.right))
        self.messages[0][1] = 0.0  # a state that cannot be
        self.pairs = [[] for _ in self.union]
        reach = range(-8, 9)
        for at, x in enumerate(self.union):
            for y in itertools.product(reach, repeat=free.shape[1]):
                both = given @ x + free @ np.array(y, dtype=np.int64)
                one, two = tuple(both[: len(left)]), tuple(both[len(left) :])
                if one in self.left and two in self.right:
                    self.pairs[at].append((self.left.index(one), self.right.index(two)))

    def weights(self, at):
        return [self.messages[0][i] * self.messages[1][j] for i, j in self.pairs[at]]


@pytest.fixture(params=SPLITS)
def case(request):
    return Case(request.param)


def test_a_union_s_message_is_the_sum_over_all_its_splits(case):
    plan = TruncationPlan([], {}, 0, 0.0, 0.0)
    out, excess = union_message(plan, 0, case.split, *case.messages)
    assert excess == 0
    assert out == pytest.approx([sum(case.weights(at)) for at in range(len(out))])


def test_a_split_is_chosen_by_where_the_target_falls(case):
    """Targets in the middle of each split's share, all of a state at once, and one at its end."""
    asked, targets, wanted = [], [], []
    for at, pairs in enumerate(case.pairs):
        ends = np.cumsum(case.weights(at))
        for pair, end, weight in zip(pairs, ends, case.weights(at), strict=True):
            if weight > 0:
                asked.append(at)
                targets.append(end - weight / 2)
                wanted.append(pair)
        if pairs and ends[-1] > 0:
            asked.append(at)
            targets.append(ends[-1] * (1 + 1e-15))
            wanted.append([pair for pair, w in zip(pairs, case.weights(at), strict=True) if w][-1])
    found = np.full((2, len(asked)), -1)
    loops.draw_splits(case.split, *case.messages, np.array(asked), np.array(targets), *found)
    assert list(zip(*found.tolist(), strict=True)) == wanted


def test_a_split_is_chosen_by_its_whole_number_of_chances(case):
    """The first and the last word of each split's share, and one beyond all shares."""
    factor, asked, words, wanted = 1e6, [], [], []
    for at, pairs in enumerate(case.pairs):
        before = 0
        for pair, weight in zip(pairs, case.weights(at), strict=True):
            share = max(1, math.ceil(weight * factor))
            words += [before, before + share - 1]
            wanted += [(*pair, share)] * 2
            before += share
        words.append(before)
        wanted.append((0, 0, 0))
        asked += [at] * (2 * len(pairs) + 1)
    found = np.full((3, len(asked)), -1)
    factors = np.full(len(asked), factor)
    loops.draw_integer_splits(
        case.split, *case.messages, np.array(asked), factors, np.array(words), *found
    )
    assert list(zip(*found.tolist(), strict=True)) == wanted
