"""Nested regions from the root to the leaves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.checks import INT64_MAX, check_choice, check_integer_array
from isdp.errors import InputError


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of regions, in which each region lies in one region of the level above.

    Use `from_columns`. The first level is the root, which has one region.

    Attributes
    ----------
    levels : tuple of str
        Names of the levels from the root to the leaves.
    units : tuple of tuple of str
        Names of the regions of each level, in the order of their first leaves.
    parents : tuple of int64 array, each of shape (units of the level,)
        Index of each region's parent in the level above. The entry of the root is 0.
    leaf_units : tuple of int64 array, each of shape (leaves,)
        Index of the region of each level that contains the leaf.
    """

    levels: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    parents: tuple[NDArray[np.int64], ...]
    leaf_units: tuple[NDArray[np.int64], ...]

    @classmethod
    def from_columns(cls, columns: dict[str, Sequence[Hashable]], root: str = "root") -> Hierarchy:
        """Build the hierarchy from one column of region names per level, with one row per leaf.

        Raise `InputError` if the columns are empty or of different lengths, or a name is missing.
        It is also raised if a leaf occurs twice, or a region lies in two regions of the level
        above.

        Parameters
        ----------
        columns : dict of str to sequence, each of shape (leaves,)
            The columns of the levels, from the largest regions to the leaves. The names in the last
            column are distinct.
        root : str
            Name of the level above the first column.
        """
        if not columns or root in columns:
            raise InputError(
                f"hierarchy: columns is empty, or names a level {root!r}. Give one or more levels "
                f"with other names"
            )
        length = len(next(iter(columns.values())))
        names: list[tuple[str, ...]] = [("",)]
        parents, members = [np.zeros(1, dtype=np.int64)], []
        members.append(np.zeros(length, dtype=np.int64))
        for level, column in columns.items():
            if len(column) != length or not length:
                raise InputError(
                    f"hierarchy: level {level!r} has {len(column)} rows. Give one row per leaf, as "
                    f"in the other levels"
                )
            found, parent, member = _read_level(level, list(column), members[-1])
            names.append(found)
            parents.append(parent)
            members.append(member)
        if len(names[-1]) != length:
            twice = names[-1][int(np.argmax(np.bincount(members[-1])))]
            raise InputError(
                f"hierarchy: {twice!r} occurs in several rows of the last level {level!r}. Give "
                f"each leaf one row"
            )
        return cls((root, *columns), tuple(names), tuple(parents), tuple(members))

    def number(self, level: str) -> int:
        """Return the index of a level (0 for the root), or raise `InputError` if it is unknown."""
        return self.levels.index(check_choice("hierarchy: level", level, self.levels))

    def children(self, depth: int) -> list[NDArray[np.int64]]:
        """List the indices of the child regions of each region of level `depth`."""
        below = self.parents[depth + 1]
        order = np.argsort(below, kind="stable")
        counts = np.bincount(below, minlength=len(self.units[depth]))
        return np.split(order, np.cumsum(counts)[:-1])

    def aggregate(self, table: ArrayLike) -> list[NDArray[np.int64]]:
        """Add up a table of shape (leaves, cells) exactly over the leaves of each region.

        The tables of the levels have shape (regions of the level, cells). Raise `InputError` if the
        table has another number of rows, a count is negative or not an integer, or the total could
        exceed 64-bit integers.
        """
        table = check_integer_array("topdown: the table", table, (len(self.leaf_units[0]), None))
        if table.min() < 0:
            row, cell = (int(i) for i in np.argwhere(table < 0)[0])
            raise InputError(
                f"topdown: row {row}, cell {cell}: the count is negative. Counts must be 0 or more"
            )
        if int(table.max()) * table.size > INT64_MAX:
            raise InputError("topdown: the total could exceed 64-bit integers. Split the table")
        sums = []
        for units, member in zip(self.units, self.leaf_units, strict=True):
            level = np.zeros((len(units), table.shape[1]), dtype=np.int64)
            np.add.at(level, member, table)
            sums.append(level)
        return sums


def _read_level(
    level: str, column: list[Hashable], above: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    number: dict[Hashable, int] = {}
    member, parent = np.empty(len(column), dtype=np.int64), []
    for row, name in enumerate(column):
        if name is None or name == "" or name != name:
            raise InputError(f"hierarchy: row {row} has no {level}. Name the region")
        if name not in number:
            number[name] = len(number)
            parent.append(above[row])
        member[row] = number[name]
        if parent[number[name]] != above[row]:
            raise InputError(
                f"hierarchy: row {row}: {level} {name!r} lies in two regions of the level above. "
                f"Give two regions different names"
            )
    return tuple(str(name) for name in number), np.array(parent, dtype=np.int64), member
