"""Derangements are counted right, and their words make no difference to the draw."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from isdp.swapping.mechanism.derangements import (
    BitStream,
    closing_probabilities,
    derange,
    pseudo_random_bits,
    subfactorial,
    subfactorial_ratio,
)
from reproduction.swapping.theory.variants import log_subfactorial


def counted(m):
    return sum(all(i != j for i, j in enumerate(order)) for order in permutations(range(m)))


def by_inclusion_and_exclusion(m):
    return sum((-1) ** k * math.factorial(m) // math.factorial(k) for k in range(m + 1))


@pytest.mark.parametrize("m", range(8))
def test_subfactorials_are_what_counting_gives(m):
    assert subfactorial(m) == counted(m)
    log = math.log(counted(m)) if counted(m) else -math.inf
    assert log_subfactorial(m) == pytest.approx(log, abs=1e-15)


@pytest.mark.parametrize("m", [20, 21, 31, 32, 33, 40, 100])
def test_large_subfactorials_obey_inclusion_and_exclusion(m):
    assert subfactorial(m) == by_inclusion_and_exclusion(m)
    assert log_subfactorial(m) == pytest.approx(math.log(by_inclusion_and_exclusion(m)), rel=1e-14)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("m", [0, 2, 3, 4, 29, 30, 31, 60])
def test_ratios_are_those_of_the_exact_numbers(m, step):
    exact = Fraction(subfactorial(m + step), subfactorial(m))
    assert subfactorial_ratio(m, step) == pytest.approx(float(exact), rel=1e-15)


def test_a_cycle_must_close_on_two_points_and_cannot_on_three():
    assert closing_probabilities()[2:4].tolist() == [1, 0]
    assert closing_probabilities()[30] == pytest.approx(1 / 30, rel=1e-15)


@pytest.mark.parametrize("exact", [False, True])
def test_each_group_is_deranged_within_itself(exact):
    sizes = np.array([2, 3, 50, 2, 1000])
    image = derange(pseudo_random_bits(np.random.default_rng(4)), sizes, exact=exact)
    group = np.repeat(np.arange(5), sizes)
    assert (group[image] == group).all()
    assert (image != np.arange(len(image))).all()
    assert np.array_equal(np.sort(image), np.arange(len(image)))


class _InPieces:
    """A fixed stream, handed out with at most so many words more than were there before."""

    def __init__(self, stream, most):
        self.stream, self.most, self.at = stream, most, 0

    def __call__(self, count):
        piece = self.stream[self.at : self.at + min(count, self.most)]
        self.at += len(piece)
        return piece


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("most", [1, 7, 100])
def test_cutting_the_words_into_pieces_changes_nothing(exact, most):
    stream = np.random.default_rng(9).integers(0, 1 << 64, 100_000, dtype=np.uint64)
    sizes = np.array([2, 3, 2, 8, 5, 40, 2])
    whole = derange(BitStream(_InPieces(stream, len(stream))), sizes, exact=exact)
    assert np.array_equal(derange(BitStream(_InPieces(stream, most)), sizes, exact=exact), whole)


def test_a_group_larger_than_a_chunk_is_drawn_once():
    rng, asked = np.random.default_rng(9), []

    def source(count):
        asked.append(count)
        return rng.integers(0, 1 << 64, count, dtype=np.uint64)

    image = derange(BitStream(source), np.array([600_000]), exact=False)
    assert len(asked) == 1
    assert (image != np.arange(600_000)).all()


def test_no_group_needs_no_word():
    words = BitStream(lambda count: np.zeros(count, dtype=np.uint64))
    assert derange(words, np.array([], dtype=np.int64), exact=True).size == 0
