"""What a run says at its end, from what lies in its results."""

import json
import logging

import pytest
from snakemake.common import NOTHING_TO_BE_DONE_MSG

from reproduction.running.ending import closing_words, sweep_words, when_nothing_is_done

SCENARIOS = {name: {"data": {"vintage": "20201116"}} for name in ("one", "two")}


@pytest.fixture
def results(tmp_path):
    for folder in ("data", "tables", "notebooks", "figures", "sweeps/s/one/tables"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data/provenance.json").write_text(json.dumps({"message": "Counts alone."}))
    (tmp_path / "tables/scorecard.txt").write_text("Scorecard of 3 claims\n")
    (tmp_path / "index.html").touch()
    (tmp_path / "sweeps/s/one/tables/scenario.csv").touch()
    return tmp_path


def test_the_end_names_the_data_the_verdicts_and_the_pages_that_are_there(results):
    said = closing_words(results)
    assert said.splitlines()[1:] == [
        "Counts alone.",
        "Scorecard of 3 claims",
        f"Open first: {results / 'index.html'}",
    ]
    (results / "report.html").touch()
    assert f"Report: {results / 'report.html'}" in closing_words(results)


def test_a_run_that_made_nothing_yet_says_nothing(tmp_path):
    assert closing_words(tmp_path).strip() == ""
    assert sweep_words(tmp_path, "s", SCENARIOS) == []


def test_a_sweep_names_what_it_is_without_and_where_the_rest_is(results):
    log = results / "sweeps/s/two/logs/sample.log"
    log.parent.mkdir(parents=True)
    log.write_text("2020-01-01 INFO begun\n2020-01-01 ERROR epsilon is odd\n")
    said = sweep_words(results, "s", SCENARIOS)
    assert said == ["Sweep s: 1 of 2 scenarios done; not done:", "  two: epsilon is odd"]
    (results / "figures/sweep_s.svg").touch()
    assert sweep_words(results, "s", SCENARIOS)[-1] == f"Sweep: {results / 'figures/sweep_s.svg'}"


def test_a_run_with_nothing_to_do_ends_with_the_same_words(capsys):
    logger = logging.Logger("a run")
    when_nothing_is_done(lambda: print("the words"), logger)
    logger.info("Building DAG of jobs...")
    assert capsys.readouterr().out == ""
    logger.info(NOTHING_TO_BE_DONE_MSG)
    assert capsys.readouterr().out == "the words\n"
