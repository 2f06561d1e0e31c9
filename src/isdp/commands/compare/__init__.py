"""The implementation of `isdp compare`."""

from isdp.commands.compare.run import Comparison, compare

__all__ = ["Comparison", "compare"]
