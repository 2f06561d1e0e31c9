"""Detection of contingency tables with all combinations of categories, and their held margins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants

MAX_MARGINS = 8  # the detection examines every set of margins


@dataclass(frozen=True, eq=False)
class FactorialTable:
    """A contingency table with one cell for each combination of categories.

    Attributes
    ----------
    shape : tuple of int
        Number of categories along each axis, each 2 or more.
    codes : int64 array, shape (axes, cells)
        The category of each cell along each axis.
    held : tuple of tuple of int
        The axes of each held margin.
    """

    shape: tuple[int, ...]
    codes: NDArray[np.int64]
    held: tuple[tuple[int, ...], ...]

    def cells(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells with given categories, an int array of shape (axes, n)."""
        cell_at = np.argsort(np.ravel_multi_index(tuple(self.codes), self.shape))
        found: NDArray[np.int64] = cell_at[np.ravel_multi_index(tuple(codes), self.shape)]
        return found

    def is_held(self, axes: tuple[int, ...]) -> bool:
        """Return True if the margin of these axes is held, or is a sum of a held margin."""
        return any(set(axes) <= set(margin) for margin in self.held)

    def free_axes(self) -> tuple[int, ...] | None:
        """Return the smallest set of axes whose margin is not held, or None if all are held."""
        axes = range(len(self.shape))
        sets = (chosen for size in range(len(axes) + 1) for chosen in combinations(axes, size))
        return next((chosen for chosen in sets if not self.is_held(chosen)), None)


def find_factorial_table(invariants: Invariants) -> FactorialTable | None:
    """Find axes for which the invariants are margins of a table with all combinations.

    No two cells may have equal columns of A: give one cell of each class
    (`isdp.constraints.invariants.find_cell_classes`). Axes that occur in the same margins become
    one axis. The result is verified exactly. It is None if no axes are found.

    Examples
    --------
    >>> table = find_factorial_table(Invariants.margins((2, 3, 4), [(0, 1), (1, 2)]))
    >>> table.shape, table.held
    ((3, 2, 4), ((0, 1), (0, 2)))
    """
    margins = _partitions(invariants.sparse)
    if margins is None or not 0 < len(margins) <= MAX_MARGINS:
        return None
    cells = invariants.cells
    codes: list[NDArray[np.int64]] = []
    shape: list[int] = []
    margins_of: list[frozenset[int]] = []  # the margins that keep each axis
    numbers = range(len(margins))
    for size in range(len(margins), 0, -1):
        for chosen in combinations(numbers, size):
            larger = [axis for axis, kept in enumerate(margins_of) if kept > set(chosen)]
            group = _mixed_radix(codes, shape, larger, cells)
            joint = _join([margins[number] for number in chosen])
            of_joint = np.zeros(joint.max() + 1, dtype=np.int64)
            of_joint[joint] = group
            members = np.bincount(of_joint)
            if members.min() != members.max():
                return None
            if members[0] > 1:
                # number the joint groups within each group of the larger margins
                order = np.argsort(of_joint, kind="stable")
                rank = np.empty(len(order), dtype=np.int64)
                rank[order] = np.arange(len(order)) % members[0]
                codes.append(rank[joint])
                shape.append(int(members[0]))
                margins_of.append(frozenset(chosen))
    every = _mixed_radix(codes, shape, range(len(shape)), cells)
    held = []
    for number, labels in enumerate(margins):
        axes = tuple(axis for axis, kept in enumerate(margins_of) if number in kept)
        product = _mixed_radix(codes, shape, axes, cells)
        pairs = _distinct(product + cells * labels)
        if not _distinct(product) == _distinct(labels) == pairs:
            return None
        held.append(axes)
    if _distinct(every) != cells or np.prod([float(size) for size in shape]) != cells:
        return None
    return FactorialTable(tuple(shape), np.array(codes).reshape(len(shape), cells), tuple(held))


def _partitions(a: csr_array) -> list[NDArray[np.int64]] | None:
    """Arrange the rows in partitions of the cells, and return the labels of each partition."""
    if (a.data != 1).any():
        return None
    found: list[NDArray[np.int64]] = []
    groups: list[int] = []
    for row in range(a.shape[0]):
        cells = a.indices[a.indptr[row] : a.indptr[row + 1]]
        places = (k for k, labels in enumerate(found) if (labels[cells] < 0).all())
        place = next(places, len(found))
        if place == len(found):
            if place > MAX_MARGINS:
                return None
            found.append(np.full(a.shape[1], -1, dtype=np.int64))
            groups.append(0)
        found[place][cells] = groups[place]
        groups[place] += 1
    return None if any((labels < 0).any() for labels in found) else found


def _join(partitions: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the labels of the finest partition that is coarser than each of the partitions."""
    joint = partitions[0]
    for labels in partitions[1:]:
        first = joint.max() + 1
        size = first + labels.max() + 1
        edges = coo_array((np.ones(len(labels)), (joint, first + labels)), shape=(size, size))
        joint = connected_components(edges, directed=False)[1][joint].astype(np.int64)
        joint = np.unique(joint, return_inverse=True)[1]
    return joint


def _mixed_radix(
    codes: list[NDArray[np.int64]], shape: list[int], axes: Iterable[int], cells: int
) -> NDArray[np.int64]:
    """Return the number of each cell's combination of categories along some axes."""
    number = np.zeros(cells, dtype=np.int64)
    for axis in axes:
        number = number * shape[axis] + codes[axis]
    return number


def _distinct(labels: NDArray[np.int64]) -> int:
    return len(np.unique(labels))
