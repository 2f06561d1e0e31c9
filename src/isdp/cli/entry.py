"""The parser of the command line, and the exit status of each error."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO

from isdp import __version__
from isdp.cli import account, check, compare, plan, privatize, swap, topdown
from isdp.errors import InputError

COMMANDS = (plan, compare, privatize, topdown, swap, check, account)  # in the order of the help


@cache
def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line.

    Each module of `COMMANDS` has the texts `HELP` and `EPILOG` and the functions `add_options` and
    `run`. `add_options` adds the options of the command to a parser. `run` takes their values by
    name and returns the exit status.
    """
    top = argparse.ArgumentParser(
        prog="isdp", description="Add integer noise to tables and keep mandated totals exact."
    )
    top.add_argument("--version", action="version", version=f"isdp {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        own = commands.add_parser(
            module.__name__.rpartition(".")[2],
            help=module.HELP,
            description=f"{module.HELP[0].upper()}{module.HELP[1:]}.",
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        own.set_defaults(run=module.run)
        module.add_options(own)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The status is 2, with a message of one line, if the input is invalid or a file cannot be
    written. Output is printed at the end of a command. If it cannot be printed, the process ends
    with status 74 after all files are written. If the reader of a pipe has closed it, the process
    ends with the status of SIGPIPE and prints no message.
    """
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            return _run(arguments)
    finally:
        _print(printed.getvalue())


def _run(arguments: Sequence[str] | None) -> int:
    try:
        for word in sys.argv[1:] if arguments is None else arguments:
            if word.startswith("--") and word.endswith("=--"):  # argparse would drop the value '--'
                raise InputError(
                    f"{word.removesuffix('=--')}: '--' is not a value. Give another value"
                )
        given = vars(parser().parse_args(arguments))
        del given["command"]
        status: int = given.pop("run")(**given)
        return status
    except InputError as error:
        print(f"isdp: {_escaped(' '.join(str(error).split()))}", file=sys.stderr)
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"isdp: {_escaped(f'{place}{error.strerror or error}')}", file=sys.stderr)
    except KeyboardInterrupt:
        print("isdp: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 2


def _escaped(text: str) -> str:
    """Escape characters of names and labels that a terminal would interpret or cannot show."""
    return "".join(
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1]
        for character in text
    )


def _print(text: str) -> None:
    """Write to standard output, or end the process with an exit status that states the reason."""
    if not text:
        return
    problem: str | None = "it is closed"
    try:
        if sys.stdout is not None:
            encoding = sys.stdout.encoding or "utf-8"
            sys.stdout.write(_escaped(text).encode(encoding, "backslashreplace").decode(encoding))
            sys.stdout.flush()
            return
    except OSError as error:
        # Python flushes the buffer again at the end of the process
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(128 + signal.SIGPIPE) from None
        problem = error.strerror
    print(f"isdp: standard output: {problem}; the command itself is complete", file=sys.stderr)
    raise SystemExit(os.EX_IOERR)
