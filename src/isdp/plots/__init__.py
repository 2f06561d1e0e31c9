"""Figures of noise, distributions and errors, which need the extra `plots`."""

from importlib.util import find_spec


def can_draw() -> bool:
    """Return True if matplotlib is installed."""
    return find_spec("matplotlib") is not None
