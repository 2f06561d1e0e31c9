"""`isdp topdown`: a table of nested regions without negative counts."""

from isdp.commands.topdown.run import topdown

__all__ = ["topdown"]
