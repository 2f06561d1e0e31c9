"""From a file of records to swapped ones: totals kept, all or nothing, and nothing told."""

import json
import logging
import re

import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from isdp.commands.swap.records import WEIGHT, read_records
from isdp.commands.swap.run import FILES, Roles, compare, swap_file
from isdp.swapping.privacy.bound import epsilon_bound
from tests.unit.swapping.people import people

HOW = {"match": ["state", "size"], "swap": ["county"], "rate": "1/2"}
PEOPLE = HOW | {"carry": ["tract"], "public": ["id"]}  # of the columns of `people`


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    return path


def swapped(out):
    return pd.read_csv(out / "swapped.csv")


def same_counts(one, other, columns):
    return one.groupby(columns).size().equals(other.groupby(columns).size())


def test_totals_are_kept_and_records_are_swapped(file, tmp_path):
    before = people()
    certificate = swap_file(file, tmp_path / "out", **PEOPLE)
    after = swapped(tmp_path / "out")
    assert list(after.columns) == list(before.columns)
    assert same_counts(before, after, ["id", "state", "size", "tenure"])
    assert same_counts(before, after, ["state", "size", "county", "tract"])
    assert (after.tract // 10 == after.county.str[-1].astype(int)).all()
    changed = (before.county != after.sort_values("id", ignore_index=True).county).sum()
    assert 0 < changed < len(before)
    assert [check["largest_difference"] for check in certificate["totals"]] == [0, 0]


def test_the_order_of_the_input_makes_no_difference(tmp_path):
    table, draws = people().drop(columns="id"), []
    for name, rows in (("a", table), ("b", table.sample(frac=1, random_state=1))):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        out = tmp_path / name
        swap_file(tmp_path / f"{name}.csv", out, **(PEOPLE | {"public": []}))
        draws.append(swapped(out))
    for after in draws:
        text = after.astype(str)
        assert text.equals(text.sort_values(list(text.columns), ignore_index=True))


def test_records_keep_their_text_as_it_is(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('﻿key,zip,note\n1,007,"a, b"\n1,08,\n1,007.0,NA\n', encoding="utf-8")
    swap_file(path, tmp_path / "out", match=["key"], swap=["zip"], rate=0.5)
    text = (tmp_path / "out" / "swapped.csv").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^1,([0-9.]+),", text, re.MULTILINE)) == ["007", "007.0", "08"]
    assert '"a, b"' in text
    assert ",NA\n" in text


def test_the_certificate_states_bound_and_exact_loss_rounded_up(file, tmp_path):
    certificate = swap_file(file, tmp_path / "out", **PEOPLE)
    largest = int(people().groupby(["state", "size"]).size().max())
    privacy = certificate["privacy"]
    assert privacy["largest_stratum"] == largest
    bound = epsilon_bound(0.5, largest)
    assert bound <= float(privacy["epsilon_bound"]) < bound + 1e-4
    assert float(privacy["epsilon_exact_worst_case"]) < float(privacy["epsilon_bound"])
    assert float(privacy["epsilon_between_nearest"]) >= 2 * bound
    least = float(privacy["smallest_attainable_bound"])
    assert np.log(largest + 1) / 2 <= least < np.log(largest + 1) / 2 + 1e-5
    assert certificate["swap"]["rate"] == "1/2"
    words = (tmp_path / "out" / "certificate.md").read_text()
    for said in [privacy["epsilon_bound"], *certificate["not_said"]]:
        assert said in words


def test_expected_shares_follow_from_rate_and_totals(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("key,county\n" + "a,1\na,2\n" + "b,1\n" + "c,5\nc,5\n")
    certificate = swap_file(path, tmp_path / "out", match=["key"], swap=["county"], rate=0.5)
    # of two records both move or none, each with 1/2; only those of stratum a can change
    assert certificate["swap"]["expected_share_moved"] == pytest.approx(2 / 5)
    assert certificate["swap"]["expected_share_changed"] == pytest.approx(1 / 5)
    assert certificate["strata"]["of_one_record"] == 1
    assert certificate["strata"]["where_nothing_can_change"] == 2
    assert certificate["strata"]["records_that_cannot_change"] == 3
    assert certificate["strata"]["listed"] == ["b", "c"]


def test_certificates_of_other_draws_differ_in_date_and_checksum_alone(file, tmp_path):
    found = []
    for name in ("a", "b"):
        certificate = swap_file(file, tmp_path / name, **PEOPLE)
        certificate.pop("date")
        certificate["output"].pop("sha256")
        certificate["summary"].pop("noise")  # its limits depend on the swapped records
        found.append(certificate)
    assert not swapped(tmp_path / "a").equals(swapped(tmp_path / "b"))
    assert found[0] == found[1]
    written = json.loads((tmp_path / "b" / "certificate.json").read_text())
    assert written["totals"] == found[1]["totals"]


def test_no_record_is_in_logs_or_left_in_other_files(tmp_path, caplog):
    path = tmp_path / "people.csv"
    table = people()
    table["tenure"] = [f"secret{i}" for i in range(len(table))]
    table.to_csv(path, index=False)
    with caplog.at_level(logging.DEBUG):
        swap_file(path, tmp_path / "out", **(PEOPLE | {"public": ["id", "tenure"]}))
    assert "secret" not in caplog.text
    names = set(FILES) - {"swapped.parquet"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    for name in ("certificate.json", "certificate.md"):
        assert "secret" not in (tmp_path / "out" / name).read_text()


def test_the_input_is_never_overwritten(tmp_path):
    path = tmp_path / "swapped.csv"
    people().to_csv(path, index=False)
    with pytest.raises(InputError, match="swapped"):
        swap_file(path, tmp_path, **HOW, force=True)


@pytest.mark.parametrize(
    "name",
    [
        *["weight", "WEIGHTS", "hhwt", "SLWT", "ASECWT", "wtfinl", "WTSUPP", "PWGTP", "WGTP12"],
        *["finalweight", "final_weight", "sampleweight", "pweight", "birth_weight", "wgt2", "wt.a"],
    ],
)
def test_names_of_survey_weights_are_known(name):
    assert WEIGHT.search(name)


HEADER = "state,size,county"
TWO = f"{HEADER}\n1,2,3\n1,2,4\n"


@pytest.mark.parametrize(
    ("text", "how", "named"),
    [
        ("", {}, "people.csv"),
        (f"{HEADER},size\n1,2,3,4\n", {}, "'size'"),
        ("state,size\n1,2\n", {}, "'county'"),
        (f"{HEADER}\n1,2,3\n1,,3\n1, ,4\n", {}, "row 2: size"),
        (f"{HEADER}\n1,2,3\n1,2,\n", {}, "row 2: county"),
        (f"{HEADER}\n1,2,3\n1,2,3,9\n", {}, "line 3"),
        (f"{HEADER}\n1,2,3\n1,3,4\n", {}, "alone in its stratum"),
        (f"{HEADER}\n1,2,3\n1,2,3\n1,4,5\n", {}, "same value"),
        (f"{HEADER},weight\n1,2,3,1\n1,2,4,1\n", {}, "'weight'"),
        (TWO, {"swap": []}, "--swap"),
        (TWO, {"swap": ["size"]}, "'size'"),
        (TWO, {"carry": ["county"]}, "'county'"),
        *((TWO, {"rate": rate}, "swap rate") for rate in ("0", "1", "5")),
    ],
)
def test_a_wrong_input_is_refused_and_nothing_written(tmp_path, text, how, named):
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=named):
        swap_file(path, tmp_path / "out", **(HOW | how))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["height", "two", "wtd_class", "overweight", "swt_lake", "wtf", "newton"]
)
def test_other_columns_are_not_taken_for_weights(name):
    assert not WEIGHT.search(name)


def test_a_total_that_is_off_is_noticed(file):
    records = read_records(file)
    sources = np.arange(len(records))
    county = records.columns["county"].codes
    sources[0] = np.flatnonzero(county != county[0])[0]
    moved = records.taken(["county"], sources)
    roles = Roles(("state", "size"), ("county",))
    compare(records, moved, roles.held(records.columns), "the held columns")
    with pytest.raises(InputError, match="the counties"):
        compare(records, moved, ["county"], "the counties")


def test_errors_of_counts_are_within_the_stated_limits(file, tmp_path):
    before = people()
    noise = swap_file(file, tmp_path / "out", **PEOPLE)["summary"]["noise"]
    assert "Counts that combine county and tract with id and tenure have an error" in noise
    limit = int(re.search(r"within (\d+) for all", noise)[1])
    tables = [pd.crosstab(x.county, x.tenure) for x in (before, swapped(tmp_path / "out"))]
    errors = abs(tables[0] - tables[1]).to_numpy()
    assert 0 < limit < len(before) / 4
    assert errors.max() <= 3 * limit  # about six standard deviations
