"""Checks of the numbers that the mechanisms of this package are given."""

from __future__ import annotations

import math
from numbers import Integral, Real

from isdp.errors import InputError

RELATIONS = ("replace", "add-remove")
SMALLEST, LARGEST = 1e-100, 1e100  # beyond, a scale or its square leaves floating point


def positive(name: str, value) -> float:
    """Return a positive number of a workable size as a float, else raise `InputError`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
        raise InputError(f"subspace: {name} must be a positive number, got {value!r}")
    if not SMALLEST <= value <= LARGEST:
        raise InputError(f"subspace: {name} must lie between {SMALLEST:g} and {LARGEST:g}")
    return float(value)


def share(name: str, value) -> float:
    """Return a number strictly between 0 and 1 as a float, else raise `InputError`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise InputError(f"subspace: {name} must lie between 0 and 1, got {value!r}")
    return float(value)


def count(name: str, value, least: int = 0) -> int:
    """Return a whole number from `least` up, else raise `InputError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"subspace: {name} must be a whole number from {least} up, got {value!r}")
    return int(value)


def one_of(name: str, value, known) -> str:
    """Return `value` if it is among the known words, else raise `InputError`."""
    if value not in known:
        raise InputError(
            f"subspace: {name} must be one of {', '.join(map(str, known))}, got {value!r}"
        )
    return value
