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

from reproduction.running.library import library_of
from tests import ROOT
from tests.workflow.conftest import SMALL, Checkout, merged


def graph(checkout, config):
    """Outputs, inputs and rule of every job, and those that would run. A job is its log."""
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


def using(whole, module):
    """Jobs whose script needs a module; a script bears its rule's name."""
    rules = {
        script.stem
        for script in (ROOT / "workflow/scripts").rglob("*.py")
        if str(ROOT / f"src/{module}.py") in library_of(script, ROOT / "src")
    }
    return {job for job, rule in whole.rules.items() if rule in rules}


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
    return graph(copied, SMALL)


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
        assert graph(copied, SMALL).pending == set()
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
    assert graph(copied, merged(SMALL, changes)).pending == wanted
    assert len(wanted) < len(whole.outputs)


@pytest.mark.parametrize(
    "module",
    ["reproduction/congenial/two_bin", "reproduction/counties/truncation", "isdp/mcmc/kernels"],
)
def test_an_edited_module_reruns_its_dependants_and_nothing_else(copied, whole, module):
    file = copied.folder / f"src/{module}.py"
    text = file.read_text()
    file.write_text(text + "\n# edited\n")
    try:
        pending = graph(copied, SMALL).pending
    finally:
        file.write_text(text)
    first = using(whole, module)
    assert first
    assert pending == downstream(whole, first)
    assert len(pending) < len(whole.outputs)
