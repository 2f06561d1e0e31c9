"""A table of counts from a csv, and the totals of it to hold from a YAML file."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy.sparse import csr_array, vstack

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import settle

KEYS = ("total", "totals", "subsets")
JOINT = ", "  # between the parts of a cell's name


@dataclass(frozen=True, eq=False)
class Table:
    """A table of counts, one row a cell.

    Attributes
    ----------
    path : Path
    frame : DataFrame
        All columns as in the file, as text (categories); the counts are confidential.
    count : str
        The column of counts.
    names : list of str
        The columns that name a cell.
    counts : int64 array, shape (cells,)
    """

    path: Path
    frame: pd.DataFrame
    count: str
    names: list[str]
    counts: np.ndarray

    def name(self, row: int) -> str:
        """Name of the cell in a row, counted from 0."""
        return JOINT.join(str(self.frame[column].iloc[row]) for column in self.names)

    def groups(self, columns: list[str]) -> np.ndarray:
        """Give each combination of values in `columns` a number from 0 up; int64 (cells,)."""
        codes = np.zeros(len(self.frame), dtype=np.int64)
        for column in columns:
            values = self.frame[column].cat
            codes = codes * len(values.categories) + values.codes
            codes = pd.factorize(codes)[0].astype(np.int64)
        return codes

    def replaced(self, counts: np.ndarray) -> pd.DataFrame:
        """Build the table with other counts; same columns, rows and orders."""
        return self.frame.assign(**{self.count: counts})


class Held(NamedTuple):
    """A set of totals to hold: disjoint groups of cells, numbered in `labels`, -1 for no group."""

    name: str
    labels: np.ndarray

    @property
    def totals(self) -> int:
        """Number of the groups."""
        return int(self.labels.max(initial=-1)) + 1

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Totals of the groups in 64-bit integers; the caller sees to it that they fit."""
        sums = np.zeros(self.totals, dtype=np.int64)
        inside = self.labels >= 0
        np.add.at(sums, self.labels[inside], counts[inside])
        return sums


class Freedom(NamedTuple):
    """Degrees of freedom of the noise, and the cells in which it is always 0."""

    degrees: int
    fixed: np.ndarray


def read_bytes(path, what: str) -> bytes:
    """Read a file whole.

    Raises
    ------
    InputError
        If there is no such file or it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; wanted {what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); wanted {what}") from None


def read_table(
    path, count: str = "count", names: list[str] | None = None, raw: bytes | None = None
) -> Table:
    """Read a table of counts.

    Parameters
    ----------
    path : path
        A csv in UTF-8, with or without a byte-order mark.
    count : str
        The column of counts.
    names : list of str, optional
        The columns that name a cell; by default all but the counts.
    raw : bytes, optional
        The file's content, where it has been read already.

    Raises
    ------
    InputError
        Naming the file, the row (counted from 1 below the header) and the column.
    """
    path = Path(path)
    frame = _read_frame(path, read_bytes(path, "a csv table") if raw is None else raw, count)
    if names is None:
        names = [column for column in frame.columns if column != count]
    if not names:
        raise InputError(f"{path}: no column beside {count!r} says what a row is; add one")
    for name in names:
        if name not in frame or name == count:
            raise InputError(f"{path}: --name {name!r} is not one of {_listed(frame, count)}")
    counts = _counts(frame, path, count, names)
    table = Table(path, frame, count, names, counts)
    for column in names:
        _refuse_empty(table, column)
    codes = table.groups(names)
    if codes.max() + 1 < len(codes):
        row = int(np.flatnonzero(pd.Series(codes).duplicated())[0])
        first = int(np.flatnonzero(codes == codes[row])[0])
        raise InputError(
            f"{path}: rows {first + 1} and {row + 1} are both called {table.name(row)!r}; each "
            f"cell needs one row (--name says which columns name a cell)"
        )
    return table


def _read_frame(path: Path, raw: bytes, count: str) -> pd.DataFrame:
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(f"{path}: this is a spreadsheet, not a csv; save it as csv (UTF-8)")
    if b"\0" in raw:
        raise InputError(f"{path}: this is no csv table (it holds zero bytes)")
    options = {"encoding": "utf-8-sig", "na_filter": False, "low_memory": False}
    try:
        first = pd.read_csv(io.BytesIO(raw), header=None, nrows=1, dtype=str, **options)
        columns = [str(name) for name in first.iloc[0]]
        if count not in columns:
            hint = "; is ';' the separator? wanted commas" if ";" in columns[0] else ""
            raise InputError(
                f"{path}: no column {count!r}; there are {', '.join(map(repr, columns))}{hint} "
                f"(--count names the column of counts)"
            )
        twice = [name for name in columns if columns.count(name) > 1]
        if twice:
            raise InputError(f"{path}: the column {twice[0]!r} stands there twice")
        frame = pd.read_csv(io.BytesIO(raw), dtype=str, **options)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: the file is empty; wanted a header and a row a cell") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no csv table in UTF-8; save it as csv (UTF-8)") from None
    except (pd.errors.ParserError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        words = " ".join(str(error).split())
        raise InputError(f"{path}: this is no csv table ({words})") from None
    if not isinstance(frame.index, pd.RangeIndex) or len(frame.columns) != len(columns):
        raise InputError(f"{path}: the rows have more fields than the header has names")
    if frame.empty:
        raise InputError(f"{path}: the table has no rows; wanted one a cell")
    frame.columns = columns
    for column in columns:  # not by read_csv, whose categories of digits turn into numbers
        codes, texts = pd.factorize(frame[column])
        frame[column] = pd.Categorical.from_codes(codes, pd.Index(texts, dtype=object))
    return frame


def _counts(frame: pd.DataFrame, path: Path, count: str, names: list[str]) -> np.ndarray:
    """Read the counts, value by distinct value."""
    values = frame[count].cat
    texts = values.categories.to_numpy()
    good = [re.fullmatch(r"\s*[0-9]{1,12}\s*", text) is not None for text in texts]
    if not all(good):
        row = int(np.flatnonzero(~np.array(good)[values.codes])[0])
        text = texts[values.codes.iloc[row]]
        name = JOINT.join(str(frame[column].iloc[row]) for column in names)
        wrong = "is missing" if not text.strip() else f"is {text!r}"
        for pattern, words in (
            (r"\s*-.*", "which is negative"),
            (r"\s*[0-9]{1,3}([,' ][0-9]{3})+\s*", "with a thousands separator"),
            (r"\s*[0-9]*\.[0-9]*\s*", "with a decimal point"),
        ):
            if re.fullmatch(pattern, text):
                wrong += f", {words}"
        raise InputError(
            f"{path}: row {row + 1} ({name}): {count} {wrong}; wanted a whole number from 0 up, "
            f"of at most 12 digits and nothing else"
        )
    numbers = np.array([int(text) for text in texts], dtype=np.int64)
    return numbers[values.codes]


def _refuse_empty(table: Table, column: str) -> None:
    values = table.frame[column].cat
    empty = [not str(text).strip() for text in values.categories]
    if any(empty):
        row = int(np.flatnonzero(np.array(empty)[values.codes])[0])
        raise InputError(f"{table.path}: row {row + 1}: {column} is empty")


def _listed(frame: pd.DataFrame, count: str) -> str:
    return ", ".join(repr(column) for column in frame.columns if column != count)


# -- the invariants ------------------------------------------------------------------------------


class _Loader(yaml.BaseLoader):
    """YAML in which every value is the text that stands there, and no key stands twice."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if not isinstance(key, str):
            raise InputError(f"line {node.start_mark.line + 1}: a key is no plain text")
        if keys.count(key) > 1:
            raise InputError(f"line {node.start_mark.line + 1}: the key {key!r} stands twice")
    return {
        key: loader.construct_object(value, deep=True)
        for key, (_, value) in zip(keys, node.value, strict=True)
    }


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_invariants(path, table: Table, raw: bytes | None = None) -> list[Held]:
    """Read which totals of a table to hold.

    Parameters
    ----------
    path : path
        YAML: ``total: true``, ``totals:`` a list of columns and lists of columns, ``subsets:`` a
        name for each selection of cells.
    table : Table
    raw : bytes, optional
        The file's content, where it has been read already.

    Returns
    -------
    list of Held

    Raises
    ------
    InputError
        Naming the file, the key and what is wrong.
    """
    raw = read_bytes(path, "a YAML file of invariants") if raw is None else raw
    try:
        content = yaml.load(raw.decode("utf-8-sig"), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise InputError(f"{path}: this is no YAML ({words})") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: wanted a mapping with the keys {', '.join(KEYS)}")
    for key in content:
        if key not in KEYS:
            raise InputError(f"{path}: unknown key {key!r}; there are {', '.join(KEYS)}")
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


def _grand_total(given, table: Table) -> list[Held]:
    if not isinstance(given, str) or given.lower() not in ("true", "false"):
        raise InputError(f"total must be true or false, got {given!r}")
    if given.lower() == "false":
        return []
    return [Held("grand total", np.zeros(len(table.counts), dtype=np.int64))]


def _totals(given, table: Table) -> list[Held]:
    if not isinstance(given, list):
        raise InputError("totals must be a list of columns, such as [county, [county, sex]]")
    held = []
    for entry in given:
        columns = [entry] if isinstance(entry, str) else entry
        if not isinstance(columns, list) or not columns:
            raise InputError(f"totals: {entry!r} is neither a column nor a list of columns")
        for column in columns:
            _check_column(column, table, "totals")
        held.append(Held(f"totals by {' x '.join(columns)}", table.groups(columns)))
    return held


def _check_column(column, table: Table, key: str) -> None:
    columns = [name for name in table.frame.columns if name != table.count]
    if column not in columns:
        raise InputError(
            f"{key}: {column!r} is no column that describes cells; there are "
            f"{', '.join(map(repr, columns))}"
        )
    _refuse_empty(table, column)


def _subsets(given, table: Table) -> list[Held]:
    if not isinstance(given, dict):
        raise InputError("subsets must give each subset's name and its cells")
    rows: dict[str, list[int]] = {}
    held = []
    for name, chosen in given.items():
        entries = [chosen] if isinstance(chosen, dict) else chosen
        if not isinstance(entries, list) or not entries:
            raise InputError(f"subsets: {name}: wanted a selection such as {{column: value}}")
        inside = np.zeros(len(table.counts), dtype=bool)
        for entry in entries:
            if isinstance(entry, dict):
                inside |= _selected(entry, table, name)
            else:
                rows = rows or _rows_by_name(table)
                inside[_row_called(entry, rows, name)] = True
        if not inside.any():
            raise InputError(f"subsets: {name}: no cell is selected")
        held.append(Held(f"subset {name}", inside.astype(np.int64) - 1))
    return held


def _selected(selector: dict, table: Table, name: str) -> np.ndarray:
    """Cells that meet every column's condition."""
    inside = np.full(len(table.counts), bool(selector))
    for column, wanted in selector.items():
        _check_column(column, table, f"subsets: {name}")
        values = table.frame[column].cat
        for value in [wanted] if isinstance(wanted, str) else wanted:
            if not isinstance(value, str) or value not in values.categories:
                raise InputError(f"subsets: {name}: no cell has {column} = {value!r}")
        wanted = [wanted] if isinstance(wanted, str) else list(wanted)
        inside &= values.categories.isin(wanted)[values.codes]
    return inside


def _rows_by_name(table: Table) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    parts = (table.frame[column].astype(str) for column in table.names)
    for row, name in enumerate(map(JOINT.join, zip(*parts, strict=True))):
        rows.setdefault(name, []).append(row)
    return rows


def _row_called(name, rows: dict[str, list[int]], subset: str) -> int:
    found = rows.get(name, []) if isinstance(name, str) else []
    if len(found) != 1:
        words = "no cell is" if not found else f"{len(found)} cells are"
        example = next(iter(rows))
        raise InputError(
            f"subsets: {subset}: {words} called {name!r}; names are such as {example!r}"
        )
    return found[0]


# -- what has to be drawn ------------------------------------------------------------------------


def without_implied(held: list[Held]) -> list[Held]:
    """Drop each set of totals that sums of another one's totals give."""
    kept = list(held)
    for one in held:
        others = [other for other in kept if other is not one]
        if any(_implies(other.labels, one.labels) for other in others):
            kept = others
    return kept


def _implies(fine: np.ndarray, coarse: np.ndarray) -> bool:
    return bool((fine[coarse >= 0] >= 0).all()) and _constant(coarse, fine)


def _constant(labels: np.ndarray, groups: np.ndarray) -> bool:
    """Whether every group lies in one label."""
    inside = groups >= 0
    labels, groups = labels[inside], groups[inside]
    of_group = np.empty(groups.max(initial=-1) + 1, dtype=np.int64)
    of_group[groups] = labels
    return bool((of_group[groups] == labels).all())


def disjoint_blocks(held: list[Held]) -> np.ndarray | None:
    """Find disjoint blocks of cells whose totals say the same as nested totals.

    Where sets of cells are nested or disjoint, holding all their totals is holding that of each
    set without the sets inside it.

    Returns
    -------
    int64 array, shape (cells,), or None
        Block of each cell, -1 for none; None if some of the sets overlap.
    """
    blocks = np.full(len(held[0].labels), -1, dtype=np.int64)
    outermost = blocks.copy()
    used = 0
    for one in sorted(held, key=lambda one: int(np.bincount(one.labels + 1)[1:].max())):
        if not _constant(one.labels, outermost):
            return None
        inside = one.labels >= 0
        new = inside & (outermost < 0)
        blocks[new] = one.labels[new] + used
        outermost[inside] = one.labels[inside] + used
        used += one.totals
    inside = blocks >= 0
    blocks[inside] = pd.factorize(blocks[inside])[0]
    return blocks


def invariants_of(held: list[Held]) -> tuple[Invariants, np.ndarray | None]:
    """Build the invariants to draw under, as disjoint blocks where that is possible.

    Returns
    -------
    Invariants
        They hold all totals in `held`, and no more.
    blocks : int64 array or None
        From `disjoint_blocks`.
    """
    held = without_implied(held)
    blocks = disjoint_blocks(held)
    if blocks is not None:
        held = [Held("block", blocks)]
    rows = [_incidence(one) for one in held]
    names = [f"{one.name} {i + 1}" for one in held for i in range(one.totals)]
    return Invariants(vstack(rows, format="csr"), names), blocks


def _incidence(one: Held) -> csr_array:
    cells = np.flatnonzero(one.labels >= 0)
    ones = np.ones(len(cells), dtype=np.int64)
    shape = (one.totals, len(one.labels))
    return csr_array((ones, (one.labels[cells], cells)), shape=shape)


def freedom(invariants: Invariants, blocks: np.ndarray | None) -> Freedom:
    """Count what is left free, from the blocks or by exact elimination."""
    if blocks is not None:
        sizes = np.bincount(blocks + 1)
        alone = sizes[blocks + 1] == 1
        fixed = np.flatnonzero(alone & (blocks >= 0))
        return Freedom(len(blocks) - len(sizes) + 1, fixed)
    cells, free, weights, _ = settle(invariants.matrix)
    return Freedom(len(free), np.sort(cells[~weights.astype(bool).any(axis=1)]))
