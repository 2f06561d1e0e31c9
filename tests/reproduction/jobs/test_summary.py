"""The summary of a run, from the files in its results."""

import json
import subprocess
import sys

import pytest

from reproduction.jobs.summary import summarise_run
from tests import ROOT


@pytest.fixture
def results(tmp_path):
    for folder in ("data", "tables", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data/provenance.json").write_text(json.dumps({"message": "Counts alone."}))
    (tmp_path / "tables/scorecard.txt").write_text("Scorecard of 3 claims\n")
    (tmp_path / "index.html").touch()
    return tmp_path


def test_a_run_that_made_nothing_yet_says_nothing(tmp_path):
    assert summarise_run(tmp_path).strip() == ""


def test_the_command_prints_the_summary(results):
    done = subprocess.run(
        [sys.executable, "-m", "reproduction.jobs.summary", str(results)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    assert done.stdout.rstrip("\n") == summarise_run(results)
