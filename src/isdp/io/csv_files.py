"""Reading and writing of CSV tables, all columns as text.

Every table is checked by the `csv` module of the standard library in strict mode, which gives the
line of an error, before pandas parses it. `read_columns` reads tables of any length: a column takes
four bytes for each row and sixteen for each distinct text. `read_cells` reads small tables, whose
cells are named by their lines.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.files import MAX_BYTES, read_bytes
from isdp.io.progress import progress

ROWS_PER_CHUNK = 1 << 18  # rows
BYTES_PER_BLOCK = 1 << 20  # bytes
LINE_ENDS = ("\n", "\r")  # other separators of lines end no row of a CSV
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
TEXT = np.dtypes.StringDType()
MAX_QUOTED = 60  # characters of a label in a message
MAX_PERSONS = 10**9  # the largest count that is plausible


class Column(NamedTuple):
    """A column of texts.

    Attributes
    ----------
    codes : integer array, shape (rows,)
        Number of each row's text.
    texts : array of numpy.dtypes.StringDType, shape (distinct texts,)
        In the order of their first rows, if they are from `read_columns`.
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
        """First row whose text is marked in `chosen`, bool (distinct texts,); None for none."""
        return int(np.argmax(chosen[self.codes])) if chosen.any() else None

    def is_blank(self) -> np.ndarray:
        """Mark each text that is empty or blank; bool (distinct texts,)."""
        return np.strings.str_len(np.strings.strip(self.texts)) == 0

    def taken(self, rows: np.ndarray) -> Column:
        """Column of the same texts with some of the rows, in their order."""
        return Column(self.codes[rows], self.texts)

    def sorted(self) -> Column:
        """Return the same rows with sorted texts."""
        order = np.argsort(self.texts)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return Column(rank[self.codes], self.texts[order])


def read_columns(path, what: str, passed_over: Collection[str] = ()) -> dict[str, Column]:
    """Read all columns of a CSV in UTF-8, with or without a byte order mark, unchanged.

    Parameters
    ----------
    path : path
        A file, or a pipe, which is read into memory.
    what : str
        The table that is expected, for messages, such as "a csv with one row for each cell".
    passed_over : collection of str
        Columns that are not read.

    Returns
    -------
    dict of str to Column
        In the order of the header.

    Raises
    ------
    InputError
        With the file and the line; no value is quoted.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if not file.seekable():
                file = io.BytesIO(file.read())
            _refuse_binary(file, path)
            header = _checked(file, path, what)
            kept = [number for number, name in enumerate(header) if name not in passed_over]
            if not kept:
                listed = ", ".join(map(repr, header))
                raise InputError(f"{path}: there is no column but {listed}; add one")
            pieces = _parsed(file, path, len(header), kept)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; expected {what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); expected {what}") from None
    if not any(len(piece.codes) for piece in pieces[kept[0]]):
        raise InputError(f"{path}: the table has no rows below its header; expected {what}")
    return {header[number]: _joined(pieces.pop(number)) for number in kept}


def _refuse_binary(file, path: Path) -> None:
    start = file.read(4)
    if start.startswith(SPREADSHEETS):
        raise InputError(f"{path}: this is a spreadsheet, not a csv; save it as csv (UTF-8)")
    file.seek(0)
    while block := file.read(BYTES_PER_BLOCK):
        if b"\0" in block:
            raise InputError(
                f"{path}: this is no csv table (it holds zero bytes); save it as csv (UTF-8)"
            )


def _checked(file, path: Path, what: str) -> list[str]:
    """Check all rows, and return the header."""
    file.seek(0)
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        rows = _rows(lines, path)
        _, header = next(rows, (0, []))
        if not any(name.strip() for name in header):
            raise InputError(f"{path}: the file is empty; expected {what}, below a header")
        for _ in rows:
            pass
        return header
    except UnicodeDecodeError:
        raise _not_utf8(file, path) from None
    finally:
        lines.detach()


def _rows(lines, place) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, each with the line on which it ends, counted from 1.

    Raises
    ------
    InputError
        If a column name occurs twice, a row has not as many fields as the header, or the
        text is no CSV.
    """
    reader, width = csv.reader(lines, strict=True), None
    try:
        for row in reader:
            if len(row) != width:
                if not row or (len(row) == 1 and row[0] and not row[0].strip(" \t")):
                    continue  # a blank line
                if width is not None:
                    raise InputError(
                        f"{place}: line {reader.line_num}: {len(row)} fields under a header of "
                        f"{width}; is the file cut short, or a comma not quoted?"
                    )
                width = len(row)
                twice = [name for name in row if row.count(name) > 1]
                if twice:
                    raise InputError(
                        f"{place}: line {reader.line_num}: the column {quoted(twice[0])} occurs "
                        f"twice; rename one"
                    )
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"{place}: line {reader.line_num}: this is no csv table ({error}); is a quotation mark "
            f"without its second?"
        ) from None


def _not_utf8(file, path) -> InputError:
    file.seek(0)
    content = file.read()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    return InputError(f"{path}: line {line}: this is no csv table in UTF-8; save it as csv (UTF-8)")


def _parsed(file, path: Path, width: int, kept: list[int]) -> dict[int, list[Column]]:
    """Parse a table that was checked; each column in pieces, by its number."""
    columns: dict[int, list[Column]] = {number: [] for number in kept}
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    options = {"names": range(width), "header": 0, "usecols": kept, "index_col": False}
    options |= {"dtype": str, "keep_default_na": False, "na_filter": False}
    options |= {"encoding": "utf-8-sig", "chunksize": ROWS_PER_CHUNK}
    with (
        pd.read_csv(file, **options) as pieces,
        progress(f"reading {path.name}", length) as at,
    ):
        for piece in pieces:
            for number, parts in columns.items():
                codes, texts = pd.factorize(piece[number].to_numpy(dtype=object))
                parts.append(Column(codes.astype(np.int32), texts.astype(TEXT)))
            at(file.tell())
    return columns


def _joined(pieces: list[Column]) -> Column:
    """Join the pieces of a column; they are removed from the list, as memory may be short."""
    texts = np.concatenate([piece.texts for piece in pieces])
    starts = np.cumsum([0, *(len(piece.texts) for piece in pieces)])
    numbers = None
    if _may_repeat(texts):
        numbers, different = pd.factorize(texts.astype(object))
        texts, numbers = different.astype(TEXT), numbers.astype(np.int32)
    codes = np.empty(sum(len(piece.codes) for piece in pieces), dtype=np.int32)
    end = len(codes)
    while pieces:
        part = pieces.pop().codes + np.int32(starts[len(pieces)])
        codes[end - len(part) : end] = part if numbers is None else numbers[part]
        end -= len(part)
    return Column(codes, texts)


def _may_repeat(texts: np.ndarray) -> bool:
    """Test by hashes, in little memory, whether a text may occur twice."""
    hashes = [
        pd.util.hash_array(texts[start : start + ROWS_PER_CHUNK].astype(object))
        for start in range(0, len(texts), ROWS_PER_CHUNK)
    ]
    in_order = np.sort(np.concatenate(hashes))
    return bool((in_order[1:] == in_order[:-1]).any())


def refuse_line_breaks(columns: Mapping[str, Column], path, *names: str) -> None:
    """Refuse labels with line breaks, which many readers of a csv take for the end of a row.

    Parameters
    ----------
    path : path
        Name of the table in messages.
    *names : str
        Names of further columns.

    Raises
    ------
    InputError
        With the column and the first such row, counted from 1 below the header.
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
    columns : mapping of str to Column or array, shape (rows,)
        By their names, in their order.
    """
    pd.DataFrame(columns=list(columns)).to_csv(path, index=False, lineterminator="\n")
    rows = max((len(getattr(values, "codes", values)) for values in columns.values()), default=0)
    path = Path(path)
    with (
        path.open("a", encoding="utf-8", newline="") as file,
        progress(f"writing {path.name}", rows) as at,
    ):
        for start in range(0, rows, ROWS_PER_CHUNK):
            stop = start + ROWS_PER_CHUNK
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


def read_cells(path, limit: int = MAX_BYTES) -> pd.DataFrame:
    """Read the cells of a small CSV file in UTF-8, with or without a byte order mark.

    Parameters
    ----------
    limit : int
        Maximum number of bytes.

    Returns
    -------
    DataFrame
        As from `cells_of`.

    Raises
    ------
    InputError
        As `read_bytes` and `cells_of`, and where the text is in another encoding.
    """
    place, content = Path(path).name, read_bytes(path, limit)
    try:
        return cells_of(content.decode("utf-8-sig"), place)
    except UnicodeDecodeError:
        raise _not_utf8(io.BytesIO(content), place) from None


def cells_of(text: str, place: str) -> pd.DataFrame:
    """Split a CSV text into its cells.

    Parameters
    ----------
    place : str
        Name of the file in messages.

    Returns
    -------
    DataFrame
        The cells as text without blanks around it. The columns are the header, and the index is the
        line of the file on which a row ends, counted from 1. Blank lines are left out.

    Raises
    ------
    InputError
        If there is no header, a column occurs twice, a row has not as many cells as the
        header, or the text is no CSV.
    """
    lines, rows = [], []
    for line, row in _rows(io.StringIO(text, newline=""), place):
        lines.append(line)
        rows.append([cell.strip() for cell in row])
    if not rows:
        raise InputError(f"{place}: the file is empty; put the whole file in its place")
    return pd.DataFrame(rows[1:], columns=rows[0], index=lines[1:], dtype=object)


def check_cells(
    cells: pd.Series, pattern: str, problem: str, where: Callable[[int], str], advice: str
) -> None:
    """Refuse the first cell that is not of a pattern.

    Parameters
    ----------
    pattern : str
        A regular expression for the whole cell.
    problem : str
        What is wrong with a cell that does not match: it follows the cell in the message.
    where : callable
        Words for the place of a cell, from its label in the index.
    advice : str
        A sentence on the remedy, which ends the message.

    Raises
    ------
    InputError
    """
    for label, cell in cells.items():
        if not re.fullmatch(pattern, cell):
            raise InputError(f"{where(label)}: {quoted(cell)} {problem}. {advice}")


def check_unique(cells: pd.Series, what: str, place: str) -> None:
    """Refuse the first cell that occurs for the second time.

    Parameters
    ----------
    cells : Series of str
        Indexed by line.
    what, place : str
        What messages call the cell, and the file.

    Raises
    ------
    InputError
    """
    again = cells[cells.duplicated()]
    if len(again):
        line, cell = again.index[0], again.iloc[0]
        first = cells.index[cells == cell][0]
        raise InputError(
            f"{place}: line {line}: {what} {on_one_line(cell)} is on line {first} already; "
            f"remove one of the two"
        )


def counts_of(cells: pd.Series, where: Callable[[int], str], advice: str) -> np.ndarray:
    """Turn cells of text into counts from 0 to 10^9 persons; see `whole_numbers`.

    Parameters
    ----------
    where : callable
        Words for the place of a cell, from its label in the index.

    Returns
    -------
    int64 array, shape (cells,)
    """
    column = Column(*pd.factorize(cells.to_numpy(dtype=object)))
    return whole_numbers(column, lambda row: where(cells.index[row]), advice, MAX_PERSONS)


def whole_numbers(
    column: Column,
    where: Callable[[int], str],
    advice: str,
    largest: int,
    negative: bool = False,
) -> np.ndarray:
    """Turn texts into whole numbers, each distinct text once.

    Parameters
    ----------
    where : callable
        Words for the place of a row, counted from 0.
    advice : str
        A sentence on the remedy, which ends the message.
    largest : int
        Largest magnitude.
    negative : bool
        Whether numbers may be negative.

    Returns
    -------
    int64 array, shape (rows,)

    Raises
    ------
    InputError
        With the first row that has anything else, and what is wrong. The text is not quoted, as
        it may be a confidential count.
    """
    texts = [text.strip() for text in column.texts.tolist()]
    problems = [_problem(text, largest, negative) for text in texts]
    row = column.first(np.array(problems, dtype=bool))
    if row is not None:
        raise InputError(f"{where(row)}: {problems[column.codes[row]]}. {advice}")
    # int() refuses thousands of leading zeros
    values = [(-1 if text.startswith("-") else 1) * int(text.lstrip("-0") or 0) for text in texts]
    return np.array(values, dtype=np.int64)[column.codes]


def _problem(text: str, largest: int, negative: bool) -> str:
    """Say what keeps a text from being a whole number; "" where it is one."""
    digits = text.removeprefix("-") if negative else text
    if digits.isascii() and digits.isdigit():
        significant = digits.lstrip("0")
        if len(significant) <= len(str(largest)) and int(significant or 0) <= largest:
            return ""
        return f"the number is more than {largest:,}"
    if not text:
        return "the number is missing"
    for pattern, words in (
        (r"-[0-9]+(\.[0-9]*)?", "is negative"),
        (r"-?[0-9]*\.[0-9]*", "has a decimal point"),
        (r"-?[0-9]{1,3}([,' ][0-9]{3})+", "has a thousands separator"),
    ):
        if re.fullmatch(pattern, text):
            return f"the number {words}"
    return "this is not a whole number"


def on_one_line(text: str) -> str:
    """Put a text from a file on one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else line[: MAX_QUOTED - 3] + "..."


def quoted(text: str) -> str:
    """Quote a text from a file, on one line that is not too long."""
    return repr(on_one_line(text))
