"""Which totals are held is read from a YAML file, or refused with the key that is wrong."""

import pandas as pd
import pytest

from isdp import InputError
from isdp.commands.shared.invariants_file import read_invariants
from isdp.commands.shared.table import read_table
from tests.unit.commands.conftest import people


def held(folder, text, table=None):
    if table is None:
        people(folder / "table.csv")
    else:
        table.to_csv(folder / "table.csv", index=False)
    (folder / "rules.yaml").write_text(text)
    return read_invariants(folder / "rules.yaml", read_table(folder / "table.csv"))


def test_the_groups_and_their_sums(tmp_path):
    table = pd.DataFrame({"county": list("AABB"), "sex": list("fmfm"), "count": [4, 5, 6, 7]})
    text = "total: true\ntotals: [[county]]\nsubsets: {men: {sex: m}, one: ['A, f'], both: "
    total, counties, men, one, both = held(tmp_path, text + "[{county: B, sex: f}, 'A, m']}", table)
    assert [each.totals for each in (total, counties, men, one, both)] == [1, 2, 1, 1, 1]
    assert [each.name for each in (total, men)] == ["grand total", "subset men"]
    counts = table["count"].to_numpy()
    assert total.sums(counts).tolist() == [22]
    assert counties.sums(counts).tolist() == [9, 13]
    assert men.labels.tolist() == [-1, 0, -1, 0]
    assert men.sums(counts).tolist() == [12]
    assert one.labels.tolist() == [0, -1, -1, -1]
    assert both.sums(counts).tolist() == [11]


def test_a_name_of_several_cells_is_no_name_of_one(tmp_path):
    """Cells whose joined names are equal though their columns are not."""
    table = pd.DataFrame({"a": ["x, y", "x"], "b": ["z", "y, z"], "count": [1, 2]})
    with pytest.raises(InputError, match="subsets: s: 2 cells are called 'x, y, z'"):
        held(tmp_path, "subsets: {s: ['x, y, z']}", table)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        *((text, "rules.yaml: ") for text in ("- county", "total: [", "{}", "total: false")),
        ("", "rules.yaml"),
        ("total: maybe", "total"),
        ("margins: [county]", "'margins'"),
        ("total: true\ntotal: true", "'total'"),
        ("[1]: 2", "line 1"),
        *((f"totals: {wrong}", "totals") for wrong in ("county", "[[]]")),
        *((f"totals: [{wrong}]", f"'{wrong}'") for wrong in ("town", "count")),
        *((f"subsets: {wrong}", "subsets") for wrong in ("[a]", "{a: b}", "{a: {}}")),
        ("subsets: {a: {town: A}}", "'town'"),
        ("subsets: {a: {county: A}}", "county = 'A'"),
        ("subsets: {a: [county 0]}", "'county 0'"),
        ("subsets: {a: {sex: f, age: []}}", "subsets: a"),
        ("subsets: {a: [{sex: f}, {}]}", "subsets: a"),
        ("subsets: {a: [{sex: f}, {sex: []}]}", "subsets: a"),
        ("subsets: {a: {sex: {f: 1, m: 2}}}", "subsets: a: sex"),
        ("total: " + "[" * 500 + "]" * 500, "rules.yaml: "),
    ],
)
def test_invariants_that_are_refused(tmp_path, text, named):
    with pytest.raises(InputError) as refused:
        held(tmp_path, text)
    assert "rules.yaml: " in str(refused.value)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def bomb(levels=6):
    """A YAML list, each level of which repeats the level below ten times by an alias."""
    text = "[word, word]"
    for level in range(levels):
        text = f"[&a{level} {text}{f', *a{level}' * 9}]"
    return text


@pytest.mark.parametrize(
    "text",
    ["total: {0}", "totals: {0}", "subsets: {{s: {0}}}", "subsets: {{s: {{sex: {0}}}}}", "{1}: 0"],
)
def test_a_message_never_writes_out_a_large_value(tmp_path, text):
    with pytest.raises(InputError, match=r"rules\.yaml") as refused:
        held(tmp_path, text.format(bomb(), "k" * 10**6))
    assert len(str(refused.value)) < 2000
