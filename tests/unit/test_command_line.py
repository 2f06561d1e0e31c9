"""All commands: the version, a pipe whose reader closes it, and what is reported first."""

import json
import os
import re
import subprocess
import sys

import pytest

from isdp import __version__
from isdp.cli import main
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
RULES = ["--invariants", EXAMPLE / "ages.yaml"]
SWAP = ["--match", "state,size", "--swap", "county", "--carry", "tract", "--rate", "0.05"]
# with the place of each input
WRITING = {
    "privatize": (["privatize", EXAMPLE / "ages.csv", *RULES, "--epsilon", "1"], [1, 3]),
    "plan": (["plan", "--cells", EXAMPLE / "ages.csv", *RULES, "--epsilon", "1"], [2, 4]),
    "compare": (
        ["compare", "--cells", EXAMPLE / "ages.csv", *RULES, "--epsilon", "1"],
        [2, 4],
    ),
    "topdown": (["topdown", EXAMPLE / "table.csv", "--levels", "county", "--rho", "1"], [1]),
    "swap": (["swap", EXAMPLE / "people.csv", *SWAP], [1]),
}


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"isdp {__version__}\n"


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("force", [False, True])
def test_an_input_that_does_not_exist_comes_before_a_folder_that_does(
    command, force, tmp_path, capsys
):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    given, places = WRITING[command]
    for place in places:
        arguments = list(map(str, given))
        arguments[place] = str(tmp_path / "nothing")
        options = ["--out", str(tmp_path / "out"), *["--force"] * force]
        assert main([*arguments, *options]) == 2
        assert capsys.readouterr().err.startswith(f"isdp: {tmp_path}/nothing: ")
    assert os.listdir(tmp_path / "out") == ["mine"]


PIPED = {
    "help": ["--help"],
    "version": ["--version"],
    "swap": [*WRITING["swap"][0], "--out", "OUT"],
    "plan": [*WRITING["plan"][0], "--no-picture", "--out", "OUT"],
}


@pytest.mark.parametrize(
    ("command", "buffered"),
    # without a buffer, argparse passes over the error itself
    [*((command, True) for command in PIPED), ("swap", False), ("plan", False)],
)
def test_a_pipe_that_its_reader_closes_ends_the_command_without_a_word(command, buffered, tmp_path):
    """The status is that of a program that SIGPIPE ends; what was written stays whole."""
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [str(word).replace("OUT", str(tmp_path / "out")) for word in PIPED[command]]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    environment["PYTHONUNBUFFERED"] = "" if buffered else "1"
    done = subprocess.run(
        [sys.executable, "-m", "isdp", *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    os.close(writing)
    assert (done.stderr, done.returncode) == ("", 141)
    if "--out" in arguments:
        assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("buffered", [False, True])
def test_output_that_cannot_be_printed_has_a_status_of_its_own(closed, buffered, tmp_path):
    """The files are there, and a script must not take the run for one that wrote nothing."""
    arguments = list(map(str, [*WRITING["swap"][0], "--out", tmp_path / "out"]))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    environment["PYTHONUNBUFFERED"] = "" if buffered else "1"
    where = ">&-" if closed else "> /dev/full"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {where}', "sh", sys.executable, "-m", "isdp", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert done.returncode == os.EX_IOERR
    assert done.stderr.startswith("isdp: standard output: ")
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "out/certificate.json").exists()


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_below_a_file_is_refused_at_once(command, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    arguments = list(map(str, [*WRITING[command][0], "--out", tmp_path / "file/out"]))
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"isdp: {tmp_path}/file: ")
    assert "--out" in error


@pytest.mark.parametrize("option", ["swap", "match", "carry"])
def test_an_option_with_a_line_break_is_refused(option, tmp_path, capsys):
    arguments = list(map(str, [*WRITING["swap"][0], "--out", tmp_path / "out"]))
    assert main([*arguments, f"--{option}", "cou\rnty"]) == 2
    assert capsys.readouterr().err.startswith(f"isdp: --{option}: ")


def test_one_json_object_names_the_files_and_the_warnings(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text((EXAMPLE / "ages.csv").read_text().replace("North,f,18-44", "North ,f,18-44"))
    rules = tmp_path / "rules.yaml"
    rules.write_text("total: true\n")
    arguments = ["privatize", table, "--invariants", rules, "--epsilon", "1", "--out"]
    arguments += [tmp_path / "out", "--no-picture", "--accept", "missing-rows", "--json"]
    assert main(list(map(str, arguments))) == 0
    spoken = capsys.readouterr()
    facts = json.loads(spoken.out)
    assert facts["command"] == "privatize"
    assert facts["files"] == sorted(map(str, (tmp_path / "out").iterdir()))
    assert [text for text in facts["warnings"] if "differ only in whitespace" in text]
    assert spoken.err.count("differ only in whitespace") == 1
    assert facts["guarantee"]["epsilon_per_person"] == "1"
    # nothing of the noise or of the table except its size
    assert facts["cells"] == 16
    assert main(list(map(str, [*arguments, "--sigma", "2"]))) == 2
    spoken = capsys.readouterr()
    facts = json.loads(spoken.out)
    assert facts["exit_status"] == 2
    assert spoken.err == f"isdp: {facts['error']}\n"
    assert "files" not in facts


def test_a_difference_has_status_1_and_an_unexpected_error_another(tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    arguments = list(map(str, [*WRITING["privatize"][0], "--out", out, "--no-picture"]))
    assert main(arguments) == 0
    (out / "totals.csv").write_text((out / "totals.csv").read_text().replace("North,", "North,9"))
    check = ["check", out / "noisy.csv", *RULES, "--totals", out / "totals.csv", "--json"]
    capsys.readouterr()
    assert main(list(map(str, check))) == 1
    facts = json.loads(capsys.readouterr().out)
    assert [one["holds"] for one in facts["checks"]] == [False]

    def fails(*_, **__):
        raise RuntimeError("unexpected")

    monkeypatch.setattr("isdp.commands.check.check", fails)
    assert main(list(map(str, check))) == os.EX_SOFTWARE
    spoken = capsys.readouterr()
    assert "RuntimeError" in spoken.err
    assert json.loads(spoken.out)["exit_status"] == os.EX_SOFTWARE


def test_the_help_of_each_command_lists_the_exit_statuses(capsys):
    for command in ([], *([name] for name in WRITING), ["check"], ["account"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        assert re.findall(r"^  (\d+)  ", capsys.readouterr().out, re.M)[:5] == [
            *("0", "1", "2", "70", "74")
        ]
