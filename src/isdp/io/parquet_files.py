"""Reading and writing of Parquet files as columns of strings, with the optional package pyarrow.

The columns are those of the same table in a CSV file. Whole numbers become strings of decimal
digits. Strings do not change, and may be dictionary-encoded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.csv_files import (
    ROWS_PER_CHUNK,
    TEXT,
    Column,
    concatenate,
    quoted,
    quoted_names,
    refuse_columns,
    refuse_no_columns,
    refuse_no_rows,
)
from isdp.io.progress import progress

EXTRA = "isdp[parquet]"
MAX_WHOLE_FLOAT = 2.0**53  # larger floats do not represent every integer
ROWS_PER_GROUP = 1 << 20
INDEX = "__index_level_"  # pandas writes its index into columns with these names


def read_columns(path, expected: str, skipped: Collection[str] = ()) -> dict[str, Column]:
    """Read the columns of a Parquet file, as `isdp.io.csv_files.read_columns` does for CSV.

    The values are strings, integers, or floats that are whole numbers. Raise `InputError` if
    pyarrow is not installed, the file is missing or invalid, or a value is missing or of another
    type. The message gives the file, the column and the row, and quotes no value.
    """
    path = Path(path)
    with _opened(path, expected) as file:
        schema = file.schema_arrow
        header = list(schema.names)
        if not any(name.strip() for name in header):
            raise InputError(f"{path}: the file is empty. Give {expected}")
        refuse_columns(header, path)
        of_index = [name for name in header if name.startswith(INDEX)]
        if of_index:
            raise InputError(
                f"{path}: the column {quoted(of_index[0])} is an index of pandas. Write the file "
                f"with index=False"
            )
        kept = refuse_no_columns(header, skipped, path)
        for number in kept:
            _refuse_type(schema.field(number), path)
        pieces: dict[int, list[Column]] = {number: [] for number in kept}
        rows = 0
        with progress(f"reading {path.name}", file.metadata.num_rows) as update:
            for batch in file.iter_batches(ROWS_PER_CHUNK):
                for number, parts in pieces.items():
                    name = quoted_names([header[number]])
                    place = f"{path}: column {name}, row {{}}"
                    parts.append(_column(batch.column(number), rows, place))
                rows += batch.num_rows
                update(rows)
    refuse_no_rows(rows, path, expected)
    return {header[number]: concatenate(pieces.pop(number)) for number in kept}


@contextmanager
def _opened(path: Path, expected: str) -> Iterator:
    pa, pq = import_pyarrow(path)
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Give {expected}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise InputError(
            f"{path}: this is not a valid Parquet file ({words[:80]}). Write the file again"
        ) from None


def import_pyarrow(path):
    """Import pyarrow, or raise `InputError` with the name of the extra that installs it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: Parquet files need pyarrow, which is not installed. Run pip install "
            f"'{EXTRA}', or use CSV files"
        ) from None
    return pyarrow, pyarrow.parquet


def _refuse_type(field, path: Path) -> None:
    import pyarrow.types as types

    of_values = field.type.value_type if types.is_dictionary(field.type) else field.type
    tests = (types.is_integer, types.is_floating, types.is_string, types.is_large_string)
    # a column without a value has the null type, and its first row is refused later
    if not any(test(of_values) for test in (*tests, types.is_string_view, types.is_null)):
        raise InputError(
            f"{path}: column {quoted(field.name)}, row 1: the type is {field.type!s:.40}. Store "
            f"strings or whole numbers"
        )


def _column(values, start: int, place: str) -> Column:
    """Convert an Arrow array to a column. The strings are sorted by their first rows.

    `start` is the number of rows before the array.
    """
    import pyarrow as pa

    def refuse(row: int, problem: str, advice: str) -> None:
        raise InputError(f"{place.format(start + row + 1)}: {problem}. {advice}")

    values.validate(full=True)  # strings may be invalid UTF-8
    if pa.types.is_null(values.type):
        refuse(0, "the value is missing", "Give it a value")
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    numbers = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    codes, used = pd.factorize(numbers, use_na_sentinel=False)
    used = used.astype(np.int64)
    distinct = [None if i < 0 else i for i in used.tolist()]
    texts: list[str] = []
    for number, value in enumerate(
        values.dictionary.take(pa.array(distinct, pa.int64())).to_pylist()
    ):
        text, problem, advice = _text(value)
        if problem:
            refuse(int(np.argmax(codes == number)), problem, advice)
        texts.append(text)
    column = Column(codes.astype(np.int32), np.array(texts, dtype=TEXT))
    if len(set(texts)) == len(texts):
        return column
    numbers, different = pd.factorize(np.array(texts, dtype=object))  # it may repeat texts
    return Column(numbers.astype(np.int32)[column.codes], different.astype(TEXT))


def _text(value) -> tuple[str, str, str]:
    """Return the string of a value, or the problem of an invalid value and its remedy."""
    if value is None:
        return "", "the value is missing", "Give it a value"
    if isinstance(value, float):
        if value != value:
            return "", "the value is missing", "Give it a value"
        if not value.is_integer() or abs(value) > MAX_WHOLE_FLOAT:
            return "", "the value is not a whole number", "Store strings or whole numbers"
        value = int(value)
    text = str(value)
    if "\0" in text:
        return "", "the value has a zero byte", "Remove it"
    return text, "", ""


def write_columns(path, columns: Mapping[str, Column | np.ndarray], source=None) -> None:
    """Write columns of equal length as a Parquet file, in pieces that need little memory.

    A column of strings is written as strings. If `source` is a Parquet file with a column of this
    name, the column has the same type as in `source`.
    """
    pa, pq = import_pyarrow(path)
    given = pq.read_schema(source) if source is not None else pa.schema([])
    types = {name: given.field(name).type for name in given.names if name in columns}
    fields = []
    for name, values in columns.items():
        if isinstance(values, Column):
            kind = types.get(name, pa.string())
            if pa.types.is_dictionary(kind):  # each row group has its own dictionary
                kind = pa.dictionary(pa.int32(), kind.value_type)
            elif pa.types.is_string_view(kind):
                kind = pa.large_string()
        else:
            kind = pa.from_numpy_dtype(values.dtype) if values.dtype.kind in "iuf" else pa.string()
        fields.append(pa.field(name, kind))
    rows = max((len(getattr(values, "codes", values)) for values in columns.values()), default=0)
    path, schema = Path(path), pa.schema(fields)
    with pq.ParquetWriter(path, schema) as file, progress(f"writing {path.name}", rows) as update:
        for start in range(0, rows, ROWS_PER_GROUP):
            piece = slice(start, start + ROWS_PER_GROUP)
            update(start)
            arrays = [
                _arrow_array(values, piece, field.type)
                for values, field in zip(columns.values(), fields, strict=True)
            ]
            file.write_table(pa.table(arrays, schema=schema))


def _arrow_array(values: Column | np.ndarray, piece: slice, kind):
    import pyarrow as pa

    if not isinstance(values, Column):
        return pa.array(values[piece], kind)
    codes, used = pd.factorize(values.codes[piece])
    texts = pa.array(values.texts[used].tolist(), pa.string())
    if pa.types.is_dictionary(kind):
        indices = pa.array(codes.astype(np.int32))
        return pa.DictionaryArray.from_arrays(indices, texts.cast(kind.value_type))
    return texts.cast(kind).take(pa.array(codes))
