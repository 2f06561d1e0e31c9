from itertools import combinations

import numpy as np
import pytest
from numba import njit
from scipy import stats

from isdp.exact import compositions as words
from tests.statistical.checks import ALPHA, check_law


def fixed(*state):
    return np.array(state, dtype=np.uint64)


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def many_below(state, limit, out):
    for i in range(len(out)):
        out[i] = words.below(state, limit)


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def chosen(state, length, wanted, out):
    for i in range(len(out)):
        out[i] = words._choose_in_word(state, length, wanted)


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def places(word):
    return words.lowest_bit(word), words.ones(word)


def test_words_are_those_of_numpys_sfc64():
    theirs = np.random.SFC64(1)
    ours = theirs.state["state"]["state"].copy()
    assert [int(words.next_word(ours)) for _ in range(50)] == theirs.random_raw(50).tolist()


def test_a_seed_is_mixed_as_numpy_mixes_it_and_decides_the_words():
    class Bits(np.random.bit_generator.ISeedSequence):
        def generate_state(self, n_words, dtype=np.uint32):
            return np.array([5, 6, 7], dtype=dtype)

    theirs = np.random.SFC64(Bits()).state["state"]["state"]
    ours = fixed(5, 6, 7, 1)
    for _ in range(words.ROUNDS_TO_MIX_A_SEED):
        words.next_word(ours)
    assert ours.tolist() == theirs.tolist()
    one, two, other = (words.words_from(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.tolist() == two.tolist() != other.tolist()


def test_a_generator_gives_other_words_each_time():
    rng = np.random.default_rng(1)
    assert words.words_from(rng).tolist() != words.words_from(rng).tolist()


@pytest.mark.parametrize("limit", [2, 3, 583, 2**32 - 1, 2**32, 3 * 2**50, 2**53])
def test_integers_below_a_limit_are_equally_likely(limit):
    out = np.empty(60_000, dtype=np.int64)
    many_below(fixed(1, 2, 3, 4), limit, out)
    assert out.min() >= 0
    assert out.max() < limit
    bins = min(limit, 50)
    counts = np.bincount((out.astype(object) * bins // limit).astype(int), minlength=bins)
    sizes = np.diff([-(-limit * i // bins) for i in range(bins + 1)]).astype(float)
    check_law(counts, sizes / sizes.sum())


@pytest.mark.parametrize(
    ("length", "wanted"), [(2, 1), (5, 2), (6, 3), (9, 4), (33, 1), (64, 1), (45, 2)]
)
def test_every_choice_of_bits_of_a_word_is_equally_likely(length, wanted):
    out = np.empty(60_000, dtype=np.uint64)
    chosen(fixed(1, 2, 3, 4), length, wanted, out)
    choices = [sum(1 << i for i in bits) for bits in combinations(range(length), wanted)]
    found, counts = np.unique(out, return_counts=True)
    assert set(found.tolist()) <= set(choices)
    of = dict(zip(found.tolist(), counts.tolist(), strict=True))
    check_law(np.array([of.get(c, 0) for c in choices]), np.full(len(choices), 1 / len(choices)))


@pytest.mark.parametrize(("length", "wanted"), [(64, 32), (40, 13), (17, 8)])
def test_every_bit_of_a_word_is_chosen_as_often_as_others(length, wanted):
    """Where places are read off several random words."""
    out = np.empty(60_000, dtype=np.uint64)
    chosen(fixed(1, 2, 3, 4), length, wanted, out)
    assert {int(word).bit_count() for word in out} == {wanted}
    for place in (0, 1, length // 2, length - 1):
        hits = int((out >> np.uint64(place) & np.uint64(1)).sum())
        check_law(np.array([hits, len(out) - hits]), np.array([wanted, length - wanted]) / length)


def test_below_one_there_is_only_zero():
    assert words.below(fixed(1, 2, 3, 4), 1) == 0


def test_uniforms_fill_the_unit_interval():
    state = fixed(1, 2, 3, 4)
    drawn = np.array([words.uniform(state) for _ in range(20_000)])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > ALPHA
    assert stats.kstest(drawn**1.05, "uniform").pvalue < ALPHA


@pytest.mark.parametrize("word", [1, 2, 3, 2**63, 2**64 - 1, 0b1011000])
def test_bits_are_found_and_counted(word):
    low, count = places(np.uint64(word))
    assert (low, count) == ((word & -word).bit_length() - 1, word.bit_count())
