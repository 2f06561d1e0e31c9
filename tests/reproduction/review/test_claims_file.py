"""The file of claims with their evidence, and the comparison with expected verdicts."""

import csv
import json
import math

import jsonschema
import pandas as pd
import pytest

from isdp import InputError
from reproduction.jobs.claims import Evidence, Quantity, at_most, extreme_row, quantity
from reproduction.review.claims_file import FORMAT, describe_claims
from reproduction.review.compare_verdicts import compare_verdicts, main
from reproduction.review.scorecard import judge_claims
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS, make_claim

SCHEMA = json.loads((ROOT / "workflow/schemas/claims.schema.json").read_text())
RUN = {
    "version": "1",
    "commit": None,
    "changed_files": None,
    "config_sha256": "0" * 64,
    "seed": 1,
    "data": "",
}
TABLES = {"t": pd.DataFrame({"x": [1.0, 3.0], "se": [0.5, 0.25], "z": [0, math.nan]})}


def with_error(table):
    row = extreme_row(table, "x", "max")
    z = Quantity([math.inf, math.nan])
    ours = quantity(row, "x", error="se")
    return Evidence(ours, at_most(2, "paper"), statistic=z, statistic_name="times the bound")


def test_a_claim_has_its_numbers_and_their_source():
    claims = [make_claim(with_error, "one"), make_claim(name="two", tables=["gone"])]
    card, evidence = judge_claims(claims, TABLES, {"das_available": False, "vintage": ""})
    content = {"format": FORMAT, "run": RUN, "claims": describe_claims(claims, card, evidence)}
    found = json.loads(json.dumps(content, allow_nan=False))
    jsonschema.validate(found, SCHEMA)
    one, two = found["claims"]
    assert (one["claim"], one["verdict"]) == ("one", "not checkable")
    assert one["evidence"] == {
        "ours": {
            **{"values": [3.0], "errors": [0.25], "limits": [], "exact": False},
            **{"table": "t", "rows": [1], "column": "x"},
        },
        "statistic": {
            **{"name": "times the bound", "values": ["infinite", None], "errors": []},
            **{"limits": [], "exact": False, "table": "", "rows": [], "column": ""},
        },
        "criterion": {"conditions": [{"relation": "<=", "bound": 2}], "whose": "paper"},
    }
    assert (two["verdict"], two["evidence"]) == ("not checkable", None)


def test_the_file_of_a_run_fits_the_schema_and_its_numbers_are_in_the_tables(finished):
    results = finished.folder / "results"
    found = json.loads((results / "claims.json").read_text())
    jsonschema.validate(found, SCHEMA)
    assert {each["claim"] for each in found["claims"]} == {each.name for each in CLAIMS}
    traced = 0
    for each in found["claims"]:
        ours = (each["evidence"] or {}).get("ours", {})
        if ours.get("column") and len(ours["rows"]) == len(ours["values"]):
            with open(results / f"tables/{ours['table']}.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            for row, value in zip(ours["rows"], ours["values"], strict=True):
                entry = rows[row][ours["column"]]
                if isinstance(value, float):
                    assert abs(float(entry)) == pytest.approx(abs(value)), each["claim"]
                    traced += 1
    assert traced > 40


def test_different_and_missing_verdicts_are_listed():
    found = {"a": "reproduced", "b": "differs", "c": "undecided"}
    assert compare_verdicts(found, found) == []
    lines = compare_verdicts(found, {"a": "reproduced", "b": "reproduced", "d": "differs"})
    assert [line.partition(":")[0] for line in lines] == ["b", "d", "c"]


def test_a_strict_run_fails_where_a_verdict_differs(tmp_path, capsys):
    listed = tmp_path / "verdicts.csv"
    listed.write_text("claim,verdict\na,differs\n")
    with pytest.raises(InputError, match=r"claims\.json"):
        main(tmp_path, listed)
    for verdict, status in (("differs", 0), ("reproduced", 1)):
        claims = {"claims": [{"claim": "a", "verdict": verdict}]}
        (tmp_path / "claims.json").write_text(json.dumps(claims))
        assert main(tmp_path, listed) == status
    assert "a: the verdict is reproduced" in capsys.readouterr().out


def test_the_list_of_expected_verdicts_has_every_claim():
    listed = pd.read_csv(ROOT / "config/verdicts.csv")
    assert listed["claim"].tolist() == [each.name for each in CLAIMS]
    assert set(listed["verdict"]) <= {"reproduced", "differs", "undecided", "not checkable"}
