"""Nested families of sets of cells, as trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from isdp.checks import INT64_MAX, check_integer, check_integer_array
from isdp.errors import InputError

MAX_CELLS = 10**12  # more than any memory holds
MAX_DEPTH = 1000
CELL_LEVEL = "cell"


@dataclass(frozen=True, eq=False)
class SetTree:
    """A nested family of sets of cells: any two sets are disjoint, or one contains the other.

    The nodes are the cells, which have the indices 0 to cells - 1, and then the sets. Use the
    constructor `from_columns` or `from_sets`.

    Parameters
    ----------
    cells : int
    parents : int array, shape (nodes,)
        The node of the smallest set that contains each node; -1 if there is none.
    levels : tuple of str
        Names of the levels. The last level is that of the cells.
    level_of : int array, shape (nodes,)
        Index of each node's level.

    Raises
    ------
    InputError
        If a parent is not a set, a set has no cells, or the parents have a cycle. The error is also
        raised if a chain of sets is longer than 1000.
    """

    cells: int
    parents: NDArray[np.int64]
    levels: tuple[str, ...]
    level_of: NDArray[np.int64]

    def __post_init__(self) -> None:
        check_integer("tree", "cells", self.cells, 1, MAX_CELLS)
        parents = np.array(self.parents, dtype=np.int64)
        level_of = np.array(self.level_of, dtype=np.int64)
        if parents.ndim != 1 or len(parents) < self.cells or level_of.shape != parents.shape:
            raise InputError("tree: give one parent and one level for each cell and each set")
        sets = (parents == -1) | ((parents >= self.cells) & (parents < len(parents)))
        if not sets.all():
            raise InputError(
                f"tree: node {int(np.argmin(sets))}: the parent must be the index of a set, or -1"
            )
        if level_of.min() < 0 or level_of.max() >= len(self.levels):
            raise InputError(f"tree: level_of must be from 0 to {len(self.levels) - 1}")
        if len(set(self.levels)) != len(self.levels):
            raise InputError("tree: two levels have the same name. Give them different names")
        if not all(isinstance(level, str) for level in self.levels):
            raise InputError("tree: the name of a level is not a string. Use strings as names")
        for array in (parents, level_of):
            array.setflags(write=False)
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "level_of", level_of)
        sizes = self.sizes  # this also checks the depth
        if not sizes.all():
            raise InputError(
                f"tree: set {int(np.argmin(sizes)) - self.cells} has no cells. Remove it"
            )

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Hashable] | ArrayLike], root: str = "root"
    ) -> SetTree:
        """Build the tree from one column of labels per level, with one entry per cell.

        A set of a level contains the cells with equal labels in this column and in all columns
        before it. A name of a county that occurs in two states therefore denotes two counties.

        Parameters
        ----------
        columns : dict of str to sequence, each of shape (cells,)
            The columns from the largest sets to the smallest, such as state and county. A missing
            label (None or NaN) means that the cell is in no set of this level.
        root : str
            Name of the level whose only set contains all cells.

        Raises
        ------
        InputError
            If there are no columns, or they differ in length.

        Examples
        --------
        >>> tree = SetTree.from_columns({"state": ["a", "a", "b"], "county": ["x", "y", "x"]})
        >>> tree.levels, tree.parents.tolist()
        (('root', 'state', 'county', 'cell'), [6, 7, 8, -1, 3, 3, 4, 4, 5])
        """
        if not columns:
            raise InputError("tree: give one or more columns of labels")
        cells = len(_label_codes(*next(iter(columns.items()))))
        group = np.full(cells, cells, dtype=np.int64)
        parents, levels = [np.full(1, -1)], [np.zeros(1, dtype=np.int64)]
        n_nodes = cells + 1
        for number, (level, column) in enumerate(columns.items(), start=1):
            codes = _label_codes(level, column)
            if len(codes) != cells or cells == 0:
                raise InputError(
                    f"tree: level {level!r} has {len(codes)} labels. Give one label for each of "
                    f"the cells, as in the other levels"
                )
            named = codes >= 0
            n_labels = codes.max(initial=0) + 1
            index, sets = pd.factorize(group[named] * n_labels + codes[named])
            parents.append(sets // n_labels)
            levels.append(np.full(len(sets), number))
            group[named] = n_nodes + index
            n_nodes += len(sets)
        names = (root, *columns, CELL_LEVEL)
        level_of = np.concatenate([np.full(cells, len(columns) + 1), *levels])
        return cls(cells, np.concatenate([group, *parents]), names, level_of)

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[int]], cells: int) -> SetTree:
        """Build the tree from sets of cell indices, which can be given in any order.

        Node ``cells + k`` is the k-th set. The level of a set is its depth.

        Raises
        ------
        InputError
            If an index is out of range or repeated, or a set has fewer than two cells. The error is
            also raised if two sets are equal, or overlap without being nested.

        Examples
        --------
        >>> SetTree.from_sets([[0, 1, 2], [0, 1]], 3).parents.tolist()
        [4, 4, 3, -1, 3]
        """
        cells = check_integer("tree", "cells", cells, 1, MAX_CELLS)
        members = [
            check_integer_array(f"tree: set {k}", list(indices), (None,), 0, cells - 1)
            for k, indices in enumerate(sets)
        ]
        innermost = np.full(cells, -1, dtype=np.int64)
        parents = np.full(cells + len(members), -1, dtype=np.int64)
        for k in sorted(range(len(members)), key=lambda k: -len(members[k])):
            inside = members[k]
            distinct = len(np.unique(inside))
            if distinct < 2 or distinct < len(inside):
                raise InputError(
                    f"tree: set {k} must have two or more different cells. Each single cell is a "
                    f"node without being given"
                )
            parent = int(innermost[inside[0]])
            if (innermost[inside] != parent).any():
                raise InputError(
                    f"tree: set {k} overlaps another set without being nested. Remove one of them"
                )
            if parent >= 0 and len(members[parent - cells]) == len(inside):
                raise InputError(f"tree: sets {parent - cells} and {k} are equal. Remove one")
            parents[cells + k] = parent
            innermost[inside] = cells + k
        parents[:cells] = innermost
        depths = node_depths(parents, MAX_DEPTH)[cells:]
        names = (*(f"depth {depth}" for depth in range(max(depths, default=-1) + 1)), CELL_LEVEL)
        return cls(cells, parents, names, np.append(np.full(cells, len(names) - 1), depths))

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.parents)

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """The number of sets that contain each node, as an array of shape (nodes,)."""
        above = np.maximum(self.parents - self.cells, -1)  # the number of the parent among the sets
        return np.append(node_depths(above[self.cells :], MAX_DEPTH) + 1, 0)[above]

    @cached_property
    def by_depth(self) -> list[NDArray[np.int64]]:
        """The indices of the nodes of each depth, from the roots down."""
        return group_by_depth(self.depths)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of cells of each node, as an array of shape (nodes,)."""
        sizes = np.zeros(self.nodes, dtype=np.int64)
        sizes[: self.cells] = 1
        sets = sizes[self.cells :]
        for nodes in self.by_depth[:0:-1]:
            above = self.parents[nodes] - self.cells
            sets += np.bincount(above, sizes[nodes], len(sets)).astype(np.int64)
        return sizes

    @cached_property
    def incidence(self) -> csr_array:
        """The 0/1 matrix of the nodes in sparse form, int64 of shape (nodes, cells)."""
        cells = np.arange(self.cells)
        rows, columns, node = [cells], [cells], cells
        for _ in range(int(self.depths.max())):
            node = np.where(node >= 0, self.parents[node], -1)
            rows.append(node[node >= 0])
            columns.append(cells[node >= 0])
        at = np.concatenate(rows), np.concatenate(columns)
        return csr_array((np.ones(len(at[0]), np.int64), at), shape=(self.nodes, self.cells))

    def totals(self, noise: ArrayLike) -> NDArray[np.int64]:
        """Compute the total of each node exactly.

        Parameters
        ----------
        noise : int array, shape (..., cells)

        Returns
        -------
        int64 array, shape (..., nodes)

        Raises
        ------
        InputError
            If the last axis has another length, the values are not integers, or a sum could exceed
            64-bit integers.
        """
        noise = np.asarray(noise)
        if noise.ndim == 0 or noise.shape[-1] != self.cells or noise.dtype.kind not in "iu":
            raise InputError(f"tree: give integers for the {self.cells} cells in the last axis")
        largest = max(abs(int(noise.max())), abs(int(noise.min()))) if noise.size else 0
        if largest * self.cells > INT64_MAX:
            raise InputError(
                "noise: a sum over cells could exceed 64-bit integers. Give smaller values"
            )
        flat = noise.astype(np.int64).reshape(-1, self.cells)
        totals: NDArray[np.int64] = (self.incidence @ flat.T).T
        return totals.reshape(*noise.shape[:-1], self.nodes)


def _label_codes(level: str, column: Sequence[Hashable] | ArrayLike) -> NDArray[np.int64]:
    """Return the index of each label among the distinct labels, and -1 if it is missing."""
    try:
        codes = pd.factorize(pd.Series(column))[0]
        if len(codes) != len(column):  # type: ignore[arg-type]
            raise TypeError  # a string has the length 1 in pandas
    except (TypeError, ValueError):
        raise InputError(
            f"tree: level {level!r} must be a sequence of labels, such as strings or numbers"
        ) from None
    return np.asarray(codes, dtype=np.int64)


def node_depths(parents: NDArray[np.int64], max_depth: int) -> NDArray[np.int64]:
    """Count the ancestors of each node.

    Raises InputError if the parents have a cycle, or a node has `max_depth` or more ancestors.
    """
    depths, node = np.zeros(len(parents), dtype=np.int64), parents
    for _ in range(max_depth):
        inside = node >= 0
        if not inside.any():
            return depths
        depths += inside
        node = np.where(inside, parents[node], -1)
    raise InputError(
        f"tree: the parents have a cycle, or a chain of more than {max_depth} sets. Use fewer sets"
    )


def group_by_depth(depths: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the indices of the nodes of each depth, from the roots down."""
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1])
