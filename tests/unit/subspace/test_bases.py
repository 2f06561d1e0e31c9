import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.subspace import (
    Query,
    basis_sensitivity,
    contrasts,
    difference_basis,
    differences,
    kronecker_basis,
    null_basis,
    null_space,
)
from isdp.subspace.bases import check_basis
from tests.unit.subspace.workloads import WORKLOADS


@pytest.mark.parametrize("kind", ["haar", "helmert", "hadamard", "cosine"])
@pytest.mark.parametrize("cells", [1, 2, 8, 64])
def test_contrasts_are_orthonormal_and_sum_to_zero(kind, cells):
    vectors = contrasts(cells, kind).toarray()
    assert vectors.shape == (cells, cells - 1)
    assert vectors.T @ vectors == pytest.approx(np.eye(cells - 1), abs=1e-12)
    assert vectors.sum(axis=0) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("cells", range(2, 40))
def test_haar_splits_any_number_of_cells(cells):
    check_basis(contrasts(cells), Invariants.total(cells))


@pytest.mark.parametrize(
    ("shape", "held"),
    [
        ((4, 4), ((0,), (1,))),
        ((3, 5), ((0,),)),
        ((3, 4, 2), ((0, 1), (0, 2), (1, 2))),
        ((2, 3, 3), ((0, 1), (2,))),
        ((6,), ((),)),
    ],
)
def test_kronecker_bases_span_the_null_space_of_margins(shape, held):
    invariants = Invariants.margins(shape, held)
    basis = check_basis(kronecker_basis(shape, held), invariants).toarray()
    assert basis @ basis.T == pytest.approx(null_space(invariants).matrix(), abs=1e-10)


@pytest.mark.parametrize("kind", ["haar", "helmert", "cosine", "singular"])
def test_bases_of_blocks_span_their_null_space_though_rows_repeat(kind):
    held = Invariants([[2, 0, 2, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 1, 1, 1, 1]])
    basis = null_basis(held, kind).toarray()
    assert basis.T @ basis == pytest.approx(np.eye(4), abs=1e-12)
    assert basis @ basis.T == pytest.approx(null_space(held).matrix(), abs=1e-12)


def sensitivities(cells, kind):
    return basis_sensitivity(Query.histogram(cells), null_basis(Invariants.total(cells), kind))


def test_l1_sensitivities_by_basis():
    assert sensitivities(3, "helmert") == pytest.approx((1 + np.sqrt(3)) / np.sqrt(2))
    assert sensitivities(4, "hadamard") == pytest.approx(2)
    assert sensitivities(64, "hadamard") == pytest.approx(8)
    assert sensitivities(4, "haar") == pytest.approx(1 + np.sqrt(2))
    assert sensitivities(16, "haar") == pytest.approx(3.62132, abs=5e-6)
    assert sensitivities(102, "helmert") == pytest.approx(5.639, abs=5e-4)
    assert sensitivities(102, "haar") == pytest.approx(4.375, abs=5e-4)


def test_bases_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="kronecker"):
        null_basis(Invariants.margins((2, 3)))
    with pytest.raises(InputError, match="power of two"):
        null_basis(Invariants.total(6), "hadamard")
    with pytest.raises(InputError, match="one of"):
        null_basis(Invariants.total(6), "wavelet")
    with pytest.raises(InputError, match="orthonormal"):
        check_basis(np.eye(3), Invariants.total(3))
    with pytest.raises(InputError, match="rows"):
        check_basis(np.eye(4), Invariants.total(3))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_difference_basis_spans_the_differences_and_no_more(name, relation):
    query, held = WORKLOADS[name]
    basis = check_basis(difference_basis(query, held, relation), held).toarray()
    inside = null_space(held).project(differences(query, relation))
    assert inside @ basis @ basis.T == pytest.approx(inside, abs=1e-9)
    assert basis.shape[1] == np.linalg.matrix_rank(inside)
    moment = basis.T @ (inside.T @ inside) @ basis  # singular vectors: it is diagonal
    if name.startswith(("ranges", "tree")) and relation == "replace":
        assert moment == pytest.approx(np.diag(np.diag(moment)), abs=1e-9 * moment.max())


def test_l1_sensitivities_in_the_difference_basis():
    def found(name):
        query, held = WORKLOADS[name]
        return basis_sensitivity(query, difference_basis(query, held))

    # a singular value decomposition of all differences, by NumPy alone
    assert found("ranges of 16") == pytest.approx(22.260158917, rel=1e-9)
    # Haar contrasts of the leaves; the three coarse ones move the four nodes above them, too
    tree = np.sqrt(5) * (1 / 2 + 1 / np.sqrt(2)) + 1 + np.sqrt(2)
    assert found("tree of 4 x 4") == pytest.approx(tree, rel=1e-9)
