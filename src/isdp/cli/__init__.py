"""The command line of `isdp`, with one module per command."""

from isdp.cli.entry import main

__all__ = ["main"]
