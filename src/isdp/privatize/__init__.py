"""From a table and the totals to hold to a noisy table and its certificate."""

from isdp.privatize.run import Request, privatize

__all__ = ["Request", "privatize"]
