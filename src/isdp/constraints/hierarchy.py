"""Nested regions, from one root down to the leaves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.errors import InputError

INT64_MAX = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of regions, each region within one region of the level above.

    Use `from_columns`; the first level is the root, with one region.

    Attributes
    ----------
    levels : tuple of str
        Names of the levels, from the root down.
    units : tuple of tuple of str
        Names of the regions of each level, in the order of their first leaves.
    parents : tuple of int64 array
        For each level, the number of each region's parent in the level above; for the root, 0.
    leaf_units : tuple of int64 array, each of shape (leaves,)
        For each level, the region that each row of the table lies in.
    """

    levels: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    parents: tuple[NDArray[np.int64], ...]
    leaf_units: tuple[NDArray[np.int64], ...]

    @classmethod
    def from_columns(cls, columns: dict[str, Sequence[Hashable]], root: str = "root") -> Hierarchy:
        """Build the hierarchy from one column of names per level, with one row per leaf.

        Parameters
        ----------
        columns : dict from level to the region of each leaf
            From the largest regions down; each row of the last column is a region of its own.
        root : str
            Name of the level above the first column, which holds everything.

        Raises
        ------
        InputError
            If a column is missing, empty or of another length, a name is missing, a region lies
            in two regions of the level above, or a leaf occurs twice.
        """
        if not columns or root in columns:
            raise InputError(f"hierarchy: give one column per level, none with the name {root!r}")
        length = len(next(iter(columns.values())))
        names: list[tuple[str, ...]] = [("",)]
        parents, members = [np.zeros(1, dtype=np.int64)], []
        members.append(np.zeros(length, dtype=np.int64))
        for level, column in columns.items():
            if len(column) != length or not length:
                raise InputError(
                    f"hierarchy: level {level!r} has {len(column)} rows, but the first {length}; "
                    f"give each leaf one name per level"
                )
            found, parent, member = _read_level(level, list(column), members[-1])
            names.append(found)
            parents.append(parent)
            members.append(member)
        if len(names[-1]) != length:
            twice = names[-1][int(np.argmax(np.bincount(members[-1])))]
            raise InputError(
                f"hierarchy: {level!r} is the last level, but {twice!r} occurs in several rows"
            )
        return cls((root, *columns), tuple(names), tuple(parents), tuple(members))

    def number(self, level: str) -> int:
        """Position of a level, 0 for the root; raise `InputError` for an unknown level."""
        if level not in self.levels:
            raise InputError(f"hierarchy: no level {level!r}; there are {', '.join(self.levels)}")
        return self.levels.index(level)

    def children(self, depth: int) -> list[NDArray[np.int64]]:
        """Regions of level `depth` + 1 within each region of level `depth`, in their order."""
        below = self.parents[depth + 1]
        order = np.argsort(below, kind="stable")
        counts = np.bincount(below, minlength=len(self.units[depth]))
        return np.split(order, np.cumsum(counts)[:-1])

    def aggregate(self, table: ArrayLike) -> list[NDArray[np.int64]]:
        """Sum a table of the leaves to all levels, exactly.

        Parameters
        ----------
        table : int array, shape (leaves, cells)

        Returns
        -------
        list of int64 array, each of shape (units, cells)
            From the root down.

        Raises
        ------
        InputError
            If the table has another number of rows, counts that are not whole or negative, or a
            total beyond 64-bit integers.
        """
        table = np.asarray(table)
        leaves = len(self.leaf_units[0])
        if table.ndim != 2 or len(table) != leaves:
            raise InputError(
                f"topdown: the table has shape {table.shape}, but there are {leaves} leaves"
            )
        if table.dtype.kind not in "iu":
            raise InputError(f"topdown: counts must be whole numbers, got {table.dtype}")
        if table.size and table.min() < 0:
            row, cell = (int(i) for i in np.argwhere(table < 0)[0])
            raise InputError(f"topdown: row {row}, cell {cell}: the count is negative")
        if table.size and int(table.max()) * table.size > INT64_MAX:
            raise InputError("topdown: the total could exceed 64-bit integers")
        sums = []
        for units, member in zip(self.units, self.leaf_units, strict=True):
            level = np.zeros((len(units), table.shape[1]), dtype=np.int64)
            np.add.at(level, member, table)
            sums.append(level)
        return sums


def _read_level(
    level: str, column: list[Hashable], above: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Give each name of a column a number; return names, parent of each and number of each row."""
    number: dict[Hashable, int] = {}
    member, parent = np.empty(len(column), dtype=np.int64), []
    for row, name in enumerate(column):
        if name is None or name == "" or name != name:
            raise InputError(f"hierarchy: row {row} has no {level}")
        if name not in number:
            number[name] = len(number)
            parent.append(above[row])
        member[row] = number[name]
        if parent[number[name]] != above[row]:
            raise InputError(
                f"hierarchy: {level} {name!r} lies in two regions of the level above (row {row}); "
                f"levels must nest"
            )
    return tuple(str(name) for name in number), np.array(parent, dtype=np.int64), member
