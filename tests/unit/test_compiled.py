"""Compiled code is kept by the file that it stands in, so it must take nothing from another."""

import ast

import pytest

from tests import ROOT

COMPILED = sorted(path for path in (ROOT / "src/isdp").rglob("*.py") if "njit" in path.read_text())


def compiled_functions(tree):
    return [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("njit" in ast.dump(decorator) for decorator in node.decorator_list)
    ]


def taken_from_elsewhere(tree):
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "isdp"
        for alias in node.names
    }


def names_in(function):
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_compiled_code_takes_nothing_from_another_file(path):
    tree = ast.parse(path.read_text())
    elsewhere = taken_from_elsewhere(tree)
    for function in compiled_functions(tree):
        assert not names_in(function) & elsewhere, function.name


def test_such_a_name_would_be_seen():
    tree = ast.parse("from isdp.a import K\n@njit(cache=True)\ndef f(x):\n    return K * x")
    assert taken_from_elsewhere(tree) & names_in(compiled_functions(tree)[0]) == {"K"}


def test_the_files_with_compiled_code_are_found():
    names = {path.relative_to(ROOT / "src/isdp").as_posix() for path in COMPILED}
    assert {"mcmc/kernels.py", "exact/kernels.py", "exact/messages/loops.py"} <= names
