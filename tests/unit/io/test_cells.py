import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.io.csv_files import cells_of, check_cells, check_unique, counts_of, read_cells


def at(line):
    return f"line {line}"


def test_cells_are_stripped_text_by_the_line_on_which_their_row_ends():
    cells = cells_of('a,b\n 01 ,"x\ny"\n\n2, z \n', "t.csv")
    assert cells.index.tolist() == [3, 5]
    assert cells.to_numpy().tolist() == [["01", "x\ny"], ["2", "z"]]


CELL = st.text(alphabet=' a1,"\t\n\x0b\x1c\x1f\x85', max_size=4)


@given(
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=4),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_cell_is_stripped_wherever_its_blanks_stand(rows, quoting, end):
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting, lineterminator=end)
    writer.writerows([("x", "y"), *rows])
    cells = cells_of(text.getvalue(), "t.csv")
    assert cells.to_numpy().tolist() == [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("a,b,a\n", "line 1: the column 'a'"),
        ("a,b\n1,2\n3\n", "line 3: the row has 1 fields"),
        ("a,b\n1,2,3\n", "line 2: the row has 3 fields"),
        ('a,b\n1,"2\n', "line 2: the text is not valid CSV"),
    ],
)
def test_what_is_no_table_is_refused(text, words):
    with pytest.raises(InputError, match=words) as caught:
        cells_of(text, "t.csv")
    assert str(caught.value).startswith("t.csv: ")


def test_a_file_of_more_bytes_than_believed(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa\n1\n")
    assert read_cells(tmp_path / "t.csv", limit=7).columns.tolist() == ["a"]
    with pytest.raises(InputError, match=r"t\.csv: .* 6 bytes"):
        read_cells(tmp_path / "t.csv", limit=6)


def test_counts_are_whole_numbers_in_their_order():
    cells = pd.Series(
        ["7", "0" * 5000 + "3", " 12 ", "7", "0", "1000000000"], index=[2, 3, 5, 6, 8, 9]
    )
    counts = counts_of(cells, at, "Correct it.")
    assert counts.dtype == np.int64
    assert counts.tolist() == [7, 3, 12, 7, 0, 10**9]
    assert counts_of(cells[:0], at, "Correct it.").tolist() == []
    # digits alone, and too few for a number that is too large
    assert counts_of(pd.Series(["999999999", "007", "7"]), at, "Correct it.").tolist() == [
        10**9 - 1,
        7,
        7,
    ]
    with pytest.raises(InputError, match="more than 1,000,000,000"):
        counts_of(pd.Series(["5", "1000000001"]), at, "Correct it.")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1000000001", "the number is more than 1,000,000,000"),
        ("9" * 5000, "the number is more than"),
        ("", "the number is missing"),
        ("-1", "the number is negative"),
        ("1.0", "the number has a decimal point"),
        ("1,234", "the number has a thousands separator"),
        ("1e3", "this is not a whole number"),
        ("0x1", "this is not a whole number"),
        ("1_0", "this is not a whole number"),
        ("²", "this is not a whole number"),
    ],
)
def test_the_first_cell_that_is_no_count_is_named(text, problem):
    cells = pd.Series(["7", "8", text, "7", text], index=[2, 3, 5, 6, 8])
    with pytest.raises(InputError) as caught:
        counts_of(cells, at, "Correct it.")
    message = str(caught.value)
    assert message.startswith("line 5: ")
    assert problem in message
    assert message.endswith(". Correct it.")
    assert len(message) < 150


def test_a_cell_that_is_not_of_the_pattern_or_stands_there_again():
    cells = pd.Series(["01", "02", "2", "02"], index=[2, 3, 4, 6])
    with pytest.raises(InputError, match=r"^line 4: '2' has lost a zero\. Give two digits\.$"):
        check_cells(cells, "[0-9]{2}", "has lost a zero", at, "Give two digits.")
    with pytest.raises(InputError, match="line 4: '01' has more"):
        check_cells(pd.Series(["01\n"], index=[4]), "[0-9]{2}", "has more", at, "")
    with pytest.raises(InputError, match=r"^t\.csv: line 6: code 02"):
        check_unique(cells, "code", "t.csv")
    check_unique(cells[:3], "code", "t.csv")
