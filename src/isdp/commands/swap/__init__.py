"""The implementation of `isdp swap`."""

from isdp.commands.swap.run import swap_file

__all__ = ["swap_file"]
