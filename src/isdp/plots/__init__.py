"""Figures of noise, distributions and errors; they need the extra `plots`."""

from importlib.util import find_spec


def can_draw() -> bool:
    """Return true if matplotlib, of the extra `plots`, is installed."""
    return find_spec("matplotlib") is not None
