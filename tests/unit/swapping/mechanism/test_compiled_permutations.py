"""Whole numbers below a bound are equally likely to the last one, and coins are exact."""

import numpy as np
import pytest

from isdp.swapping.mechanism.compiled_permutations import OUT_OF_BITS, draw_below, draw_bernoulli

HALVES = 1 << 32  # what the upper half of a word can be


def word(upper):
    return np.array([upper << 32], dtype=np.uint64)


def first_of(number, bound):
    """Least upper half that stands for a number: the boxes' edges."""
    return -(-number * HALVES // bound)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 1000, 1_144_424, HALVES - 1, HALVES])
def test_every_number_has_as_many_words_as_any_other(bound):
    each = HALVES // bound
    for number in {0, 1 % bound, bound // 2, bound - 1}:
        start, stop = first_of(number, bound), first_of(number + 1, bound)
        spare = stop - start - each  # 0 or 1: the box's first word, which is to be refused
        found, at = draw_below(word(start), 0, bound)
        assert (at == OUT_OF_BITS) == (spare == 1)
        if at != OUT_OF_BITS:
            assert found == number
        assert draw_below(word(stop - 1), 0, bound)[0] == number


def test_a_refused_word_is_followed_by_the_next():
    words = np.concatenate([word(0), word(HALVES - 1)])
    assert draw_below(words, 0, 3) == (2, 2)


def test_without_words_there_is_no_number():
    assert draw_below(word(5), 1, 3)[1] == OUT_OF_BITS


def test_a_coin_falls_by_the_number_below_its_denominator():
    words = np.concatenate([word(first_of(k, 5) + 1) for k in range(5)])
    tosses = np.zeros(5, dtype=np.bool_)
    assert draw_bernoulli(words, tosses, 0, 2, 5) == (5, 5)
    assert tosses.tolist() == [True, True, False, False, False]


def test_coins_stop_where_the_words_do():
    tosses = np.zeros(4, dtype=np.bool_)
    assert draw_bernoulli(np.concatenate([word(7), word(0)]), tosses, 1, 1, 3) == (2, 1)
