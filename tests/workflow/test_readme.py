"""Every block of commands and of code in the pages does what it says; none is left out silently."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import isdp.cli
from reproduction.config.model import check_config
from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT
from tests.workflow.conftest import PATIENCE, Checkout, merged

# each is tried from top to bottom in one folder, and a `text` block has to be what was printed
STORIES = [*sorted(ROOT.glob("docs/concepts/*.md")), *sorted(ROOT.glob("docs/tutorials/*.md"))]
APART = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("*/*.md")),
    *sorted(ROOT.glob("docs/example/*.md")),
]
PAGES = [*APART, *STORIES]
COMMANDS = {"", "sh"}
SHOWN = {
    "text": "a picture in letters, or what a file looks like; in STORIES, what was printed",
    "r not-run": "needs packages of R that are not at hand",
}
# commands that are not run here as they stand, each with the reason; files they name must exist
LEFT_OUT = {
    "pytest": "it would run this very test",
    "pre-commit": "need not be installed",
    "git": "would write into the repository",
    "pip": "would install packages",
    "frictionless": "need not be installed",
    "docker": "need not be installed",
    "apptainer": "need not be installed",
    "mkdir": "for the container",
    "conda": "need not be installed",
    "jupyter": "would write into the notebooks",
    ". .venv/bin/activate": "a shell's own command; the environment is the one that runs this",
}
CERTIFICATE = ("certificate.json", "certificate.md", "datapackage.json", "registry.yaml")
# by the command of isdp: its usual folder, and what it writes there
WRITTEN = {
    "topdown": ("topdown", ["released.csv", "measurements.csv", "budget.csv", *CERTIFICATE]),
    "privatize": (
        "noisy",
        [
            *("noisy.csv", "totals.csv", "margins.csv", "margins_full.csv"),
            *("noisy.png", "noisy.svg", *CERTIFICATE),
        ],
    ),
    "swap": ("swapped", ["swapped.csv", *CERTIFICATE]),
    "compare": (
        "comparison",
        ["comparison.csv", "comparison.md", "comparison.png", "comparison.svg"],
    ),
    "plan": ("plan", ["plan.csv", "plan.json", "curve.csv", "plan.png", "plan.svg"]),
}
# commands that look at what these have written before
AFTER = {"check": ["noisy"], "account": ["noisy", "second"]}
EXAMPLE = "docs/example/table.csv --invariants docs/example/invariants.yaml --epsilon 0.25"
ENVIRONMENT = os.environ | {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONWARNINGS": "",
}


def blocks(pages):
    """Each fenced block: the page, the language, the text."""
    fence = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for page in pages:
        for language, text in fence.findall(page.read_text()):
            yield page, language, text


def commands_of(text):
    """Commands of a block, without comments."""
    lines = text.replace("\\\n", " ").splitlines()
    commands = [line.partition(" #")[0].strip() for line in lines]
    return [command for command in commands if command and not command.startswith("#")]


def commands():
    """Every command once."""
    texts = [text for _, language, text in blocks(APART) if language in COMMANDS]
    return list(dict.fromkeys(command for text in texts for command in commands_of(text)))


def run(command, folder):
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_isdp(command, folder, monkeypatch, capsys):
    """Run a command of ours in this process, which has loaded what takes a second to load."""
    program, *arguments = shlex.split(command)
    assert program == "isdp"
    monkeypatch.chdir(folder)
    status = isdp.cli.main(arguments)
    said = capsys.readouterr()
    assert status == 0, said.out + said.err
    return said.out + said.err


def plain(text):
    """One line, with single blanks."""
    return " ".join(text.split())


def without_variables(command):
    return re.sub(r"^(\w+=\S+ )+", "", command)


def reason_left_out(command):
    return next((why for start, why in LEFT_OUT.items() if command.startswith(start)), None)


def named_files(command):
    """Arguments that are paths or pytest's names of tests."""
    arguments = [word.partition("::")[0] for word in shlex.split(command)[1:]]
    return [word for word in arguments if re.search(r"^\w[\w.-]*(/|\.py$)", word)]


@pytest.mark.parametrize("command", commands())
def test_a_command_does_what_it_says(command, tmp_path, monkeypatch, capsys):
    bare = without_variables(command)
    program = bare.split()[0]
    if program == "make":
        # a recipe is shown, not run: it would set up an environment within a test
        assert run(command.replace("make", "make -n", 1), ROOT)
    elif reason_left_out(bare):
        assert [name for name in named_files(bare) if not any(ROOT.glob(name))] == []
    elif program == "snakemake":
        checkout = Checkout(tmp_path)
        shutil.copy2(checkout.folder / "test.yaml", checkout.folder / "mine.yaml")
        goal = "compare_scenarios" if " sweep " in command else "execute_notebook"
        # the folder has a smaller configuration than that of the smoke run
        command = command.replace("config/smoke.yaml", "test.yaml")
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command), "-n"],
            cwd=checkout.folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert goal in done.stdout + done.stderr
    elif program == "isdp":
        shutil.copytree(ROOT / "docs/example", tmp_path, dirs_exist_ok=True)
        shutil.copytree(ROOT / "docs/example", tmp_path / "docs/example")
        own = bare.split()[1]
        for folder in AFTER.get(own, []):
            run_isdp(f"isdp privatize {EXAMPLE} --out {folder}", tmp_path, monkeypatch, capsys)
        run_isdp(command, tmp_path, monkeypatch, capsys)
        if own not in AFTER:
            usual, names = WRITTEN[own]
            (folder,) = re.findall(r"--out (\S+)", bare) or [usual]
            levels = ["levels.csv"] if "--levels" in bare and own in ("plan", "privatize") else []
            assert {path.name for path in (tmp_path / folder).iterdir()} == {*names, *levels}
    else:
        pytest.fail(f"this test does not know how to try: {command}")


def test_every_block_is_of_a_kind_that_is_tried_or_named():
    kinds = {language for _, language, _ in blocks(PAGES)}
    assert kinds <= COMMANDS | {"python", "yaml", "r"} | set(SHOWN)


def has_r():
    program = shutil.which("Rscript")
    return (
        program and not subprocess.run([program, "-e", "library(jsonlite)"], check=False).returncode
    )


def test_r_blocks_run(tmp_path, monkeypatch, capsys):
    """Run the blocks by R if there is R, and otherwise the commands that they call."""
    shutil.copytree(ROOT / "docs/example", tmp_path, dirs_exist_ok=True)
    script = "".join(text for _, language, text in blocks([ROOT / "docs/r.md"]) if language == "r")
    if has_r():
        (tmp_path / "page.R").write_text(script)
        (tmp_path / "isdp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m isdp "$@"\n')
        (tmp_path / "isdp").chmod(0o755)
        run('PATH="$PWD:$PATH" Rscript page.R', tmp_path)
        return
    (tmp_path / "cells_from_r.csv").write_text(
        "sex,county,count\nf,North,1\nm,North,2\nf,South,3\nm,South,0\n"
    )
    calls = re.findall(r'^isdp\((".*?")\)$|system2\("isdp", c\((.*?)\)', script, re.M | re.S)
    assert len(calls) == 4
    for call in calls:
        words = re.findall(r'"([^"]*)"', "".join(call))
        run_isdp(shlex.join(["isdp", *words]), tmp_path, monkeypatch, capsys)


def test_python_blocks_run():
    found = [text for _, language, text in blocks(APART) if language == "python"]
    assert found
    for text in found:
        exec(compile(text, "a block of the README", "exec"), {})


@pytest.mark.parametrize("page", [*STORIES, ROOT / "docs/levels.md"], ids=lambda page: page.stem)
def test_a_page_holds_from_top_to_bottom(page, tmp_path, monkeypatch, capsys):
    for folder in (tmp_path, tmp_path / "docs/example"):
        shutil.copytree(ROOT / "docs/example", folder, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names, said = {}, ""
    for _, language, text in blocks([page]):
        if language == "text":
            for part in map(plain, text.split("...")):  # what is left out between, or at the end
                assert part in said, f"{page.name} shows what was not printed"
                said = said.partition(part)[2]
        elif language == "python":
            exec(compile(text, page.name, "exec"), names)
            said = plain(capsys.readouterr().out)
        elif language in COMMANDS:
            outputs = [
                run_isdp(command, tmp_path, monkeypatch, capsys)
                if command.startswith("isdp ")
                else run(command, tmp_path)
                for command in commands_of(text)
            ]
            said = plain(" ".join(outputs))
        else:
            pytest.fail(f"{page.name}: nothing here tries a block in {language}")


def test_yaml_blocks_are_understood():
    base = read_yaml(ROOT / "config/config.yaml")
    for page, language, text in blocks(APART):
        if language != "yaml":
            continue
        content = yaml.safe_load(text)
        if page.name == "privatize.md":
            assert set(content) <= {"total", "totals", "subsets"}
        elif "congenial" not in content:  # its file is the reader's own
            check_config(merged(base, content), ROOT)


def test_targets_named_in_passing_exist():
    named = {
        target
        for page in PAGES
        for target in re.findall(r"`(?:\w+=\S+ )?make ([a-z]+)`", page.read_text())
    }
    assert named >= {"smoke", "bench"}
    run(f"make -n {' '.join(sorted(named))}", ROOT)


def test_files_that_the_pages_link_to_exist():
    gone = [
        (page.name, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert gone == []
