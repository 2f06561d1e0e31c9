"""pyproject.toml, the locks and environment.yml name the same packages and versions."""

import ast
import re
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import isdp
from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

LINUX = {"sys_platform": "linux", "platform_machine": "x86_64", "python_full_version": "3.11.7"}
INTEL_MAC = LINUX | {"sys_platform": "darwin"}


def applies(requirement, machine):
    return requirement.marker is None or requirement.marker.evaluate(machine)


def specifiers(lines, machine=LINUX):
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r.specifier for r in requirements if applies(r, machine)}


def declarations():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def project():
    return declarations()["project"]


def declared(machine=LINUX):
    """All that the workflow, its development and the extras need; three extras are set up apart."""
    extras = project()["optional-dependencies"]
    apart = {"docs", "slurm", "notebooks"}
    assert apart < set(extras)
    lines = [line for name, lines in extras.items() if name not in apart for line in lines]
    lines += declarations()["dependency-groups"]["dev"]
    found = specifiers(project()["dependencies"] + lines, machine)
    del found["isdp"]  # the extra `workflow` takes others in
    return found


def locked(machine=LINUX, lock="requirements-dev.lock"):
    text = (ROOT / lock).read_text()
    lines = re.findall(r"^([A-Za-z0-9].*?) \\$", text, re.MULTILINE)
    pins = [r for r in map(Requirement, lines) if applies(r, machine)]
    return {canonicalize_name(r.name): Version(str(r.specifier)[2:]) for r in pins}


def imported(folder):
    """Names of the modules from elsewhere that the sources of a folder import, up to the dot."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def conda():
    entries = read_yaml(ROOT / "environment.yml")["dependencies"]
    (by_pip,) = (entry["pip"] for entry in entries if isinstance(entry, dict))
    pins = dict(entry.split("=") for entry in entries if isinstance(entry, str) and "=" in entry)
    pins |= dict(entry.split("==") for entry in by_pip)
    assert pins.pop("python") in {"3.11", "3.12", "3.13"}
    return {canonicalize_name(name): Version(version) for name, version in pins.items()}


def of_jobs():
    """Pins of the conda environment in which the workflow's jobs run."""
    entries = read_yaml(ROOT / "workflow/envs/isdp.yaml")["dependencies"]
    pins = dict(entry.split("=") for entry in entries)
    return {canonicalize_name(name): version for name, version in pins.items()}


def interactive():
    """What opens notebooks for people; in conda's environment, and not in the lock."""
    return specifiers(project()["optional-dependencies"]["notebooks"])


def test_environment_names_what_pyproject_declares():
    assert sorted(conda()) == sorted([*declared(), *interactive()])


def test_environment_pins_what_the_lock_pins():
    lock, pins = locked(), conda()
    for name, versions in interactive().items():
        assert pins.pop(name) in versions
    assert pins == {name: lock[name] for name in pins}


def test_the_environment_of_the_jobs_has_what_the_workflow_needs_at_the_same_versions():
    extras = project()["optional-dependencies"]
    needed = [
        line for name in ("plots", "diagnostics", "draws", "workflow") for line in extras[name]
    ]
    jobs = of_jobs()
    versions = jobs.pop("python")
    assert sorted(jobs) == sorted({*specifiers(project()["dependencies"] + needed)} - {"isdp"})
    assert {name: Version(version) for name, version in jobs.items()} == {
        name: conda()[name] for name in jobs
    }
    whole = (ROOT / "environment.yml").read_text()
    assert f"- python={versions}\n" in whole


@pytest.mark.parametrize("machine", [LINUX, INTEL_MAC])
def test_the_lock_fits_the_declared_ranges(machine):
    lock = locked(machine)
    for name, versions in declared(machine).items():
        assert lock[name] in versions, name


def test_ci_tests_the_lowest_versions_that_the_library_allows():
    lines = (ROOT / ".github/lowest.txt").read_text().splitlines()
    lowest = [line.replace("==", ">=") for line in lines if not line.startswith("#")]
    required = specifiers(project()["dependencies"])
    assert specifiers(lowest) == required


def test_a_recipe_of_conda_asks_for_what_the_package_asks_for():
    recipe = read_yaml(ROOT / "conda/recipe.yaml")
    required = specifiers(project()["dependencies"])
    run = [Requirement(line.replace(" ", "")) for line in recipe["requirements"]["run"]]
    found = {canonicalize_name(r.name): r.specifier for r in run if r.name != "python"}
    assert found == required
    (python,) = (str(r.specifier) for r in run if r.name == "python")
    assert python == project()["requires-python"]
    assert recipe["about"]["license"] == project()["license"]
    assert recipe["context"]["version"] == isdp.__version__


def test_the_lock_of_a_run_is_a_part_of_the_lock_for_development():
    assert locked(lock="requirements.lock").items() < locked().items()


def test_the_lock_of_the_cluster_plugin_has_it_and_nothing_else():
    lock = locked(lock="requirements-slurm.lock")
    versions = specifiers(project()["optional-dependencies"]["slurm"])
    assert sorted(lock) == sorted(versions)
    assert all(lock[name] in versions[name] for name in lock)


@pytest.mark.parametrize("folder", ["src", "tests", "workflow"])
def test_what_is_imported_is_declared(folder):
    ours = {"isdp", "reproduction", "tests", "benchmarks"}
    # numba and pydantic bring the versions that fit them; `make mutants` sets up cosmic-ray apart
    others = {"llvmlite", "pydantic_core", "cosmic_ray"}
    providers = packages_distributions()
    undeclared = {
        name
        for name in imported(folder) - ours - others
        if declared().keys().isdisjoint(map(canonicalize_name, providers.get(name, [name])))
    }
    assert undeclared == set()


def test_an_image_takes_in_nothing_that_git_leaves_out():
    ignored, left_out = (
        [line.strip("/") for line in (ROOT / name).read_text().splitlines()]
        for name in (".gitignore", ".dockerignore")
    )
    left_out = [pattern.removeprefix("**/") for pattern in left_out]
    kept = [name for name in ignored if not any(fnmatch(name, each) for each in left_out)]
    assert kept == ["!/results/README.md"]


def test_biased_samplers_of_opendp_are_left_out():
    """Releases before 0.14.2 have a bias that was corrected there."""
    wanted = declared()["opendp"]
    assert not wanted.contains("0.14.1")
    assert wanted.contains("0.14.2")
