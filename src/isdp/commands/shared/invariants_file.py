"""Totals of a table that are held exactly, read from a YAML file."""

from __future__ import annotations

import reprlib
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy.sparse import csr_array

from isdp.commands.shared.table import JOINT, Table, refuse_blank_values
from isdp.errors import InputError
from isdp.io.csv_files import LINE_ENDS, MAX_QUOTED, ROWS_PER_CHUNK
from isdp.io.files import read_bytes

KEYS = ("total", "totals", "subsets")


class HeldTotals(NamedTuple):
    """A set of totals to hold: disjoint groups of cells.

    Attributes
    ----------
    labels : int32 array, shape (cells,)
        Number of each cell's group; -1 for cells without a group.
    columns : tuple of str
        Columns whose combinations of values are the groups; empty for other groups.
    """

    name: str
    labels: np.ndarray
    columns: tuple[str, ...] = ()

    @property
    def totals(self) -> int:
        """Number of the groups."""
        return int(self.labels.max(initial=-1)) + 1

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Totals of the groups in 64-bit integers; the caller ensures that they fit."""
        sums = np.zeros(self.totals + 1, dtype=np.int64)
        for start in range(0, len(counts), ROWS_PER_CHUNK):  # numpy widens the labels
            piece = slice(start, start + ROWS_PER_CHUNK)
            np.add.at(sums, self.labels[piece], counts[piece])  # cells without a group come last
        return sums[:-1]

    def incidence(self, cells=slice(None)) -> csr_array:
        """Incidence matrix of shape (totals, cells) for a selection of the cells."""
        labels = self.labels[cells]
        inside = np.flatnonzero(labels >= 0)
        return incidence(labels[inside], inside, (self.totals, len(labels)))


def incidence(groups: np.ndarray, cells: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """Incidence matrix with one row per group, which has a one for each of its cells."""
    return csr_array((np.ones(len(cells), dtype=np.int64), (groups, cells)), shape=shape)


def group_names(table: Table, one: HeldTotals) -> np.ndarray:
    """Names of the groups, in their order, such as "county: A, sex: f"; object array of str."""
    if not one.columns:
        return np.array([one.name], dtype=object)
    first = np.empty(one.totals, dtype=np.int64)
    first[one.labels[::-1]] = np.arange(len(table))[::-1]
    texts = []
    for column in one.columns:
        codes, values = table.columns[column]
        texts.append([f"{column}: {text}" for text in values[codes[first]]])
    return np.array(list(map(JOINT.join, zip(*texts, strict=True))), dtype=object)


def refuse_equal_names(held: list[HeldTotals], table: Table, where: str) -> None:
    """Raise `InputError` if two totals have one name, by which a recipient looks them up.

    Parameters
    ----------
    where : str
        The name of the file of invariants.
    """
    names = np.concatenate([group_names(table, one) for one in held])
    repeated = pd.Index(names).duplicated()
    if repeated.any():
        raise InputError(
            f"{where}: two totals are called {names[repeated.argmax()]!r}; name each total once, "
            f"and rename a column or a subset where two different totals have one name"
        )


_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxlevel = 2  # nested values with aliases can be very large when they are written out
_SHORT_REPR.maxstring = MAX_QUOTED


def _quoted(value: object) -> str:
    return _SHORT_REPR.repr(value)


class _Loader(yaml.BaseLoader):
    """YAML loader that keeps every value as text and refuses repeated keys."""


def _mapping(loader: _Loader, node: yaml.Node) -> dict:
    if not isinstance(node, yaml.MappingNode):
        raise InputError(f"line {node.start_mark.line + 1}: wanted a mapping, such as total: true")
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if not isinstance(key, str):
            raise InputError(f"line {node.start_mark.line + 1}: a key must be plain text")
        if keys.count(key) > 1:
            raise InputError(f"line {node.start_mark.line + 1}: the key {_quoted(key)} is repeated")
    return {
        key: loader.construct_object(value, deep=True)
        for key, (_, value) in zip(keys, node.value, strict=True)
    }


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_invariants(path, table: Table, raw: bytes | None = None) -> list[HeldTotals]:
    """Read the totals of a table that are to be held.

    Parameters
    ----------
    path : path
        YAML: ``total: true``, ``totals:`` a list of columns and lists of columns, ``subsets:`` a
        name for each selection of cells.
    raw : bytes, optional
        Content of the file, if it has been read already.

    Raises
    ------
    InputError
        If the file is invalid. The message names the file, the key and the error.
    """
    raw = read_bytes(path) if raw is None else raw
    try:
        content = yaml.load(raw.decode("utf-8-sig"), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise InputError(f"{path}: not a YAML file ({words})") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; see isdp privatize --help") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return invariants_of(content, table, path)


def invariants_of(content, table: Table, path) -> list[HeldTotals]:
    """Find the totals to hold from the content of a file of invariants.

    Parameters
    ----------
    content : mapping
        With the keys of the file, and texts and lists of texts as values.
    path : path or str
        Name of the file in messages.
    """
    if not isinstance(content, dict):
        raise InputError(f"{path}: wanted a mapping with the keys {', '.join(KEYS)}")
    for key in content:
        if key not in KEYS:
            raise InputError(f"{path}: unknown key {_quoted(key)}; there are {', '.join(KEYS)}")
    try:
        held = [
            *_grand_total(content.get("total", "false"), table),
            *_totals(content.get("totals", []), table),
            *_subsets(content.get("subsets", {}), table),
        ]
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not held:
        raise InputError(f"{path}: names no total to hold; write total: true, for example")
    return held


def _grand_total(given, table: Table) -> list[HeldTotals]:
    if not isinstance(given, str) or given.lower() not in ("true", "false"):
        raise InputError(f"total must be true or false, got {_quoted(given)}")
    if given.lower() == "false":
        return []
    return [HeldTotals("grand total", np.zeros(len(table), dtype=np.int32))]


def _totals(given, table: Table) -> list[HeldTotals]:
    if not isinstance(given, list):
        raise InputError("totals must be a list of columns, such as [county, [county, sex]]")
    held = []
    for entry in given:
        columns = [entry] if isinstance(entry, str) else entry
        if not isinstance(columns, list) or not columns:
            raise InputError(f"totals: {_quoted(entry)} is neither a column nor a list of columns")
        for column in columns:
            _check_column(column, table, "totals")
        name = f"totals by {' x '.join(columns)}"
        held.append(HeldTotals(name, table.groups(columns), tuple(columns)))
    return held


def _check_column(column, table: Table, key: str) -> None:
    if column not in table.described_by:
        raise InputError(
            f"{key}: no column {_quoted(column)} describes the cells; there are "
            f"{', '.join(map(repr, table.described_by))}"
        )
    refuse_blank_values(table, column)


def _subsets(given, table: Table) -> list[HeldTotals]:
    if not isinstance(given, dict):
        raise InputError("subsets must give each subset's name and its cells")
    rows: dict[str, list[int]] = {}
    held = []
    for name, chosen in given.items():
        if any(end in name for end in LINE_ENDS):
            raise InputError(
                f"subsets: the name {_quoted(name)} has a line break; rename the subset"
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
                inside[_row_called(entry, rows, name)] = True
        held.append(HeldTotals(f"subset {name}", inside.astype(np.int32) - 1))
    return held


def _selected(selector: dict, table: Table, name: str) -> np.ndarray:
    """Mark the cells that meet all conditions; at least one cell must."""
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
                raise InputError(f"subsets: {name}: no cell has {column} = {_quoted(value)}")
            chosen |= found
        inside &= chosen[values.codes]
    if not inside.any():
        raise InputError(f"subsets: {name}: no cell is selected by {_quoted(selector)}")
    return inside


def _rows_by_name(table: Table) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    parts = (table.columns[column].rows() for column in table.names)
    for row, name in enumerate(map(JOINT.join, zip(*parts, strict=True))):
        rows.setdefault(name, []).append(row)
    return rows


def _row_called(name, rows: dict[str, list[int]], subset: str) -> int:
    found = rows.get(name, []) if isinstance(name, str) else []
    if len(found) != 1:
        words = "no cell is" if not found else f"{len(found)} cells are"
        example = next(iter(rows))
        raise InputError(
            f"subsets: {subset}: {words} called {_quoted(name)}; names are such as {example!r}"
        )
    return found[0]
