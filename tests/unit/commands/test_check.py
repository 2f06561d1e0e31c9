"""isdp check and isdp account: what a recipient verifies, and what releases cost together."""

import json
from fractions import Fraction

import pandas as pd
import pytest

from isdp import InputError
from isdp.accounting import guarantee_from_record
from isdp.cli import main
from isdp.commands.account import account
from isdp.mechanisms import GeneralizedGaussian, GeneralizedLaplace
from tests import ROOT

CELLS = ROOT / "docs/example/ages.csv"
RULES = ROOT / "docs/example/ages.yaml"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Two releases of one table, made once; tests copy what they change."""
    folder = tmp_path_factory.mktemp("released")
    for name, epsilon in (("one", "1/4"), ("two", "1/3")):
        arguments = ["privatize", str(CELLS), "--invariants", str(RULES), "--epsilon", epsilon]
        assert main([*arguments, "--out", str(folder / name), "--no-picture"]) == 0
    return folder


@pytest.fixture
def copied(released, tmp_path):
    for path in (released / "one").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def command(capsys):
    def run(*arguments, wanted=0):
        assert main([str(part) for part in arguments]) == wanted
        spoken = capsys.readouterr()
        if wanted == 2:
            assert spoken.err.startswith("isdp: ")
            assert spoken.err.count("\n") == 1
            assert len(spoken.err) < 1000
        return spoken.err if wanted == 2 else spoken.out

    return run


def checked(folder):
    return [
        "check",
        folder / "noisy.csv",
        "--invariants",
        RULES,
        "--totals",
        folder / "totals.csv",
        "--certificate",
        folder / "certificate.json",
    ]


def wrong(text):
    return [line.split(": ")[1] for line in text.splitlines() if line.startswith("WRONG")]


def test_a_release_holds(command, copied):
    said = command(*checked(copied))
    assert wrong(said) == []
    assert "holds: totals: 2 totals compared in integers" in said
    assert said.count("holds: sha256") == 5


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("totals.csv", "county: North,", "county: North,1", {"totals", "sha256 of totals.csv"}),
        ("margins.csv", "a cell", "a call", {"sha256 of margins.csv"}),
        ("certificate.json", '"cells": 16', '"cells": 17', {"cells"}),
        ("certificate.json", '"degrees_of_freedom": 14', '"degrees_of_freedom": 15',
         {"degrees of freedom"}),
        ("certificate.json", '"cells_without_freedom": 0', '"cells_without_freedom": 1',
         {"determined cells"}),
        ("certificate.json", '"residues": {', '"residue": {', {"counts revealed modulo m"}),
        ("certificate.json", '"totals by county"', '"totals by age"',
         {"totals that are said to be held"}),
        ("certificate.json", '"sex",', '"gender",', {"columns"}),
        ("certificate.json", '"invariants_sha256": "', '"invariants_sha256": "0',
         {"sha256 of the invariants"}),
        ("certificate.json", '"output": {', '"outputs": {',
         {"sha256 of the noisy table", "negative counts"}),
        ("certificate.json", '"lattice": {', '"lattices": {',
         {"degrees of freedom", "determined cells"}),
    ],
)  # fmt: skip
def test_what_was_changed_is_found(command, copied, file, old, new, what):
    text = (copied / file).read_text()
    assert old in text
    (copied / file).write_text(text.replace(old, new, 1))
    assert set(wrong(command(*checked(copied), wanted=1))) == what


@pytest.mark.parametrize("others", [True, {"": 1}, {"..": None}])
def test_hashes_of_other_files_that_are_damaged_name_no_file(command, copied, others):
    certificate = json.loads((copied / "certificate.json").read_text())
    certificate["output"]["others_sha256"] = others
    (copied / "certificate.json").write_text(json.dumps(certificate))
    command(*checked(copied))


def test_a_release_of_the_smallest_epsilon_holds(command, tmp_path):
    """Its noise has more digits than a count may have."""
    arguments = ["privatize", CELLS, "--invariants", RULES, "--epsilon", "1e-13", "--no-picture"]
    command(*arguments, "--out", tmp_path)
    assert pd.read_csv(tmp_path / "noisy.csv")["count"].abs().max() >= 10**12
    command(*checked(tmp_path))


def test_a_count_that_was_changed_is_found(command, copied):
    table = pd.read_csv(copied / "noisy.csv")
    table.loc[3, "count"] += 1
    table.to_csv(copied / "noisy.csv", index=False)
    found = wrong(command(*checked(copied), wanted=1))
    assert {"totals", "sha256 of the noisy table"} <= set(found)
    # two that cancel leave the totals, and the hash tells
    table.loc[4, "count"] -= 1
    table.to_csv(copied / "noisy.csv", index=False)
    found = wrong(command(*checked(copied), wanted=1))
    assert "totals" not in found
    assert "sha256 of the noisy table" in found


def test_some_of_the_totals_may_be_given(command, copied):
    table = pd.read_csv(copied / "totals.csv")
    for one in (table[:1], table[1:]):
        one.to_csv(copied / "some.csv", index=False)
        said = command(*checked(copied)[:4], "--totals", copied / "some.csv")
        assert wrong(said) == []
        assert "1 total compared" in said


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "totals.csv"),
        ("name,total\n", "totals.csv"),
        ("name,sum\na,1\n", "'total'"),
        ("total\n1\n", "'name'"),
        *((f"name,total\ncounty: North,{one}\n", "'total'") for one in ("", "1.5", "9" * 22)),
        ("name,total\ncounty: North,1\ncounty: North,1\n", "'county: North'"),
        ("name,total\nNorth,1\n", "'North'"),
        ("name,total\ngrand total,1\n", "'grand total'"),
    ],
)
def test_totals_that_are_refused(command, copied, text, named):
    (copied / "totals.csv").write_text(text)
    assert named in command(*checked(copied), wanted=2)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, "[1]", "null", "{}", '{"made_by": "me"}', '{"made_by": 7}'],
)
def test_what_is_no_certificate_is_refused(command, released, copied, text):
    bad = copied / "certificate.json"
    bad.write_text(text)
    assert "certificate.json" in command(*checked(copied), wanted=2)
    assert str(bad.name) in command("account", certificates(released)[0], bad, wanted=2)


def test_only_certificates_of_noisy_tables_are_checked(command, copied):
    (copied / "certificate.json").write_text('{"made_by": "isdp swap"}')
    assert "isdp swap" in command(*checked(copied), wanted=2)


def test_there_must_be_something_to_compare_with(command, copied):
    assert "--totals" in command(*checked(copied)[:4], wanted=2)
    for option in ("--totals", "--certificate"):
        assert "no.csv" in command(*checked(copied)[:4], option, copied / "no.csv", wanted=2)


# --- account


def certificates(released):
    return [released / name / "certificate.json" for name in ("one", "two")]


def test_epsilons_add_up_exactly(command, released):
    said = command("account", *certificates(released))
    assert "epsilon at most 0.291667 per unit of l1 distance" in said
    assert "epsilon per person is at most 0.583334" in said
    assert "; give --cells and --invariants" in said
    found = account(certificates(released))
    assert found.guarantee.loss == Fraction(7, 24)


@pytest.mark.parametrize(
    "guarantee",
    [
        GeneralizedLaplace(0.1).guarantee,
        GeneralizedLaplace(0.1, "l2").guarantee,
        GeneralizedGaussian(3.7).guarantee,
    ],
)
def test_a_guarantee_comes_back_from_its_record(guarantee):
    back = guarantee_from_record(json.loads(json.dumps(guarantee.record())))
    assert back.statement() == guarantee.statement()
    assert back.unit == guarantee.unit
    assert Fraction(str(guarantee.loss)) == back.loss


def two_releases(command, folder, table, one, two):
    (folder / "table.csv").write_text(table)
    every, rules = [], []
    for name, text in (("one", one), ("two", two)):
        rules.append(folder / f"{name}.yaml")
        rules[-1].write_text(text)
        arguments = ["privatize", folder / "table.csv", "--epsilon", "1", "--no-picture"]
        command(*arguments, "--invariants", rules[-1], "--out", folder / name)
        every.append(folder / name / "certificate.json")
    return every, ["--cells", folder / "one/noisy.csv", "--invariants", *rules]


def test_totals_of_two_releases_settle_what_neither_does(command, tmp_path):
    table = "cell,count\na,41\nb,5\nc,60\nd,7\ne,9\n"
    one, two = "subsets: {p: [a, b], q: [d, e]}", "subsets: {r: [b, c], s: [c, a]}"
    every, more = two_releases(command, tmp_path, table, one, two)
    assert "a; b; c" in command("account", *every, *more)
    found = account(every, cells_path=more[1], invariants_paths=more[:2:-1]).together
    assert found.determined == found.newly_determined == ["a", "b", "c"]
    assert "--invariants" in command("account", *every, *more[:-1], wanted=2)
    (tmp_path / "fewer.csv").write_text("cell\na\nb\nc\nd\ne\nf\n")
    more[1] = tmp_path / "fewer.csv"
    assert "fewer.csv" in command("account", *every, *more, wanted=2)


def test_totals_of_two_releases_may_force_a_larger_distance_for_one_person(command, tmp_path):
    table = "a,b,count\nx,1,4\nx,2,9\ny,1,3\ny,2,8\n"
    every, more = two_releases(command, tmp_path, table, "totals: [a]", "totals: [b]")
    said = command("account", *every)
    assert "not examined: the cells that all totals together determine" in said
    assert "no figure per person" in said
    assert account(every).guarantee.per_person is None
    assert "epsilon per person is at most 4" in command("account", *every, *more)
    together = account(every, cells_path=more[1], invariants_paths=more[3:]).guarantee
    assert (together.loss, together.loss_per_person) == (1, 4)


def test_no_loss_per_person_is_given_where_the_distances_of_releases_differ(command, tmp_path):
    table = "a,b,count\nx,1,4\nx,2,9\ny,1,3\ny,2,8\n"
    every, more = two_releases(command, tmp_path, table, "totals: [a]", "totals: [a, b]")
    assert account(every).guarantee.per_person is None
    together = account(every, cells_path=more[1], invariants_paths=more[3:]).guarantee
    assert together.loss_per_person == 4 * Fraction(3, 4)


def test_a_certificate_of_version_0_2_is_added_in_its_own_unit(command, tmp_path):
    table = "a,b,count\nx,1,4\nx,2,9\ny,1,3\ny,2,8\n"
    every, more = two_releases(command, tmp_path, table, *["totals: [a, b]"] * 2)
    content = json.loads(every[0].read_text())
    del content["format"], content["budget"]
    content["mechanism"] |= {"units_per_person": None, "why_not_per_person": "a reason"}
    every[0].write_text(json.dumps(content))
    found = account(every).guarantee
    assert (found.loss, found.unit) == (Fraction(1, 2), "unit of l1 distance")
    assert (found.per_person, found.why_not_per_person) == (None, "a reason")
    together = account(every, cells_path=more[1], invariants_paths=more[3:]).guarantee
    assert together.loss_per_person == 2
    content["format"] = "9"
    every[0].write_text(json.dumps(content))
    with pytest.raises(InputError, match="format"):
        account(every)


def test_totals_of_two_releases_give_a_remainder_away_that_neither_does(command, tmp_path):
    table = "cell,count\na,41\nb,5\nc,60\nd,7\ne,9\n"
    one, two = "subsets: {p: [a, b], r: [c, a, d]}", "subsets: {q: [b, c]}"
    every, more = two_releases(command, tmp_path, table, one, two)
    said = command("account", *every, *more)
    assert "determine 0 cells, 0 of which" in said
    assert "reveal 1 count modulo m of which no release alone reveals as much: d modulo 2" in said
    found = account(every, cells_path=more[1], invariants_paths=more[3:])
    assert found.together.revealed_residues == ["d modulo 2"]


def test_what_does_not_add_up_is_refused(command, released, tmp_path):
    first, _ = certificates(released)
    same = tmp_path / "same.json"
    same.write_bytes(first.read_bytes())
    for given in ([first], [first, first], [first, same]):
        assert "account" in command("account", *given, wanted=2)
    arguments = ["privatize", CELLS, "--invariants", RULES, "--for-experiments", "--no-picture"]
    for law in (["--sigma", "3"], ["--norm", "l2", "--epsilon", "1"]):
        command(*arguments, *law, "--out", tmp_path / law[0])
        other = tmp_path / law[0] / "certificate.json"
        assert "per" in command("account", first, other, wanted=2)
    both = certificates(released)
    assert "--invariants" in command("account", *both, "--cells", CELLS, wanted=2)


def test_two_releases_that_came_out_alike_are_two(released, tmp_path):
    first, second = certificates(released)
    content = json.loads(second.read_text())
    content["output"]["sha256"] = json.loads(first.read_text())["output"]["sha256"]
    (tmp_path / "alike.json").write_text(json.dumps(content))
    assert account([first, tmp_path / "alike.json"]).guarantee.loss == Fraction(7, 24)


def test_experiments_are_pointed_out(command, released, tmp_path):
    arguments = ["privatize", CELLS, "--invariants", RULES, "--epsilon", "1", "--seed", "4"]
    command(*arguments, "--out", tmp_path / "x", "--no-picture")
    said = command("account", certificates(released)[0], tmp_path / "x/certificate.json")
    assert f"{tmp_path / 'x/certificate.json'}: NOT FOR RELEASE; no guarantee holds" in said
    assert "2 releases together: for the requested distribution, and not for this draw: " in said


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": "-1"},
        {"epsilon": "1/0"},
        {"epsilon": "1e999999999"},
        {"epsilon": "much"},
        {"epsilon": None},
        {"epsilon": 0.25},
        {"epsilon": ["1/4"]},
        {"epsilon": "9" * 5000},
        {"flavour": "sweet"},
        {"flavour": []},
        {"delta": "1/2"},
        {"delta": "2"},
        {"metric": None, "unit": 3, "units_per_person": "x"},
        {"growth": "wild"},
        {"units_per_person": "-2"},
        {"source": None, "delta": None},
        {"source": None},
        {"source": []},
        {"relation": 7},
        {"held": {}},
    ],
)
def test_records_that_are_refused(command, released, tmp_path, changes):
    first, second = certificates(released)
    content = json.loads(second.read_text())
    content["mechanism"] |= changes
    (tmp_path / "bad.json").write_text(json.dumps(content))
    error = command("account", first, tmp_path / "bad.json", wanted=2)
    assert "bad.json: guarantee: " in error


@pytest.mark.parametrize("gone", ["flavour", "epsilon", "metric", "growth", "relation", "held"])
def test_records_that_lack_a_part(released, tmp_path, gone):
    first, second = certificates(released)
    content = json.loads(second.read_text())
    del content["mechanism"][gone]
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"bad\.json: "):
        account([first, tmp_path / "bad.json"])
