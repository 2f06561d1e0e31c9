"""From a table and the totals to hold to a noisy table and its certificate."""

from isdp.privatize.request import Request
from isdp.privatize.run import privatize

__all__ = ["Request", "privatize"]
