"""The ways into the workflow: two Snakefiles, from any folder, as a module; and conda."""

import os
import re
import shutil
import stat
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml

from tests.workflow.conftest import PATIENCE, SMALL, merged

MODULE = ".tests/integration/Snakefile"


def run_in(folder, checkout, *arguments):
    """Run Snakemake in a folder that has its settings in mine.yaml."""
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--configfile", "mine.yaml", *arguments],
        cwd=folder,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def planned(checkout, folder, *arguments):
    """The number of jobs of each rule in a dry run; targets alone are left out."""
    done = run_in(folder, checkout, *arguments, "--cores", "1", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    stats = (done.stdout + done.stderr).split("Job stats:")[1].split("total")[0]
    counts = dict(re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE))
    return {rule: n for rule, n in counts.items() if rule not in {"all", "default", "own"}}


@pytest.fixture
def elsewhere(checkout, tmp_path_factory):
    """A working directory outside the checkout; what the config names of one's own is absolute."""
    folder = tmp_path_factory.mktemp("elsewhere")
    files = {"congenial": {"sex_by_age": {"file": str(checkout.folder / "p12.csv")}}}
    for place in (folder, checkout.folder):
        (place / "mine.yaml").write_text(yaml.safe_dump(merged(SMALL, files)))
    return folder


def test_every_entry_plans_the_same_jobs(checkout, elsewhere):
    expected = planned(checkout, checkout.folder)
    assert {"couple_chains", "build_front_page", "build_report"} <= set(expected)
    inner = checkout.folder / "workflow/Snakefile"
    assert planned(checkout, checkout.folder, "--snakefile", "workflow/Snakefile") == expected
    outer = str(checkout.folder / "Snakefile")
    assert planned(checkout, elsewhere, "--snakefile", outer) == expected
    assert planned(checkout, elsewhere, "--snakefile", str(inner)) == expected
    assert planned(checkout, elsewhere, "--snakefile", str(checkout.folder / MODULE)) == expected


@pytest.mark.parametrize("entry", ["workflow/Snakefile", MODULE])
def test_a_run_in_another_folder_reads_the_tables_of_the_checkout_and_writes_there(
    checkout, elsewhere, entry
):
    snakefile = str(checkout.folder / entry)
    goal = "results/tables/states.csv"
    done = run_in(elsewhere, checkout, "--snakefile", snakefile, "--cores", "1", goal)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (elsewhere / "results/tables/states.csv").is_file()
    assert not (checkout.folder / "results/tables").exists()


# a stand-in for conda, with an environment that has the packages of this one
CONDA = """\
#!{python}
import json, os, pathlib, shutil, sys
words = sys.argv[1:]
if words == ["info", "--json"]:
    print(json.dumps({{"conda_prefix": {prefix!r}, "platform": "linux-64"}}))
elif words == ["--version"]:
    print("conda 25.1.0")
elif words[0] == "config":
    print(json.dumps({{"get": {{"channel_priority": "strict"}}}}))
elif words[:2] == ["env", "create"]:
    place = words[words.index("--prefix") + 1]
    shutil.copytree({environment!r}, place, symlinks=True, dirs_exist_ok=True)
    shutil.copy(words[words.index("--file") + 1], {prefix!r})
elif words[0] not in ("clean", "list"):
    sys.exit(f"not expected: {{words}}")
"""


@pytest.fixture
def conda(tmp_path_factory):
    """A folder of programs with a stand-in for conda, and its prefix."""
    prefix = tmp_path_factory.mktemp("conda")
    environment = prefix / "environment"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # what is installed here, but not what an editable install adds to the path
    installed = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "installed.pth").write_text("\n".join(installed) + "\n")
    (prefix / "bin").mkdir()
    program = prefix / "bin/conda"
    text = CONDA.format(python=sys.executable, prefix=str(prefix), environment=str(environment))
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (prefix / "bin/activate").write_text('export CONDA_PREFIX="$1" PATH="$1/bin:$PATH"\n')
    return prefix


def test_a_job_in_an_environment_of_conda_finds_the_packages_of_the_checkout(checkout, conda):
    if shutil.which("bash") is None:
        pytest.skip("Snakemake activates conda's environments with bash")
    script = checkout.folder / "workflow/scripts/counties/select_states.py"
    note = "import isdp, os, pathlib\npathlib.Path('job.txt').write_text(f'{isdp.__file__}\\n"
    script.write_text(note + '{os.environ["CONDA_PREFIX"]}\')\n' + script.read_text())
    search = os.pathsep.join([str(conda / "bin"), os.environ["PATH"]])
    environment = checkout.environment(PATH=search)
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        checkout.command(
            *("--cores", "1", "--software-deployment-method", "conda"),
            *("--", "results/tables/states.csv"),
        ),
        cwd=checkout.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    module, prefix = (checkout.folder / "job.txt").read_text().split()
    assert Path(module).is_relative_to((checkout.folder / "src").resolve())
    assert Path(prefix).is_relative_to(checkout.folder / ".snakemake/conda")
    (given,) = (path for path in conda.iterdir() if path.suffix == ".yaml")
    assert given.read_text() == (checkout.folder / "workflow/envs/isdp.yaml").read_text()
