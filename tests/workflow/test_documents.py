"""The rules' picture, the citation, the changelog and the hooks are in step with the project."""

import os
import pkgutil
import re
import subprocess
import sys
import tomllib

import isdp
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import PAPERS
from tests import ROOT
from tests.workflow.conftest import PATIENCE

PAGES = ("CONTRIBUTING.md", "README.md")
APART = ("running", "national")
# it makes nothing, and Snakemake leaves it out of its graph; the target of the root Snakefile
# targets, and the rule that others inherit from
STUDIES = {path.parent.name for path in (ROOT / "src/reproduction").glob("*/descriptions.yaml")}
NOT_DRAWN = {"everything", "default", "render_tables"} | STUDIES


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_picture_shows_the_rules_that_there_are():
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--list-rules", "--quiet"],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    rules = set(re.findall(r"^\w+$", done.stdout + done.stderr, re.MULTILINE))
    nodes = re.findall(
        r'class="node">\n<title>(\w+)</title>', (ROOT / "docs/rulegraph.svg").read_text()
    )
    # commands of their own
    own = "".join((ROOT / f"workflow/rules/{name}.smk").read_text() for name in APART)
    apart = NOT_DRAWN | set(re.findall(r"^(?:rule|use rule \w+ as) (\w+)", own, re.MULTILINE))
    assert set(nodes) == rules - apart, "`make rulegraph` draws it anew"
    assert len(nodes) == len(set(nodes))


def test_the_citation_and_the_changelog_name_this_version():
    version = isdp.__version__
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert (citation["version"], citation["license"]) == (version, project()["license"])
    assert {"title", "message", "authors"} <= set(citation)
    cited = {paper.get("abbreviation") for paper in citation["references"]}
    assert cited >= set(PAPERS)
    entries = re.findall(r"^## \[.*", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest = next(entry for entry in entries if entry != "## [Unreleased]")
    assert newest == f"## [{version}] - {citation['date-released']}"
    assert f", version {version}." in (ROOT / "README.md").read_text()


def test_names_of_modules_and_functions_in_the_pages_exist():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("*/*.md")]
    named = {
        (page.name, name)
        for page in pages
        # the first column of the tables of renamed names is that of an earlier version
        for name in re.findall(
            r"`((?:isdp|reproduction)(?:\.\w+)+)",
            re.sub(r"(?m)^\| `isdp[^|]*", "", page.read_text()),
        )
    }
    assert ("README.md", "isdp.draw_noise") in named
    gone = []
    for page, name in sorted(named):
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            gone.append((page, name))
    assert gone == []


def test_every_folder_of_tests_has_a_target_that_runs_it():
    makefile = (ROOT / "Makefile").read_text()
    recipes = re.findall(r"pytest (?:[^\\\n]|\\\n)*", makefile)
    folders = {path.relative_to(ROOT).parts[1] for path in (ROOT / "tests").rglob("test_*.py")}
    assert {"unit", "workflow"} < folders
    named = re.findall(r"tests/(\w+)(?![\w/])", " ".join(recipes))
    assert folders <= set(named)
    assert len(named) == len(set(named))
