"""From a table and the totals to hold to a noisy table and its certificate."""

from isdp.privatize.frames import frame
from isdp.privatize.outlook import plan
from isdp.privatize.request import Request
from isdp.privatize.run import privatize

__all__ = ["Request", "frame", "plan", "privatize"]
