import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from isdp import InputError, Invariants


def test_margins_of_a_table_are_its_row_and_column_sums():
    table = np.arange(12).reshape(3, 4) ** 2
    values = Invariants.margins((3, 4)).apply(table.ravel())
    assert values.tolist() == [*table.sum(axis=1), *table.sum(axis=0)]


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    data=st.data(),
    seed=st.integers(0, 2**32 - 1),
)
def test_margins_of_any_table_agree_with_numpy(shape, data, seed):
    axes = st.sets(st.integers(0, len(shape) - 1)).map(sorted).map(tuple)
    held = data.draw(st.lists(axes, min_size=1, max_size=3))
    table = np.random.default_rng(seed).integers(-1000, 1000, shape)
    expected = []
    for kept in held:
        dropped = tuple(axis for axis in range(len(shape)) if axis not in kept)
        expected += table.sum(axis=dropped).ravel().tolist()
    invariants = Invariants.margins(shape, held)
    assert invariants.apply(table.ravel()).tolist() == expected
    assert len(invariants.names) == len(expected)


def test_partition_total_and_subsets():
    parts = Invariants.partition(["a", "b", None, "a"])
    assert parts.matrix.tolist() == [[1, 0, 0, 1], [0, 1, 0, 0]]
    assert parts.names == ("total of a", "total of b")
    assert Invariants.total(3) == Invariants(np.ones((1, 3), int), ["total"])
    overlapping = Invariants.subsets([[0, 1], [1, 2]], 4)
    assert overlapping.matrix.tolist() == [[1, 1, 0, 0], [0, 1, 1, 0]]


def test_invariants_are_a_frozen_value():
    one, two = Invariants.total(4), Invariants.total(4)
    assert one == two
    assert hash(one) == hash(two)
    assert one != Invariants.total(5)
    assert one != Invariants.total(4, "another name")
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError, match="names"):
        one.names = ("other",)
    with pytest.raises(ValueError, match="read-only"):
        one.sparse.data[0] = 7


def test_check_names_the_draw_and_the_invariant():
    noise = np.zeros((2, 3, 4), dtype=np.int64)
    noise[1, 2] = [1, 0, 0, -1]
    invariants = Invariants.subsets([[0, 1, 2, 3], [0, 1]], 4, ["all", "first two"])
    with pytest.raises(InputError, match=r"draw \(1, 2\) .*'first two'"):
        invariants.check(noise)
    noise[1, 2] = [1, -1, 1, -1]
    invariants.check(noise)
    with pytest.raises(InputError):  # the changes of two totals cancel
        Invariants.partition([0, 0, 1, 1]).check([1, 0, -1, 0])


def test_sums_are_exact_where_floats_would_not_be():
    big = 2**60
    assert Invariants.total(3).apply(np.array([big, 1, -big])).tolist() == [1]


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: Invariants.total(0), "cells"),
        (lambda: Invariants([[0.5, 1]]), "row 0, cell 0"),
        (lambda: Invariants([[1, float("nan")]]), "row 0, cell 1"),
        (lambda: Invariants([["a", 1]]), "row 0, cell 0"),
        (lambda: Invariants([[2**70, 1]]), "64-bit"),
        (lambda: Invariants([1, 2]), "axes"),
        (lambda: Invariants([[1, 2], [3]]), "rows"),
        (lambda: Invariants(np.zeros((1, 0), int)), "cells"),
        (lambda: Invariants(csr_array([[0.5, 1.0]])), "float64"),
        (lambda: Invariants([[1, 1]], ["a", "b"]), "names"),
        (lambda: Invariants.margins((2, 2), [(2,)]), "axis 2"),
        (lambda: Invariants.margins((2, 2), [(0, 0)]), "axis"),
        (lambda: Invariants.margins((2, 0)), "shape"),
        (lambda: Invariants.subsets([[0, 4]], 4), "cell 4"),
        (lambda: Invariants.subsets([[0], [1, 1]], 4), "subset 1"),
        (lambda: Invariants.total(3).apply(np.zeros(3)), "float64"),
        (lambda: Invariants.total(3).apply(np.zeros(2, int)), "3 cells"),
        (lambda: Invariants.total(3).apply(np.full(3, 2**62)), "64-bit"),
    ],
)
def test_bad_input_is_refused(build, named):
    with pytest.raises(InputError, match=named):
        build()


def test_whole_numbers_are_taken_whatever_their_type():
    assert Invariants([[1.0, 2.0]]).matrix.tolist() == [[1, 2]]
    assert Invariants([[True, False]]).matrix.tolist() == [[1, 0]]
