"""The command `isdp`: arguments only, a file a command."""

from isdp.cli.entry import main

__all__ = ["main"]
