import os
import threading

import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from isdp.io.csv_files import TEXT, Column, combined, read_columns, write_columns

WANTED = "a csv with a row a cell"


def column(values):
    codes, texts = pd.factorize(np.array(values, dtype=object))
    return Column(codes.astype(np.int32), texts.astype(TEXT))


TEXTS = ["01", "1", " 1", "é ü", "", "a,b", 'say "x"', "two\nlines", "01", "x" * 40, "01", "é ü"]


def test_texts_come_back_as_they_stand_in_any_number_of_pieces(tmp_path):
    texts = TEXTS * 50_000  # long tables are read and written in pieces
    each = [f"r{i}" for i in range(len(texts))]
    frame = pd.DataFrame({"a": texts, "one": "same", "each": each})
    frame.to_csv(tmp_path / "t.csv", index=False)
    columns = read_columns(tmp_path / "t.csv", WANTED)
    assert list(columns) == ["a", "one", "each"]
    for name, read in columns.items():
        assert read.rows().tolist() == frame[name].tolist()
        assert read.codes.dtype == np.int32
        first = pd.unique(frame[name])
        assert read.texts.tolist() == first.tolist()
    assert [columns["a"].text(row) for row in (3, 9)] == ["é ü", "x" * 40]
    write_columns(tmp_path / "again.csv", columns)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_numbers_are_written_beside_texts(tmp_path):
    counts = np.arange(-3, 5)
    write_columns(tmp_path / "t.csv", {"count": counts, "a": column(list("abcdefgh"))})
    assert pd.read_csv(tmp_path / "t.csv")["count"].tolist() == counts.tolist()


def test_a_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a,b\n1,2\n",))
    writer.start()
    columns = read_columns(tmp_path / "pipe", WANTED)
    writer.join()
    assert [read.text(0) for read in columns.values()] == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a,b\n", "no rows below its header"),
        (b"a,b,a\n1,2,3\n", "'a'"),
        (b"a,b\n1,2\n1,2\n1,2\n1,2\n1,2,3\n", "line 6: the row has 3 fields"),
        (b"a,b\n1,2,3\n1,2,3\n", "line 2: the row has 3 fields"),
        (b"a,b\n1,2\n1,2\n1,2\n1,2\n1\n", "line 6: the row has 1 fields"),
        (b'a,b,c\n"1\n1",2,\n1,2\n', "line 4: the row has 2 fields"),
        (b'a,b\n1,2\n1,2\n1,2\n1,"2\n', "line 5: the text is not valid CSV"),
        (b'a,b\n1,"2"3\n', "line 2: the text is not valid CSV"),
        (b"a,b\n1," + b"2" * 200_000, "line 2: the text is not valid CSV"),
        (b"a,b,c\n1,2,3\n,\n", "line 3: the row has 2 fields"),
        (b'a,b\n1,2\n""\n', "line 3: the row has 1 fields"),
        (b"a,b\n1,2\n1,2\n1,2\n1,2\n\xe9,2\n", "line 6: .* in UTF-8"),
        (b"\xe9,b\n1,2\n", "line 1: .* in UTF-8"),
        (b"a\n \n", "no rows below its header"),
        (b"a,b\n1,2\0\n", "zero bytes"),
        (b"PK\x03\x04", "a spreadsheet"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, words):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_columns(tmp_path / "t.csv", WANTED)


def test_an_empty_last_field_and_lines_of_nothing_are_no_short_rows(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a,b\n1,2\n\n3,\n \t\n"",""\n')
    read = read_columns(tmp_path / "t.csv", WANTED)
    assert read["a"].rows().tolist() == ["1", "3", ""]
    assert read["b"].rows().tolist() == ["2", "", ""]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="Give a csv with a row a cell"):
        read_columns(tmp_path / "no.csv", WANTED)
    with pytest.raises(InputError, match="cannot be read"):
        read_columns(tmp_path, WANTED)


def test_combinations_are_equal_just_where_all_texts_are():
    rng = np.random.default_rng(1)
    parts = [[str(x) for x in rng.integers(0, 3, 200)] for _ in range(4)]
    numbers = combined([column(part) for part in parts])
    wanted = pd.factorize(pd.Series(list(map(" ".join, zip(*parts, strict=True)))))[0]
    assert (pd.factorize(numbers)[0] == wanted).all()
    large = Column(np.array([0, 1, 2**30], dtype=np.int32), np.broadcast_to("", 2**31 - 1))
    numbers = combined([large] * 5)
    assert len(set(numbers.tolist())) == 3


def test_the_first_row_of_a_text_and_blanks():
    read = column(["b", " \t", "a", "", "a"])
    assert read.is_blank().tolist() == [False, True, False, True]
    assert read.first(read.is_blank()) == 1
    assert read.first(read.texts == "a") == 2
    assert read.first(read.texts == "c") is None


def test_texts_are_sorted_as_python_sorts_them():
    texts = ["b", "ä", "a", "", "10", "9", "\U0001f600", "\uffff", "a"]
    read = column(texts).sorted()
    assert read.texts.tolist() == sorted(set(texts))
    assert read.rows().tolist() == texts
    assert read.taken(np.array([2, 0])).rows().tolist() == ["a", "b"]


def test_columns_that_are_passed_over_are_not_read(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n")
    read = read_columns(tmp_path / "t.csv", WANTED, ("b",))
    assert {name: each.text(0) for name, each in read.items()} == {"a": "1", "c": "3"}
    with pytest.raises(InputError, match="columns are 'a', 'b', 'c'"):
        read_columns(tmp_path / "t.csv", WANTED, ("a", "b", "c"))
