"""Orthonormal bases of null spaces, of which the l1 sensitivity is a different one for each.

Contrasts of n cells are n - 1 orthonormal vectors with sum zero. Blocks of cells that share a total
take contrasts each by itself; margins of a table take Kronecker products of them. All of these are
written down, not computed by an eigenvalue routine, so that no number hangs on its build.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain, combinations

import numpy as np
import scipy
from scipy.linalg import hadamard, helmert
from scipy.linalg import null_space as singular_basis
from scipy.sparse import block_diag, coo_array, csc_array, eye_array, hstack, kron

from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.subspace.null_space import null_space
from isdp.subspace.privacy.difference_geometry import geometry
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.queries import Query

CONTRASTS = ("haar", "helmert", "hadamard", "cosine")
BASES = (*CONTRASTS, "singular")
LARGEST_SINGULAR = 2_000  # cells of a dense basis
TOLERANCE = 1e-9
TIED = 1e-6  # relative difference of singular values or axes that count as equal


def contrasts(cells: int, kind: str = "haar") -> csc_array:
    """Orthonormal vectors of sum zero.

    Parameters
    ----------
    kind : {"haar", "helmert", "hadamard", "cosine"}
        "haar": halves against halves, where the first half is the largest power of two below the
        number of cells; n log n entries. "helmert": each cell against those before it. "hadamard":
        signs, for powers of two. "cosine": the discrete cosine transform.

    Returns
    -------
    csc_array, shape (cells, cells - 1)

    Raises
    ------
    InputError
        For an unknown kind, or "hadamard" where the number of cells is no power of two.
    """
    check_choice("subspace: contrasts", kind, CONTRASTS)
    if cells == 1:
        return csc_array((1, 0))
    if kind == "haar":
        return _haar(cells)
    if kind == "helmert":
        return csc_array(helmert(cells).T)
    if kind == "cosine":
        return csc_array(scipy.fft.dct(np.eye(cells), norm="ortho", axis=0)[1:].T)
    if cells & (cells - 1):
        raise InputError(f"subspace: {cells} cells are no power of two; take another basis")
    return csc_array(hadamard(cells)[:, 1:] / math.sqrt(cells))


def null_basis(invariants: Invariants, kind: str = "haar") -> csc_array:
    """Orthonormal basis Q of the null space, one vector a column.

    Parameters
    ----------
    kind : {"haar", "helmert", "hadamard", "cosine", "singular"}
        The first four need invariants that are totals of disjoint blocks (`kronecker_basis` is for
        margins). "singular" takes what a singular value decomposition returns for any invariants;
        inside the null space that is arbitrary and differs between builds of the numerical
        libraries, so publish no number that hangs on it.

    Returns
    -------
    csc_array, shape (cells, dimension)

    Raises
    ------
    InputError
        For an unknown kind, invariants that it does not fit, or too many cells for "singular".
    """
    check_choice("subspace: the basis", kind, BASES)
    if kind == "singular":
        return csc_array(_singular(invariants))
    kind_of_cell, first = find_cell_classes(invariants)
    free = np.diff(invariants.sparse.tocsc().indptr)[first] == 0
    if len(first) - free.sum() != null_space(invariants).rank:
        raise InputError(
            f"subspace: the {kind} basis is for totals of disjoint blocks; for margins take "
            f"kronecker_basis(shape, held), else name a basis of your own"
        )
    sizes = np.bincount(kind_of_cell)
    parts = [
        eye_array(size) if loose else contrasts(size, kind)
        for size, loose in zip(sizes.tolist(), free, strict=True)
    ]
    order = np.argsort(kind_of_cell, kind="stable")
    return csc_array(block_diag(parts, format="csr")[np.argsort(order)])


def kronecker_basis(
    shape: Sequence[int], held: Iterable[Sequence[int]] = ((0,), (1,)), kind: str = "haar"
) -> csc_array:
    """Orthonormal basis of the null space of `Invariants.margins(shape, held)`.

    For each set of axes that lies in no held margin: contrasts along these axes, the mean along the
    others. The vectors of one set are the interaction of its axes.

    Parameters
    ----------
    held : iterable of sequences of int
        The margins held, each as the axes that it keeps.
    kind : {"haar", "helmert", "hadamard", "cosine"}

    Returns
    -------
    csc_array, shape (cells, dimension)
    """
    margins = [set(axes) for axes in held]
    axes = range(len(shape))
    means = [csc_array(np.full((size, 1), 1 / math.sqrt(size))) for size in shape]
    turns = [contrasts(size, kind) for size in shape]
    interactions = chain.from_iterable(combinations(axes, k) for k in range(len(shape) + 1))
    free = [
        reduce(kron, [turns[axis] if axis in these else means[axis] for axis in axes])
        for these in map(set, interactions)
        if not any(these <= margin for margin in margins)
    ]
    return csc_array(hstack([csc_array((math.prod(shape), 0)), *free]))


def difference_basis(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> csc_array:
    """Orthonormal basis of the span of the differences within the null space.

    The vectors are the right singular vectors of the matrix whose rows are the differences
    Pi_N (a_z - a_y) of all neighbours. Equal singular values leave their vectors open; these follow
    the Haar contrasts of the types of record, the coarse ones first, so that the basis is the same
    on every machine. It has fewer vectors than the null space has dimensions where the answers
    depend on each other, and no record moves the answers out of its span.

    Returns
    -------
    csc_array, shape (answers, rank of the differences)

    Raises
    ------
    InputError
        If the query is too large for dense matrices, or query and invariants do not fit.
    """
    space = geometry(query, invariants, relation)
    sizes = np.linalg.norm(space.points, axis=1)  # the singular values, in descending order
    guide = space.points @ contrasts(space.points.shape[1]).toarray() / sizes[:, None]
    turned = [align_with(np.eye(space.rank)[:, tied], guide) for tied in split_ties(sizes)]
    return csc_array(space.span @ np.hstack(turned) if turned else space.span)


def split_ties(values: np.ndarray) -> list[np.ndarray]:
    """Split the positions of sorted positive values into runs of equal ones."""
    if not len(values):
        return []
    ends = np.abs(np.diff(values)) > TIED * np.maximum(values[1:], values[:-1])
    return np.split(np.arange(len(values)), np.flatnonzero(ends) + 1)


def align_with(axes: np.ndarray, guide: np.ndarray) -> np.ndarray:
    """Choose an orthonormal basis of the span of some axes by Gram-Schmidt of a guide's vectors.

    Parameters
    ----------
    axes : float64 array, shape (r, size)
        Orthonormal.
    guide : float64 array, shape (r, n)
        Vectors of length 1 or less, in order of preference.
    """
    chosen = np.zeros((len(axes), 0))
    for vector in guide.T:
        inside = axes @ (axes.T @ vector)
        for _ in range(2):  # once more for what rounding leaves
            inside -= chosen @ (chosen.T @ inside)
        if np.linalg.norm(inside) > math.sqrt(TIED):
            chosen = np.column_stack([chosen, inside / np.linalg.norm(inside)])
        if chosen.shape[1] == axes.shape[1]:
            return chosen
    return axes  # the guide spans everything, so this is not reached


def check_basis(basis, invariants: Invariants) -> csc_array:
    """Return the basis as a sparse array if its columns are orthonormal and in the null space.

    Raises
    ------
    InputError
        If they are not, to 1e-9.
    """
    basis = csc_array(basis)
    if basis.shape[0] != invariants.cells:
        raise InputError(
            f"subspace: the basis has {basis.shape[0]} rows for {invariants.cells} answers"
        )
    held = abs(invariants.sparse @ basis).max() if invariants.constraints else 0.0
    inner = basis.T @ basis - eye_array(basis.shape[1])
    if basis.shape[1] and max(held, abs(inner).max()) > TOLERANCE:
        raise InputError("subspace: the basis is not orthonormal, or leaves the null space")
    return basis


def _haar(cells: int) -> csc_array:
    """Split the cells in two again and again; a vector a split, the coarse ones first."""
    rows, columns, values = [], [], []
    waiting, vectors = deque([(0, cells)]), 0
    while waiting:
        start, stop = waiting.popleft()
        size = stop - start
        left = 1 << (size - 1).bit_length() - 1  # the largest power of two below the size
        right = size - left
        rows.append(np.arange(start, stop))
        columns.append(np.full(size, vectors))
        values.append(
            np.repeat(
                [math.sqrt(right / (left * size)), -math.sqrt(left / (right * size))],
                [left, right],
            )
        )
        vectors += 1
        halves = ((start, start + left), (start + left, stop))
        waiting += [half for half in halves if half[1] - half[0] > 1]
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csc_array(coo_array(entries, shape=(cells, cells - 1)))


def _singular(invariants: Invariants) -> np.ndarray:
    if invariants.cells > LARGEST_SINGULAR:
        raise InputError(
            f"subspace: the singular basis of {invariants.cells} cells is dense, and too large"
        )
    if not invariants.constraints:
        return np.eye(invariants.cells)
    return singular_basis(invariants.matrix.astype(float))
