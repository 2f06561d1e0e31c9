import hashlib
import shlex

import pandas as pd
import pytest

from isdp import InputError
from isdp.cli import main
from isdp.commands.shared.code_list import CodeList
from isdp.commands.shared.table import read_table
from isdp.io.files import read_json
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
NUTS = "EU,A EU,B A,A1 A,A2 A1,A11 A1,A12 B,B1 B1,B11"


@pytest.fixture
def listed(tmp_path):
    """Write a code list and a table of codes, and return their paths."""

    def write(pairs, codes="A11"):
        (tmp_path / "codes.csv").write_text("\n".join(["parent,child", *pairs.split(" ")]))
        rows = [f"{number},{code},3" for number, code in enumerate(codes.split(" "))]
        (tmp_path / "table.csv").write_text("\n".join(["row,region,count", *rows]))
        return tmp_path / "codes.csv", tmp_path / "table.csv"

    return write


@pytest.mark.parametrize(
    ("pairs", "chains"),
    [
        (NUTS, {"A11": ["A", "A1", "A11"], "A2": ["A", "A2", "A2"], "B11": ["B", "B1", "B11"]}),
        ("A,a B,b", {"a": ["A", "a"], "b": ["B", "b"]}),
        ("EU,A A,a A,b", {"a": ["A", "a"], "b": ["A", "b"]}),
        ("B,b b,y A,a a,x b,z", {"x": ["A", "a", "x"], "y": ["B", "b", "y"], "z": ["B", "b", "z"]}),
    ],
)
def test_the_chain_of_each_leaf(listed, pairs, chains):
    codes = CodeList(listed(pairs)[0])
    assert {code: codes.chain(code) for code in chains} == chains


def test_regions_stand_before_their_codes(listed):
    path, table = listed(NUTS, "B11 A12 A2 B11 A11")
    read = read_table(table, hierarchies={"region": path})
    assert list(read.columns) == ["row", "region_1", "region_2", "region"]
    assert list(read.replaced(read.counts))[-1] == "count"
    assert read.columns["region_1"].rows().tolist() == ["B", "A", "A", "B", "A"]
    assert read.columns["region_2"].rows().tolist() == ["B1", "A1", "A2", "B1", "A1"]
    for column in read.columns.values():  # as in a column that is read from a file
        assert column.codes.dtype == "int32"
        assert column.texts.tolist() == pd.unique(column.rows()).tolist()


@pytest.mark.parametrize(
    ("pairs", "codes", "words"),
    [
        ("A,a B,a", "a", "codes.csv: row 2: the code 'a' has two parents"),
        ("A,a A,a", "a", "codes.csv: row 2: the code 'a' is repeated"),
        ("A,a ,b", "a", "codes.csv: row 2: parent is empty"),
        ("A,a A,", "a", "codes.csv: row 2: child is empty"),
        ("a,a", "a", "codes.csv: the code 'a' is above itself"),
        ("EU,A A,a x,y y,z z,x", "a", "codes.csv: the code '[xyz]' is above itself"),
        ("EU,A EU,B", "A", "codes.csv: there is one level of codes only"),
        (NUTS, "A11 C1", "table.csv: row 2, column 'region': the code 'C1' is not in .*codes.csv"),
        (NUTS, "A11 A2 EU", "row 3, column 'region': the code 'EU' is divided further"),
        (NUTS, "A11 A1", "row 2, column 'region': the code 'A1' is divided further"),
        (NUTS, "A11 a2", "row 2, column 'region': the code 'a2' is not in"),
    ],
)
def test_invalid_hierarchies_and_codes_are_refused(listed, pairs, codes, words):
    path, table = listed(pairs, codes)
    with pytest.raises(InputError, match=words) as refused:
        read_table(table, hierarchies={"region": path})
    assert "\n" not in str(refused.value)


def test_columns_that_cannot_have_a_hierarchy_are_refused(listed):
    path, table = listed(NUTS)
    for name in ("count", "other"):
        with pytest.raises(InputError, match=f"no column '{name}' of codes"):
            read_table(table, hierarchies={name: path})
    table.write_text("region_1,region,count\nx,A11,3\n")
    with pytest.raises(InputError, match="has a column 'region_1' already"):
        read_table(table, hierarchies={"region": path})
    path.write_text("above,below\nA,a\n")
    with pytest.raises(InputError, match=r"codes.csv: there is no column 'parent'"):
        read_table(table, hierarchies={"region": path})


LEVELS = "--levels region_1,region_2,region"
COMMANDS = {
    "noisy": f"privatize {{}} --invariants jobs.yaml --rho 1 --seed 3 --no-picture {LEVELS}",
    "released": f"topdown {{}} --held region_1 --rho 1 --seed 3 --simulations 0 {LEVELS}",
    "plan": f"plan --cells {{}} --invariants jobs.yaml --rho 1 --no-picture {LEVELS}",
    "comparison": "compare --cells {} --invariants jobs.yaml --rho 1 --no-picture "
    "--region region_1 --area region",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hierarchy_stands_for_columns_of_the_table(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for file in ("jobs.csv", "jobs.yaml", "regions.csv"):
        (tmp_path / file).write_text((EXAMPLE / file).read_text())
    jobs = pd.read_csv("jobs.csv")
    jobs.insert(0, "region_1", jobs["region"].str[:3])
    jobs.insert(1, "region_2", jobs["region"].str[:4])
    jobs.to_csv("by_hand.csv", index=False)
    with_list = f"{COMMANDS[name]} --hierarchy region=regions.csv --out ours"
    assert main(shlex.split(with_list.format("jobs.csv"))) == 0
    assert main(shlex.split(f"{COMMANDS[name]} --out theirs".format("by_hand.csv"))) == 0
    mark = "CONFIDENTIAL_" * (name == "comparison")
    ours, theirs = (
        (tmp_path / folder / f"{mark}{name}.csv").read_text() for folder in ("ours", "theirs")
    )
    assert ours == theirs
    if name == "noisy":  # recipients need no code list
        certificate = read_json(tmp_path / "ours/certificate.json")
        digest = hashlib.sha256((tmp_path / "regions.csv").read_bytes()).hexdigest()
        assert certificate["input"]["code_lists"] == {
            "region": {"file": "regions.csv", "sha256": digest}
        }
        check = "check ours/noisy.csv --invariants jobs.yaml --certificate ours/certificate.json"
        assert main(shlex.split(check)) == 0


def test_regions_that_are_no_level_of_topdown_are_no_axis(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLE)
    command = (
        "topdown jobs.csv --hierarchy region=regions.csv --levels region_1,region --rho 1 "
        f"--simulations 0 --out {tmp_path / 'out'}"
    )
    assert main(shlex.split(command)) == 0
    released = pd.read_csv(tmp_path / "out/released.csv")
    assert list(released) == ["level", "region", "sector", "count"]
    assert len(released) == 3 * (1 + 2 + 9)


def test_the_code_list_is_not_overwritten_and_not_given_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for file in ("jobs.csv", "jobs.yaml"):
        (tmp_path / file).write_text((EXAMPLE / file).read_text())
    (tmp_path / "out").mkdir()
    (tmp_path / "out/totals.csv").write_text((EXAMPLE / "regions.csv").read_text())
    command = "privatize jobs.csv --invariants jobs.yaml --rho 1 --out out --force "
    for options, words in (
        ("--hierarchy region=out/totals.csv", "would be overwritten"),
        ("--hierarchy region=a.csv --hierarchy region=b.csv", "a column is repeated"),
        ("--hierarchy region", "NAME=VALUE"),
        ("--hierarchy region=none.csv", "there is no such file"),
    ):
        assert main(shlex.split(command + options)) == 2
        assert words in capsys.readouterr().err
