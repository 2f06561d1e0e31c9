"""pyproject.toml, requirements.lock and environment.yml name the same packages and versions."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]


def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["dev"]
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def locked():
    text = (ROOT / "requirements.lock").read_text()
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", text, re.MULTILINE)
    versions = {}
    for name, version in pins:
        versions.setdefault(canonicalize_name(name), set()).add(Version(version))
    return versions


def conda():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = dict(entry.split("=") for entry in entries if "=" in entry)
    assert pins.pop("python") in {"3.11", "3.12", "3.13"}
    return {canonicalize_name(name): Version(version) for name, version in pins.items()}


def test_environment_names_what_pyproject_declares():
    assert sorted(conda()) == sorted(declared())


def test_environment_pins_what_the_lock_pins():
    lock = locked()
    assert {name: {version} for name, version in conda().items()} == {
        name: lock[name] for name in conda()
    }


def test_the_pins_fit_the_declared_ranges():
    for name, version in conda().items():
        assert version in declared()[name], name


def test_the_lock_has_hashes_and_no_address():
    text = (ROOT / "requirements.lock").read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 100
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "index" not in re.sub(r"^[A-Za-z0-9._-]+==.*$", "", text, flags=re.MULTILINE)
