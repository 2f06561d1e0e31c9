from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from isdp.exact.coins import BitSource
from isdp.exact.tosses import MARGIN, toss_all
from tests.unit.exact.words import script

ONES = 2**64 - 1


def third(i):
    return (arb(1) / 3).log()


def test_doubles_decide_what_is_far_and_balls_what_is_near():
    asked = []

    def noted(i):
        asked.append(i)
        return third(i)

    at = 2**64 // 3
    margin = int(MARGIN * 2**64)
    words = script(0, at - 2 * margin, at + 2 * margin, at - 1, at + 1, ONES)
    heads = toss_all(words, np.full(6, 1 / 3), noted)
    assert heads.tolist() == [True, True, False, True, False, False]
    assert asked == [3, 4]


def test_a_double_off_by_less_than_the_margin_changes_nothing():
    at = 2**64 // 3
    near = int(MARGIN / 4 * 2**64)
    for off in (-MARGIN / 2.1, MARGIN / 2.1):
        words = script(at - near, at + near)
        assert toss_all(words, np.full(2, 1 / 3 + off), third).tolist() == [True, False]


def test_bits_on_the_chance_are_followed_by_more():
    # 2^64 / 3 is 0x5555... in hexadecimal, for ever
    fives = 2**64 // 3
    for last, heads in ((fives - 1, True), (fives + 1, False)):
        assert toss_all(script(fives, fives, last), np.array([1 / 3]), third).tolist() == [heads]


def test_a_certain_coin_is_heads_and_an_impossible_one_an_error():
    assert toss_all(script(ONES, ONES), np.ones(2), lambda i: arb(0)).all()
    with pytest.raises(ArithmeticError, match="a coin of chance 1"):
        toss_all(script(0), np.array([1.001]), lambda i: arb(0))
    with pytest.raises(ArithmeticError, match="a coin of chance"):
        toss_all(script(ONES), np.ones(1), lambda i: arb("1e-9"))


def test_with_a_wide_margin_all_is_decided_by_balls():
    words = np.random.default_rng(1).bytes
    chances = np.linspace(0.1, 0.9, 200)
    exact = [Fraction(c) for c in chances]

    def log_chance(i):
        return (arb(exact[i].numerator) / arb(exact[i].denominator)).log()

    one = toss_all(BitSource(words), chances, log_chance)
    again = np.random.default_rng(1).bytes
    # doubles that say nothing: only the balls can give the same answer
    other = toss_all(BitSource(again), np.full(200, 0.5), log_chance, margin=1.0)
    assert one.tolist() == other.tolist()
