"""A changed key or library module reruns what depends on it, and nothing else.

Dry runs on a copy of a finished run; what depends on what is read from the workflow's own graph.
"""

import csv
import re
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import yaml

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT
from tests.workflow.conftest import Checkout, merged


def graph(checkout, changes=None):
    """Outputs, inputs and rule of every job, and those that would run. A job is its log."""
    config = merged(read_yaml(checkout.folder / "test.yaml"), changes or {})
    (checkout.folder / "dry.yaml").write_text(yaml.safe_dump(config))
    done = checkout.run("--configfile", "dry.yaml", "--cores", "1", "--detailed-summary")
    assert done.returncode == 0, done.stderr
    lines = done.stdout[done.stdout.index("output_file\t") :].splitlines()
    outputs, inputs, rules, pending = {}, {}, {}, set()
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        job = row["log-file(s)"]
        outputs.setdefault(job, set()).add(row["output_file"])
        inputs.setdefault(job, set()).update(row["input-file(s)"].split(","))
        rules[job] = row["rule"]
        if row["plan"] != "no update":
            pending.add(job)
    return SimpleNamespace(outputs=outputs, inputs=inputs, rules=rules, pending=pending)


def downstream(whole, jobs):
    """These jobs, and all that read what they write, directly or through others."""
    found = set(jobs)
    while True:
        made = set().union(*(whole.outputs[job] for job in found))
        more = {job for job, read in whole.inputs.items() if read & made} - found
        if not more:
            return found
        found |= more


def writing(whole, pattern):
    """Jobs with an output that fits the pattern."""
    return {
        job for job, made in whole.outputs.items() if any(re.search(pattern, file) for file in made)
    }


@pytest.fixture(scope="module")
def copied(finished, tmp_path_factory):
    """A copy of the finished run, with a library of its own to edit."""
    folder = tmp_path_factory.mktemp("copied") / "run"
    subprocess.run(["cp", "-a", finished.folder, folder], check=True)
    (folder / "src").unlink()
    shutil.copytree(ROOT / "src", folder / "src", copy_function=shutil.copy2)
    return Checkout.at(folder)


@pytest.fixture(scope="module")
def whole(copied):
    return graph(copied)


def test_a_finished_run_that_was_moved_has_nothing_to_do(whole):
    assert whole.pending == set()
    assert len(whole.outputs) > 20


def test_the_national_runs_are_no_part_of_it(whole):
    assert writing(whole, "national") == set()


def test_a_new_commit_alone_has_nothing_to_do(copied, whole):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for arguments in (["init"], ["commit", "--allow-empty", "--message", "new"]):
        subprocess.run([*git, *arguments], cwd=copied.folder, check=True, capture_output=True)
    try:
        assert graph(copied).pending == set()
    finally:
        shutil.rmtree(copied.folder / ".git")


LAW = {"experiments": {"contingency": {"laws": {"l1": {"epsilon": 0.3}}}}}
CHANGES = {
    # the key, and what is made with it before anything is summarised or drawn
    "counties.epsilon": ({"counties": {"epsilon": 0.2}}, r"draws/(exact_)?counties_"),
    "a law's epsilon": ({"lattices": LAW}, r"(draws|coupling)/(exact_)?contingency_l1"),
    "congenial.two_bin.draws": (
        {"congenial": {"two_bin": {"draws": 3_000}}},
        r"tables/two_bin\.csv",
    ),
    "counties.truncation.epsilons": (
        {"counties": {"truncation": {"epsilons": [0.1, 0.5]}}},
        r"tables/truncation\.csv",
    ),
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_changed_key_reruns_what_depends_on_it_and_nothing_else(copied, whole, key):
    changes, made = CHANGES[key]
    first = writing(whole, made)
    assert first
    # the report holds the whole config
    wanted = downstream(whole, first | writing(whole, r"results/config\.yaml"))
    assert graph(copied, changes).pending == wanted
    assert len(wanted) < len(whole.outputs)


def drawing_rules():
    """Rules with a seed among their parameters, own or inherited, which draw random numbers."""
    rules = set()
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        head = r"^(?:use rule (\w+) as|rule) (\w+).*:\n"
        blocks = re.split(head, path.read_text(), flags=re.MULTILINE)
        for parent, name, body in zip(blocks[1::3], blocks[2::3], blocks[3::3], strict=True):
            if "seed=config" in body or parent in rules:
                rules.add(name)
    return rules


def edited(checkout, name, text="\n# edited\n"):
    """Jobs that would run after an edit of one file, and nothing else."""
    file = checkout.folder / name
    before = file.read_text()
    file.write_text(before + text)
    try:
        return graph(checkout).pending
    finally:
        file.write_text(before)


@pytest.mark.parametrize(
    "name",
    [
        "src/isdp/plots/style.py",
        "src/reproduction/counties/figures.py",
        "src/reproduction/counties/descriptions.yaml",
        "src/reproduction/counties/claims.py",
    ],
)
def test_an_edit_of_a_colour_a_caption_or_a_claim_draws_no_random_numbers(copied, whole, name):
    pending = {whole.rules[job] for job in edited(copied, name)}
    assert pending
    assert "run_topdown" in drawing_rules()
    assert pending & drawing_rules() == set()


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("src/reproduction/topdown/configurations.py", {"run_topdown", "run_systems"}),
        ("src/reproduction/congenial/two_bin.py", {"compare_two_bin"}),
    ],
)
def test_an_edited_module_reruns_the_rules_of_its_study(copied, whole, name, first):
    pending = edited(copied, name)
    assert first <= {whole.rules[job] for job in pending}
    assert downstream(whole, pending) == pending


def test_an_edit_of_the_library_reruns_every_study(copied, whole):
    pending = {whole.rules[job] for job in edited(copied, "src/isdp/mcmc/compiled_chains.py")}
    assert {"couple_chains", "run_systems", "compute_subspace_errors", "run_topdown"} <= pending


def test_an_edit_of_the_summary_reruns_nothing(copied, whole):
    assert edited(copied, "src/reproduction/jobs/summary.py") == set()


def test_a_caption_that_docutils_cannot_read_fails_the_report_and_names_the_fault(copied, whole):
    caption = copied.folder / "src/reproduction/counties/descriptions.yaml"
    report = copied.folder / "results/report.html"
    before = caption.read_text()
    caption.write_text(
        before.replace("    caption: >-\n", "    caption: >-\n      See missing_.\n", 1)
    )
    try:
        done = copied.run("--cores", "1", "results/report.html")
        assert done.returncode != 0
        assert 'Unknown target name: "missing"' in done.stdout + done.stderr
        assert not report.exists()
    finally:
        caption.write_text(before)
    done = copied.run("--cores", "1", "results/report.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert report.stat().st_size > 100_000
