import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isdp import InputError
from isdp.io.tables import read_columns, write_columns

WANTED = "a table with a row a cell"
TEXTS = ["01", "1", " 1", "é ü", "", "a,b", 'say "x"', "01", "x" * 40]


def written(folder, columns, **options):
    path = folder / "t.parquet"
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, **options)
    return path


def test_the_columns_are_those_of_the_same_table_in_csv(tmp_path):
    frame = pd.DataFrame({"text": TEXTS * 30_000})  # long tables are read in pieces
    frame["number"] = np.arange(len(frame)) % 7 - 3
    frame["whole"] = frame["number"].astype(float)
    frame["category"] = pd.Categorical(frame["text"], categories=["unused", *set(TEXTS)])
    frame["each"] = [f"r{i}" for i in range(len(frame))]
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.astype({"whole": int}).to_csv(tmp_path / "t.csv", index=False)
    ours, theirs = (read_columns(tmp_path / name, WANTED) for name in ("t.parquet", "t.csv"))
    assert list(ours) == list(theirs)
    for name, column in ours.items():
        assert column.codes.dtype == np.int32
        assert (column.codes == theirs[name].codes).all()
        assert column.texts.tolist() == theirs[name].texts.tolist()
    assert list(read_columns(tmp_path / "t.parquet", WANTED, ("text", "each"))) == [
        "number",
        "whole",
        "category",
    ]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.large_string())],
)
def test_every_type_of_text_is_read_and_written_again(tmp_path, kind):
    path = written(tmp_path, {"a": pa.array(["x", "y", "x"]).cast(kind)})
    columns = read_columns(path, WANTED)
    assert columns["a"].rows().tolist() == ["x", "y", "x"]
    write_columns(tmp_path / "again.parquet", columns, path)
    assert pq.read_table(tmp_path / "again.parquet")["a"].to_pylist() == ["x", "y", "x"]


def test_a_dictionary_that_repeats_a_text_gives_it_one_code(tmp_path):
    repeated = pa.DictionaryArray.from_arrays(pa.array([1, 0, 2]), pa.array(["x", "x", "y"]))
    column = read_columns(written(tmp_path, {"a": repeated}), WANTED)["a"]
    assert (column.codes.tolist(), column.texts.tolist()) == ([0, 0, 1], ["x", "y"])


def test_released_columns_keep_the_types_of_the_input(tmp_path):
    kinds = {"n": pa.int16(), "u": pa.uint64(), "f": pa.float64(), "t": pa.large_string()}
    kinds["d"] = pa.dictionary(pa.int32(), pa.string())
    table = pa.table({name: pa.array(["7", "18"]).cast(kind) for name, kind in kinds.items()})
    path = written(tmp_path, table)
    columns = read_columns(path, WANTED) | {"count": np.array([3, -4])}
    write_columns(tmp_path / "new.parquet", columns, path)
    again = pq.read_table(tmp_path / "new.parquet")
    assert again.schema.types == [*kinds.values(), pa.int64()]
    assert again.drop_columns("count").equals(table)
    assert again["count"].to_pylist() == [3, -4]
    write_columns(tmp_path / "texts.parquet", columns, "t.csv")
    assert pq.read_schema(tmp_path / "texts.parquet").types == [pa.string()] * 5 + [pa.int64()]


def missing(values, kind=None):
    return pa.array([*values, None], kind)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, "the file is empty"),
        ({"a": pa.array([], pa.string())}, "no rows"),
        ({"a": missing(["x"])}, "column 'a', row 2: the value is missing"),
        ({"a": missing([1, 2])}, "column 'a', row 3: the value is missing"),
        ({"a": missing([])}, "column 'a', row 1: the value is missing"),
        ({"a": missing(["x"]).dictionary_encode()}, "column 'a', row 2: the value is missing"),
        ({"a": [1.0, float("nan")]}, "column 'a', row 2: the value is missing"),
        ({"a": [1.0, 2.5, 3.5]}, "column 'a', row 2: the value is not a whole number"),
        ({"a": [1.0, float("inf")]}, "column 'a', row 2: the value is not a whole number"),
        ({"a": [1.0, 2.0**60]}, "column 'a', row 2: the value is not a whole number"),
        ({"b": ["x"], "a": [True]}, "column 'a', row 1: the type is bool"),
        ({"a": [datetime.date(2020, 1, 1)]}, "column 'a', row 1: the type is date32"),
        ({"a": [decimal.Decimal(1)]}, "column 'a', row 1: the type is decimal"),
        ({"a": [b"x"]}, "column 'a', row 1: the type is binary"),
        ({"a": [[1]]}, "column 'a', row 1: the type is list"),
        ({"a": [{"b": 1}]}, "column 'a', row 1: the type is struct"),
        ({"a": ["x", "x\0"]}, "column 'a', row 2: the value has a zero byte"),
        ({"a": pa.array([b"x", b"\xff"]).view(pa.string())}, "not a valid Parquet file"),
        ({"__index_level_0__": [1]}, "an index of pandas"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "'a' occurs twice"),
    ],
)
def test_values_that_are_no_labels_or_counts_are_refused(tmp_path, columns, words):
    path = written(tmp_path, columns)
    with pytest.raises(InputError, match=words) as refused:
        read_columns(path, WANTED)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" * 20])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(InputError, match="not a valid Parquet file"):
        read_columns(tmp_path / "t.parquet", WANTED)
    with pytest.raises(InputError, match="no such file"):
        read_columns(tmp_path / "none.parquet", WANTED)


def test_damaged_files_are_refused_or_read(tmp_path):
    path = written(tmp_path, {"a": TEXTS, "n": list(range(len(TEXTS)))}, compression="none")
    content = path.read_bytes()
    messages = []
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            read_columns(path, WANTED)
        except InputError as refused:
            messages.append(str(refused))
    assert messages
    assert not any("\n" in message for message in messages)
