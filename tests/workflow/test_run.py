"""The whole workflow: what it leaves, that it can be killed, and that cores change nothing."""

import csv
import os
import re
import signal
import subprocess
import time

import pytest


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_promised_output_is_there(finished):
    results = finished.folder / "results"
    for name in ("counties_VT", "counties_DC", "counties_convergence", "das_slopes"):
        for suffix in ("svg", "png", "csv"):
            assert (results / "figures" / f"{name}.{suffix}").stat().st_size > 0
    for name in ("counties_rhat", "counties_noise", "das_regressions", "scorecard", "states"):
        assert (results / "tables" / f"{name}.csv").stat().st_size > 0
    assert (results / "report.html").stat().st_size > 100_000
    assert any((results / "logs").iterdir())
    assert "updates_per_second" in rows(results / "benchmarks" / "counties_sampling.csv")[0]
    leftovers = [p for p in results.rglob(".*") if p.name != ".snakemake_timestamp"]
    assert leftovers == []


def test_tables_have_the_columns_that_others_read(finished):
    tables = finished.folder / "results" / "tables"
    expected = {
        "counties_rhat": "state fips county population rhat ess_bulk ess_tail",
        "counties_noise": "state fips mean sd q05 q25 q50 q75 q95 p_abs_le_30",
        "das_regressions": "state counties slope se p negative significant",
        "scorecard": "claim paper where statement paper_value our_value tolerance verdict note",
    }
    for name, columns in expected.items():
        assert set(columns.split()) <= set(rows(tables / f"{name}.csv")[0])
    assert {r["state"] for r in rows(tables / "counties_rhat.csv")} == {"VT", "DC"}
    assert len(rows(tables / "counties_rhat.csv")) == 15


def test_a_state_without_freedom_is_shown_as_frozen_not_as_converged(finished):
    tables = finished.folder / "results" / "tables"
    (dc,) = [r for r in rows(tables / "counties_rhat.csv") if r["state"] == "DC"]
    assert dc["frozen"] == "True"
    assert dc["rhat"] == ""
    card = {r["claim"]: r for r in rows(tables / "scorecard.csv")}
    assert card["counties-no-frozen-coordinate"]["verdict"] == "differs"
    assert card["counties-exact-totals"]["verdict"] == "reproduced"
    assert card["das-significant-slopes"]["verdict"] == "not checkable"


def test_no_network_is_said_once_and_the_run_goes_on(finished):
    assert finished.console.count("published 2010 counts") == 1
    provenance = (finished.folder / "results/data/provenance.json").read_text()
    assert '"source": "published counts"' in provenance


def test_the_run_ends_by_saying_where_the_report_is_and_what_was_found(finished):
    ending = finished.console[-2500:]
    assert "Report: " in ending
    assert "results/report.html" in ending
    assert re.search(r"Scorecard of \d+ claims: \d+ reproduced, \d+ differs?, ", ending)


def test_the_report_holds_everything_and_asks_nobody(finished):
    page = (finished.folder / "results/report.html").read_text()
    for word in ("counties_VT.svg", "scorecard.csv", "das_regressions.csv"):
        assert word in page
    assert "{{" not in page.split("<body", 1)[0]
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"https?://", page)


def test_a_second_run_has_nothing_to_do(finished):
    done = finished.run("--cores", "1")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_killed_on_one_core_and_started_again_it_ends_with_the_same_tables(checkout, finished):
    running = subprocess.Popen(
        checkout.command("--cores", "1", "everything"),
        cwd=checkout.folder,
        env=checkout.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    draws = checkout.folder / "results" / "draws"
    deadline = time.monotonic() + 120
    while not (draws.is_dir() and any(draws.glob("*.nc"))):
        assert running.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (checkout.folder / "results/tables/scorecard.csv").exists()
    again = checkout.run("--cores", "1", "everything")
    assert again.returncode == 0, again.stdout + again.stderr
    assert checkout.tables() == finished.tables()


def test_a_live_run_keeps_its_lock(checkout):
    lock = "import fcntl, sys, time; h = open(sys.argv[1], 'w'); fcntl.flock(h, 2); print('held', flush=True); time.sleep(60)"
    (checkout.folder / ".snakemake/locks").mkdir(parents=True)
    mark = checkout.folder / ".snakemake/locks/0.output.lock"
    mark.write_text(f"{checkout.folder}/results/data/counties.csv\nresults/data/counties.csv\n")
    other = subprocess.Popen(
        [
            checkout.command()[0],
            "-c",
            lock,
            str(checkout.folder / ".snakemake/isdp-run.lock"),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout.readline() == b"held\n"
        done = checkout.run("--cores", "1", "results/data/counties.csv")
        assert done.returncode != 0
        assert "locked" in (done.stdout + done.stderr).lower()
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    done = checkout.run("--cores", "1", "results/data/counties.csv")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_results_folder_is_named(checkout):
    (checkout.folder / "results").chmod(0o555)
    try:
        done = checkout.run("--cores", "1", "results/data/counties.csv")
    finally:
        (checkout.folder / "results").chmod(0o755)
    assert done.returncode != 0
    assert "results" in done.stdout + done.stderr
    assert "Permission denied" in done.stdout + done.stderr
