import math
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import example, given
from hypothesis import strategies as st

from isdp import InputError, Invariants
from isdp.lattice.null_lattice import BASES, kernel_lattice
from isdp.lattice.smith import smith_normal_form


def matrices(entries):
    shapes = st.tuples(st.integers(1, 5), st.integers(1, 8))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(entries, min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )


def incidence():
    """Random 0/1 matrices, with repeated rows and empty columns now and then."""
    return matrices(st.integers(0, 1)).flatmap(
        lambda m: st.sampled_from([m, [*m, m[0]], [[*row, 0] for row in m]])
    )


any_matrix = st.one_of(incidence(), matrices(st.integers(-9, 9)))
# the Smith basis of larger entries may be refused, which has a test of its own
matrix_and_basis = st.one_of(
    st.tuples(st.one_of(incidence(), matrices(st.integers(-1, 1))), st.sampled_from(BASES)),
    st.tuples(any_matrix, st.just("lll")),
)


def determinant(array):
    return int(fmpz_mat(array.tolist()).det())


@given(any_matrix)
@example([[2, 0], [0, 3]])  # no divisor divides the other before both are replaced
@example([[4, 0, 0], [0, 6, 0]])
def test_smith_form_and_its_transforms(matrix):
    form = smith_normal_form(matrix)
    product = form.U @ np.array(matrix, dtype=object) @ form.V
    assert (product == form.D).all()
    assert abs(determinant(form.U)) == 1
    assert abs(determinant(form.V)) == 1
    assert all(b % a == 0 for a, b in pairwise(form.divisors))
    flint = fmpz_mat(matrix).snf()
    diagonal = [abs(int(flint[i, i])) for i in range(min(flint.nrows(), flint.ncols()))]
    assert [x for x in diagonal if x] == list(form.divisors)


@given(matrix_and_basis)
def test_basis_is_integral_primitive_of_full_rank_and_annihilated(case):
    matrix, basis = case
    invariants = Invariants(matrix)
    lattice = kernel_lattice(invariants, basis)
    c = lattice.basis
    assert c.dtype == np.int64
    assert not invariants.apply(c.T).any()
    assert lattice.dimension == invariants.cells - fmpz_mat(matrix).rank()
    if lattice.dimension:
        assert fmpz_mat(c.tolist()).rank() == lattice.dimension
        # primitive: the basis extends to one of Z^n, so all its elementary divisors are 1
        assert smith_normal_form(c).divisors == (1,) * lattice.dimension


@given(matrix_and_basis, st.integers(0, 2**32 - 1))
def test_coordinates_and_membership(case, seed):
    matrix, basis = case
    lattice = kernel_lattice(Invariants(matrix), basis)
    coordinates = np.random.default_rng(seed).integers(-50, 50, lattice.dimension)
    vector = lattice.basis @ coordinates
    lattice.invariants.check(vector)
    assert (lattice.coordinates(vector) == coordinates).all()
    several = lattice.coordinates(np.stack([vector, -3 * vector])[None])
    assert (several == np.stack([coordinates, -3 * coordinates])[None]).all()
    row = np.flatnonzero(lattice.invariants.matrix.any(axis=0))
    if len(row):
        vector = vector.copy()
        vector[row[0]] += 1
        with pytest.raises(InputError, match="invariant"):
            lattice.coordinates(vector)


@given(st.one_of(incidence(), matrices(st.integers(-1, 1))))
def test_both_bases_span_the_same_lattice(matrix):
    smith, lll = (kernel_lattice(Invariants(matrix), basis) for basis in BASES)
    change = np.array([smith.coordinates(v) for v in lll.basis.T], dtype=object)
    if smith.dimension:
        assert abs(determinant(change)) == 1


def test_a_total_gives_a_star_around_its_first_cell():
    lattice = kernel_lattice(Invariants.total(4))
    expected = [[-1, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]]
    assert lattice.basis.T.tolist() == expected


def test_a_long_total_stays_sparse():
    assert kernel_lattice(Invariants.total(2000)).columns.nnz == 2 * 1999


@pytest.mark.parametrize("basis", BASES)
def test_no_freedom_left_is_a_lattice_of_one_point(basis):
    for invariants in (
        Invariants.total(1),
        Invariants.partition([1, 2]),
        Invariants.margins((1, 3)),
    ):
        lattice = kernel_lattice(invariants, basis)
        assert lattice.dimension == 0
        assert lattice.basis.shape == (invariants.cells, 0)
        assert lattice.coordinates(np.zeros(invariants.cells, int)).shape == (0,)


@pytest.mark.parametrize("basis", BASES)
def test_without_constraints_every_integer_vector_is_feasible(basis):
    lattice = kernel_lattice(Invariants(np.zeros((2, 3), int)), basis)
    assert lattice.dimension == 3
    assert abs(determinant(lattice.basis.astype(object))) == 1


def test_margins_of_the_4_by_4_table_leave_nine_degrees():
    assert kernel_lattice(Invariants.margins((4, 4))).dimension == 9
    held = ((0, 1), (0, 2), (1, 2))
    cube = kernel_lattice(Invariants.margins((3, 4, 5), held), "lll")
    assert cube.dimension == math.prod((2, 3, 4))
    assert abs(cube.basis).max() == 1


def test_a_basis_too_large_for_64_bits_is_refused_with_advice():
    big = 2**40
    with pytest.raises(InputError, match="basis"):
        kernel_lattice(Invariants([[big + 1, big]]), "lll")
    with pytest.raises(InputError, match="basis"):
        kernel_lattice(Invariants.total(2), "hermite")


@given(incidence())
def test_exchange_vectors_generate_the_same_lattice(matrix):
    invariants = Invariants(np.array(matrix))
    lattice = kernel_lattice(invariants, "exchange")
    assert lattice.dimension == kernel_lattice(invariants, "lll").dimension
    columns = lattice.columns.toarray()
    assert not (np.array(matrix) @ columns).any()
    if lattice.dimension:
        form = fmpz_mat(columns.T.tolist()).snf()
        # a primitive lattice of the right rank: the same as the kernel
        assert [int(form[i, i]) for i in range(lattice.dimension)] == [1] * lattice.dimension
        assert fmpz_mat(columns.T.tolist()).rank() == lattice.dimension


def test_exchanges_are_no_basis():
    lattice = kernel_lattice(Invariants.total(6), "exchange")
    assert lattice.columns.shape[1] > lattice.dimension == 5
    with pytest.raises(InputError, match="exchange"):
        _ = lattice.basis
