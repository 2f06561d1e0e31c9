"""A new study is cheap: the files that CONTRIBUTING lists, and no other, make it part of all."""

import csv
import json
import re
import shutil
import subprocess

import pytest

from tests import ROOT
from tests.workflow.conftest import Checkout

WORD = "toy"
# what CONTRIBUTING calls STUDY is toy here, NAME is toy, and NN is 05
ADDED = {
    "src/reproduction/toy/__init__.py": '"""Signs at random, as an example."""\n',
    "src/reproduction/toy/experiment.py": '''\
"""Signs at random."""

import numpy as np
import pandas as pd


def signs(rng: np.random.Generator, draws: int) -> pd.DataFrame:
    """Draw signs and give their mean; one row, with columns draws and mean."""
    return pd.DataFrame({"draws": [draws], "mean": [rng.choice([-1, 1], draws).mean()]})
''',
    "src/reproduction/toy/settings.py": '''\
"""The block `toy` of the configuration."""

from reproduction.jobs.settings import OURS, Block, Whole, setting


class ToySettings(Block):
    """Signs at random."""

    draws: Whole = setting("The number of signs.", OURS)
''',
    "src/reproduction/toy/figures.py": '''\
"""The figure of the mean sign."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import styled


@styled
def mean_sign(table: pd.DataFrame) -> Figure:
    """Show the mean sign against the number of draws."""
    figure, axis = plt.subplots()
    axis.plot(table["draws"], table["mean"], "o")
    return figure
''',
    "src/reproduction/toy/descriptions.yaml": """\
category: Toy
columns:
  draws: Number of signs.
  mean: Mean of the signs.
tables:
  toy:
    title: Mean sign
    caption: The mean of signs at random. Seed {{ snakemake.config["seed"] }}.
figures:
  toy:
    title: Mean sign by number of signs
    caption: The mean of signs at random.
    gallery: The mean of the signs against their number.
""",
    "workflow/scripts/toy/sample_toy.py": '''\
"""Draw signs."""

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.jobs.job_log import job_log
from reproduction.toy.experiment import signs

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    table = signs(stream(params.seed, "toy"), **params.toy)
    write_csv(table, output.signs)
    write_csv(table, output.points)
''',
    "workflow/scripts/toy/plot_toy.py": '''\
"""Show the mean sign."""

from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.toy.figures import mean_sign

with job_log(snakemake.log[0]):
    save_figures({"signs": mean_sign(read_csv(snakemake.input.points))}, snakemake.output)
''',
    "workflow/rules/toy.smk": '''\
"""Signs at random."""


rule sample_toy:
    output:
        signs="results/tables/toy.csv",
        points="results/figures/toy.csv",
    log:
        logs("sample_toy"),
    benchmark:
        benchmarks("sample_toy")
    conda:
        ENVIRONMENT
    params:
        sources=code("toy"),
        seed=config["seed"],
        toy=config["toy"],
    message:
        "Signs at random"
    script:
        "../scripts/toy/sample_toy.py"


rule plot_toy:
    input:
        points="results/figures/toy.csv",
    output:
        **figure_files(signs="results/figures/toy.svg"),
    log:
        logs("plot_toy"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("toy"),
    message:
        "Figure of the signs"
    script:
        "../scripts/toy/plot_toy.py"


TOY_TABLES = ["results/tables/toy.csv"]


use rule render_tables as render_toy_tables with:
    input:
        TOY_TABLES,
    output:
        **rendered(TOY_TABLES),
    log:
        logs("render_toy_tables"),
    params:
        sources=presentation("toy", "review"),


rule toy:
    input:
        rules.plot_toy.output,
        rules.render_toy_tables.output,
''',
    "src/reproduction/toy/claims.py": """\
from reproduction.jobs.claims import Evidence, at_most, claim, extreme_row, quantity


@claim(
    paper="ISDP",
    experiment="Signs",
    where="nowhere",
    statement="Signs at random are balanced.",
    paper_value="0",
    unit="persons",
    tables=["toy"],
    figures=["toy"],
)
def toy_mean(table):
    row = extreme_row(table, "mean", "max_abs")
    return Evidence(quantity(row, "mean", absolute=True), at_most(0.5, "ours"))
""",
    "config/figures/toy.yaml": """\
- name: toy-figure
  paper: ISDP
  label: Figure 99
  about: signs
  description: The mean of signs at random.
  ours: The same.
  figures: [toy]
  tables: [toy]
  claims: [toy-mean]
""",
    "notebooks/05_toy.ipynb": json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "id": "05-00",
                    "metadata": {},
                    "outputs": [],
                    "source": [
                        "from reproduction.review.notebook_results import open_results\n",
                        "\n",
                        "review = open_results()\n",
                        'review.settings("toy.draws")\n',
                        'review.figure("toy", "Mean sign")\n',
                        'review.claims_of("toy")',
                    ],
                }
            ],
            "metadata": {
                "language_info": {"name": "python"},
                "title": "Signs at random",
                "papers": "ISDP nowhere",
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ),
    "tests/reproduction/toy/test_experiment.py": """\
import numpy as np

from reproduction.toy.experiment import signs


def test_signs_are_one_or_minus_one():
    assert signs(np.random.default_rng(1), 1)["mean"].abs().tolist() == [1]
""",
}
EDITED = {
    "workflow/Snakefile": (
        'include: "rules/exactness.smk"\n',
        'include: "rules/exactness.smk"\ninclude: "rules/toy.smk"\n',
    ),
    "config/config.yaml": ("\nexactness:", "\ntoy:\n  draws: 400 # ours\n\nexactness:"),
    "src/reproduction/config/model.py": (
        "\n\nMAX_VALUE_LENGTH",
        "\nfrom reproduction.toy.settings import ToySettings\n\nMAX_VALUE_LENGTH",
        "    exactness: ExactnessSettings",
        '    toy: ToySettings = setting("Signs at random.")\n    exactness: ExactnessSettings',
    ),
    "README.md": (
        "\n\n## What is answered",
        "\n| `toy` | signs at random | ISDP nowhere | `toy` |\n\n## What is answered",
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
    for name, text in ADDED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
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


def test_it_takes_the_files_that_contributing_lists_and_no_more_than_four_edits():
    assert set(ADDED) == listed("**A new study** adds files")
    assert set(EDITED) == listed("and edits four")
    assert len(EDITED) <= 4


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
    front = (results / "index.html").read_text()
    for part in ('id="claim-toy-mean"', 'href="figures/toy.svg"', 'href="notebooks/05_toy.html"'):
        assert part in front
    for part in ('id="study-toy"', "Mean sign by number of signs", "signs against their number."):
        assert part in front
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
    pages = {"record_config", "build_report", "build_front_page"}
    pages |= {f"notebook_{path.stem}" for path in (extended.folder / "notebooks").glob("*.ipynb")}
    others = {"sample_toy", "plot_toy", "scorecard", "list_descriptions"}
    assert {name for name in ran if not name.startswith("render_")} == {*others, *pages}
    assert {"render_toy_tables", "render_review_tables"} <= ran
