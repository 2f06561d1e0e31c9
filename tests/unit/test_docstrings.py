"""The examples in the library's docstrings hold."""

import doctest
from importlib import import_module

import pytest

from tests import ROOT

SOURCES = ROOT / "src"
MODULES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((SOURCES / "isdp").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
