import pickle

import numpy as np
import pytest

from isdp import InputError
from isdp.subspace import Query, differences
from reproduction.subspace.theory.joint_invariants import consistency

RNG = np.random.default_rng(20220222)


def test_ranges_and_prefixes_against_sums_of_slices():
    x = RNG.integers(0, 50, 7)
    ranges = [x[a : b + 1].sum() for a in range(7) for b in range(a, 7)]
    assert (Query.ranges(7).apply(x) == ranges).all()
    assert (Query.prefixes(7).apply(x) == np.cumsum(x)).all()
    assert (Query.histogram(7).apply(x) == x).all()


def test_margins_and_trees_against_sums_of_arrays():
    x = RNG.integers(0, 50, (4, 3, 2))
    answers = Query.margins((4, 3, 2), ((0, 1), (2,))).apply(x.ravel())
    assert (answers == [*x.sum(axis=2).ravel(), *x.sum(axis=(0, 1))]).all()
    levels = [x.sum(), *x.sum(axis=(1, 2)), *x.sum(axis=2).ravel(), *x.ravel()]
    assert (Query.hierarchy((4, 3, 2)).apply(x.ravel()) == levels).all()


def test_what_is_consistent_is_zero_for_all_data_and_nothing_else_is():
    tree = Query.hierarchy((4, 4))
    held = consistency(tree)
    assert held.constraints == 5
    assert not held.apply(tree.apply(RNG.integers(0, 99, (20, 16)))).any()
    assert np.linalg.matrix_rank(held.matrix) == 21 - np.linalg.matrix_rank(tree.matrix)
    with pytest.raises(InputError, match="independent"):
        consistency(Query.prefixes(4))


def test_differences_are_distinct_up_to_sign_and_exact():
    query = Query.linear([[1, 1, 2, 0], [0, 0, 3, 10**15]])
    listed = differences(query).tolist()
    assert listed == sorted([[1, -(10**15)], [1, 3], [2, 3 - 10**15]])
    assert differences(query, "add-remove").tolist() == [[0, 10**15], [1, 0], [2, 3]]
    with pytest.raises(InputError, match="relation"):
        differences(query, "swap")


def test_a_column_of_zeros_may_come_and_go_unseen():
    query = Query.linear([[0, 1], [0, 2]])
    assert differences(query, "add-remove").tolist() == [[1, 2]]


def test_an_array_is_no_query_and_is_sent_to_where_it_becomes_one():
    with pytest.raises(InputError, match=r"Query\.linear"):
        Query(np.eye(3))


def test_queries_are_values():
    assert Query.ranges(5) == pickle.loads(pickle.dumps(Query.ranges(5)))
    assert hash(Query.ranges(5)) == hash(Query.ranges(5))
    assert Query.histogram(3).is_histogram
    assert not Query.prefixes(3).is_histogram
    assert not Query.linear([[0, 1], [1, 0]]).is_histogram


@pytest.mark.parametrize("types", [0, -1, 2.5, True, "3"])
def test_a_number_of_types_that_is_none_is_refused(types):
    with pytest.raises(InputError, match="types"):
        Query.ranges(types)
