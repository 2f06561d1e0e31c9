"""Code lists, whose codes form a hierarchy, and the region columns that they add to a table.

A code list has one row for each code below the top, with the columns `parent` and `child`. The
codes of a table are the leaves, such as the smallest regions of NUTS or the classes of NACE.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import TEXT, Column, quoted, quoted_names, refuse_line_breaks
from isdp.io.files import sha256_of
from isdp.io.tables import read_columns

PARENT, CHILD = "parent", "child"
CODE_LIST = f"a CSV file with the columns {PARENT} and {CHILD}"


class CodeList:
    """A hierarchy of codes in which each code has one parent, or is at the top.

    A single code at the top is the whole table, and is not counted as a level.

    Attributes
    ----------
    path : Path
    depth : int
        The number of levels, at least 2. The leaves of the longest chain are on the last level.

    Raises
    ------
    InputError
        If the file is invalid, a code has two parents or is above itself, or there is one level
        only.
    """

    path: Path
    depth: int

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._parents = _read_parents(self.path)
        self._inner = set(self._parents.values())
        self._skipped = int(len(self._inner - set(self._parents)) == 1)
        leaves = [code for code in self._parents if code not in self._inner]
        chains = map(self._chain, [*leaves, *self._parents])  # a cycle may have no leaf below
        self.depth = max(map(len, chains))
        if self.depth < 2:
            raise InputError(
                f"{self.path}: there is one level of codes only. List the codes between the top "
                f"and the leaves."
            )

    def chain(self, code: str) -> list[str]:
        """Return the codes of a leaf on all levels, from the largest region to the leaf.

        A leaf of a shorter chain is repeated on the levels below it.

        Raises
        ------
        InputError
            If the code is not a leaf. The message has the reason only.
        """
        if code in self._inner:
            raise InputError(f"is divided further in {self.path}. Give the code of a leaf.")
        if code not in self._parents:
            raise InputError(f"is not in {self.path}. Add it with its parent.")
        found = self._chain(code)
        return found + [code] * (self.depth - len(found))

    def _chain(self, code: str) -> list[str]:
        found, seen = [code], {code}
        while found[-1] in self._parents:
            above = self._parents[found[-1]]
            if above in seen:
                raise InputError(f"{self.path}: the code {quoted(above)} is above itself.")
            found.append(above)
            seen.add(above)
        return found[::-1][self._skipped :]


def _read_parents(path: Path) -> dict[str, str]:
    columns = read_columns(path, CODE_LIST)
    for name in (PARENT, CHILD):
        if name not in columns:
            raise InputError(f"{path}: there is no column {name!r}. Give {CODE_LIST}.")
    refuse_line_breaks({name: columns[name] for name in (PARENT, CHILD)}, path)
    parents: dict[str, str] = {}
    pairs = zip(columns[PARENT].rows(), columns[CHILD].rows(), strict=True)
    for row, (parent, child) in enumerate(pairs, start=1):
        for name, code in ((PARENT, parent), (CHILD, child)):
            if not code.strip():
                raise InputError(f"{path}: row {row}: {name} is empty. Remove the row, or fill it.")
        if child in parents:
            words = "is repeated" if parents[child] == parent else "has two parents"
            raise InputError(f"{path}: row {row}: the code {quoted(child)} {words}. Remove one row")
        parents[child] = parent
    return parents


def describe_code_lists(hierarchies: Mapping[str, str | Path] | None) -> dict[str, dict[str, str]]:
    """Return the file name and the SHA-256 of the code list of each column, for a certificate."""
    return {
        column: {"file": Path(path).name, "sha256": sha256_of(path)}
        for column, path in (hierarchies or {}).items()
    }


def add_regions(
    columns: dict[str, Column],
    hierarchies: Mapping[str, str | Path],
    table: Path,
    count: str,
    only: Collection[str] | None = None,
) -> dict[str, Column]:
    """Add the columns of larger regions before each column of codes.

    Parameters
    ----------
    columns : dict of str to Column
        All columns of the table.
    hierarchies : mapping of str to path
        The code list of each column of codes. The column ``region`` gets the columns ``region_1``,
        ``region_2`` and so on, from the largest regions to the regions above the leaves.
    count : str
        The column of counts, which has no codes.
    only : collection of str, optional
        The new columns that are added, by default all.

    Raises
    ------
    InputError
        If a code list is invalid, a column is missing, a new column exists already, or a code of
        the table is not a leaf.
    """
    for name, path in hierarchies.items():
        if name not in columns or name == count:
            listed = quoted_names([column for column in columns if column != count])
            raise InputError(
                f"--hierarchy: {table} has no column {name!r} of codes. Use one of {listed}."
            )
        code_list, codes = CodeList(path), columns[name]
        chains = [_chain_of(code_list, codes, n, table, name) for n in range(len(codes.texts))]
        added = {
            f"{name}_{level + 1}": _level_column(codes, [chain[level] for chain in chains])
            for level in range(code_list.depth - 1)
            if only is None or f"{name}_{level + 1}" in only
        }
        for new in added:
            if new in columns:
                raise InputError(f"--hierarchy: {table} has a column {new!r} already. Rename it.")
        place = list(columns).index(name)
        items = list(columns.items())
        columns = dict([*items[:place], *added.items(), *items[place:]])
    return columns


def _chain_of(
    code_list: CodeList, codes: Column, number: int, table: Path, column: str
) -> list[str]:
    code = str(codes.texts[number])
    try:
        return code_list.chain(code)
    except InputError as wrong:
        row = int(np.argmax(codes.codes == number)) + 1
        raise InputError(
            f"{table}: row {row}, column {column!r}: the code {quoted_names([code])} {wrong}"
        ) from None


def _level_column(codes: Column, names: Sequence[str]) -> Column:
    numbers, different = pd.factorize(np.array(names, dtype=object))
    return Column(numbers.astype(np.int32)[codes.codes], different.astype(TEXT))
