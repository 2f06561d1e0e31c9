"""The digests that rerun jobs cover the modules that the scripts of the rules import."""

import ast
import re

import pytest

from reproduction.jobs import sources
from reproduction.jobs.sources import PRESENTATION_SUFFIXES, SHARED_MODULES, STUDIES_OF
from tests import ROOT

STUDIES = (
    *("comparison", "congenial", "counties", "exactness", "lattices"),
    *("national", "nested", "review", "subspace", "swapping", "topdown"),
)
# settings and pages take these
NO_NUMBERS = {"claims", "config", "descriptions", "figures", "origin"}
NO_NUMBERS |= {"scenarios", "settings", "yaml_files"}
RULES = "\n".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))


def imported(path):
    """Dotted names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def studies_in(names):
    return {name.split(".")[1] for name in names if name.startswith("reproduction.")} & {*STUDIES}


def presents(name):
    """Whether an imported name is of a module that draws, describes or judges."""
    package, *rest = name.split(".")
    if package == "isdp":
        return rest[:1] == ["plots"]
    drawn = any(part.endswith(PRESENTATION_SUFFIXES) for part in rest[1:2])
    return package == "reproduction" and rest[0] != "jobs" and drawn


def modules(study):
    return sorted((ROOT / "src/reproduction" / study).rglob("*.py"))


@pytest.mark.parametrize("study", STUDIES)
def test_the_table_names_the_studies_that_a_study_imports(study):
    found = {other for path in modules(study) for other in studies_in(imported(path))} - {study}
    assert found <= {*STUDIES_OF.get(study, ())}


@pytest.mark.parametrize("study", [*STUDIES_OF])
def test_the_table_names_the_studies_behind_those(study):
    behind = {other for each in STUDIES_OF[study] for other in STUDIES_OF.get(each, ())}
    assert behind <= {*STUDIES_OF[study]}


@pytest.mark.parametrize("study", sorted({*STUDIES} - {"review"}))
def test_modules_that_compute_import_none_that_draws(study):
    found = {
        f"{path.name}: {name}"
        for path in modules(study)
        if not path.stem.endswith(PRESENTATION_SUFFIXES)
        for name in imported(path)
        if presents(name)
    }
    assert found == set()


def test_the_library_that_computes_imports_none_that_draws():
    library = ROOT / "src/isdp"
    apart = {f"isdp.{name}" for name in sources.EXCLUDED_PACKAGES}
    # what commands draw, no study uses
    others = {*sources.EXCLUDED_PACKAGES, "compare", "__init__.py", "__main__.py"}
    found = {
        f"{path.relative_to(library)}: {name}"
        for path in library.rglob("*.py")
        if path.relative_to(library).parts[0] not in others
        for name in imported(path)
        if ".".join(name.split(".")[:2]) in apart
    }
    assert found == set()


def test_all_that_studies_share_is_in_every_digest():
    kept = {name.removeprefix("jobs/").removesuffix(".py") for name in SHARED_MODULES}
    taken = {
        name.split(".")[2]
        for path in (ROOT / "workflow/scripts").rglob("*.py")
        for name in imported(path)
        if name.startswith("reproduction.jobs.")
    }
    taken |= {
        name.split(".")[2]
        for study in {*STUDIES} - {"review"}
        for path in modules(study)
        for name in imported(path)
        if name.startswith("reproduction.jobs.")
    }
    assert "draws" in taken
    assert taken - kept <= NO_NUMBERS


def test_every_rule_takes_the_digest_that_its_script_needs():
    pattern = (
        r'sources=(code|presentation)\(([^)]*)\),(?:(?!\n(?:use )?rule ).)*?"\.\./scripts/([^"]+)"'
    )
    found = re.findall(pattern, RULES, re.DOTALL)
    scripts = {
        script: (kind, set(re.findall(r'"(\w+)"', studies))) for kind, studies, script in found
    }
    assert len(scripts) > 45
    unmarked = set(re.findall(r'"\.\./scripts/([^"]+)"', RULES)) - {*scripts}
    assert unmarked == {"review/render_tables.py"}  # the rules that use it have each a digest
    users = re.findall(r"use rule render_tables as (\w+) with:(.*?)\n\n\n", RULES, re.DOTALL)
    assert len(users) > 7
    for name, body in users:
        assert re.search(r'sources=presentation\(.*"review"', body), name
    for script, (kind, studies) in scripts.items():
        names = set(imported(ROOT / "workflow/scripts" / script))
        covered = studies | {other for each in studies for other in STUDIES_OF.get(each, ())}
        assert studies_in(names) <= covered, script
        assert kind == "presentation" or not any(map(presents, names)), script
