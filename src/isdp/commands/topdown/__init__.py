"""The implementation of `isdp topdown`."""

from isdp.commands.topdown.run import topdown

__all__ = ["topdown"]
