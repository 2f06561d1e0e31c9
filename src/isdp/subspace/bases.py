"""Orthonormal bases of null spaces.

The l1 sensitivity of a query depends on the basis. Contrasts of n cells are n - 1 orthonormal
vectors with sum zero. Under disjoint totals, each block of cells has its own contrasts. Under the
margins of a table, the basis consists of Kronecker products of contrasts. The bases have closed
forms. Results therefore do not depend on the version of an eigenvalue routine.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain, combinations
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.linalg import hadamard, helmert
from scipy.linalg import null_space as singular_basis
from scipy.sparse import block_diag, coo_array, csc_array, eye_array, hstack, kron

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.subspace.null_space import null_space
from isdp.subspace.privacy.difference_geometry import geometry
from isdp.subspace.privacy.neighbours import Relation
from isdp.subspace.queries import Query

ContrastKind = Literal["haar", "helmert", "hadamard", "cosine"]
BasisKind = Literal[ContrastKind, "singular"]
MAX_SINGULAR_CELLS = 2_000  # maximum number of cells for a singular value decomposition
TOLERANCE = 1e-9  # maximum absolute entry of Q'Q - I and C Q, for a basis Q
TIE_TOLERANCE = 1e-6  # maximum relative difference of singular values that count as equal


def contrasts(cells: int, kind: ContrastKind = "haar") -> csc_array:
    """Compute orthonormal vectors with sum zero, as a csc_array of shape (cells, cells - 1).

    Parameters
    ----------
    kind : {"haar", "helmert", "hadamard", "cosine"}
        "haar" splits the cells recursively and compares the two parts of each split. The size of
        the first part is the largest power of two below the number of cells n. About n log n
        entries are nonzero. "helmert" compares each cell with the cells before it. "hadamard" has
        entries of equal magnitude, and requires that n is a power of two. "cosine" is the discrete
        cosine transform.
    """
    check_choice("subspace: contrasts", kind, get_args(ContrastKind))
    if cells == 1:
        return csc_array((1, 0))
    if kind == "haar":
        return _haar(cells)
    if kind == "helmert":
        return csc_array(helmert(cells).T)
    if kind == "cosine":
        return csc_array(scipy.fft.dct(np.eye(cells), norm="ortho", axis=0)[1:].T)
    if cells & (cells - 1):
        raise InputError(
            f'subspace: contrasts: "hadamard" needs a power of two, got {cells} cells. Use another '
            f"kind."
        )
    return csc_array(hadamard(cells)[:, 1:] / math.sqrt(cells))


def null_basis(invariants: Invariants, kind: BasisKind = "haar") -> csc_array:
    """Compute an orthonormal basis of the null space, as a csc_array of shape (cells, dimension).

    Parameters
    ----------
    kind : {"haar", "helmert", "hadamard", "cosine", "singular"}
        The first four kinds require totals of disjoint blocks. For margins, use `kronecker_basis`.
        "singular" computes a singular value decomposition, for any invariants of at most 2,000
        cells. This basis is arbitrary and differs between versions of the numerical libraries. Do
        not publish numbers that depend on it.
    """
    check_choice("subspace: the basis", kind, get_args(BasisKind))
    if kind == "singular":
        return csc_array(_singular(invariants))
    class_of_cell, first = find_cell_classes(invariants)
    free = np.diff(invariants.sparse.tocsc().indptr)[first] == 0
    if len(first) - free.sum() != null_space(invariants).rank:
        raise InputError(
            f"subspace: the {kind} basis is for totals of disjoint blocks. For margins, use "
            f"kronecker_basis(shape, held). For other invariants, give a basis."
        )
    sizes = np.bincount(class_of_cell)
    parts = [
        eye_array(size) if is_free else contrasts(size, kind)
        for size, is_free in zip(sizes.tolist(), free, strict=True)
    ]
    order = np.argsort(class_of_cell, kind="stable")
    return csc_array(block_diag(parts, format="csr")[np.argsort(order)])


def kronecker_basis(
    shape: Sequence[int], held: Iterable[Sequence[int]] = ((0,), (1,)), kind: ContrastKind = "haar"
) -> csc_array:
    """Compute an orthonormal basis of the null space of `Invariants.margins(shape, held)`.

    Each set of axes that no fixed margin contains gives vectors of the basis. These vectors are
    Kronecker products of contrasts along these axes and the mean along the other axes. They span
    the interaction of the axes. The result is a csc_array of shape (cells, dimension).
    """
    margins = [set(axes) for axes in held]
    axes = range(len(shape))
    means = [csc_array(np.full((size, 1), 1 / math.sqrt(size))) for size in shape]
    contrast_of_axis = [contrasts(size, kind) for size in shape]
    interactions = chain.from_iterable(combinations(axes, k) for k in range(len(shape) + 1))
    free = [
        reduce(kron, [contrast_of_axis[axis] if axis in chosen else means[axis] for axis in axes])
        for chosen in map(set, interactions)
        if not any(chosen <= margin for margin in margins)
    ]
    return csc_array(hstack([csc_array((math.prod(shape), 0)), *free]))


def difference_basis(
    query: Query, invariants: Invariants, relation: Relation = "replace"
) -> csc_array:
    """Compute an orthonormal basis of the span of the differences within the null space.

    Let a_z be column z of the query, and Pi_N the projection onto the null space. The matrix of
    differences has a row Pi_N (a_z - a_y) for each pair of neighbours. The basis consists of the
    right singular vectors of this matrix. If singular values are equal, the Haar contrasts of the
    record types determine their vectors, with coarse contrasts first. The basis is therefore the
    same on every machine. If the answers are linearly dependent, the basis has fewer vectors than
    the null space has dimensions. All differences lie in the span of the basis. The result is a
    csc_array of shape (answers, rank of the differences). The query must be small enough for dense
    matrices.
    """
    space = geometry(query, invariants, relation)
    sizes = np.linalg.norm(space.points, axis=1)  # the singular values, in descending order
    guide = space.points @ contrasts(space.points.shape[1]).toarray() / sizes[:, None]
    aligned = [align_with(np.eye(space.rank)[:, tied], guide) for tied in split_ties(sizes)]
    return csc_array(space.span @ np.hstack(aligned) if aligned else space.span)


def split_ties(values: FloatArray) -> list[IntArray]:
    """Split the positions of sorted positive numbers into groups of equal numbers."""
    if not len(values):
        return []
    ends = np.abs(np.diff(values)) > TIE_TOLERANCE * np.maximum(values[1:], values[:-1])
    return np.split(np.arange(len(values)), np.flatnonzero(ends) + 1)


def align_with(axes: FloatArray, guide: FloatArray) -> FloatArray:
    """Orthonormalise the projections of given vectors onto the span of some axes (Gram-Schmidt).

    The axes of shape (r, size) are orthonormal columns. The columns of the guide, of shape (r, n),
    span R^r, have length 1 or less and are in order of preference.
    """
    chosen: FloatArray = np.zeros((len(axes), 0))
    for vector in guide.T:
        inside = axes @ (axes.T @ vector)
        for _ in range(2):  # the second pass removes rounding errors
            inside -= chosen @ (chosen.T @ inside)
        if np.linalg.norm(inside) > math.sqrt(TIE_TOLERANCE):
            chosen = np.column_stack([chosen, inside / np.linalg.norm(inside)])
        if chosen.shape[1] == axes.shape[1]:
            return chosen
    return axes


def check_basis(basis: ArrayLike | csc_array, invariants: Invariants) -> csc_array:
    """Return the basis as a sparse array.

    Raise `InputError` if the columns are not orthonormal vectors of the null space, up to 1e-9.
    """
    basis = csc_array(basis)
    if basis.shape[0] != invariants.cells:
        raise InputError(
            f"subspace: basis: {basis.shape[0]} rows do not fit {invariants.cells} answers. Give "
            f"one row per answer."
        )
    outside = abs(invariants.sparse @ basis).max() if invariants.constraints else 0.0
    inner = basis.T @ basis - eye_array(basis.shape[1])
    if basis.shape[1] and max(outside, abs(inner).max()) > TOLERANCE:
        raise InputError(
            "subspace: basis: the columns are not orthonormal vectors of the null space. Use "
            "`null_basis` or `kronecker_basis`."
        )
    return basis


def _haar(cells: int) -> csc_array:
    """Split the cells recursively in two, with one vector per split and coarse splits first."""
    rows, columns, values = [], [], []
    queue, vectors = deque([(0, cells)]), 0
    while queue:
        start, stop = queue.popleft()
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
        queue += [half for half in halves if half[1] - half[0] > 1]
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csc_array(coo_array(entries, shape=(cells, cells - 1)))


def _singular(invariants: Invariants) -> FloatArray:
    if invariants.cells > MAX_SINGULAR_CELLS:
        raise InputError(
            f'subspace: basis: "singular" is dense and allows at most {MAX_SINGULAR_CELLS} cells, '
            f"got {invariants.cells}. Use another kind."
        )
    if not invariants.constraints:
        return np.eye(invariants.cells)
    return np.asarray(singular_basis(invariants.matrix.astype(float)))
