"""The release of a noisy pandas DataFrame."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from isdp.arrays import IntArray
from isdp.checks import ExactNumber
from isdp.commands.privatize.run import make_noisy_table, totals_of
from isdp.commands.shared.invariants_file import invariants_of
from isdp.commands.shared.margins import margin_table, short_margin_table
from isdp.commands.shared.noise_levels import NoiseLevels
from isdp.commands.shared.refusals import read_accepted
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import MAX_COUNT, Table, describe_cells
from isdp.errors import InputError
from isdp.io.certificate import now
from isdp.io.csv_files import TEXT, Column, quoted_names

FRAME = "the data frame"
INDEX = "The index of the data frame is published unchanged too, and no hash covers it."


class PrivatizedTable(NamedTuple):
    """A noisy table with its certificate, margins of error and totals.

    Attributes
    ----------
    frame : DataFrame
        A copy of the given frame with noisy counts.
    certificate : dict
        The content of `certificate.json`. Its hash is the SHA-256 of the frame as a CSV file in
        UTF-8 with Unix line ends and without the index.
    margins, totals : DataFrame
        The content of `margins.csv` and `totals.csv`.
    levels : DataFrame or None
        The content of `levels.csv`, for noise with levels.
    margins_full : DataFrame or None
        The content of `margins_full.csv`.
    """

    frame: pd.DataFrame
    certificate: dict[str, Any]
    margins: pd.DataFrame
    totals: pd.DataFrame
    levels: pd.DataFrame | None = None
    margins_full: pd.DataFrame | None = None


def privatize_frame(
    df: pd.DataFrame,
    *,
    count: str,
    totals: Sequence[str | Sequence[str]] = (),
    total: bool = False,
    subsets: Mapping[str, object] | None = None,
    epsilon: ExactNumber | None = None,
    rho: ExactNumber | None = None,
    sigma: ExactNumber | None = None,
    per: Literal["person", "unit"] = "person",
    levels: NoiseLevels | None = None,
    request: NoiseRequest | None = None,
    names: Sequence[str] | None = None,
    accept: str | Iterable[str] = (),
) -> PrivatizedTable:
    """Add noise to the counts of a data frame and keep named totals exactly.

    Parameters
    ----------
    df : DataFrame
        One row per cell. All columns except the counts, and the order of the rows, are published
        unchanged.
    count : str
        The column of counts, which are integers of 0 or more.
    totals : sequence of str or sequence of str
        The totals by the values of each listed column or combination of columns are held.
    total : bool
        True to hold the grand total.
    subsets : mapping, optional
        Selections of cells whose totals are held, as in a file of invariants. Values are compared
        as strings.
    epsilon, rho, sigma : Fraction, int, str or float, optional
        The budget of noise for release, as in `NoiseRequest`. Give exactly one of them, or
        `request`.
    per : {"person", "unit"}, optional
        The unit of `epsilon` and `rho`, a person (the default) or a unit of distance.
    levels : NoiseLevels, optional
        The levels whose totals have a term in the energy of the noise, as in `NoiseRequest`.
    request : NoiseRequest, optional
        A request that replaces the budget, such as a request for experiments.
    names : sequence of str, optional
        The columns that name a cell. The default is all columns except the counts.
    accept : str or iterable of str
        Names of accepted risks of `isdp.commands.shared.refusals`: "weak-noise", "sorted-rows" or
        "missing-rows".

    Raises
    ------
    InputError
        If an argument is invalid or a risk is refused. Nothing is drawn in this case.
    """
    started = now()
    accepted = read_accepted(accept)
    if request is None:
        request = NoiseRequest(epsilon=epsilon, rho=rho, sigma=sigma, per=per, levels=levels)
    elif any(given is not None for given in (epsilon, rho, sigma, levels)):
        raise InputError(
            "request: a budget or levels are given too. Give either a request or the others."
        )
    table = _table(df, count, names)
    content = {
        "total": str(bool(total)).lower(),
        "totals": _as_texts(list(totals)),
        "subsets": _as_texts(dict(subsets or {})),
    }
    held = invariants_of(content, table, "privatize")
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    made = make_noisy_table(table, held, ("given in Python", digest), request, accepted, started)
    noisy = df.assign(**{count: made.noisy})
    text = noisy.to_csv(index=False, lineterminator="\n").encode()
    made.certificate["output"] |= {
        "table": "the noisy data frame, as a CSV file without its index",
        "sha256": hashlib.sha256(text).hexdigest(),
        "others_sha256": {},
    }
    made.certificate["not_said"].append(INDEX)
    sums = pd.DataFrame(totals_of(table, held, made.noisy))
    described = made.certificate["levels"]
    terms = None if described is None else pd.DataFrame(described["terms"])
    margins = short_margin_table(made.margins), margin_table(made.margins)
    return PrivatizedTable(noisy, made.certificate, margins[0], sums, terms, margins[1])


def _table(df: pd.DataFrame, count: str, names: Sequence[str] | None) -> Table:
    if not isinstance(df, pd.DataFrame):
        raise InputError(f"df must be a pandas DataFrame, got a {type(df).__name__}")
    header = list(df.columns)
    if not all(isinstance(name, str) for name in header) or len(set(header)) < len(header):
        raise InputError(f"{FRAME}: the names of the columns must be different strings")
    if count not in header:
        raise InputError(
            f"{FRAME}: there is no column {count!r}. Use one of {quoted_names(header)} as count."
        )
    if not len(df):
        raise InputError(f"{FRAME}: there are no rows. Give one row per cell.")
    columns = {name: _column(df[name]) for name in header if name != count}
    path = Path(FRAME)
    table = describe_cells(path, columns, None if names is None else list(names), count)
    counts = _counts(df[count], table)
    return Table(path, columns, count, header.index(count), table.names, counts)


def _column(values: pd.Series) -> Column:
    codes, different = pd.factorize(values)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise InputError(f"{FRAME}: row {row + 1}: {values.name} is missing. Give it a value.")
    texts = np.array([str(value) for value in different], dtype=object)
    if len(set(texts)) < len(texts):
        raise InputError(
            f"{FRAME}: two values of {values.name} give the same string. Convert them to different "
            f"strings."
        )
    return Column(codes.astype(np.int32), texts.astype(TEXT))


def _counts(values: pd.Series, table: Table) -> IntArray:
    if not pd.api.types.is_integer_dtype(values.dtype) or values.isna().any():
        raise InputError(f"{FRAME}: {table.count} must have a whole number in every row")
    wrong = ((values < 0) | (values > MAX_COUNT)).to_numpy(dtype=bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{FRAME}: row {row + 1} ({table.name(row)}): {table.count} is negative or has more "
            f"than 12 digits. Counts must be whole numbers of 0 or more."
        )
    counts: IntArray = values.to_numpy(dtype=np.int64)
    return counts


def _as_texts(content: object) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _as_texts(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_as_texts(value) for value in content]
    return str(content)
