"""Coverage of the papers: complete lists of statements, and the verdicts on them."""

import pandas as pd
import pytest

from isdp import InputError
from reproduction.review.claims import PAPERS
from reproduction.review.coverage import (
    COLUMNS,
    FOLDER,
    count_statements,
    judge_coverage,
    read_coverage,
    read_substitutes,
)
from tests.reproduction.review.test_claims import CLAIMS, make_claim

ROWS = [
    ("1", "theorem", "It holds.", "a b", "", ""),
    ("2", "definition", "It is so called.", "", "A definition.", ""),
    ("3", "figure", "It grows.", "", "The copy lacks it.", "yes"),
]
KNOWN = [make_claim(name="a"), make_claim(name="b")]


def write_papers(folder, rows):
    for paper in PAPERS:
        own = rows if paper == "ISDP" else []
        pd.DataFrame(own, columns=COLUMNS).to_csv(folder / f"{paper}.csv", index=False)


def test_a_statement_has_the_worst_verdict_of_its_claims(tmp_path):
    write_papers(tmp_path, ROWS)
    read = read_coverage(KNOWN, tmp_path)
    table = judge_coverage(read, {"a": "reproduced", "b": "differs"})
    assert table["verdict"].tolist() == ["differs", "no assertion", "not checkable"]
    counts = count_statements(table).set_index("paper")
    assert counts.loc["ISDP", ["statements", "differs", "not checkable"]].tolist() == [3, 1, 1]
    assert counts.loc["all papers"].tolist() == counts.loc["ISDP"].tolist()
    table = judge_coverage(read, {"a": "undecided", "b": "not checkable"})
    assert table["verdict"][0] == "undecided"


@pytest.mark.parametrize(
    "changed",
    [
        ("1", "theorem", "It holds.", "a b c", "", ""),
        ("1", "theorem", "It holds.", "a b", "And a reason.", ""),
        ("1", "theorem", "It holds.", "", "", ""),
        ("1", "rumour", "It holds.", "a b", "", ""),
    ],
)
def test_incomplete_lists_are_refused(tmp_path, changed):
    write_papers(tmp_path, [changed, *ROWS[1:]])
    with pytest.raises(InputError):
        read_coverage(KNOWN, tmp_path)
    write_papers(tmp_path, [ROWS[0], *ROWS])
    with pytest.raises(InputError, match="repeated"):
        read_coverage(KNOWN, tmp_path)


def test_every_claim_has_a_row_and_every_statement_is_a_sentence():
    table = read_coverage(CLAIMS)
    assert set(table["claims"].explode().dropna()) == {each.name for each in CLAIMS}
    assert set(table["paper"]) == set(PAPERS)
    assert table["where"].str.len().gt(0).all()
    for texts in (table["statement"], table.loc[table["reason"] != "", "reason"]):
        assert texts.str.fullmatch(r"[A-Z0-9(*\"|].*\.").all(), texts
    assert set(table["needs_pdf"]) <= {"", "yes"}
    assert {path.stem for path in FOLDER.glob("*.csv")} == {*PAPERS, "substitutes"}
    assert read_substitutes(CLAIMS)["substitute"].str.len().gt(0).all()
