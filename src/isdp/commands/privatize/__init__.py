"""`isdp privatize`: add noise to a table of counts and keep its totals exact."""

from isdp.commands.privatize.dataframe import frame
from isdp.commands.privatize.run import privatize

__all__ = ["frame", "privatize"]
