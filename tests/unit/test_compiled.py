"""Compiled code: what calls each other stands in one file, and an edit of it reaches every caller.

numba keeps compiled code by the file of the function that was called. A change in another file
whose functions were compiled in would be missed, so no compiled function may call one from there.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT

COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "intrinsic"}


def compiled_by(node: ast.AST) -> bool:
    """Whether a definition is compiled by numba."""
    return any(
        word.id in COMPILERS
        for decorator in getattr(node, "decorator_list", [])
        for word in ast.walk(decorator)
        if isinstance(word, ast.Name)
    )


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All of a file that names a compiler, and nothing of others."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in COMPILERS):
        return []
    return list(ast.walk(ast.parse(text)))


@cache
def compiled_in(path: Path) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef) and compiled_by(node)
    }


def imported_by(path: Path) -> set[str]:
    """Names that a file takes from others of the packages."""
    return {
        alias.asname or alias.name.split(".")[0]
        for node in nodes_of(path)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES))
        or isinstance(node, ast.Import)
        for alias in node.names
        if isinstance(node, ast.ImportFrom) or alias.name.startswith(PACKAGES)
    }


PACKAGES = ("isdp", "reproduction")


def calls_abroad(folder: Path) -> list[str]:
    """Compiled functions that use a compiled function, or anything at all, of another file."""
    return [
        f"{path.relative_to(folder)}: {name} uses {word.id}"
        for path in sorted(folder.rglob("*.py"))
        for taken in [imported_by(path)]
        for name, function in compiled_in(path).items()
        for word in ast.walk(function)
        if isinstance(word, ast.Name) and isinstance(word.ctx, ast.Load) and word.id in taken
    ]


def test_no_compiled_function_uses_one_of_another_file():
    assert sum(len(compiled_in(path)) for path in (ROOT / "src").rglob("*.py")) > 50
    assert calls_abroad(ROOT / "src") == []


def test_a_call_abroad_is_found(tmp_path):
    (tmp_path / "one.py").write_text("@njit(cache=True)\ndef rise(x):\n    return x\n")
    (tmp_path / "two.py").write_text(
        "from numba import njit\nfrom isdp.one import rise\nimport math\n\n"
        "@njit\ndef step(x):\n    return rise(math.sqrt(x))\n\n"
        "def plain(x):\n    return rise(x)\n"
    )
    assert calls_abroad(tmp_path) == ["two.py: step uses rise"]


# -- an edit reaches every caller -----------------------------------------------------------------

CALLERS = """
import json
import sys
import numpy as np
from isdp import GeneralizedLaplace, Invariants, Polytope
from isdp.lattice import kernel_lattice
from isdp.mcmc import IndependenceSampler, LatticeWalk, meeting_times, run_chains
from isdp.mcmc import coupling

def rng():
    return np.random.default_rng(1)

law, total = GeneralizedLaplace(0.3), Invariants.total(6)
found = {}
for acceptance in ("joint", "coordinate"):
    walk = LatticeWalk(kernel_lattice(total), law, 0.7, acceptance)
    found["run_chains " + acceptance] = run_chains(rng(), walk, draws=60, burn_in=20)[0]
    found["meeting_times " + acceptance] = meeting_times(rng(), walk, lag=3, runs=40).tau
    state, stream = coupling.start(walk, None, [9, -9, 0, 0, 0, 0]), rng()
    for _ in range(40):
        state, _ = coupling.step(stream, walk, state)
    found["coupling.step " + acceptance] = np.concatenate([state.first.noise, state.second.noise])
counts = np.full(6, 9)
room = Polytope.of_counts(total, counts).around(counts)
chain = IndependenceSampler(room, law, 0.2)
found["independence"] = run_chains(rng(), chain, draws=60, burn_in=20)[0]
json.dump({name: np.ravel(values).tolist() for name, values in found.items()}, sys.stdout)
"""


@pytest.fixture
def run_copy(tmp_path):
    """Run `CALLERS` on a copy of the library, with one cache of compiled code for all runs."""
    shutil.copytree(ROOT / "src" / "isdp", tmp_path / "src" / "isdp")
    folder = tmp_path / "cache"

    def run():
        done = subprocess.run(
            [sys.executable, "-c", CALLERS],
            env={
                **os.environ,
                "PYTHONPATH": str(tmp_path / "src"),
                "NUMBA_CACHE_DIR": str(folder),
                "NUMBA_OPT": "1",  # numba keeps no kernel with a generator compiled at 0
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    run.kernels = tmp_path / "src" / "isdp" / "mcmc" / "kernels.py"
    run.cache = folder
    return run


def test_an_edited_kernel_reaches_every_caller_past_a_warm_cache(run_copy):
    before = run_copy()
    compiled = set(run_copy.cache.rglob("*.nbc"))
    kept = {path.name.split("-")[0] for path in compiled}
    assert {"kernels.run_chain", "kernels.coupled_sweep", "kernels.run_independence"} <= kept
    assert run_copy() == before
    assert set(run_copy.cache.rglob("*.nbc")) == compiled  # the second run compiled nothing
    text = run_copy.kernels.read_text(encoding="utf-8")
    energy = "return rate * (math.sqrt"
    assert text.count(energy) == 1
    run_copy.kernels.write_text(text.replace(energy, "return 5.0 * rate * (math.sqrt"))
    after = run_copy()
    assert [name for name in before if before[name] == after[name]] == []
