"""A new wing is cheap: the files that CONTRIBUTING lists, and no other, make it part of all."""

import csv
import json
import re
import shutil
import subprocess

import pytest

from tests import ROOT
from tests.workflow.conftest import Checkout

WORD = "toy"
# what CONTRIBUTING calls WING is toy here, NAME is toy, and NN is 05
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
    "workflow/scripts/toy/toy.py": '''\
"""Draw signs, and show their mean."""

from isdp.io.files import write_csv
from isdp.plots.style import save
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_table
from reproduction.toy.experiment import signs
from reproduction.toy.figures import mean_sign

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    table = signs(stream(params.seed, "toy"), **params.toy)
    write_table(table, output.csv, "Signs at random")
    write_csv(table, output.data)
    save(mean_sign(table), output.svg, output.png)
''',
    "workflow/rules/toy.smk": '''\
"""Signs at random."""


rule toy:
    output:
        **table_outputs("toy", "Mean sign", "Toy"),
        **figure_outputs("toy", "Mean sign", "Toy"),
        data="results/figures/toy.csv",
    log:
        logs("toy"),
    benchmark:
        benchmarks("toy")
    conda:
        ENVIRONMENT
    params:
        library=library("toy/toy"),
        seed=config["seed"],
        toy=config["toy"],
    message:
        "Signs at random"
    script:
        "../scripts/toy/toy.py"
''',
    "workflow/report/toy/toy.rst": "The mean of signs at random.\n",
    "config/claims/toy.yaml": """\
- claim: toy-mean
  experiment: Signs
  paper: ISDP
  where: nowhere
  statement: Signs at random are balanced.
  paper_value: "0"
  unit: persons
  ours: {table: toy, column: mean, take: max_abs}
  figure: toy
  bar: {at_most: 0.5}
  bar_of: ours
  note: the bar is ours
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
                        "from reproduction.review.results import open_results\n",
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
    "Snakefile": (
        'include: "workflow/rules/exactness.smk"\n',
        'include: "workflow/rules/exactness.smk"\ninclude: "workflow/rules/toy.smk"\n',
    ),
    "config/config.yaml": ("\nexactness:", "\ntoy:\n  draws: 400 # ours\n\nexactness:"),
    "workflow/schemas/config.schema.yaml": (
        "]\nproperties:\n  seed:\n",
        """, toy]
properties:
  toy:
    type: object
    description: signs at random
    wanted: the key draws
    additionalProperties: false
    required: [draws]
    properties:
      draws: {type: integer, minimum: 1, description: signs, wanted: a whole number from 1 up}
  seed:
""",
    ),
    "README.md": (
        "\n\n## What is answered",
        "\n| `toy` | signs at random | ISDP nowhere | `toy` |\n\n## What is answered",
    ),
}

# figures that claims name, which the tests' config does not make: a law and a state left out
OTHERS = ("contingency_tv_bound_l2", "counties_IL")


def listed(title):
    """The files of a block of CONTRIBUTING, for the toy."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split(title, 1)[1]
    block = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    named = block.replace("WING", WORD).replace("NAME", WORD).replace("NN_", "05_")
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
    for name, (before, after) in EDITED.items():
        text = (folder / name).read_text()
        assert text.count(before) == 1, name
        (folder / name).write_text(text.replace(before, after))
    for name in OTHERS:
        (folder / f"results/figures/{name}.svg").write_text("of a run with another config")
    checkout = Checkout.at(folder)
    done = checkout.run("--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


def test_it_takes_the_files_that_contributing_lists_and_no_more_than_four_edits():
    assert set(ADDED) == listed("**A new wing** adds files")
    assert set(EDITED) == listed("and edits four")
    assert len(EDITED) <= 4


def test_its_claim_stands_in_the_scorecard_under_its_wing_and_page(extended):
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
    assert 'id="rule-toy"' in front
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
    pages = {"record_config", "build_report", "execute_notebooks", "build_front_page"}
    assert ran == {"toy", "scorecard", *pages}


def test_figures_of_another_config_that_lie_about_are_not_linked(extended):
    results = extended.folder / "results"
    front = (results / "index.html").read_text()
    for name in OTHERS:
        assert (results / f"figures/{name}.svg").is_file()
        assert f"Figure {name}: not in this run." in front
        assert f'"figures/{name}.svg"' not in front
