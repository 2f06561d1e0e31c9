"""The command line: its commands, and the exit status of each error."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from functools import cache

from isdp import __version__
from isdp.cli import account, check, compare, plan, privatize, swap, topdown
from isdp.errors import InputError

COMMANDS = (plan, compare, privatize, topdown, swap, check, account)  # in the order of the help


@cache
def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="isdp", description="Integer noise that keeps mandated totals exact."
    )
    top.add_argument("--version", action="version", version=f"isdp {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The status is 2 if the input is wrong, with one line that says why. If the reader of a pipe
    closes it, the status is that of a program that SIGPIPE ends, without a message.
    """
    try:
        try:
            given = vars(parser().parse_args(arguments))
            del given["command"]
            return given.pop("run")(**given)
        finally:
            sys.stdout.flush()
    except InputError as error:
        print(f"isdp: {' '.join(str(error).split())}", file=sys.stderr)
    except BrokenPipeError:
        _discard_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"isdp: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("isdp: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 2


def _discard_output() -> None:
    """Send what is still buffered nowhere, as Python writes it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
