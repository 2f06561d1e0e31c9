"""Names of version 0.2 are refused with their new names, which exist."""

import importlib
import pkgutil
import re

import pytest

from isdp.removed_names import RENAMED


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_is_refused_with_the_new_one(old):
    package, _, name = old.rpartition(".")
    with pytest.raises(ImportError, match=re.escape(RENAMED[old])):
        getattr(importlib.import_module(package), name)
    assert pkgutil.resolve_name(RENAMED[old].partition("(")[0])


def test_other_names_are_missing_as_usual():
    for package in {old.rpartition(".")[0] for old in RENAMED}:
        assert not hasattr(importlib.import_module(package), "nonsense")
