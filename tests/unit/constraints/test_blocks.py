import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.constraints.blocks import block_order, block_sizes, blocks_of
from isdp.errors import MisfitError
from isdp.exact.disjoint.compositions import CompositionSampler
from isdp.lattice.elimination import row_reduce


def generator():
    return np.random.default_rng(5)


def sample_blocks(rng, invariants, epsilon, draws):
    return CompositionSampler(invariants, GeneralizedLaplace(epsilon)).sample(rng, draws)


@pytest.mark.parametrize(
    ("matrix", "labels"),
    [
        ([[1, 1, 1]], [0, 0, 0]),
        ([[0, 1, 0, 1], [1, 0, 0, 0]], [1, 0, -1, 0]),
        ([[2, 2, 0], [-1, -1, 0]], [0, 0, -1]),
        ([[0, 0], [1, 1], [1, 1], [0, 0]], [0, 0]),
        (np.zeros((0, 2), dtype=int), [-1, -1]),
        ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], [0, 0, 1, 1]),
        ([[0, 0, 1, 1, 0], [3, 3, 3, 3, 0], [1, 1, 0, 0, 0]], [1, 1, 0, 0, -1]),
        ([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]], [0, 1, 2, 2]),
        ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]], [1, 1, 2, 0]),
        ([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 0, 0]], [1, 2, 1, 0, 0]),
        ([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 1, 1, 1]], [0, 0, 1, 1, 2]),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]], None),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 2, 2]], None),
        ([[1, 1, 0], [0, 1, 1]], None),
        ([[1, 1, 1], [1, 1, 0]], [1, 1, 0]),
        ([[1, 1, 0], [1, 1, 1]], [0, 0, 1]),
        ([[1, 1, 1], [2, 1, 0]], None),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], None),
        ([[1, 2]], None),
        ([[1, -1]], None),
    ],
)
def test_blocks_are_found_and_nothing_else(matrix, labels):
    found = blocks_of(Invariants(matrix))
    assert (found is None) if labels is None else (found.tolist() == labels)


@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=6))
def test_blocks_say_what_the_rows_say(matrix):
    """Wherever blocks are found, both span the same rows; nested rows are always taken."""
    labels = blocks_of(Invariants(matrix))
    if labels is not None:
        totals = [labels == block for block in range(labels.max() + 1)]
        ours = row_reduce(np.array(totals, dtype=int).reshape(-1, 6))
        assert ours.rows.tolist() == row_reduce(matrix).rows.tolist()
    sets = [{cell for cell, inside in enumerate(row) if inside} for row in matrix]
    if all(a <= b or b <= a or not a & b for a in sets for b in sets):
        assert labels is not None


def test_order_holds_every_cell_block_after_block():
    order, starts = block_order("test", Invariants.partition(["a", "b", None, "a", "b"]))
    assert order.tolist() == [2, 0, 3, 1, 4]
    assert starts.tolist() == [1, 3, 5]
    with pytest.raises(MisfitError):
        block_order("test", Invariants.margins((2, 2)))
    order, starts = block_order("test", Invariants(np.zeros((0, 2), dtype=int)))
    assert (order.tolist(), starts.tolist()) == ([0, 1], [2])


def test_blocks_of_one_cell_and_no_freedom_at_all():
    invariants = Invariants([[1, 0, 0], [0, 1, 1]])
    noise = sample_blocks(generator(), invariants, 0.1, draws=50)
    assert not noise[:, 0].any()
    assert noise[:, 1].any()
    assert not invariants.apply(noise).any()
    assert not sample_blocks(generator(), Invariants(np.eye(3, dtype=int)), 0.1, draws=2).any()
    assert sample_blocks(generator(), Invariants(np.zeros((0, 3), dtype=int)), 0.1, draws=2).any()


@pytest.mark.parametrize(
    ("invariants", "epsilon", "draws"),
    [
        (Invariants.margins((2, 2)), 0.5, 1),
        (Invariants.total(3), 0.0, 1),
        (Invariants.total(10_000), 1e-12, 1),
        (Invariants.total(1), 1e-15, 1),
    ],
)
def test_what_is_out_of_range_is_refused(invariants, epsilon, draws):
    with pytest.raises(InputError):
        sample_blocks(generator(), invariants, epsilon, draws)


def test_cells_are_counted_by_block_those_in_none_first():
    assert block_sizes(np.array([2, -1, 0, 2, 2, -1])).tolist() == [2, 1, 0, 3]
    assert block_sizes(np.array([-1, -1])).tolist() == [2]
    assert block_sizes(np.array([], dtype=np.int64)).tolist() == [0]
