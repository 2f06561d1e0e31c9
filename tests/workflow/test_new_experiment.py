"""A new study is cheap: the files that CONTRIBUTING lists, and no other, make it part of all."""

import csv
import re
import shutil
import subprocess

import pytest

from tests import ROOT
from tests.workflow.conftest import Checkout

WORD = "toy"
# the files that a new study adds; what CONTRIBUTING calls STUDY is toy here, NAME is toy, NN is 05
ADDED = ROOT / "tests/workflow/toy"
EDITED = {
    "config/config.yaml": ("\nexactness:", "\ntoy:\n  draws: 400 # ours\n\nexactness:"),
    "src/reproduction/config/model.py": (
        "\n\nMAX_VALUE_LENGTH",
        "\nfrom reproduction.toy.experiment import ToySettings\n\nMAX_VALUE_LENGTH",
        "    exactness: ExactnessSettings",
        '    toy: ToySettings = setting("Signs at random.")\n    exactness: ExactnessSettings',
    ),
}


def listed(title):
    """The files of a block of CONTRIBUTING, for the toy."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split(title, 1)[1]
    block = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    named = block.replace("STUDY", WORD).replace("NAME", WORD).replace("NN_", "05_")
    return set(named.split())


@pytest.fixture(scope="module")
def extended(finished, tmp_path_factory):
    """A finished run to which the toy was added, run again."""
    folder = tmp_path_factory.mktemp("extended") / "run"
    subprocess.run(["cp", "-a", finished.folder, folder], check=True)
    (folder / "notebooks/02_lattices.ipynb").unlink()  # it shows nothing of the toy
    (folder / "src").unlink()
    shutil.copytree(ROOT / "src", folder / "src", copy_function=shutil.copy2)
    shutil.copytree(ADDED, folder, dirs_exist_ok=True)
    for name, edits in EDITED.items():
        text = (folder / name).read_text()
        for before, after in zip(edits[::2], edits[1::2], strict=True):
            assert text.count(before) == 1, name
            text = text.replace(before, after)
        (folder / name).write_text(text)
    checkout = Checkout.at(folder)
    done = checkout.run("--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


def test_it_takes_the_files_that_contributing_lists():
    study, figure = listed("**A new study** adds files"), listed("**A figure** adds two")
    added = {path.relative_to(ADDED).as_posix() for path in ADDED.rglob("*") if path.is_file()}
    assert added == study | figure
    assert set(EDITED) == listed("and edits two")
    assert (len(study), len(EDITED)) <= (8, 2)


def test_its_claim_is_in_the_scorecard_under_its_study_and_page(extended):
    with open(extended.folder / "results/tables/scorecard.csv", encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["claim"] == "toy-mean"]
    assert (row["wing"], row["experiment"], row["page"]) == ("toy", "Signs", "05_toy")
    assert row["verdict"] == "reproduced"
    with open(extended.folder / "results/tables/toy.csv", encoding="utf-8") as file:
        (made,) = csv.DictReader(file)
    assert float(row["our_value"]) == pytest.approx(abs(float(made["mean"])))


def test_the_report_the_front_page_and_the_overview_show_it(extended):
    results = extended.folder / "results"
    report = (results / "report.html").read_text()
    assert "toy.svg" in report
    assert "toy.html" in report
    page = (results / "papers/ISDP.html").read_text()
    for part in ('claim-toy-mean"', 'href="../figures/toy.svg"', 'href="../notebooks/05_toy.html"'):
        assert part in page
    assert "signs against their number." in page
    assert 'href="notebooks/05_toy.html"' in (results / "index.html").read_text()
    assert "Mean of the signs." in (results / "tables/toy.html").read_text()
    assert "\ntoy,tables/toy.csv,mean," in (results / "tables/data_dictionary.csv").read_text()
    assert "| toy " in (results / "figures/README.md").read_text()
    assert '"05_toy.html"' in (results / "notebooks/00_overview.html").read_text()
    page = (results / "notebooks/05_toy.html").read_text()
    assert "Signs at random are balanced." in page
    assert "toy.draws = 400" in page


def test_no_other_experiment_ran_again(extended, finished):
    def begun(checkout):
        logs = (checkout.folder / "results/logs").glob("*.log")
        return {path.stem: path.stat().st_mtime_ns for path in logs}

    before, after = begun(finished), begun(extended)
    ran = {name for name, time in after.items() if time != before.get(name)}
    pages = {"record_config", "write_claims", "build_report", "build_front_page"}
    pages |= {f"notebook_{path.stem}" for path in (extended.folder / "notebooks").glob("*.ipynb")}
    others = {"sample_toy", "plot_toy", "scorecard", "list_descriptions", "write_claims"}
    assert {name for name in ran if not name.startswith("render_")} == {*others, *pages}
    assert {"render_toy_tables", "render_review_tables"} <= ran
