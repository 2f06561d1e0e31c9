"""The summary of a run, from the files in its results."""

import json
import subprocess
import sys

import pytest

from reproduction.running.summary import summarise_run
from tests import ROOT


@pytest.fixture
def results(tmp_path):
    for folder in ("data", "tables", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data/provenance.json").write_text(json.dumps({"message": "Counts alone."}))
    (tmp_path / "tables/scorecard.txt").write_text("Scorecard of 3 claims\n")
    (tmp_path / "index.html").touch()
    return tmp_path


def test_the_end_names_the_data_the_verdicts_and_the_pages_that_are_there(results):
    said = summarise_run(results)
    assert said.splitlines()[1:] == [
        "Counts alone.",
        "Scorecard of 3 claims",
        f"Open first: {results / 'index.html'}",
    ]
    (results / "report.html").touch()
    assert f"Report: {results / 'report.html'}" in summarise_run(results)


def test_a_run_that_made_nothing_yet_says_nothing(tmp_path):
    assert summarise_run(tmp_path).strip() == ""


def test_the_command_prints_the_summary(results):
    done = subprocess.run(
        [sys.executable, "-m", "reproduction.running.summary", str(results)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    assert done.stdout.rstrip("\n") == summarise_run(results)
