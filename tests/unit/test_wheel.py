"""Both distributions hold what they should; the wheel works with its hard dependencies alone."""

import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

import isdp
from isdp.io.certificate import DOCUMENTS
from tests import ROOT

HARD = {"numpy", "scipy", "numba", "python-flint", "pandas", "pyyaml", "jinja2", "tqdm"}


def built(kind, source, folder):
    """Build a wheel or an sdist of a folder of sources, as pip would have it built."""
    folder.mkdir()
    program = f"import sys; from flit_core.buildapi import *; build_{kind}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, folder], cwd=source, check=True)
    (distribution,) = folder.iterdir()
    return distribution


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel") / "built")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The folder that the source distribution unpacks to."""
    folder = tmp_path_factory.mktemp("sdist")
    archive = built("sdist", ROOT, folder / "built")
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", folder], check=True)
    return folder / f"isdp-{isdp.__version__}"


def contents(wheel):
    """Text by name, but for the list of hashes."""
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        return {name: content.read(name) for name in names if not name.endswith("RECORD")}


def required(name, extra=""):
    """Packages that a package requires, with theirs."""
    found = {name}
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found |= required(requirement.name)
    return found


def metadata(wheel):
    """What the wheel says of itself; refused where it is not as an index wants it."""
    (text,) = (text for name, text in contents(wheel).items() if name.endswith("/METADATA"))
    return Metadata.from_email(text)


def needed_by(wheel, extra=""):
    """Packages that the wheel asks for by its own metadata."""
    wanted = metadata(wheel).requires_dist
    return {r.name for r in wanted if r.marker is None or r.marker.evaluate({"extra": extra})}


def link(folder, names):
    """Put packages and theirs into a folder: links to those of the running environment."""
    for name in set().union(*map(required, names)):
        package = distribution(name)
        for entry in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            (folder / entry).symlink_to(package.locate_file(entry))


class Environment:
    """A virtual environment with the wheel and nothing but what it asks for.

    No index is asked: see `link`.
    """

    def __init__(self, folder, wheel):
        venv.create(folder, symlinks=True)
        self.bin = folder / "bin"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        link(self.packages, needed_by(wheel))
        install = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
        subprocess.run([*pip, self.bin / "python", *install], check=True)
        self.compiled = folder / "compiled"

    def run(self, program, *arguments, cwd, status=0, **variables):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        kept["NUMBA_CACHE_DIR"] = str(self.compiled)
        command = [self.bin / program, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=cwd, env=kept | variables, capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        assert (done.stderr == "") == (status == 0)
        return done.stdout or done.stderr


@pytest.fixture(scope="module")
def plain(tmp_path_factory, wheel):
    return Environment(tmp_path_factory.mktemp("plain"), wheel)


def test_the_wheel_holds_the_library_alone_and_asks_for_little(wheel):
    files = (ROOT / "src/isdp").rglob("*.*")
    sources = [path for path in files if path.suffix in (".py", ".jinja", ".typed")]
    modules = {name for name in contents(wheel) if ".dist-info/" not in name}
    assert modules == {str(path.relative_to(ROOT / "src")) for path in sources}
    assert needed_by(wheel) == HARD
    assert needed_by(wheel, "plots") == HARD | {"matplotlib"}


def test_the_source_distribution_gives_the_same_wheel_and_holds_nothing_else(wheel, sdist):
    assert contents(built("wheel", sdist, sdist.parent / "wheel")) == contents(wheel)
    files = {str(path.relative_to(sdist)) for path in sdist.rglob("*") if path.is_file()}
    pages = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
    outside = {name for name in files if not name.startswith("src/isdp/")}
    assert outside == pages | {"pyproject.toml", "PKG-INFO"}


EXAMPLE = ROOT / "docs/example"
COMMAND = ["privatize", EXAMPLE / "table.csv", "--invariants", EXAMPLE / "invariants.yaml"]


def test_the_command_runs_without_an_extra_and_says_that_there_is_no_picture(plain, tmp_path):
    spoken = plain.run("isdp", *COMMAND, "--epsilon", "0.25", cwd=tmp_path)
    assert "isdp[plots]" in spoken
    written = {path.name for path in (tmp_path / "noisy").iterdir()}
    tables = {"noisy.csv", "totals.csv", "margins.csv", "margins_full.csv"}
    assert written == tables | set(DOCUMENTS)


def test_a_markov_chain_says_which_extra_it_lacks(plain, tmp_path):
    cells = "".join(f"{i // 10},{i % 10},{9 + i % 7}\n" for i in range(100))
    (tmp_path / "table.csv").write_text("a,b,count\n" + cells)
    (tmp_path / "rules.yaml").write_text("totals: [a, b]")
    options = ["--epsilon", "0.25", "--seed", "1", "--allow-mcmc"]
    command = ["privatize", "table.csv", "--invariants", "rules.yaml", *options]
    assert "isdp[diagnostics]" in plain.run("isdp", *command, cwd=tmp_path, status=2)


def test_with_the_extra_there_is_a_picture(plain, wheel, tmp_path_factory, tmp_path):
    extra = tmp_path_factory.mktemp("extra")
    link(extra, needed_by(wheel, "plots") - needed_by(wheel))
    spoken = plain.run("isdp", *COMMAND, "--epsilon", "0.25", cwd=tmp_path, PYTHONPATH=str(extra))
    assert "picture" not in spoken
    written = {path.name for path in (tmp_path / "noisy").iterdir()}
    assert {"noisy.svg", "noisy.png"} < written
