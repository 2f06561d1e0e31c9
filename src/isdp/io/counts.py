"""Tables of counts as people give them: csv texts, read strictly, with each wrong cell named."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError

MAX_BYTES = 200_000_000
STRIPPED = re.compile(r'[ \t\x0b\x0c\x1c-\x1f"]')  # a quoted cell may hold the end of a line
LONGEST = 60  # characters of a cell that a message quotes


def read_bytes(path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes that is neither missing nor empty.

    Raises
    ------
    InputError
        If it is missing, no file, unreadable, empty or larger.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; give the path of one") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a file") from None
    if len(content) > limit:
        raise InputError(
            f"{path.name}: larger than {limit:,} bytes, so not what is wanted; check the file"
        )
    if not content.strip():
        raise InputError(f"{path.name}: the file is empty; put the whole file in its place")
    return content


def read_cells(path, limit: int = MAX_BYTES) -> pd.DataFrame:
    """Read the cells of a csv file in UTF-8, with or without a byte order mark.

    Parameters
    ----------
    path : path-like
    limit : int
        Bytes that it may have.

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
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{place}: line {line}: not in UTF-8; save the file as UTF-8") from None


def cells_of(text: str, place: str) -> pd.DataFrame:
    """Split a csv text into its cells.

    Parameters
    ----------
    text : str
    place : str
        What messages call the file.

    Returns
    -------
    DataFrame
        The cells as text, stripped; the columns are the header, and the index is the line of the
        file on which a row ends, counted from 1. Blank lines are left out.

    Raises
    ------
    InputError
        If there is no header, a column stands there twice, a row has not as many cells as the
        header, or the text is no csv.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    # to look for blanks once is cheaper than to strip every cell of a large table
    blanks = not text.isascii() or STRIPPED.search(text) is not None
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in filter(None, reader):
            if rows and len(row) != len(rows[0]):
                raise InputError(
                    f"{place}: line {reader.line_num}: {len(row)} cells under a header of "
                    f"{len(rows[0])}; the file is damaged or cut short: get it again"
                )
            rows.append([cell.strip() for cell in row] if blanks else row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(
            f"{place}: line {reader.line_num}: not a CSV table ({error}); get the file again"
        ) from None
    if not rows:
        raise InputError(f"{place}: the file is empty; put the whole file in its place")
    header = rows[0]
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError(f"{place}: line 1: column {quoted(twice[0])} stands there twice")
    return pd.DataFrame(rows[1:], columns=header, index=lines[1:], dtype=object)


def check_cells(
    cells: pd.Series, pattern: str, problem: str, where: Callable[[int], str], mend: str
) -> None:
    """Refuse the first cell that is not of a pattern.

    Parameters
    ----------
    cells : Series of str
    pattern : str
        A regular expression for the whole cell.
    problem : str
        What is wrong with a cell that does not match: it follows the cell in the message.
    where : callable
        Words for the place of a cell, from its label in the index.
    mend : str
        What to do about it.

    Raises
    ------
    InputError
    """
    for label, cell in cells.items():
        if not re.fullmatch(pattern, cell):
            raise InputError(f"{where(label)}: {quoted(cell)} {problem}; {mend}")


def check_unique(cells: pd.Series, what: str, place: str) -> None:
    """Refuse the first cell that stands there for the second time.

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
            f"{place}: line {line}: {what} {on_one_line(cell)} stands on line {first} already; "
            f"remove one of the two"
        )


def counts_of(
    cells: pd.Series, where: Callable[[int], str], mend: str, largest: int = 10**9
) -> np.ndarray:
    """Turn cells of text into counts.

    Parameters
    ----------
    cells : Series of str
    where, mend
        As in `check_cells`.
    largest : int
        The largest count that is believed (persons).

    Returns
    -------
    int64 array, shape (cells,)

    Raises
    ------
    InputError
        At the first cell that is anything else than a whole number from 0 to `largest`.
    """
    codes, texts = pd.factorize(cells.to_numpy(dtype=object))
    if _plain(texts, largest):
        return np.array([int(text) for text in texts], dtype=np.int64)[codes]
    problems = [_problem(text.strip(), largest) for text in texts]
    wrong = np.array([problem != "" for problem in problems], dtype=bool)[codes]
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(f"{where(cells.index[first])}: {problems[codes[first]]}; {mend}")
    # int() refuses thousands of leading zeros
    values = [int(text.strip().lstrip("0") or 0) for text in texts]
    return np.array(values, dtype=np.int64)[codes]


def _plain(texts: Sequence[str], largest: int) -> bool:
    """Whether all texts are digits alone, and so few that none can be too large a number."""
    together = "".join(texts)
    lengths = {len(text) for text in texts}
    return (
        together.isascii()
        and together.isdigit()
        and min(lengths) > 0
        and max(lengths) < len(str(largest))
    )


def _problem(digits: str, largest: int) -> str:
    """Say what keeps a text from being a count; nothing where it is one."""
    if digits.isascii() and digits.isdigit():
        significant = digits.lstrip("0") or "0"
        if len(significant) <= len(str(largest)) and int(significant) <= largest:
            return ""
        return f"{quoted(digits)} is more than {largest:,} persons"
    if not digits:
        return "the count is missing"
    for pattern, words in (
        (r"-[0-9]+(\.[0-9]*)?", "is negative"),
        (r"[0-9]*\.[0-9]*", "is fractional"),
        (r"[0-9]{1,3}([,' ][0-9]{3})+", "has a thousands separator"),
    ):
        if re.fullmatch(pattern, digits):
            return f"{quoted(digits)} {words}"
    return f"{quoted(digits)} is not a whole number"


def on_one_line(text: str) -> str:
    """Put a text from a file on one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def quoted(text: str) -> str:
    """Quote a text from a file, on one line that is not too long."""
    return repr(on_one_line(text))
