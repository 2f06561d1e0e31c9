"""What Snakemake imports at every start, and in every job, is light."""

import ast
import re
import subprocess
import sys

from tests import ROOT

HEAVY = {"arviz", "matplotlib", "numba", "scipy", "seaborn", "xarray"}
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow/rules").rglob("*.smk"))]
IMPORT = re.compile(r"^(?:from \S+ )?import (?:\([^)]*\)|.*)$", re.MULTILINE)


def printed(statements):
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(statements)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    return done.stdout


def loaded(statements):
    return set(printed([*statements, "import sys", "print(*sys.modules)"]).split())


def test_the_rules_load_nothing_heavy():
    statements = [found for path in RULES for found in IMPORT.findall(path.read_text())]
    assert len(statements) > 20
    for statement in statements:
        ast.parse(statement)
    found = loaded(statements)
    assert "reproduction" in found
    assert found & HEAVY == set()


def test_what_is_heavy_is_seen():
    assert "scipy" in loaded(["import scipy"])  # the lightest of them


def test_tables_and_figures_load_no_compiled_code():
    modules = (
        *("comparison.tables", "counties.experiment", "exactness.experiment", "lattices.noise"),
        *("lattices.convergence", "swapping.figures", "topdown.systems"),
    )
    assert "numba" not in loaded([f"import reproduction.{module}" for module in modules])


JOB = "from reproduction.running.jobs import job_log"


def test_a_job_loads_nothing_of_numpy_that_nobody_uses():
    found = loaded([JOB, "import reproduction.topdown.systems"])
    assert "scipy.sparse" in found
    assert {"numpy.f2py.crackfortran", "numpy.testing._private"} & found == set()


def test_a_job_seldom_looks_for_garbage():
    objects = int(printed([JOB, "import gc", "print(gc.get_threshold()[0])"]))
    assert objects > 10_000
