"""Modules of kernels as plain Python, so that a test can say what randomness they are given."""

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from tests import ROOT


def uncompiled(name: str) -> ModuleType:
    """Import a module of its own from the source of another, with nothing compiled."""
    path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(f"uncompiled.{name}", path)
    module = importlib.util.module_from_spec(spec)
    with patch("isdp.compiled.njit", _as_it_stands):
        spec.loader.exec_module(module)
    return module


def _as_it_stands(function=None, **_):
    return function or _as_it_stands


class Given:
    """A generator that hands out given numbers, in the order in which they are asked for.

    Parameters
    ----------
    uniforms, exponentials : iterable of float
    """

    def __init__(self, uniforms: Iterable[float] = (), exponentials: Iterable[float] = ()):
        self.uniforms = list(uniforms)
        self.exponentials = list(exponentials)

    def random(self) -> float:
        return self.uniforms.pop(0)

    def standard_exponential(self) -> float:
        return self.exponentials.pop(0)

    @property
    def spent(self) -> bool:
        """Whether all that was given has been asked for."""
        return not self.uniforms and not self.exponentials
