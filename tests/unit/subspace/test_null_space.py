import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space as by_singular_values
from scipy.sparse import csr_array

from isdp import InputError, Invariants
from isdp.lattice.elimination import independent_rows, integer_kernel
from isdp.subspace import NullSpace, null_space

RNG = np.random.default_rng(11527)

matrices = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 7).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-3, 3), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
)


@given(matrices)
def test_projection_against_a_singular_value_decomposition(rows):
    held = Invariants(rows)
    free = by_singular_values(np.array(rows, dtype=float))
    null = NullSpace(held)
    assert null.dimension == free.shape[1]
    assert null.matrix() == pytest.approx(free @ free.T, abs=1e-9)
    assert null.diagonal() == pytest.approx(np.diag(null.matrix()), abs=1e-9)
    cells = range(held.cells)
    sums = csr_array([[cell <= last for cell in cells] for last in cells], dtype=float)
    variance = [row @ free @ free.T @ row for row in sums.toarray()]
    assert null.sum_variances(sums) == pytest.approx(variance, abs=1e-7)


@given(matrices)
def test_independent_rows_are_the_first_that_raise_the_rank(rows):
    matrix = np.array(rows)
    ranks = [np.linalg.matrix_rank(matrix[: k + 1]) for k in range(len(rows))]
    first = np.flatnonzero(np.diff([0, *ranks]))
    assert independent_rows(Invariants(rows).sparse).tolist() == first.tolist()


@given(matrices)
def test_the_integer_kernel_is_whole_and_complete(rows):
    held = Invariants(rows)
    kernel = integer_kernel(held.sparse)
    assert len(kernel) == held.cells - np.linalg.matrix_rank(held.matrix)
    assert not (held.matrix @ kernel.T).any()
    assert len(independent_rows(Invariants(kernel.reshape(-1, held.cells)).sparse)) == len(kernel)


def test_ranks_are_exact_where_floating_point_is_not():
    big = 10**9
    assert null_space(Invariants([[big, big + 1], [big - 1, big]])).rank == 2
    assert null_space(Invariants([[big, big], [3, 3], [0, 0]])).rank == 1


def test_the_campus_example_has_740_independent_constraints_of_760():
    held = Invariants.margins((20, 14, 24), ((0, 1), (0, 2)))
    null = null_space(held)
    assert (held.constraints, null.rank, null.dimension) == (760, 740, 5980)
    np.testing.assert_allclose(null.diagonal(), np.full(6720, 13 * 23 / 336), rtol=1e-12)
    noise = null.project(RNG.standard_normal((3, 6720)))
    assert null.residual(noise) < 1e-13
    centred = RNG.standard_normal((20, 14, 24))
    twice = centred - centred.mean(axis=1, keepdims=True)
    twice -= twice.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(null.project(centred.ravel()), twice.ravel(), rtol=0, atol=1e-13)


def test_a_million_cells_under_a_total_take_no_matrix():
    null = null_space(Invariants.total(10**6))
    noise = RNG.standard_normal(10**6)
    np.testing.assert_allclose(null.project(noise), noise - noise.mean(), rtol=0, atol=1e-12)
    assert null.diagonal()[[0, -1]] == pytest.approx(1 - 1e-6)
    with pytest.raises(InputError, match="project"):
        null.matrix()


def test_nothing_held_and_everything_held():
    assert null_space(Invariants([[0, 0]])).project([1.0, 2.0]).tolist() == [1, 2]
    assert null_space(Invariants.total(1)).project([[5.0]]) == pytest.approx(0, abs=1e-12)
    assert null_space(Invariants.total(1)).dimension == 0


def test_wrong_shapes_and_oversized_eliminations_are_refused():
    with pytest.raises(InputError, match="last axis"):
        null_space(Invariants.total(3)).project(np.ones(4))
    with pytest.raises(InputError, match="invariants: "):
        null_space(Invariants.subsets([(i, i + 1) for i in range(3300)], 3301))
