"""Claims' queries against the described columns, before anything has run."""

import pandas as pd
import pytest

from isdp import InputError
from reproduction.jobs.descriptions import Descriptions, Study, Table, read_descriptions
from reproduction.review.columns import check_measures, parse_names
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS, claim


def described(*columns):
    """Describe a table t with some columns."""
    table = Table(title="T", columns=dict.fromkeys(columns, "A number."))
    return Descriptions({"w": Study(category="W", tables={"t": table})})


def judged_by(**how):
    return claim(ours={"table": "t", "column": "x", "take": "max"} | how, wing="w")


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ('x == 0.6 and start == "y" and z.notna()', ["x", "start", "z"]),
        ("not good", ["good"]),
        ('m.str.contains("5.2", regex=False)', ["m"]),
        ("a in [1, -2] or `two words` > b * 2", ["two words", "a", "b"]),
        ("abs(x) > 1 & (y != z)", ["x", "y", "z"]),
    ],
)
def test_the_columns_that_a_query_names(rows, names):
    assert sorted(parse_names(rows)) == sorted(names)


TABLE = pd.DataFrame({"x": [1, 2], "y": [3, 4], "two words": [5, 6]})


@pytest.mark.parametrize(
    "rows", ["x =", "x = 1", "x == @y", "x if y else x", "x is y", "lambda: x", "x == {1}", "(x"]
)
def test_what_pandas_does_not_read_is_refused(rows):
    with pytest.raises(InputError, match="not a pandas query"):
        parse_names(rows)
    with pytest.raises(Exception, match=r"."):
        TABLE.query(rows)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rows": "god == True"}, "column god has no description"),
        ({"among": "god == True"}, "column god has no description"),
        ({"column": "y"}, "column y has no description"),
        ({"by": "z"}, "column z has no description"),
        ({"error": "sd"}, "column sd has no description"),
        ({"limits": ["se", "high"]}, "column high has no description"),
        ({"rows": "good ="}, "rows 'good =': not a pandas query"),
    ],
)
@pytest.mark.parametrize("key", ["ours", "judged", "tells"])
def test_a_claim_that_does_not_fit_is_one_line_that_names_it(how, words, key):
    wrong = claim(wing="w") | {key: {"table": "t", "take": "max"} | how}
    with pytest.raises(InputError) as caught:
        check_measures([judged_by(), wrong], described("x", "se", "good"))
    message = str(caught.value)
    assert message.startswith("config/claims/w.yaml: claim c: table t: ")
    assert words in message
    assert "\n" not in message


def test_a_table_without_a_description_is_refused():
    with pytest.raises(InputError, match="gone has no description"):
        check_measures([judged_by(table="gone")], described("x"))


def test_the_projects_claims_fit_the_descriptions():
    paths = (ROOT / "src/reproduction").glob("*/descriptions.yaml")
    check_measures(CLAIMS, read_descriptions(paths))
