"""Swapping keeps its totals exactly, and says what is wrong with an input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.swapping.mechanism.exact_permutation import exact_rate, permutation_for_release
from isdp.swapping.mechanism.permutation import (
    Strata,
    check_permutation,
    draw_permutation,
    invariants,
    swap,
    swap_table,
)


def generator(seed=7):
    return np.random.default_rng(seed)


tables = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(
        st.integers(0, 6), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
    ).map(lambda cells: np.array(cells).reshape(shape))
)


@given(tables, st.sampled_from([0.05, 0.5, 0.95]), st.integers(0, 10))
def test_any_table_keeps_both_margins(counts, rate, seed):
    if counts.sum() == 0:
        return
    swapped = swap_table(generator(seed), counts, rate)
    assert (swapped >= 0).all()
    assert np.array_equal(swapped.sum(axis=1), counts.sum(axis=1))
    assert np.array_equal(swapped.sum(axis=2), counts.sum(axis=2))
    invariants(counts.shape).check((swapped - counts).ravel())


def test_the_invariants_are_what_is_held_and_key_by_swapped():
    held = invariants((2, 3, 4))
    counts = np.arange(24).reshape(2, 3, 4)
    sums = held.apply(counts.ravel())
    expected = [*counts.sum(axis=1).ravel(), *counts.sum(axis=2).ravel()]
    assert sums.tolist() == expected


@pytest.mark.parametrize(
    "draw", [lambda s, p: draw_permutation(generator(), s, p), permutation_for_release]
)
def test_records_move_only_within_their_stratum(draw):
    labels = generator().integers(0, 30, 500)
    sigma = draw(Strata.from_labels(labels), 0.4)
    assert np.array_equal(labels[sigma], labels)
    assert np.array_equal(np.sort(sigma), np.arange(500))
    assert 0 < (sigma != np.arange(500)).sum() < 500


def test_a_record_alone_in_its_stratum_stays():
    assert draw_permutation(generator(), Strata.from_labels([3, 1, 2]), 0.9).tolist() == [0, 1, 2]


def test_values_that_go_together_stay_together():
    values = np.stack([np.arange(50), np.arange(50) * 10], axis=1)
    swapped = swap(generator(), Strata.from_labels(np.zeros(50, dtype=int)), values, 0.9)
    assert (swapped[:, 1] == 10 * swapped[:, 0]).all()
    assert not np.array_equal(swapped, values)


def test_text_makes_strata_as_well():
    strata = Strata.from_labels(["b", "a", "b", "c"])
    assert strata.sizes.tolist() == [1, 2, 1]
    assert strata.max_size == 2


def test_strata_of_no_record_are_left_out():
    assert Strata.from_sizes([2, 0, 3]).starts.tolist() == [0, 2, 5]


@pytest.mark.parametrize("moved", [[1, 0, 2, 3], [2, 2, 0, 1], [0, 1, 3, 3]])
def test_what_leaves_its_stratum_or_is_no_permutation_is_caught(moved):
    strata = Strata.from_labels([0, 1, 0, 1])
    check_permutation(strata, np.array([2, 3, 0, 1]))
    with pytest.raises(InputError, match="permutation"):
        check_permutation(strata, np.array(moved))


@pytest.mark.parametrize(("strata", "wrong"), [(2, lambda x: np.roll(x, 1)), (1, np.zeros_like)])
def test_a_table_swapped_by_no_permutation_within_the_strata_is_caught(monkeypatch, strata, wrong):
    def wrong_ones(words, sizes, *, exact):
        return wrong(np.arange(sizes.sum()))

    monkeypatch.setattr("isdp.swapping.mechanism.permutation.derange", wrong_ones)
    with pytest.raises(InputError, match="permutation"):
        swap_table(generator(), np.full((strata, 3, 2), 5), 0.5)
    with pytest.raises(InputError, match="permutation"):
        permutation_for_release(Strata.from_sizes(np.full(strata, 30)), 0.5)


@pytest.mark.parametrize(
    "rate", [0, 0.0, 1, 5, -0.1, math.inf, Fraction(10**5000), float("nan"), "a lot", True]
)
def test_a_rate_that_is_none_is_refused(rate):
    strata = Strata.from_labels([1, 1])
    for draw in (lambda: draw_permutation(generator(), strata, rate), lambda: exact_rate(rate)):
        with pytest.raises(InputError, match="swap rate"):
            draw()


@pytest.mark.parametrize("labels", [[], [0.5, 1.0], np.array([1, None], object), [[1, 2]]])
def test_labels_that_make_no_strata_are_refused(labels):
    with pytest.raises(InputError, match="labels"):
        Strata.from_labels(labels)


@pytest.mark.parametrize("counts", [[[1, 2]], [[[1, -2]]], [[[0.5]]], np.zeros((0, 1, 1), int)])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(InputError, match="counts"):
        swap_table(generator(), counts, 0.5)


def test_values_of_another_number_of_records_are_refused():
    with pytest.raises(InputError, match="values"):
        swap(generator(), Strata.from_labels([1, 1]), [1, 2, 3], 0.5)


@pytest.mark.parametrize(
    ("rate", "exact"),
    [(0.05, Fraction(1, 20)), ("1/3", Fraction(1, 3)), (".25", Fraction(1, 4))],
)
def test_a_rate_is_read_as_it_is_written(rate, exact):
    assert exact_rate(rate) == exact


def test_a_rate_of_too_many_digits_is_refused_for_release():
    with pytest.raises(InputError, match="swap rate"):
        exact_rate(2**-0.5)


@pytest.mark.parametrize("rate", ["1e-100000", "1E-30000000", "1e30000000"])
def test_a_rate_with_a_huge_exponent_is_refused_without_reading_it(rate):
    with pytest.raises(InputError, match="swap rate"):
        exact_rate(rate)


def test_a_source_that_runs_dry_is_refused():
    with pytest.raises(InputError, match="source"):
        permutation_for_release(Strata.from_labels([1, 1]), 0.5, source=lambda count: b"abc")


def test_a_release_takes_the_operating_systems_bits():
    strata = Strata.from_labels(np.zeros(400, dtype=int))
    first, second = (permutation_for_release(strata, 0.5) for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(np.sort(first), np.arange(400))
