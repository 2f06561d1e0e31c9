"""Which commands there are, and what becomes of their errors."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import cache

from isdp.cli import account, check, compare, plan, privatize, swap, topdown
from isdp.errors import InputError

COMMANDS = (plan, compare, privatize, topdown, swap, check, account)  # in the order of the help


@cache
def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="isdp", description="Integer noise that keeps mandated totals exact."
    )
    commands = top.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 2 if the input is wrong, with one line why."""
    given = parser().parse_args(arguments)
    try:
        return given.run(given)
    except InputError as error:
        print(f"isdp: {' '.join(str(error).split())}", file=sys.stderr)
    except OSError as error:
        print(f"isdp: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("isdp: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 2
