"""Tables of the laws of sums of types, against exact convolutions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nbinom

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import tabled, typed
from isdp.exact.compositions import Pairs, _draw_pairs, _invert, next_word, words_from
from isdp.exact.sums import TypeSums
from isdp.exact.typed import TypedSampler
from tests.statistical.checks import check_law


@pytest.mark.parametrize("rate", [0.05, 0.25, 2.0, 30.0])
@pytest.mark.parametrize("cells", [1, 2, 10, 300])
def test_tables_hold_the_laws_of_a_sum_and_of_its_counts(cells, rate):
    low, counts = tabled._law_of_count(cells, rate)
    counts = counts / counts.sum()
    exact = nbinom(cells, -np.expm1(-rate)).pmf(low + np.arange(len(counts)))
    assert np.abs(counts - exact).sum() < 1e-11
    reach, sums = tabled._law_of_sum(cells, rate)
    both = np.convolve(counts, counts[::-1])  # of the difference, from 1 - len(counts) on
    centre = len(counts) - 1
    width = min(-reach, centre)
    assert (
        np.abs(
            both[centre - width : centre + width + 1] / both.sum()
            - sums[-reach - width : -reach + width + 1] / sums.sum()
        ).sum()
        < 1e-11
    )
    assert sums[: -reach - width].sum() < 1e-15


def test_a_number_is_drawn_as_often_as_its_entry_says():
    tables = tabled._together([(-1, np.array([1.0, 0.0, 3.0])), (5, np.array([2.0]))])
    assert tables.cumulative.tolist() == [0.25, 0.25, 1.0, 1.0]
    assert tables.chance.tolist() == pytest.approx([1 / 3, 0, 1, 1])
    # eight parts of [0, 1] for three entries, four for one; none begins beyond its number
    assert tables.guide.tolist() == [0, 0, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3]
    words, (first, other) = words_from(np.random.default_rng(3)), np.arange(2, dtype=np.uint64)
    drawn = [_invert(np.uint64(next_word(words)), tables, first) for _ in range(2000)]
    check_law(np.bincount(np.add(drawn, 1), minlength=3), np.array([0.25, 0, 0.75]))
    assert {_invert(np.uint64(next_word(words)), tables, other) for _ in range(20)} == {5}


def test_pairs_take_one_word_each_and_leave_the_stream_where_it_stands():
    tables = tabled._together([(-1, np.array([1.0, 2.0, 1.0])), (-2, np.ones(5))])
    types, across = np.array([[0, 1], [4, 2], [3, 5]]), np.array([[1, 0], [2, -1], [0, 3]])
    pairs = Pairs(types, np.array([1, 0, 1], dtype=np.uint64), across)
    ours, theirs = (words_from(np.random.default_rng(7)) for _ in range(2))
    sums, open_sums = np.zeros(6, dtype=np.int64), np.zeros(2, dtype=np.int64)
    _draw_pairs(ours, tables, pairs, sums, open_sums)
    values = [_invert(np.uint64(next_word(theirs)), tables, law) for law in pairs.law]
    assert ours.tolist() == theirs.tolist()
    assert sums[types].tolist() == [[-value, value] for value in values]
    assert open_sums.tolist() == (values @ across).tolist()


def test_entries_are_foretold():
    labels = np.arange(120) % 12
    totals = [labels // 2 == k for k in range(6)] + [labels % 2 == 0]
    invariants = Invariants(np.array(totals, dtype=int))
    built = TypedSampler(invariants, GeneralizedLaplace(0.25))
    entries = len(built._tabled._tables.chance) + len(built._tabled._counts.chance)
    assert entries / 2 < tabled.entries_needed(built._typed.sums) < 2 * entries


def test_sums_too_wide_for_tables_are_drawn_exactly(monkeypatch):
    monkeypatch.setattr(typed, "TabledSums", None)
    monkeypatch.setattr(typed, "MOST_ENTRIES", 0)
    sampler = TypedSampler(Invariants.margins((2, 3)), GeneralizedLaplace(0.5))
    assert sampler.error == 0
    assert sampler.sample(np.random.default_rng(1), 3).shape == (3, 6)


def test_blocks_of_one_two_and_more_types_are_tabled():
    """All kinds of blocks at once: free, in pairs, of three, and those that close."""
    held = [[1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 0, 1, 2, 0]]
    sums = TypeSums(Invariants(held), [3, 1, 2, 5, 1, 2, 1, 4], Fraction(1, 2))
    found, less = tabled.TabledSums(sums).draw(np.random.default_rng(2), 500)
    assert not (found @ np.array(held).T).any()
    assert (less >= 0).all()
    assert (found + less >= 0).all()
    assert (found.std(axis=0) > 0).all()
