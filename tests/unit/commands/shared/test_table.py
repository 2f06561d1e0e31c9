"""A table is read as it stands, or refused with the row and the column that are wrong."""

import numpy as np
import pytest

from isdp import InputError
from isdp.commands.shared.table import read_table

GOOD = "county,sex,count\nA,f,4\nA,m,5\nB,f,6\nB,m,7\n"


def table_of(folder, text):
    (folder / "table.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(folder / "table.csv")


def refusal(folder, text):
    with pytest.raises(InputError) as refused:
        table_of(folder, text)
    words = str(refused.value)
    assert words.startswith(str(folder / "table.csv"))
    assert "\n" not in words
    return words


def test_groups_are_numbered_by_the_values_that_make_them(tmp_path):
    table = table_of(tmp_path, GOOD)
    assert table.counts.tolist() == [4, 5, 6, 7]
    assert table.groups(["county"]).tolist() == [0, 0, 1, 1]
    assert table.groups(["sex"]).tolist() == [0, 1, 0, 1]
    assert table.groups(["sex", "county"]).tolist() == [0, 1, 2, 3]
    assert table.name(2) == "B, f"
    assert list(table.columns) == ["county", "sex"]
    other = table.replaced(np.array([1, 2, 3, -4]))
    assert other["count"].tolist() == [1, 2, 3, -4]
    assert list(other) == ["county", "sex", "count"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("count\n1\n2\n", "'count'"),
        ("county,people\nA,4\n", "'count'"),
        ("county;count\nA;4\n", "';'"),
        ("county,count,count\nA,4,4\n", "'count'"),
        (GOOD.replace("A,m,5", "A,m"), "line 3"),
        *(
            (GOOD.replace("5", wrong), "row 2 (A, m), column 'count'")
            for wrong in ("-5", "5.5", '"1,234"', "", "NA", "five", "1" * 13)
        ),
        (GOOD.replace("A,m", "A,f"), "rows 1 and 2"),
        (GOOD.replace("A,m", ",m"), "row 2: county"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, named):
    assert named in refusal(tmp_path, text)


@pytest.mark.parametrize("count", ["-8765", "8765.5", "8,765", "8765 persons", "8765" * 4])
def test_a_count_is_never_quoted(tmp_path, count):
    assert "8" not in refusal(tmp_path, GOOD.replace("5", f'"{count}"')).split("table.csv")[1]


def test_the_first_of_several_wrong_rows_is_named(tmp_path):
    assert "row 2 (A, m)" in refusal(tmp_path, GOOD.replace("5", "x").replace("7", "y"))
    twice = GOOD.replace("A,m", "A,f").replace("B,m", "B,f")
    assert "rows 1 and 2 are both called 'A, f'" in refusal(tmp_path, twice)
