"""The implementation of `isdp privatize`."""

from isdp.commands.privatize.dataframe import privatize_frame
from isdp.commands.privatize.run import privatize_file

__all__ = ["privatize_file", "privatize_frame"]
