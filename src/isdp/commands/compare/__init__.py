"""`isdp compare`: the errors of every system on a table and totals of the user."""

from isdp.commands.compare.run import Comparison, compare

__all__ = ["Comparison", "compare"]
