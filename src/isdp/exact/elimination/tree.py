"""The elimination tree of partial sums, in exact integer coordinates.

Cells are merged pairwise into larger and larger sets. The state of a set S is the vector of sums
A_S u_S that it shares with the other cells. The states of all u with A u = 0 form a lattice. A
state is stored as its integer coordinates x in a basis of this lattice. Let C be a basis of the
noise lattice, so that u = C c. Then each set has an integer matrix X with x = X c, and the data of
a merge are computed from these matrices.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from flint import fmpz_mat
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.elimination_order import find_elimination_order, order_by_totals
from isdp.io.progress import tracked
from isdp.lattice.null_lattice import kernel_lattice

MAX_CELLS_FOR_LP = 300
MAX_ENTRY = 2**31

ObjectArray = NDArray[np.object_]  # of Python integers


class Node(NamedTuple):
    """A set of cells, which is one cell (a leaf) or the union of two nodes.

    Let x be the coordinates of a union. The stacked coordinates (x1, x2) of its children are
    ``given @ x + free @ y`` for exactly one integer vector y. Every integer vector y is possible.

    Attributes
    ----------
    cell : int
        The cell of a leaf, or -1 for a union.
    gap : int
        The noise of a leaf is ``gap * x``.
    left, right : int
        The positions of the children in the tree, or -1 for a leaf.
    given : int64 array, shape (dimension of left + dimension of right, dimension)
    free : int64 array, shape (dimension of left + dimension of right, inner dimension)
    scale : float array, shape (dimension,)
        For power 1, |x_j| <= scale_j ||u||_1. For power 2, scale_j times sigma is the standard
        deviation of x_j for continuous Gaussian noise.
    """

    cell: int
    gap: int
    left: int
    right: int
    given: IntArray
    free: IntArray
    scale: FloatArray


class EliminationForest(NamedTuple):
    """Independent elimination trees of the cells.

    Attributes
    ----------
    trees : list of list of Node
        Children come before parents, and the root is last. For a cell in no total, the root is a
        leaf. Cells whose noise must be zero have no node.
    dimension : int
        The dimension of the noise lattice.
    """

    trees: list[list[Node]]
    dimension: int


def build_forest(
    invariants: Invariants, power: int, order: IntArray | None = None, by_totals: bool = False
) -> EliminationForest:
    """Build the elimination trees of the matrix A, which may have any integers and any rank.

    Raise `InputError` if a coefficient exceeds 2^31.

    Parameters
    ----------
    power : {1, 2}
        The norm of the bound in `Node.scale`.
    order : int array, shape (cells,), optional
        Cells with equal columns of A are merged in this order.
    by_totals : bool
        Use `isdp.exact.elimination.elimination_order.order_by_totals` instead of
        `find_elimination_order`.
    """
    if order is None:
        order = np.zeros(invariants.cells, np.int64)
    return _build_cached(invariants, power, order.astype(np.int64).tobytes(), by_totals)


@lru_cache(maxsize=16)
def _build_cached(
    invariants: Invariants, power: int, order_bytes: bytes, by_totals: bool
) -> EliminationForest:
    order, a = np.frombuffer(order_bytes, np.int64), invariants.sparse
    touching = abs(a).astype(float)
    _, part = connected_components((touching.T @ touching), directed=False)
    used = np.diff(a.tocsc().indptr) > 0
    nothing = np.zeros((0, 0), np.int64)
    trees, dimension = [], 0
    for label in np.unique(part):
        cells = np.flatnonzero(part == label)
        if not used[cells[0]]:
            trees.append([Node(int(cells[0]), 1, -1, -1, nothing, nothing, np.ones(1))])
            dimension += 1
            continue
        block = a[:, cells].toarray()
        component = _Component(block[block.any(axis=1)], cells, order[cells], power)
        dimension += component.dimension
        if component.dimension:
            trees.append(component.nodes(by_totals))
    return EliminationForest(trees, dimension)


class _Set(NamedTuple):
    """A set S of cells during the construction of the tree.

    Attributes
    ----------
    place : int
        The position of its node.
    sums : object array of int, shape (constraints, d)
        The product A_S C_S.
    coordinates : object array of int, shape (dimension, d)
        The matrix X of the module's docstring.
    members : bool array, shape (cells,)
    """

    place: int
    sums: ObjectArray
    coordinates: ObjectArray
    members: BoolArray


class _Component:
    """The construction of the tree of cells that constraints connect."""

    def __init__(self, matrix: IntArray, cells: IntArray, order: IntArray, power: int):
        lattice = kernel_lattice(Invariants(matrix), "lll")
        self.matrix, self.cells, self.order, self.power = matrix, cells, order, power
        self.basis = lattice.basis
        self.dimension = lattice.dimension
        c = self.basis.astype(float)
        self.inverse = np.linalg.inv(c.T @ c)
        self.built: list[Node] = []
        self.known_scales: dict[bytes, FloatArray] = {}
        moving = np.flatnonzero(self.basis.any(axis=1))
        columns, class_of = np.unique(matrix[:, moving], axis=1, return_inverse=True)
        # classes are in the order of their first cells, so that tables keep their structure
        first = [moving[class_of == t].min() for t in range(columns.shape[1])]
        self.by_class = [moving[class_of == t] for t in np.argsort(first)]
        self.columns = columns[:, np.argsort(first)]

    def nodes(self, by_totals: bool) -> list[Node]:
        counts = np.array([len(cells) for cells in self.by_class])
        sets = [self._merge_class(cells) for cells in self.by_class]
        if by_totals:
            order = order_by_totals(self.columns)
        else:
            order = find_elimination_order(self.columns.astype(float), counts)
        for i, j in tracked("laying out sums", order):
            sets.append(self._union(sets[i], sets[j]))
        return self.built

    def _merge_class(self, cells: IntArray) -> _Set:
        """Merge the cells of a class in a balanced tree, so that many messages are equal."""
        sets = [self._leaf(cell) for cell in cells[np.argsort(self.order[cells], kind="stable")]]
        while len(sets) > 1:
            paired = [self._union(*sets[i : i + 2]) for i in range(0, len(sets) - 1, 2)]
            sets = paired + sets[len(sets) - len(sets) % 2 :]
        return sets[0]

    def _leaf(self, cell: int) -> _Set:
        row = self.basis[cell]
        # the possible noise of the cell is all multiples of the greatest common divisor of its row
        gap = int(np.gcd.reduce(np.abs(row)))
        sums = np.outer(self.matrix[:, cell].astype(object), row.astype(object))
        coordinates = (row // gap).astype(object)[None, :]
        members = np.zeros(len(self.basis), bool)
        members[cell] = True
        nothing = np.zeros((0, 1), np.int64)
        scale = self._scale(coordinates, members)
        self.built.append(Node(int(self.cells[cell]), gap, -1, -1, nothing, nothing, scale))
        return _Set(len(self.built) - 1, sums, coordinates, members)

    def _union(self, left: _Set, right: _Set) -> _Set:
        sums, members = left.sums + right.sums, left.members | right.members
        coordinates = _short_coordinates(_lattice_coordinates(sums), self.inverse)
        # The vectors (x; x1; x2), taken over all noise, generate a lattice. The rows of the Hermite
        # form of the lattice are a basis in echelon form. The vectors x are all of Z^dim, so that
        # the first `dim` pivots are ones and the coefficients of these rows are x itself. The
        # entries of these rows after x are `given`. The other rows have x = 0, and their other
        # entries are `free`.
        stacked = np.vstack([coordinates, left.coordinates, right.coordinates])
        echelon = _hermite(stacked.T)
        dim = len(coordinates)
        scales = np.concatenate([self.built[s.place].scale for s in (left, right)])
        node = Node(
            cell=-1,
            gap=0,
            left=left.place,
            right=right.place,
            given=_bounded(echelon[:dim, dim:].T),
            free=_bounded(_longest_line_last(echelon[dim:, dim:], scales).T),
            scale=self._scale(coordinates, members),
        )
        self.built.append(node)
        return _Set(len(self.built) - 1, sums, coordinates, members)

    def _scale(self, coordinates: ObjectArray, members: BoolArray) -> FloatArray:
        """Compute the `scale` of `Node` for each coordinate."""
        x = coordinates.astype(float)
        if self.power == 2:
            return np.asarray(np.sqrt(np.einsum("jc,cd,jd->j", x, self.inverse, x)))
        if len(x) != 1:
            return self._max_weights(x)
        # for a frontier of one sum, the scale depends only on the number of cells of each class
        key = np.array([members[cells].sum() for cells in self.by_class]).tobytes()
        if key not in self.known_scales:
            self.known_scales[key] = self._max_weights(x)
        return self.known_scales[key]

    def _max_weights(self, x: FloatArray) -> FloatArray:
        """Minimize max_i |c_i| over the vectors c with x_j = c . u for all u of the lattice."""
        weights = self.basis @ (self.inverse @ x.T)
        cells, constraints = len(self.basis), len(self.matrix)
        largest: FloatArray = np.abs(weights).max(axis=0, initial=0.0)
        if cells > MAX_CELLS_FOR_LP or not len(x):
            return largest
        a = self.matrix.T.astype(float)
        one = np.ones((cells, 1))
        count = len(x)
        # one program of `count` blocks, by `milp`, is faster than `count` calls of `linprog`
        solved = scipy.optimize.milp(
            np.tile(np.append(np.zeros(constraints), 1.0), count),
            constraints=scipy.optimize.LinearConstraint(
                scipy.sparse.block_diag([np.block([[a, -one], [-a, -one]])] * count),
                ub=np.concatenate([-weights, weights]).ravel(order="F"),
            ),
            bounds=scipy.optimize.Bounds(
                np.tile(np.append(np.full(constraints, -np.inf), 0.0), count)
            ),
        )
        if solved.status == 0:  # the bound is valid for any multipliers
            multipliers = solved.x.reshape(count, -1)[:, :-1]
            largest = np.minimum(largest, np.abs(weights + a @ multipliers.T).max(axis=0))
        return largest


def _lattice_coordinates(sums: ObjectArray) -> ObjectArray:
    """Return X with sums = B X, where B is a basis of the lattice that the columns generate."""
    basis = _hermite(sums.T)
    remaining, found = sums.T.copy(), []
    # each pivot column gives a coefficient, after the earlier rows of the echelon form are
    # subtracted
    for row in basis:
        pivot = int(np.flatnonzero(row)[0])
        coefficient = remaining[:, pivot] // row[pivot]
        remaining = remaining - np.outer(coefficient, row)
        found.append(coefficient)
    return np.array(found, dtype=object).reshape(len(basis), sums.shape[1])


def _short_coordinates(x: ObjectArray, inverse: FloatArray) -> ObjectArray:
    """Change to coordinates with small variances, so that their windows are narrow."""
    if len(x) < 2:
        return x
    # the lengths of the rows of a root of the covariance are the standard deviations
    covariance = x.astype(float) @ inverse @ x.astype(float).T
    root = np.linalg.cholesky(covariance)
    return np.asarray(reducer(root) @ x)


def _longest_line_last(rows: ObjectArray, scales: FloatArray) -> ObjectArray:
    if len(rows) < 2:
        return rows
    return np.asarray(reducer(rows.astype(float) / scales) @ rows)[::-1]


def reducer(rows: FloatArray | IntArray) -> ObjectArray:
    """Return the unimodular matrix of an LLL reduction of the rows, which shortens them."""
    # rounding to 30 bits can make the result longer, but the transform remains unimodular
    scaled = np.rint(rows * (2.0**30 / np.abs(rows).max()))
    _, transform = fmpz_mat([[int(v) for v in row] for row in scaled]).lll(True)
    return _object(transform)


def _hermite(matrix: ObjectArray) -> ObjectArray:
    """Return the nonzero rows of the Hermite normal form, as Python integers."""
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros((0, columns), dtype=object)
    form = _object(fmpz_mat([[int(v) for v in row] for row in matrix]).hnf())
    return np.asarray(form[(form != 0).any(axis=1)])


def _object(matrix: fmpz_mat) -> ObjectArray:
    entries = [int(v) for v in matrix.entries()]
    return np.array(entries, dtype=object).reshape(matrix.nrows(), matrix.ncols())


def _bounded(matrix: ObjectArray) -> IntArray:
    if matrix.size and max(abs(v) for v in matrix.ravel()) > MAX_ENTRY:
        raise InputError(
            "invariants: variable elimination needs coefficients above 2^31. Use invariants with "
            "smaller entries."
        )
    return np.ascontiguousarray(matrix.astype(np.int64))
