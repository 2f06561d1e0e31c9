"""The whole workflow: what it leaves, that it can be killed, and that cores change nothing."""

import csv
import fcntl
import json
import os
import re
import signal
import subprocess
import time
import zipfile

import pytest

from reproduction.jobs.descriptions import OTHER_COLUMNS, read_descriptions
from reproduction.jobs.origin import describe_origin
from reproduction.jobs.summary import summarise_run
from reproduction.publication.crate import write_crate
from tests import ROOT

REPORT_WEIGHS = 15_000_000  # bytes, the limit of the design
# only where a workload has suitable dimensions
SOMETIMES = {"subspace_workloads.csv": {"l1_cosine", "l1_hadamard"}}


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_local_file_gives_the_errors_of_the_das_and_their_regressions(finished):
    results = finished.folder / "results"
    provenance = json.loads((results / "data/provenance.json").read_text())
    assert (provenance["source"], provenance["vintage"]) == ("local file", "20210608")
    assert str(finished.folder) not in json.dumps(provenance)
    counties = rows(results / "data/counties.csv")
    assert len(counties) == 3221
    assert {row["das_error"] for row in counties} > {"-1", "0", "1"}
    regressions = rows(results / "tables/das_regressions.csv")
    assert len(regressions) == 48
    assert all(row["slope"] for row in regressions)


def test_a_state_without_freedom_is_shown_as_frozen_not_as_converged(finished):
    tables = finished.folder / "results" / "tables"
    (dc,) = [r for r in rows(tables / "counties_rhat.csv") if r["state"] == "DC"]
    assert dc["frozen"] == "True"
    assert dc["rhat"] == ""
    card = {r["claim"]: r for r in rows(tables / "scorecard.csv")}
    (summary,) = [r for r in rows(tables / "counties_states.csv") if r["state"] == "DC"]
    assert summary["frozen"] == "1"
    assert card["counties-exact-totals"]["verdict"] == "reproduced"
    assert card["das-significant-slopes"]["verdict"] == "not checkable"


def test_a_county_of_ones_own_is_never_judged_by_the_papers_numbers(finished):
    tables = finished.folder / "results" / "tables"
    files = ("scorecard.csv", "transcription_checks.csv")
    card = {r["claim"]: r["verdict"] for file in files for r in rows(tables / file)}
    for name in ("acceptance-best-parameter", "trace-longest-stay", "distances-conditional"):
        assert card[name] == "not checkable"
    assert card["sex-by-age-printed-release"] == "not checkable"
    assert card["sex-by-age-within"] == "reproduced"
    released = rows(tables / "sex_by_age.csv")
    for row in released[-2:]:
        assert row["confidential_both"] == row["released_both"]
        assert row["held"] == "True"
    assert {row["held"] for row in released} == {"True", "False"}


def test_the_run_ends_with_the_page_to_open_and_the_summary_has_the_scorecard(finished):
    assert f"Open first: {finished.folder / 'results/index.html'}" in finished.ending
    summary = summarise_run(finished.folder / "results")
    assert "results/report.html" in summary
    assert summary.index("results/index.html") < summary.index("results/report.html")
    assert re.search(r"Scorecard of \d+ claims: \d+ reproduced, \d+ differs?, ", summary)


def test_the_report_of_snakemake_can_also_be_a_zip(finished, tmp_path):
    """The layout that the workflow catalog names; it has a page and the outputs as files."""
    done = finished.run("--cores", "1", "--report", str(tmp_path / "report.zip"), "everything")
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "report.zip") as report:
        assert report.testzip() is None
        names = report.namelist()
    assert "report/report.html" in names
    assert sum(name.endswith("counties_states.html") for name in names) == 1


def test_a_finished_run_becomes_a_crate_with_all_that_its_pages_show(finished, tmp_path):
    results = finished.folder / "results"
    write_crate(finished.folder, results, tmp_path / "crate.zip")
    with zipfile.ZipFile(tmp_path / "crate.zip") as crate:
        names = set(crate.namelist())
    shown = (results / "shown.txt").read_text().split()
    assert {f"results/{name}.{'svg' if 'figures/' in name else 'csv'}" for name in shown} <= names
    assert {"src/isdp/__init__.py", "workflow/Snakefile", "data/sources.csv"} <= names


def test_the_report_names_what_it_leaves_out_and_holds_nothing_twice(finished):
    results = finished.folder / "results"
    page = (results / "report.html").read_text()
    held = set(re.findall(r'"(results/[^"]+)": \{"name"', page))
    assert {path.rpartition(".")[2] for path in held} == {"html", "svg"}
    for name in ("counties_rhat", "counties_noise", "counties_noise_exact"):
        path = f"results/tables/{name}.html"
        assert path not in held
        assert path in page
        assert (finished.folder / path).is_file()
    assert "results/figures/counties_{state}_exact.svg" in page
    assert not [path for path in held if path.endswith("_VT_exact.svg")]
    assert len(page) < REPORT_WEIGHS


@pytest.fixture(scope="module")
def descriptions():
    return read_descriptions((ROOT / "src/reproduction").glob("*/descriptions.yaml"))


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_column_is_described_and_every_described_column_is_there(
    finished, descriptions, kind
):
    paths = sorted((finished.folder / "results" / kind).glob("*.csv"))
    assert len(paths) > 30
    missing = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        descriptions.columns_of(kind, path.stem, columns)
        _, _, entry = descriptions.find(kind, path.stem)
        needed = set(entry.columns) - SOMETIMES.get(path.name, set())
        missing[path.name] = needed - {OTHER_COLUMNS, *columns}
    assert {name: found for name, found in missing.items() if found} == {}


def test_every_page_says_what_made_it(finished):
    """The tests' checkout is no repository, so that it names no commit."""
    results = finished.folder / "results"
    made = describe_origin(finished.folder, results / "config.yaml")
    assert "commit not known" in made
    pages = [results / "index.html", results / "report.html", *results.glob("notebooks/*.html")]
    assert len(pages) > 3
    assert [page.name for page in pages if made not in page.read_text()] == []


def test_the_front_page_leads_to_the_others_and_says_what_is_missing(finished):
    results = finished.folder / "results"
    page = (results / "index.html").read_text()
    links = set(re.findall(r'\b(?:href|src)="(?!data:)([^"]+)"', page))
    assert {"report.html", "notebooks/00_overview.html", "papers/ISDP.html"} <= links
    page = (results / "papers/ISDP.html").read_text()
    assert 'href="../figures/counties_VT.svg"' in page
    # what the tests' small config leaves out
    for missing in ("intersecting_noise", "counties_IL"):
        assert f'{missing} <i class="absent">(not in this run)</i>' in page


def test_every_notebook_has_its_page_and_says_what_this_run_does_not_make(finished):
    notebooks = sorted((finished.folder / "notebooks").glob("*.ipynb"))
    pages = {
        path.stem: finished.folder / f"results/notebooks/{path.stem}.html" for path in notebooks
    }
    assert notebooks
    for page in pages.values():
        text = page.read_text()
        assert not re.search(r"<script|(src|href)=\"https?://", text)
        shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
        assert not re.search(r">[^<]*(\bnan\b|\bNaN\b|= None\b)", shown)
    assert "Not in this run: no figure intersecting_noise" in pages["02_lattices"].read_text()


def test_killed_on_one_core_and_started_again_it_ends_with_the_same_tables(checkout, finished):
    goal = "results/tables/counties_states.csv"  # behind the choice of states
    checkout.add_demonstration_data()
    running = subprocess.Popen(
        checkout.command("--cores", "1", goal),
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
    assert not (checkout.folder / goal).exists()
    again = checkout.run("--cores", "1", goal)
    assert again.returncode == 0, again.stdout + again.stderr
    ours, theirs = checkout.tables(), finished.tables()
    assert goal.removeprefix("results/") in ours
    assert ours == {name: theirs[name] for name in ours}


def test_a_folder_has_one_run_at_a_time_and_a_killed_run_blocks_none(checkout):
    goal = "results/data/counties.csv"
    folder = checkout.folder / ".snakemake"
    folder.mkdir()
    with open(folder / "isdp-run.lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        refused = checkout.run("--cores", "1", goal)
        lines = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
        assert refused.returncode != 0
        assert lines
        assert str(checkout.folder) in lines[0]
        assert "Traceback" not in refused.stderr
        assert not (checkout.folder / goal).exists()
        dry = checkout.run("--cores", "1", "--dry-run", goal)
        assert dry.returncode == 0, dry.stderr
    done = checkout.run("--cores", "1", goal)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_disk_that_is_full_leaves_nothing_half_written(checkout):
    limit = 50 * 1024  # bytes a file may have; the county table is larger
    done = checkout.run("--cores", "1", "results/data/counties.csv", largest=limit)
    console = done.stdout + done.stderr
    assert done.returncode != 0
    assert "File too large" in console
    assert "results/data/counties.csv" in console
    assert [p.name for p in (checkout.folder / "results/data").rglob("*") if p.is_file()] == []


def test_tables_of_ones_own_go_through_the_same_rules(finished):
    results = finished.folder / "results"
    for name, law, cells in (
        ("cube", "l2", 60),
        ("contingency", "l1", 16),
    ):
        for figure in (f"{name}_tv_bound", f"{name}_noise", f"exact_{name}"):
            assert (results / "figures" / f"{figure}.svg").stat().st_size > 0
        assert len(rows(results / "tables" / f"{name}_noise_summary.csv")) == cells
        draw = rows(results / "tables" / f"{name}_draw_{law}.csv")
        assert draw[-1]["Total"] == "0"
        assert {row["Total"] for row in draw} == {
            "0"
        }  # the margin of all axes but the last is held
    # the paper has a figure of its own for each law whose noise it prints
    assert (results / "figures/contingency_tv_bound_l1.svg").stat().st_size > 0
    verified = rows(results / "tables" / "draws_verified.csv")
    assert {row["draws_of"] for row in verified} > {"cube_l2", "exact_cube_l2"}
    assert {row["violations"] for row in verified} == {"0"}


def test_runs_that_the_cap_cut_off_are_counted_and_shown(finished):
    results = finished.folder / "results"
    table = rows(results / "tables/meeting_times.csv")
    cut = [r for r in table if int(r["censored"]) + int(r["standing"]) > 0]
    assert {r["experiment"] for r in cut} >= {"cube"}
    assert all(r["iterations_to_bound_0_01"] == "" for r in cut)
    # the csv of the figure says so: no bound above is known, and what is known ends at the cap
    unknown = {
        (r["variant"], float(r["lag"]))
        for r in table
        if r["experiment"] == "cube" and int(r["censored"])
    }
    drawn = [r for r in rows(results / "figures/cube_tv_bound.csv") if r["series"] == "bound"]
    of_cut = [r for r in drawn if (r["variant"], float(r["lag"])) in unknown]
    assert {(r["bound"], r["high"]) for r in of_cut} == {("inf", "inf")}
    assert "" in {r["at_least"] for r in of_cut}
    card = {r["claim"]: r for r in rows(results / "tables/scorecard.csv")}
    assert card["chains-converge"]["verdict"] == "undecided"
    assert card["chains-converge"]["our_value"] != "0"
    assert (
        "5,000 iterations before a run is cut off, and the minimum is 1,000,000"
        in (card["chains-converge"]["note"])
    )
    checks = {r["claim"]: r for r in rows(results / "tables/transcription_checks.csv")}
    assert checks["contingency-gamma-total"]["verdict"] == "differs"
    assert checks["contingency-grand-total"]["verdict"] == "reproduced"
    assert card["intersecting-unbiased"]["verdict"] == "not checkable"
