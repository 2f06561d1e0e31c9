"""Parts of the draw under totals in exact arithmetic, each on numbers that are given."""

from fractions import Fraction

import numpy as np
import pytest

from isdp import Invariants
from isdp.exact import coins, release
from isdp.exact import compositions as module
from isdp.exact.coins import BitSource

SMALL = coins._geometric(Fraction(1, 4))


def pseudo(seed=3):
    return np.random.default_rng(seed).bytes


def integers(*values):
    return np.array(values, dtype=np.int64)


def test_blocks_are_drawn_at_once_as_far_as_the_cache_reaches(monkeypatch):
    monkeypatch.setattr(module, "TOGETHER", 10)
    order = np.arange(100, 144)
    starts = integers(2, 5, 6, 10, 13, 40, 42, 44)  # sizes 3, 1, 4, 3, 27, 2, 2
    found = [(blocks.tolist(), cells.tolist()) for blocks, cells in module.spans(order, starts)]
    assert found == [
        ([0, 2, 3], [102, 103, 104, *range(106, 113)]),
        ([4, 5], list(range(113, 142))),
        ([6], [142, 143]),
    ]
    assert module.spans(order, integers(44)) == []
    assert module.spans(np.arange(3), np.arange(4)) == []
    noise = np.zeros((5, 4))
    assert [(first, len(part)) for first, part in module.parts(noise)] == [(0, 2), (2, 2), (4, 1)]
    assert [first for first, _ in module.parts(np.zeros((2, 11)))] == [0, 1]


def laid(totals, sizes):
    lengths, starts, room = module._lay_out(integers(*totals), integers(*sizes))
    return lengths, starts, np.zeros(room, dtype=bool)


def test_bars_stand_a_gap_apart_and_each_block_begins_anew():
    lengths, starts, places = laid([3, 0, 4], [3, 2, 2])
    assert (lengths.tolist(), starts.tolist(), len(places)) == ([5, 1, 5], [0, 5, 6], 11)
    at, have = integers(0, 0), integers(0, 0, 0)

    def strewn(*gaps):
        return module._strew(integers(*gaps), starts, lengths, at, places, have)

    assert strewn(1, 0) == 3  # bars at 1 and 2 of the first block
    assert strewn(7) == 2  # what lies beyond its end is dropped
    assert at.tolist() == [1, 0]
    assert strewn(0, 0, 4) == 6  # a bar in the only place, a gap beyond it, and the last place
    assert at.tolist() == [2, 5]
    assert strewn(0, 0, 0) == 0  # nothing is used once all are full
    assert at.tolist() == [3, 0]
    assert np.flatnonzero(places).tolist() == [1, 2, 5, 10]
    assert have.tolist() == [2, 1, 1]


@pytest.mark.parametrize(("dtype", "shift"), [(np.uint16, 7), (np.uint64, 50)])
def test_bars_are_put_and_taken_by_the_low_bits_of_numbers(dtype, shift):
    lengths, starts, places = laid([3, 4], [3, 2])  # five places each, of eight that are drawn
    places[[0, 5, 6, 9]] = True
    sizes, have = integers(3, 2), integers(1, 3)

    def evened(*numbers):
        high = np.array(numbers, dtype=dtype) + (dtype(5) << dtype(shift))
        module._even_out(high, starts, lengths, sizes, places, have)
        return np.flatnonzero(places).tolist(), have.tolist()

    assert evened(0, 7, 5) == ([0, 5, 6, 9], [1, 3])  # a bar is there, and twice there is no place
    assert evened(3, 2) == ([0, 3, 5, 6, 9], [2, 3])  # the second finds no bar to take
    assert evened(4, 1, 0, 0) == ([0, 3, 5], [2, 1])  # and what is left is not used


def test_gaps_are_counted_between_bars():
    lengths, starts, places = laid([3, 0, 4], [3, 2, 2])
    places[[0, 3, 5, 10]] = True
    gaps = module._between(places, starts, lengths, integers(3, 2, 2))
    assert gaps.tolist() == [0, 2, 1, 0, 0, 4, 0]


def test_the_tries_that_are_left_are_foretold():
    rng = np.random.default_rng(4)
    totals, sizes = integers(*[100] * 500), integers(*[30] * 500)
    for share in (0.15, 0.3):
        lengths, starts, places = laid(totals, sizes)
        places[:] = rng.random(len(places)) < share
        have = places.reshape(500, -1).sum(axis=1)
        foretold = module._tries_left(lengths, sizes, have)
        numbers = rng.integers(0, 1 << 16, 200_000).astype(np.uint16)
        first, last = 0, len(numbers)
        while last - first > 1:  # the fewest numbers that do, by bisection
            middle = (first + last) // 2
            tried = have.copy()
            module._even_out(numbers[:middle], starts, lengths, sizes, places.copy(), tried)
            first, last = (first, middle) if (tried == sizes - 1).all() else (middle, last)
        assert 0.8 * foretold < last < 1.3 * foretold
    assert module._tries_left(lengths, sizes, sizes - 1) == 0


@pytest.mark.parametrize("epsilon", ["1/4", "3", "1/1000", "1/1000000"])
def test_compositions_have_the_totals_that_are_asked_for(epsilon):
    geometric, words = coins._geometric(Fraction(epsilon)), BitSource(pseudo())
    sizes = integers(2, 300, 2, 50, 7, 300)
    for deviations in (-0.7, 0, 1.5):
        totals = sizes + deviations * np.sqrt(sizes)
        totals = (totals / float(Fraction(epsilon))).astype(int)
        parts = module.compose(words, totals, sizes, geometric)
        assert parts.min() >= 0
        assert (np.add.reduceat(parts, np.cumsum(sizes) - sizes) == totals).all()


def test_undivided_totals_may_be_anywhere():
    sizes = integers(2, 300, 2, 50)
    for totals in ([0, 0, 0, 0], [1, 3, 5000, 1], [300, 100_000, 0, 30]):
        parts = module.compose(BitSource(pseudo()), integers(*totals), sizes, SMALL)
        assert parts.min() >= 0
        assert np.add.reduceat(parts, np.cumsum(sizes) - sizes).tolist() == totals


def test_remainders_are_those_of_counts_but_for_the_last_one():
    """Where counts are divided by 2^b: so their low bits do not have to be drawn by tries."""
    geometric = coins._geometric(Fraction(1, 1000))
    unit, remainders = 1 << geometric.bits, []
    assert unit > 1

    class Kept:
        epsilon, bits, digits = geometric.epsilon, geometric.bits, geometric.digits
        draw = geometric.draw

        def draw_remainders(self, words, count):
            remainders.append(geometric.draw_remainders(words, count))
            return remainders[-1].copy()

    x = module.compose(BitSource(pseudo()), integers(31_234), integers(40), Kept())
    assert x.sum() == 31_234
    assert (x[:-1] % unit == remainders[-1][:-1]).all()
    assert len(np.unique(x[:-1] % unit)) > 20


def test_numbers_are_as_long_as_the_places_need(monkeypatch):
    kinds, even_out = [], module._even_out

    def noted(numbers, *rest):
        kinds.append(numbers.dtype)
        even_out(numbers, *rest)

    monkeypatch.setattr(module, "_even_out", noted)
    for total, kind in ((65_535 - 99, np.uint16), (65_536 - 99, np.uint64)):
        kinds.clear()
        module.compose(BitSource(pseudo()), integers(total, 9), integers(100, 9), SMALL)
        assert set(kinds) == {np.dtype(kind)}


def test_blocks_of_all_sizes_keep_their_totals_in_every_draw():
    sizes = [1, 2, 2, 5, 700, 3, 1, 20_000, 4]
    labels = np.repeat(np.arange(9), sizes)
    np.random.default_rng(5).shuffle(labels)
    held = Invariants.partition([None if label == 5 else int(label) for label in labels])
    noise = release(held, "1/3", draws=3, source=pseudo())
    assert not held.apply(noise).any()
    for label in (1, 2, 3, 4, 5, 7, 8):
        assert noise[:, labels == label].any()
    assert not noise[:, np.isin(labels, [0, 6])].any()
