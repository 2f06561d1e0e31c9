import doctest
import importlib
import pkgutil

import pytest

import isdp.subspace

MODULES = sorted(module.name for module in pkgutil.iter_modules(isdp.subspace.__path__))


@pytest.mark.parametrize("name", ["", *MODULES])
def test_the_examples_in_the_docstrings_hold(name):
    module = importlib.import_module(f"isdp.subspace.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def test_every_public_name_is_there_and_documented():
    for name in isdp.subspace.__all__:
        assert getattr(isdp.subspace, name).__doc__
