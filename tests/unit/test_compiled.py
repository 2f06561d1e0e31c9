"""Compiled code follows an edit of the sources, and works without a place to keep it."""

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT

COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "intrinsic"}
PACKAGES = ("isdp", "reproduction")


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


def taken_from_plain_files(path: Path, sources: Path) -> set[str]:
    """Names that a file imports from files of the packages that the digest does not cover."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES):
            origin = sources.joinpath(*node.module.split(".")).with_suffix(".py")
            if not (origin.is_file() and compiled_in(origin)):
                names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            whole = [alias for alias in node.names if alias.name.startswith(PACKAGES)]
            names |= {alias.asname or alias.name.split(".")[0] for alias in whole}
    return names - COMPILERS


def uncovered_uses(sources: Path) -> list[str]:
    """Uses, in compiled functions, of names that the digest of compiled files does not cover."""
    return [
        f"{path.relative_to(sources)}: {name} uses {word.id}"
        for path in sorted(sources.rglob("*.py"))
        for taken in [taken_from_plain_files(path, sources)]
        for name, function in compiled_in(path).items()
        for part in [*function.body, *function.args.defaults]  # annotations are not compiled
        for word in ast.walk(part)
        if isinstance(word, ast.Name) and isinstance(word.ctx, ast.Load) and word.id in taken
    ]


def test_compiled_functions_use_only_files_that_the_digest_covers():
    assert sum(len(compiled_in(path)) for path in (ROOT / "src").rglob("*.py")) > 50
    assert uncovered_uses(ROOT / "src") == []


def test_no_function_is_compiled_past_the_cache_of_the_library():
    taken = {
        f"{path.relative_to(ROOT)}: {alias.name}"
        for path in (ROOT / "src").rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba")
        for alias in node.names
        if alias.name in COMPILERS - {"intrinsic"}
    }
    assert taken == set()


# -- an edit reaches every caller -----------------------------------------------------------------

CALL = """
from isdp import toy_caller
value = toy_caller.step(1)
stats = toy_caller.step.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), stats.cache_path)
"""


@pytest.fixture
def copied(tmp_path):
    """A copy of the library with a compiled helper, and a compiled caller in another file."""
    shutil.copytree(
        ROOT / "src/isdp", tmp_path / "isdp", ignore=shutil.ignore_patterns("__pycache__")
    )
    head = "from isdp.compiled import njit\n"
    (tmp_path / "isdp/toy_helper.py").write_text(head + "\n@njit\ndef rise(x):\n    return x + 1\n")
    (tmp_path / "isdp/toy_caller.py").write_text(
        head + "from isdp.toy_helper import rise\n\n@njit\ndef step(x):\n    return 10 * rise(x)\n"
    )
    return tmp_path


def call(folder, **variables):
    """Call `step` in a process of its own: value, cache hits, cache misses and cache folder."""
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder / "home"), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    value, hits, misses, *place = done.stdout.split()
    return int(value), int(hits), int(misses), Path(*place)


def test_an_edited_helper_reaches_a_caller_in_another_file_past_a_warm_cache(copied):
    assert call(copied)[:3] == (20, 0, 1)
    assert call(copied)[:3] == (20, 1, 0)
    helper = copied / "isdp/toy_helper.py"
    helper.write_text(helper.read_text().replace("x + 1", "x + 2"))
    assert call(copied)[:3] == (30, 0, 1)


def test_compiled_code_is_kept_where_the_user_says(copied):
    *_, place = call(copied, NUMBA_CACHE_DIR=str(copied / "mine"))
    assert place.is_relative_to(copied / "mine")
    assert not (copied / "home").exists()


def test_without_a_writable_folder_the_library_compiles_and_keeps_nothing(copied):
    value, hits, *_ = call(copied, NUMBA_CACHE_DIR="/dev/null/none")
    assert (value, hits) == (20, 0)
    assert not (copied / "isdp/__pycache__").exists() or not list(
        (copied / "isdp/__pycache__").glob("*.nbi")
    )
