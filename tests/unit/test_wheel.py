"""The wheel does its work with its hard dependencies alone, and gives pictures with the extra."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests import ROOT

HARD = {"numpy", "scipy", "numba", "python-flint", "pandas", "pyyaml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, folder], cwd=ROOT, check=True)
    (built,) = folder.iterdir()
    return built


def required(name, extra=""):
    """Packages that a package requires, with theirs."""
    found = {name}
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found |= required(requirement.name)
    return found


def needed_by(wheel, extra=""):
    """Packages that the wheel asks for by its own metadata."""
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith("METADATA"))
        lines = re.findall(r"^Requires-Dist: (.*)$", content.read(name).decode(), re.MULTILINE)
    wanted = map(Requirement, lines)
    return {r.name for r in wanted if r.marker is None or r.marker.evaluate({"extra": extra})}


class Environment:
    """A virtual environment with the wheel and nothing but what it asks for.

    The packages are links to those of the running environment, so that no index is asked.
    """

    def __init__(self, folder, wheel, extra=""):
        venv.create(folder, symlinks=True)
        self.bin = folder / "bin"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        for name in set().union(*map(required, needed_by(wheel, extra))):
            package = distribution(name)
            for entry in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
                (self.packages / entry).symlink_to(package.locate_file(entry))
        install = ["install", "--quiet", "--no-index", "--no-deps", wheel]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
        subprocess.run([*pip, self.bin / "python", *install], check=True)

    def run(self, program, *arguments, cwd):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        command = [self.bin / program, *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory, wheel):
    return Environment(tmp_path_factory.mktemp("plain"), wheel)


def test_the_wheel_holds_the_library_alone_and_asks_for_little(wheel):
    with zipfile.ZipFile(wheel) as content:
        folders = {name.split("/")[0] for name in content.namelist()}
    assert {re.sub("-.*[.]", ".", folder) for folder in folders} == {"isdp", "isdp.dist-info"}
    assert needed_by(wheel) == HARD
    assert needed_by(wheel, "plots") == HARD | {"matplotlib"}


def test_the_readmes_example_runs_without_an_extra(plain, tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    check = "import sys; print(sys.modules['isdp'].__file__, noise.shape)"
    file, shape = (
        plain.run("python", "-c", f"{example}\n{check}", cwd=tmp_path)
        .splitlines()[-1]
        .split(maxsplit=1)
    )
    assert plain.packages in Path(file).parents
    assert shape == "(1000, 16)"


EXAMPLE = ROOT / "docs/example"
COMMAND = ["privatize", EXAMPLE / "table.csv", "--invariants", EXAMPLE / "invariants.yaml"]


def test_the_command_runs_without_an_extra_and_says_that_there_is_no_picture(plain, tmp_path):
    spoken = plain.run("isdp", *COMMAND, "--epsilon", "0.25", cwd=tmp_path)
    assert "no picture: matplotlib is not installed (pip install 'isdp[plots]')" in spoken
    written = {path.name for path in (tmp_path / "noisy").iterdir()}
    tables = {"noisy.csv", "totals.csv", "margins.csv"}
    assert written == tables | {"certificate.json", "certificate.md"}


def test_a_picture_can_be_declined(plain, tmp_path):
    spoken = plain.run("isdp", *COMMAND, "--epsilon", "0.25", "--no-picture", cwd=tmp_path)
    assert "picture" not in spoken


def test_a_markov_chain_says_which_extra_it_lacks(plain, tmp_path):
    program = (
        "import numpy as np; from isdp.privatize.draw import _agreement; "
        "from isdp import InputError\n"
        "try: _agreement(np.random.default_rng(1).normal(size=(4, 9, 2)))\n"
        "except InputError as error: print(error)"
    )
    assert "pip install 'isdp[diagnostics]'" in plain.run("python", "-c", program, cwd=tmp_path)


def test_with_the_extra_there_is_a_picture(tmp_path_factory, wheel, tmp_path):
    pictured = Environment(tmp_path_factory.mktemp("pictured"), wheel, "plots")
    spoken = pictured.run("isdp", *COMMAND, "--epsilon", "0.25", cwd=tmp_path)
    assert "picture" not in spoken
    written = {path.name for path in (tmp_path / "noisy").iterdir()}
    assert {"noisy.svg", "noisy.png"} < written


def test_what_is_no_hard_dependency_is_not_there(plain, tmp_path):
    tried = "from importlib.util import find_spec; print([n for n in {} if find_spec(n)])"
    extras = [
        "pip",
        "matplotlib",
        "seaborn",
        "arviz",
        "arviz_stats",
        "xarray",
        "jinja2",
        "tabulate",
        "snakemake",
    ]
    assert plain.run("python", "-c", tried.format(extras), cwd=tmp_path) == "[]\n"
