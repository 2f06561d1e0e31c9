"""The held totals, which a YAML file names."""

from __future__ import annotations

import re
import reprlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isdp.arrays import BoolArray, IntArray
from isdp.commands.shared.table import JOINT, Table, refuse_blank_values
from isdp.errors import InputError
from isdp.io.csv_files import MAX_QUOTED, ROWS_PER_CHUNK, quoted_names
from isdp.io.files import read_bytes

KEYS = ("total", "totals", "subsets")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class HeldTotals(NamedTuple):
    """A set of totals to hold, one for each of several disjoint groups of cells.

    Attributes
    ----------
    labels : int32 array, shape (cells,)
        Index of the group of each cell, or -1 for a cell without a group.
    columns : tuple of str
        Columns whose combinations of values define the groups, or () for a selection of cells.
    """

    name: str
    labels: NDArray[np.integer[Any]]
    columns: tuple[str, ...] = ()

    @property
    def totals(self) -> int:
        """The number of groups."""
        return int(self.labels.max(initial=-1)) + 1

    def sums(self, counts: IntArray) -> IntArray:
        """Add up the counts of each group. The caller ensures that the sums fit into int64."""
        sums = np.zeros(self.totals + 1, dtype=np.int64)
        # in pieces, because NumPy converts the labels to a wider type
        for start in range(0, len(counts), ROWS_PER_CHUNK):
            piece = slice(start, start + ROWS_PER_CHUNK)
            np.add.at(sums, self.labels[piece], counts[piece])  # cells without a group come last
        return sums[:-1]

    def incidence(self, cells: slice | IntArray = slice(None)) -> csr_array:
        """Return the incidence matrix, shape (totals, cells), for a selection of the cells."""
        labels = self.labels[cells]
        inside = np.flatnonzero(labels >= 0)
        return incidence(labels[inside], inside, (self.totals, len(labels)))


def incidence(
    groups: NDArray[np.integer[Any]], cells: IntArray, shape: tuple[int, int]
) -> csr_array:
    """Return a matrix with ones in the rows `groups` and columns `cells`, int arrays (ones,)."""
    return csr_array((np.ones(len(cells), dtype=np.int64), (groups, cells)), shape=shape)


def group_names(table: Table, one: HeldTotals) -> NDArray[np.object_]:
    """Return the names of the groups in their order, such as "county: A, sex: f"."""
    if not one.columns:
        return np.array([one.name], dtype=object)
    first = np.empty(one.totals, dtype=np.int64)
    first[one.labels[::-1]] = np.arange(len(table))[::-1]
    texts = []
    for column in one.columns:
        codes, values = table.columns[column]
        texts.append([f"{column}: {text}" for text in values[codes[first]]])
    return np.array(list(map(JOINT.join, zip(*texts, strict=True))), dtype=object)


def refuse_equal_names(held: list[HeldTotals], table: Table, file: str | Path) -> None:
    """Raise `InputError` if two totals have one name, because recipients find totals by name."""
    names = np.concatenate([group_names(table, one) for one in held])
    repeated = pd.Index(names).duplicated()
    if repeated.any():
        raise InputError(
            f"{file}: two totals are called {names[repeated.argmax()]!r}. Name each total once, "
            f"and rename a column or a subset if two different totals have the same name."
        )


_QUOTING = reprlib.Repr()
_QUOTING.maxlevel = 2  # nested values with aliases can be very large if they are written out
_QUOTING.maxstring = MAX_QUOTED
_quoted = _QUOTING.repr


class _Loader(yaml.BaseLoader):  # type: ignore[misc]  # PyYAML has no types
    """A YAML loader that keeps every value as a string and refuses repeated keys."""


def _mapping(loader: _Loader, node: yaml.Node) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise InputError(
            f"line {node.start_mark.line + 1}: this must be a mapping, such as total: true"
        )
    line = f"line {node.start_mark.line + 1}"
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if not isinstance(key, str):
            raise InputError(f"{line}: a key is not plain text. Write a key such as total.")
        if keys.count(key) > 1:
            raise InputError(f"{line}: the key {_quoted(key)} is repeated. Write each key once.")
    return {
        key: loader.construct_object(value, deep=True)
        for key, (_, value) in zip(keys, node.value, strict=True)
    }


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_invariants(path: str | Path, table: Table, raw: bytes | None = None) -> list[HeldTotals]:
    """Read the file of invariants, which names the totals of a table to hold.

    Parameters
    ----------
    path : path
        A YAML file. ``total: true`` holds the grand total. ``totals:`` has a list of columns and
        lists of columns. ``subsets:`` maps names to selections of cells.
    raw : bytes, optional
        Content of the file, if it has been read already.

    Raises
    ------
    InputError
        If the file is invalid. The message names the file and the key.
    """
    raw = read_bytes(path) if raw is None else raw
    try:
        content = yaml.load(raw.decode("utf-8-sig"), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise InputError(
            f"{path}: this is not a YAML file ({words}). isdp privatize --help shows the format."
        ) from None
    except RecursionError:
        raise InputError(
            f"{path}: the values are nested too deeply. isdp privatize --help shows the format."
        ) from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return invariants_of(content, table, path)


def invariants_of(content: object, table: Table, path: str | Path) -> list[HeldTotals]:
    """Read the held totals from the content of a file of invariants, whose values are strings."""
    if not isinstance(content, dict):
        raise InputError(
            f"{path}: this is not a mapping. Give one or several of {', '.join(KEYS)}."
        )
    for key in content:
        if key not in KEYS:
            raise InputError(f"{path}: the key {_quoted(key)} is unknown. Use {', '.join(KEYS)}.")
    try:
        held = [
            *_grand_total(content.get("total", "false"), table),
            *_totals(content.get("totals", []), table),
            *_subsets(content.get("subsets", {}), table),
        ]
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not held:
        raise InputError(f"{path}: no total is named. Write total: true, for example.")
    return held


def _grand_total(given: object, table: Table) -> list[HeldTotals]:
    if not isinstance(given, str) or given.lower() not in ("true", "false"):
        raise InputError(f"total must be true or false, got {_quoted(given)}")
    if given.lower() == "false":
        return []
    return [HeldTotals("grand total", np.zeros(len(table), dtype=np.int32))]


def _totals(given: object, table: Table) -> list[HeldTotals]:
    if not isinstance(given, list):
        raise InputError("totals must be a list of columns, such as [county, [county, sex]]")
    held = []
    seen: set[tuple[str, ...]] = set()
    for entry in given:
        columns = [entry] if isinstance(entry, str) else entry
        if not isinstance(columns, list) or not columns:
            raise InputError(
                f"totals: {_quoted(entry)} is neither a column nor a list of columns. Write county "
                f"or [county, sex], for example."
            )
        for column in columns:
            _check_column(column, table, "totals")
        if tuple(columns) in seen:
            raise InputError(f"totals: {_quoted(entry)} is repeated. Name each total once.")
        seen.add(tuple(columns))
        name = f"totals by {' x '.join(columns)}"
        held.append(HeldTotals(name, table.groups(columns), tuple(columns)))
    return held


def _check_column(column: object, table: Table, key: str) -> None:
    if not isinstance(column, str) or column not in table.columns:
        raise InputError(
            f"{key}: no column {_quoted(column)} describes the cells. Use one of "
            f"{quoted_names(table.columns)}."
        )
    refuse_blank_values(table, column)


def _subsets(given: object, table: Table) -> list[HeldTotals]:
    if not isinstance(given, dict):
        raise InputError(
            "subsets must be a mapping from names to cells, such as {minors: {age: [0-4]}}"
        )
    rows: dict[str, list[int]] = {}
    held = []
    for name, chosen in given.items():
        if CONTROL.search(name):
            raise InputError(
                f"subsets: the name {_quoted(name)} has a line break or another control character. "
                f"Rename the subset."
            )
        entries = [chosen] if isinstance(chosen, dict) else chosen
        if not isinstance(entries, list) or not entries:
            raise InputError(f"subsets: {name}: wanted a selection such as {{column: value}}")
        inside = np.zeros(len(table), dtype=bool)
        for entry in entries:
            if isinstance(entry, dict):
                inside |= _selected(entry, table, name)
            else:
                rows = rows or _rows_by_name(table)
                inside[_row_called(entry, rows, name, table)] = True
        held.append(HeldTotals(f"subset {name}", inside.astype(np.int32) - 1))
    return held


def _selected(selector: dict[Any, Any], table: Table, name: str) -> BoolArray:
    inside = np.full(len(table), bool(selector))
    for column, wanted in selector.items():
        _check_column(column, table, f"subsets: {name}")
        wanted = [wanted] if isinstance(wanted, str) else wanted
        if not isinstance(wanted, list):
            raise InputError(
                f"subsets: {name}: {column} must be a value or a list of values, such as "
                f"{{{column}: [A, B]}}"
            )
        values = table.columns[column]
        chosen = np.zeros(len(values.texts), dtype=bool)
        for value in wanted:
            found = values.texts == value if isinstance(value, str) else chosen & False
            if not found.any():
                raise InputError(
                    f"subsets: {name}: no cell has {column} = {_quoted(value)}. Write the value "
                    f"as in the table."
                )
            chosen |= found
        inside &= chosen[values.codes]
    if not inside.any():
        raise InputError(
            f"subsets: {name}: no cell is selected by {_quoted(selector)}. Correct a value."
        )
    return inside


def _rows_by_name(table: Table) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    parts = (table.columns[column].rows() for column in table.names)
    for row, name in enumerate(map(JOINT.join, zip(*parts, strict=True))):
        rows.setdefault(name, []).append(row)
    return rows


def _row_called(name: object, rows: dict[str, list[int]], subset: str, table: Table) -> int:
    found = rows.get(name, []) if isinstance(name, str) else []
    if len(found) != 1:
        words = "no cell is" if not found else f"{len(found)} cells are"
        raise InputError(
            f"subsets: {subset}: {words} called {_quoted(name)}. Write a name such as "
            f"{table.name_in_message(0)!r}."
        )
    return found[0]
