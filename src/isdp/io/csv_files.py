"""Reading and writing of CSV files, in which all columns are strings.

The `csv` module of the standard library checks every table in strict mode, because it reports the
line of an error. Then pandas parses the table. `read_columns` reads tables of any length, in four
bytes per row and sixteen bytes per distinct string of each column. `read_cells` reads small tables.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.files import MAX_BYTES, read_bytes
from isdp.io.progress import progress

ROWS_PER_CHUNK = 1 << 18
BYTES_PER_BLOCK = 1 << 20
LINE_ENDS = ("\n", "\r")  # other line separators do not end a row of a CSV file
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
TEXT = np.dtypes.StringDType()
NUMBER = re.compile(r"\s*[-+]?[\d.,' ]*\d[\d.,' ]*(e[-+]?\d+)?\s*", re.IGNORECASE)
MAX_COLUMNS = 5_000
MAX_LISTED = 20  # maximum number of columns in a message
MAX_QUOTED = 60  # maximum number of characters of a label in a message
MAX_PERSONS = 10**9  # maximum plausible count


class Column(NamedTuple):
    """A column of strings, in which each distinct string is stored once.

    Attributes
    ----------
    codes : integer array, shape (rows,)
        The index in `texts` of the string of each row.
    texts : array of numpy.dtypes.StringDType, shape (distinct strings,)
        `read_columns` sorts the strings by their first rows.
    """

    codes: np.ndarray
    texts: np.ndarray

    def text(self, row: int) -> str:
        """Return the string of a row. Rows are counted from 0."""
        return str(self.texts[self.codes[row]])

    def rows(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return the strings of the rows ``start:stop`` as an object array of str."""
        return self.texts[self.codes[start:stop]].astype(object)

    def first(self, chosen: np.ndarray) -> int | None:
        """Return the first row whose string is marked in a bool array, or None."""
        return int(np.argmax(chosen[self.codes])) if chosen.any() else None

    def is_blank(self) -> np.ndarray:
        """Return a bool array (distinct strings,) that marks empty strings and whitespace."""
        return np.strings.str_len(np.strings.strip(self.texts)) == 0

    def taken(self, rows: np.ndarray) -> Column:
        """Return the column of the given rows, in their order."""
        return Column(self.codes[rows], self.texts)

    def sorted(self) -> Column:
        """Return the same rows with sorted strings."""
        order = np.argsort(self.texts)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return Column(rank[self.codes], self.texts[order])


def read_columns(path, expected: str, skipped: Collection[str] = ()) -> dict[str, Column]:
    """Read the columns of a CSV file in UTF-8, with or without a byte order mark.

    Raise `InputError` if the file is missing or invalid. The message gives the file and the line,
    and quotes no value.

    Parameters
    ----------
    path : path
        A file, or a pipe, which is read into memory.
    expected : str
        Description of the table for messages, such as "a CSV file with one row per cell".
    skipped : collection of str
        Columns that are not read.

    Returns
    -------
    dict of str to Column
        The columns have the order of the header.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if not file.seekable():
                file = io.BytesIO(file.read())
            _refuse_binary(file, path)
            header = _check_rows(file, path, expected)
            kept = refuse_no_columns(header, skipped, path)
            pieces = _parse(file, path, len(header), kept)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Give {expected}") from None
    except OSError as error:
        raise InputError(
            f"{path}: the file cannot be read ({error.strerror}). Give {expected}"
        ) from None
    refuse_no_rows(sum(len(piece.codes) for piece in pieces[kept[0]]), path, expected)
    return {header[number]: concatenate(pieces.pop(number)) for number in kept}


def refuse_columns(header: Sequence[str], place) -> None:
    """Raise `InputError` if a header has too many columns, or a name twice."""
    if len(header) > MAX_COLUMNS:
        raise InputError(
            f"{place}: the header has {len(header):,} columns, and at most {MAX_COLUMNS:,} are "
            f"accepted. Leave columns out"
        )
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InputError(
            f"{place}: the column {quoted_names(twice[:1])} occurs twice. Rename one of the two"
        )


def refuse_no_columns(header: Sequence[str], skipped: Collection[str], path) -> list[int]:
    """Return the numbers of the columns to read, or raise `InputError` if there is none."""
    kept = [number for number, name in enumerate(header) if name not in skipped]
    if not kept:
        raise InputError(f"{path}: the only columns are {quoted_names(header)}. Add other columns")
    return kept


def refuse_no_rows(rows: int, path, expected: str) -> None:
    """Raise `InputError` if a table has no rows."""
    if not rows:
        raise InputError(f"{path}: the table has no rows below its header. Give {expected}")


def _refuse_binary(file, path: Path) -> None:
    start = file.read(4)
    if start.startswith(SPREADSHEETS):
        raise InputError(f"{path}: this file is a spreadsheet. Save it as CSV in UTF-8")
    file.seek(0)
    while block := file.read(BYTES_PER_BLOCK):
        if b"\0" in block:
            raise InputError(f"{path}: this file contains zero bytes. Save it as CSV in UTF-8")


def _check_rows(file, path: Path, expected: str) -> list[str]:
    file.seek(0)
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        rows = _rows(lines, path)
        _, header = next(rows, (0, []))
        if not any(name.strip() for name in header):
            raise InputError(f"{path}: the file is empty. Give {expected}, with a header")
        for _ in rows:
            pass
        return header
    except UnicodeDecodeError:
        raise _not_utf8(file, path) from None
    finally:
        lines.detach()


def _rows(lines, place) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, each with the number of its last line, from 1."""
    reader, width = csv.reader(lines, strict=True), None
    try:
        for row in reader:
            if len(row) != width:
                if not row or (len(row) == 1 and row[0] and not row[0].strip(" \t")):
                    continue  # a blank line
                if width is not None:
                    raise InputError(
                        f"{place}: line {reader.line_num}: the row has {len(row)} fields and the "
                        f"header has {width}. Quote fields with commas, or complete the file"
                    )
                width = len(row)
                refuse_columns(row, f"{place}: line {reader.line_num}")
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"{place}: line {reader.line_num}: the text is not valid CSV ({error}). Check the "
            f"quotation marks"
        ) from None


def _not_utf8(file, path) -> InputError:
    file.seek(0)
    content = file.read()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    return InputError(f"{path}: line {line}: the text is not in UTF-8. Save it as CSV in UTF-8")


def _parse(file, path: Path, width: int, kept: list[int]) -> dict[int, list[Column]]:
    columns: dict[int, list[Column]] = {number: [] for number in kept}
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    options = {"names": range(width), "header": 0, "usecols": kept, "index_col": False}
    options |= {"dtype": object, "keep_default_na": False, "na_filter": False}
    options |= {"encoding": "utf-8-sig", "chunksize": ROWS_PER_CHUNK}
    with (
        pd.read_csv(file, **options) as pieces,
        progress(f"reading {path.name}", length) as update,
    ):
        for piece in pieces:
            for number, parts in columns.items():
                codes, texts = pd.factorize(piece[number].to_numpy(dtype=object))
                parts.append(Column(codes.astype(np.int32), texts.astype(TEXT)))
            update(file.tell())
    return columns


def concatenate(pieces: list[Column]) -> Column:
    """Join pieces of a column and empty the list. The strings are sorted by their first rows."""
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
    """Return False if hashes show that no string occurs twice. Hashes need little memory."""
    hashes = [
        pd.util.hash_array(texts[start : start + ROWS_PER_CHUNK].astype(object))
        for start in range(0, len(texts), ROWS_PER_CHUNK)
    ]
    in_order = np.sort(np.concatenate(hashes))
    return bool((in_order[1:] == in_order[:-1]).any())


def refuse_line_breaks(columns: Mapping[str, Column], path, *names: str) -> None:
    """Refuse labels with line breaks, because many CSV readers end a row there.

    The function also checks the names of all columns, and the names of other columns in `names`.
    Raise `InputError` if there is a line break. The message gives the file, the column and the
    first such row, counted from 1 below the header.
    """
    for name in [*columns, *names]:
        if any(end in name for end in LINE_ENDS):
            raise InputError(
                f"{path}: the name of column {name!r} has a line break. Rename the column"
            )
    for name, column in columns.items():
        breaks = [np.strings.find(column.texts, end) >= 0 for end in LINE_ENDS]
        row = column.first(np.logical_or(*breaks))
        if row is not None:
            raise InputError(
                f"{path}: row {row + 1}, column {name!r}: the value has a line break. Remove the "
                f"line break"
            )


def write_columns(path, columns: Mapping[str, Column | np.ndarray]) -> None:
    """Write columns of equal length as a CSV file, in pieces that need little memory."""
    pd.DataFrame(columns=list(columns)).to_csv(path, index=False, lineterminator="\n")
    rows = max((len(getattr(values, "codes", values)) for values in columns.values()), default=0)
    path = Path(path)
    with (
        path.open("a", encoding="utf-8", newline="") as file,
        progress(f"writing {path.name}", rows) as update,
    ):
        for start in range(0, rows, ROWS_PER_CHUNK):
            stop = start + ROWS_PER_CHUNK
            update(start)
            piece = {
                name: values.rows(start, stop) if isinstance(values, Column) else values[start:stop]
                for name, values in columns.items()
            }
            pd.DataFrame(piece).to_csv(file, header=False, index=False, lineterminator="\n")


def combined(columns: Sequence[Column]) -> np.ndarray:
    """Assign an integer below 2^62 to each row, so that equal rows have equal integers."""
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
    """Read the cells of a CSV file of at most `limit` bytes with `cells_of`.

    The file is in UTF-8, with or without a byte order mark. Raise `InputError` if the file is
    missing, empty, too large or invalid.
    """
    place, content = Path(path).name, read_bytes(path, limit)
    try:
        return cells_of(content.decode("utf-8-sig"), place)
    except UnicodeDecodeError:
        raise _not_utf8(io.BytesIO(content), place) from None


def cells_of(text: str, place: str) -> pd.DataFrame:
    """Split a CSV text into its cells.

    Raise `InputError` if the text is not CSV or has no header. The error is also raised if a column
    occurs twice, or the length of a row is not that of the header.

    Returns
    -------
    DataFrame
        The cells are strings without outer whitespace. The column names are the header. The index
        is the line of the file on which the row ends, counted from 1. Blank lines are omitted.
    """
    lines, rows = [], []
    for line, row in _rows(io.StringIO(text, newline=""), place):
        lines.append(line)
        rows.append([cell.strip() for cell in row])
    if not rows:
        raise InputError(f"{place}: the file is empty. Replace it by the complete file")
    return pd.DataFrame(rows[1:], columns=rows[0], index=lines[1:], dtype=object)


def check_cells(
    cells: pd.Series, pattern: str, problem: str, where: Callable[[int], str], advice: str
) -> None:
    """Refuse the first cell that does not match a regular expression.

    Raise `InputError` if a cell does not match.

    Parameters
    ----------
    problem : str
        A description of the problem, which follows the cell in the message.
    where : callable
        A function from a label of the index to the place of the cell in words.
    advice : str
        A sentence on the remedy, which ends the message.
    """
    for label, cell in cells.items():
        if not re.fullmatch(pattern, cell):
            raise InputError(f"{where(label)}: {quoted(cell)} {problem}. {advice}")


def check_unique(cells: pd.Series, noun: str, place: str) -> None:
    """Refuse the first cell that repeats another cell.

    Raise `InputError` if a cell occurs twice. The message contains the noun for a cell, and both
    lines from the index.
    """
    again = cells[cells.duplicated()]
    if len(again):
        line, cell = again.index[0], again.iloc[0]
        first = cells.index[cells == cell][0]
        raise InputError(
            f"{place}: line {line}: {noun} {on_one_line(cell)} is on line {first} too. Remove one "
            f"of the two"
        )


def counts_of(cells: pd.Series, where: Callable[[int], str], advice: str) -> np.ndarray:
    """Convert strings to counts from 0 to 10^9 with `whole_numbers`.

    The function `where` maps a label of the index to the place of the cell in words.
    """
    column = Column(*pd.factorize(cells.to_numpy(dtype=object)))
    return whole_numbers(column, lambda row: where(cells.index[row]), advice, MAX_PERSONS)


def whole_numbers(
    column: Column,
    where: Callable[[int], str],
    advice: str,
    max_magnitude: int,
    negative: bool = False,
) -> np.ndarray:
    """Convert strings to integers of 0 or more, or of any sign if `negative`.

    Raise `InputError` if a string is not an integer of this range. The message gives the first such
    row and the problem. It does not quote the string, which may be a confidential count.

    Parameters
    ----------
    where : callable
        A function from a row, counted from 0, to its place in words.
    advice : str
        A sentence on the remedy, which ends the message.
    max_magnitude : int
        Maximum absolute value.

    Returns
    -------
    int64 array, shape (rows,)
    """
    texts = [text.strip() for text in column.texts.tolist()]
    problems = [_problem(text, max_magnitude, negative) for text in texts]
    row = column.first(np.array(problems, dtype=bool))
    if row is not None:
        raise InputError(f"{where(row)}: {problems[column.codes[row]]}. {advice}")
    # int() refuses strings with thousands of digits, even if they are leading zeros
    values = [(-1 if text.startswith("-") else 1) * int(text.lstrip("-0") or 0) for text in texts]
    return np.array(values, dtype=np.int64)[column.codes]


def _problem(text: str, max_magnitude: int, negative: bool) -> str:
    """Describe the problem of an invalid number, or return "" for a valid number."""
    digits = text.removeprefix("-") if negative else text
    if digits.isascii() and digits.isdigit():
        significant = digits.lstrip("0")
        if len(significant) <= len(str(max_magnitude)) and int(significant or 0) <= max_magnitude:
            return ""
        return f"the number is more than {max_magnitude:,}"
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
    """Replace whitespace by spaces, and shorten a string to at most `MAX_QUOTED` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else line[: MAX_QUOTED - 3] + "..."


def quoted(text: str) -> str:
    """Quote a shortened string on one line."""
    return repr(on_one_line(text))


def without_number(text: str) -> str:
    """Return a string for a message, or "[number]" for a number.

    A number can be a confidential count, if a table has no header or another column is named as the
    column of counts.
    """
    return "[number]" if NUMBER.fullmatch(text) else text


def quoted_names(names: Collection[str]) -> str:
    """Quote the names of columns for a message, and replace numbers."""
    shown = [quoted(without_number(name)) for name in list(names)[:MAX_LISTED]]
    return ", ".join([*shown, "..."] if len(names) > MAX_LISTED else shown)
