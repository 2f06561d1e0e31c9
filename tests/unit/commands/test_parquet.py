"""Commands read and write the same tables in Parquet as in csv."""

import json
import re
import shlex
import sys

import pandas as pd
import pytest

from isdp.cli import main
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
MEASURED = re.compile(r'\d{4}-\d\d-\d\dT[0-9:+]*|"(seconds|megabytes_of_this_process)": .*')
COMMANDS = {
    "noisy": "privatize {} --invariants ages.yaml --epsilon 1 --seed 3 --no-picture",
    "released": "topdown {} --levels county --epsilon 1 --seed 3 --simulations 0",
    "plan": "plan --cells {} --invariants ages.yaml --epsilon 1 --no-picture",
    "comparison": "compare --cells {} --invariants ages.yaml --epsilon 1 --no-picture",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The example in both formats, whose columns in Parquet are a category, texts and numbers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ages.yaml").write_text("totals: [county]")
    table = pd.read_csv(EXAMPLE / "ages.csv")
    table["age"] = pd.factorize(table["age"])[0]
    table.to_csv("ages.csv", index=False)
    table.astype({"county": "category", "count": float}).to_parquet("ages.parquet", index=False)
    return tmp_path


def run(command, *arguments):
    assert main([*shlex.split(command), *arguments]) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_equal_seeds_give_equal_tables_and_certificates(folder, name):
    for kind in ("csv", "parquet"):
        run(COMMANDS[name].format(f"ages.{kind}"), "--out", kind)
    names = {path.name for path in (folder / "csv").iterdir()}
    assert names == {path.name for path in (folder / "parquet").iterdir()}
    for each in names:
        ours, theirs = (
            MEASURED.sub("", (folder / kind / each).read_text()) for kind in ("parquet", "csv")
        )
        assert ours.replace("ages.parquet", "ages.csv") == theirs


@pytest.mark.parametrize(("name", "command"), list(COMMANDS.items())[:2])
def test_the_released_table_in_parquet_is_that_in_csv(folder, name, command):
    run(command.format("ages.parquet"), "--out", "out")
    csv = pd.read_csv(f"out/{name}.csv")
    run(command.format("ages.parquet"), "--out", "out", "--out-format", "parquet", "--force")
    table = pd.read_parquet(f"out/{name}.parquet")
    assert not (folder / f"out/{name}.csv").exists()
    assert table.astype(str).equals(csv.astype(str))
    if name == "noisy":
        types = [str(kind) for kind in table.dtypes]
        texts = str(pd.Series(["text"]).dtype)  # object before pandas 3
        assert types == ["category", texts, "int64", "int64"]
        certificate = json.loads((folder / "out/certificate.json").read_text())
        assert certificate["output"]["table"] == "noisy.parquet"
        check = "check out/noisy.parquet --invariants ages.yaml --certificate out/certificate.json"
        run(check, "--totals", "out/totals.csv")


def test_swapped_records_in_parquet(folder):
    people = pd.read_csv(EXAMPLE / "people.csv")
    people.to_parquet("people.parquet", index=False)
    run("swap people.parquet --match state,size --swap county --carry tract --rate 0.5 "
        "--out out --out-format parquet")  # fmt: skip
    swapped = pd.read_parquet("out/swapped.parquet")
    assert (swapped.dtypes == people.dtypes).all()
    held = [name for name in people if name not in ("county", "tract")]
    for columns in (held, ["state", "size", "county", "tract"]):
        sizes = [each.groupby(columns).size() for each in (people, swapped)]
        assert sizes[0].equals(sizes[1])
    certificate = json.loads((folder / "out/certificate.json").read_text())
    assert certificate["output"]["file"] == "swapped.parquet"


@pytest.mark.parametrize("options", ["ages.parquet", "ages.csv --out-format parquet"])
def test_without_pyarrow_the_extra_is_named(folder, monkeypatch, capsys, options):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(shlex.split(COMMANDS["noisy"].format(options))) == 2
    error = capsys.readouterr().err
    assert "isdp[parquet]" in error
    assert error.count("\n") == 1
    assert not (folder / "noisy").exists()


def test_an_invalid_count_is_not_quoted(folder, capsys):
    table = pd.read_csv("ages.csv")
    table["count"] = table["count"].mask(table.index == 4, -137)
    table.to_parquet("ages.parquet", index=False)
    assert main(shlex.split(COMMANDS["noisy"].format("ages.parquet"))) == 2
    error = capsys.readouterr().err
    assert "ages.parquet: row 5" in error
    assert "137" not in error
