"""Long csv tables of texts: read and written in pieces, kept as numbers of different texts.

A column takes four bytes a row and sixteen a different text, so that ten million rows with names of
their own fit into a few hundred megabytes. `isdp.io.counts` reads small tables, whose faults it
tells by line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.progress import progress

PIECE = 1 << 18  # rows
BLOCK = 1 << 20  # bytes
LINE_ENDS = ("\n", "\r")  # other separators of lines end no row of a csv
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
TEXT = np.dtypes.StringDType()


class Column(NamedTuple):
    """A column of texts.

    Attributes
    ----------
    codes : int32 array, shape (rows,)
        Number of each row's text, in the order of their first rows.
    texts : array of numpy.dtypes.StringDType, shape (different texts,)
    """

    codes: np.ndarray
    texts: np.ndarray

    def text(self, row: int) -> str:
        """Text of a row, counted from 0."""
        return str(self.texts[self.codes[row]])

    def rows(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Texts of some rows, as an object array of str."""
        return self.texts[self.codes[start:stop]].astype(object)

    def first(self, chosen: np.ndarray) -> int | None:
        """First row whose text is marked in `chosen`, bool (different texts,); None for none."""
        return int(np.argmax(chosen[self.codes])) if chosen.any() else None

    def is_blank(self) -> np.ndarray:
        """Whether each text is empty or of blanks; bool (different texts,)."""
        return np.strings.str_len(np.strings.strip(self.texts)) == 0


class _Coder:
    """Numbers the different texts of a column that comes in pieces."""

    def __init__(self):
        self.codes: list[np.ndarray] = []
        self.texts: list[np.ndarray] = []
        self.hashes: list[np.ndarray] = []
        self.seen = 0

    def add(self, texts: np.ndarray) -> None:
        codes, different = pd.factorize(texts)
        self.codes.append((codes + self.seen).astype(np.int32))
        self.texts.append(np.asarray(different, dtype=object).astype(TEXT))
        self.hashes.append(pd.util.hash_array(np.asarray(different, dtype=object)))
        self.seen += len(different)

    def column(self) -> Column:
        """All that was added; then nothing is kept here."""
        texts, hashes = np.concatenate(self.texts), np.concatenate(self.hashes)
        self.texts, self.hashes = [], []
        in_order = np.sort(hashes)
        if (in_order[1:] != in_order[:-1]).all():  # no text came in two pieces
            return Column(self._all_codes(), texts)
        numbers, first = _numbered(hashes)
        again = np.flatnonzero(first[numbers] != np.arange(len(texts)))
        if (texts[again] != texts[first[numbers[again]]]).any():  # two texts of one hash
            numbers = pd.factorize(texts.astype(object))[0]
            first = np.unique(numbers, return_index=True)[1]
        numbers = numbers.astype(np.int32)
        for place, codes in enumerate(self.codes):
            self.codes[place] = numbers[codes]
        return Column(self._all_codes(), texts[first])

    def _all_codes(self) -> np.ndarray:
        codes, self.codes = np.concatenate(self.codes), []
        return codes


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give different values a number each, in the order of their first places, which come too."""
    numbers, different = pd.factorize(values)
    first = np.empty(len(different), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(values))[::-1]
    return numbers, first


def read_columns(path, what: str, passed_over: Collection[str] = ()) -> dict[str, Column]:
    """Read all columns of a csv in UTF-8, with or without a byte-order mark, as they stand there.

    Parameters
    ----------
    path : path
        A file, or a pipe, which is taken into memory.
    what : str
        What is wanted, for messages, such as "a csv with one row for each cell".
    passed_over : collection of str
        Columns that are not kept.

    Returns
    -------
    dict of str to Column
        In the order of the header.

    Raises
    ------
    InputError
        Naming the file and what is wrong with it; none of its values is quoted.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if not file.seekable():
                file = io.BytesIO(file.read())
            _refuse_binary(file, path)
            header = _header(file, path, what)
            coders = {name: _Coder() for name in header if name not in passed_over}
            length, perhaps_short = file.seek(0, io.SEEK_END), False
            with progress(f"reading {path.name}", length) as at:
                for piece in _pieces(file, path, len(header)):
                    for name, coder in coders.items():
                        coder.add(piece.iloc[:, header.index(name)].to_numpy(dtype=object))
                    # as pandas also fills up rows that are too short
                    last = piece.iloc[:, -1]
                    perhaps_short = perhaps_short or bool((last.isna() | (last == "")).any())
                    at(file.tell())
            if perhaps_short:
                _refuse_short(file, path, len(header))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; wanted {what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); wanted {what}") from None
    if not coders:
        raise InputError(f"{path}: there is no column but {', '.join(map(repr, header))}; add one")
    if not next(iter(coders.values())).seen:
        raise InputError(f"{path}: the table has no rows below its header; wanted {what}")
    return {name: coder.column() for name, coder in coders.items()}


def _refuse_binary(file, path: Path) -> None:
    start = file.read(4)
    if start.startswith(SPREADSHEETS):
        raise InputError(f"{path}: this is a spreadsheet, not a csv; save it as csv (UTF-8)")
    file.seek(0)
    while block := file.read(BLOCK):
        if b"\0" in block:
            raise InputError(f"{path}: this is no csv table (it holds zero bytes)")


def _header(file, path: Path, what: str) -> list[str]:
    """Names of the columns, all different."""
    file.seek(0)
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        names = next(filter(None, csv.reader(lines)), [])
    except UnicodeDecodeError:
        raise _no_utf8(path) from None
    except csv.Error as error:
        raise InputError(f"{path}: this is no csv table ({error})") from None
    finally:
        lines.detach()
    if not any(name.strip() for name in names):
        raise InputError(f"{path}: the file is empty; wanted {what}, below a header")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{path}: the column {twice[0]!r} stands there twice; rename one")
    return names


def _pieces(file, path: Path, width: int) -> Iterator[pd.DataFrame]:
    file.seek(0)
    options = {"dtype": object, "na_filter": False, "encoding": "utf-8-sig", "chunksize": PIECE}
    try:
        with pd.read_csv(file, **options) as pieces:
            for piece in pieces:
                if not isinstance(piece.index, pd.RangeIndex) or len(piece.columns) != width:
                    raise InputError(f"{path}: the rows have more fields than the header has names")
                yield piece
    except UnicodeDecodeError:
        raise _no_utf8(path) from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        # pandas says in which line it was lost, and cites nothing of it, but counts in pieces
        raise InputError(
            f"{path}: this is no csv table; has each row as many fields as the header, and does "
            f"each quotation mark have its second?"
        ) from None


def _refuse_short(file, path: Path, width: int) -> None:
    """Refuse a row of fewer fields than the header has names, as the last of a file cut off."""
    file.seek(0)
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    rows = csv.reader(lines)
    try:
        for row in rows:
            if len(row) < width and any(field.strip() for field in row):
                raise InputError(
                    f"{path}: line {rows.line_num} has {len(row)} fields, but the header has "
                    f"{width} names; was the file cut off?"
                )
    except csv.Error as error:
        raise InputError(f"{path}: line {rows.line_num} cannot be read ({error})") from None
    finally:
        lines.detach()


def _no_utf8(path: Path) -> InputError:
    return InputError(f"{path}: this is no csv table in UTF-8; save it as csv (UTF-8)")


def refuse_line_breaks(columns: Mapping[str, Column], path, *names: str) -> None:
    """Refuse labels with line breaks, which many readers of a csv take for the end of a row.

    Parameters
    ----------
    columns : mapping of str to Column
    path : path
        What messages call the table.
    *names : str
        Names of further columns.

    Raises
    ------
    InputError
        Naming the column, and the first such row, counted from 1 below the header.
    """
    for name in [*columns, *names]:
        if any(end in name for end in LINE_ENDS):
            raise InputError(f"{path}: the name of column {name!r} has a line break; rename it")
    for name, column in columns.items():
        breaks = [np.strings.find(column.texts, end) >= 0 for end in LINE_ENDS]
        row = column.first(np.logical_or(*breaks))
        if row is not None:
            raise InputError(
                f"{path}: row {row + 1}, column {name!r}: the value has a line break; remove it"
            )


def write_columns(path, columns: Mapping[str, Column | np.ndarray]) -> None:
    """Write columns as a csv in pieces.

    Parameters
    ----------
    path : path
    columns : mapping of str to Column or array, shape (rows,)
        By their names, in their order.
    """
    pd.DataFrame(columns=list(columns)).to_csv(path, index=False, lineterminator="\n")
    rows = max(len(getattr(values, "codes", values)) for values in columns.values())
    path = Path(path)
    with (
        path.open("a", encoding="utf-8", newline="") as file,
        progress(f"writing {path.name}", rows) as at,
    ):
        for start in range(0, rows, PIECE):
            stop = start + PIECE
            at(start)
            piece = {
                name: values.rows(start, stop) if isinstance(values, Column) else values[start:stop]
                for name, values in columns.items()
            }
            pd.DataFrame(piece).to_csv(file, header=False, index=False, lineterminator="\n")


def combined(columns: Sequence[Column]) -> np.ndarray:
    """Give each combination of texts of some columns a number; equal just where all are equal.

    Returns
    -------
    int64 array, shape (rows,)
        Below 2^62 and otherwise of no meaning; see `numpy.unique` or `pandas.factorize`.
    """
    numbers, bound = columns[0].codes.astype(np.int64), len(columns[0].texts)
    for codes, texts in columns[1:]:
        if bound * len(texts) >= 2**62:
            numbers, different = pd.factorize(numbers)
            numbers, bound = numbers.astype(np.int64), len(different)
        numbers *= len(texts)
        numbers += codes
        bound *= len(texts)
    return numbers
