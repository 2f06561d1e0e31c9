"""Damaged and hostile inputs: one line, no traceback, no folder, and no confidential count."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from isdp.cli import main
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
COUNTS = (104729, 15485863, 1299709, 49979687)  # distinctive primes, which no message may contain
LABELS = ("North,f", "North,m", "South,f", "South,m")
ROWS = [f"{label},{count}" for label, count in zip(LABELS, COUNTS, strict=True)]
TABLE = "\n".join(["county,sex,count", *ROWS]) + "\n"
NO_HEADER = "\n".join(ROWS) + "\n"
RULES = " --invariants rules.yaml"
PRIVATIZE = f"privatize table.csv{RULES} --epsilon 1 --no-picture"
PLAN = f"plan --cells table.csv{RULES} --epsilon 1 --no-picture"
COMPARE = f"compare --cells table.csv{RULES} --epsilon 1 --simulations 10 --no-picture"
TOPDOWN = "topdown table.csv --levels county --rho 1 --simulations 0"
SWAP = "swap table.csv --swap county --rate 0.5"
LEVELS = " --levels county,sex"


def wide(columns):
    """A table with columns of one value."""
    header = ",".join(["county,sex,count", *(f"c{i}" for i in range(columns))])
    return "\n".join([header, *(row + ",v" * columns for row in ROWS)]) + "\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command, check what it says and leaves behind, and return its status and messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "rules.yaml").write_text("totals: [county]")

    def command(arguments):
        words = shlex.split(arguments)
        status = main(words + ["--out", "out"] * (words[0] not in ("check", "account")))
        printed = capsys.readouterr()
        said = printed.out + printed.err
        assert not [count for count in COUNTS if str(count) in said]
        assert [line for line in said.splitlines() if not line.isprintable()] == []
        assert list(tmp_path.glob("out.partial-*")) == []
        if status == 2:
            assert printed.err.startswith("isdp: ")
            assert printed.err.count("\n") == 1
            assert not (tmp_path / "out").exists()
        return status, said

    return command


NUMBER = "'[number]'"  # in the place of a name that may be a count
REFUSED = {
    "no header": (PRIVATIZE, NO_HEADER, NUMBER),
    "no header, with names": (PRIVATIZE + " --count f --name none", NO_HEADER, NUMBER),
    "no header, for a plan": (PLAN, NO_HEADER, NUMBER),
    "no header, for levels": (PLAN + LEVELS, NO_HEADER.replace("North", "county"), NUMBER),
    "no header, for an area": (
        COMPARE + " --area none",
        NO_HEADER.replace("North", "county"),
        NUMBER,
    ),
    "no header, for TopDown": (TOPDOWN + " --count f", NO_HEADER, "row 1 (North, [number])"),
    "no header, for records": (SWAP, NO_HEADER, NUMBER),
    "a header of equal numbers": (PRIVATIZE, "104729,104729\n1,2\n", f"{NUMBER} occurs twice"),
    "another column of counts": (PRIVATIZE + " --count county", TABLE, "row 1 (f, [number])"),
    "another column of equal names": (
        f"{PRIVATIZE} --name last",
        "last,county,sex,count\n" + "".join(f"104729,{row}\n" for row in ROWS),
        "both called '[number]'",
    ),
    "too many axes": (TOPDOWN, wide(70), "71 columns"),
    **{each.split()[0]: (each, wide(10**5), "100,003 columns") for each in (PRIVATIZE, SWAP)},
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_that_is_refused(run, tmp_path, case):
    command, table, named = REFUSED[case]
    (tmp_path / "table.csv").write_text(table)
    status, said = run(command)
    assert status == 2
    assert named in said


def test_a_control_character_reaches_no_terminal(run, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE.replace("North", "No\x1b[31mrth\u202e"))
    status, said = run(PRIVATIZE)
    assert status == 0
    (tmp_path / "out").rename(tmp_path / "first")
    (tmp_path / "rules.yaml").write_text("subsets: {here: [nothing]}")
    status, said = run(PRIVATIZE)
    assert status == 2
    assert r"No\x1b[31mrth\u202e" in said


@pytest.mark.parametrize("name", [r"\0", r"\e[31m", r"\N"])
def test_a_subset_with_a_control_character_in_its_name_is_refused(run, tmp_path, name):
    """Released totals of this name could not be read again."""
    (tmp_path / "rules.yaml").write_text(f'subsets: {{"a{name}": {{county: North}}}}')
    status, said = run(PRIVATIZE)
    assert status == 2
    assert "control character" in said


@pytest.mark.parametrize(
    "command", [PRIVATIZE, PLAN, COMPARE, "check table.csv --totals t.csv" + RULES]
)
@pytest.mark.parametrize("entry", ["county", "[county, sex]"])
def test_a_repeated_total_is_refused_at_once(run, tmp_path, command, entry):
    """Even if it is repeated so often that its groups would take minutes."""
    (tmp_path / "rules.yaml").write_text(f"totals: [{', '.join([entry] * 2000)}]")
    status, said = run(command)
    assert status == 2
    assert "is repeated" in said


PLACES = ("metric", "source", "relation", "held", "flavour", "growth", "epsilon", "delta")


@pytest.mark.parametrize("place", PLACES)
def test_a_certificate_with_a_value_of_another_type_is_refused(run, tmp_path, place):
    assert run(PRIVATIZE)[0] == 0
    content = json.loads((tmp_path / "out/certificate.json").read_text())
    (tmp_path / "out").rename(tmp_path / "first")
    for value in (True, None, [], {}, {"a": [1]}, 1, 1.5, "9" * 5000):
        content["mechanism"][place] = value
        (tmp_path / "c.json").write_text(json.dumps(content))
        if not (isinstance(value, str) and place in ("metric", "source", "relation", "held")):
            assert run("account first/certificate.json c.json")[0] == 2
        assert run(f"check first/noisy.csv{RULES} --certificate c.json")[0] in (0, 1)


POSIX = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
DRAWN = PRIVATIZE.removesuffix(" --no-picture")


@pytest.mark.parametrize(
    ("command", "label", "out", "environment"),
    [
        (PLAN, "Zürich", "out", POSIX),
        (PRIVATIZE, "Zürich", "out", POSIX),
        (PRIVATIZE, "North", b"\xff\x1b", POSIX),
        (DRAWN, "North", "out", {"MPLBACKEND": "nonsense"}),
        (DRAWN, "North", "out", {"SOURCE_DATE_EPOCH": "-99999999999999"}),
    ],
)
def test_an_environment_never_prevents_a_release(tmp_path, command, label, out, environment):
    """The files are whole and in UTF-8; output escapes what the terminal cannot show."""
    (tmp_path / "table.csv").write_text(TABLE.replace("North", label), encoding="utf-8")
    (tmp_path / "rules.yaml").write_text("totals: [county]")
    done = subprocess.run(
        [sys.executable, "-m", "isdp", *shlex.split(command), "--out", out],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
        capture_output=True,
    )
    assert done.returncode == 0
    assert done.stderr in (b"", b"no picture: matplotlib raised ValueError\n")
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
    folder = tmp_path / os.fsdecode(out)
    assert all(path.read_text("utf-8") for path in folder.iterdir())


@pytest.mark.parametrize("place", [1, 5])
def test_a_pipe_is_not_read_twice(run, tmp_path, place):
    assert run(PRIVATIZE)[0] == 0
    (tmp_path / "out").rename(tmp_path / "first")
    os.mkfifo(tmp_path / "pipe")
    words = f"check first/noisy.csv{RULES} --certificate first/certificate.json".split()
    words[place] = "pipe"
    status, said = run(" ".join(words))
    assert status == 2
    assert "pipe: this is not a regular file" in said
