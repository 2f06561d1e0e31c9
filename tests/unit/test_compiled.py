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
import shutil
import sys
import numpy as np
from numba.core import event
from isdp import GeneralizedLaplace, Invariants, Polytope
from isdp.lattice import kernel_lattice
from isdp.mcmc import IndependenceSampler, LatticeWalk, meeting_times, run_chains
from isdp.mcmc import coupling, kernels

class Compiles(Exception):
    pass

class Refusal(event.Listener):
    def on_start(self, event):
        raise Compiles

    def on_end(self, event):
        pass

def rng():
    return np.random.default_rng(1)

def steps(walk):
    state, stream = coupling.start(walk, None, [9, -9, 0, 0, 0, 0]), rng()
    for _ in range(40):
        state, _ = coupling.step(stream, walk, state)
    return np.concatenate([state.first.noise, state.second.noise])

def outcome(call):
    try:
        return np.ravel(call()).tolist()
    except Compiles:
        return "compiles"

folder = kernels.run_chain.stats.cache_path
if len(sys.argv) > 1:  # code that is compiled already; nothing more may be
    unfinished = shutil.ignore_patterns("*.tmp.*")  # another process may be at it
    shutil.copytree(sys.argv[1], folder, ignore=unfinished, dirs_exist_ok=True)
    event.register("numba:compile", Refusal())
law, total = GeneralizedLaplace(0.3), Invariants.total(6)
found = {}
for acceptance in ("joint", "coordinate"):
    walk = LatticeWalk(kernel_lattice(total), law, 0.7, acceptance)
    found["run_chains " + acceptance] = outcome(
        lambda: run_chains(rng(), walk, draws=60, burn_in=20)[0]
    )
    found["meeting_times " + acceptance] = outcome(
        lambda: meeting_times(rng(), walk, lag=3, runs=40).tau
    )
    found["coupling.step " + acceptance] = outcome(lambda: steps(walk))
counts = np.full(6, 9)
room = Polytope.of_counts(total, counts).around(counts)
chain = IndependenceSampler(room, law, 0.2)
found["independence"] = outcome(lambda: run_chains(rng(), chain, draws=60, burn_in=20)[0])
json.dump([folder, found], sys.stdout)
"""


def call_all(sources, **variables):
    """Run `CALLERS`: where its compiled code is kept, and what each caller finds."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", CALLERS, *arguments],
            env=os.environ | {"PYTHONPATH": str(sources)} | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return run


def test_an_edited_kernel_reaches_every_caller_past_a_warm_cache(tmp_path):
    compiled, before = call_all(ROOT / "src")()
    assert "compiles" not in before.values()
    # numba keeps code for a file by its place and its time, so that copies can have it too
    shutil.copytree(ROOT / "src" / "isdp", tmp_path / "src" / "isdp")
    call_copy = call_all(tmp_path / "src", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    folder, found = call_copy(compiled)
    assert Path(folder).is_relative_to(tmp_path)
    assert found == before  # and nothing was compiled
    kernels = tmp_path / "src" / "isdp" / "mcmc" / "kernels.py"
    text = kernels.read_text(encoding="utf-8")
    energy = "return rate * (math.sqrt"
    assert text.count(energy) == 1
    kernels.write_text(text.replace(energy, "return 5.0 * rate * (math.sqrt"))
    assert call_copy(compiled)[1] == dict.fromkeys(before, "compiles")
