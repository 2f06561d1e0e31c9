"""The rules' picture, the citation, the changelog and the hooks are in step with the project."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from tests import ROOT

NOT_DRAWN = {"everything"}  # it makes nothing, and Snakemake leaves it out of its graph


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_picture_shows_the_rules_that_there_are():
    command = [sys.executable, "-m", "snakemake", "--list-rules", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rules = set(re.findall(r"^\w+$", done.stdout + done.stderr, re.MULTILINE))
    nodes = re.findall(
        r'class="node">\n<title>(\w+)</title>', (ROOT / "docs/rulegraph.svg").read_text()
    )
    sweeps = (ROOT / "workflow/rules/running.smk").read_text()  # a command of their own
    apart = NOT_DRAWN | set(re.findall(r"^(?:rule|use rule \w+ as) (\w+)", sweeps, re.MULTILINE))
    assert set(nodes) == rules - apart, "`make rulegraph` draws it anew"
    assert len(nodes) == len(set(nodes))


def test_the_citation_and_the_changelog_name_this_version():
    version = project()["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert (citation["version"], citation["license"]) == (version, project()["license"])
    assert {"title", "message", "authors"} <= set(citation)
    assert len({paper["title"] for paper in citation["references"]}) == 4
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_documentation_builder_is_pinned_within_what_is_declared():
    (declared,) = map(Requirement, project()["optional-dependencies"]["docs"])
    pins = dict(
        line.split("==")
        for line in (ROOT / "docs/requirements.txt").read_text().splitlines()
        if not line.startswith("#")
    )
    assert pins[declared.name] in declared.specifier


def test_hooks_need_nothing_but_the_environment():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert {repo["repo"] for repo in repos} == {"local"}
    for hook in repos[0]["hooks"]:
        assert hook["language"] == "system"
        program = hook["entry"].split()[0]
        assert shutil.which(program, path=str(Path(sys.executable).parent))
