"""The parser of the command line, and the exit status of each error."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from isdp import __version__
from isdp.cli import account, check, compare, plan, privatize, swap, topdown
from isdp.cli.options import JSON, add_output
from isdp.errors import InputError

EXIT_STATUS = """\
exit status:
  0    the command is complete, and all checks of isdp check hold
  1    isdp check found a difference
  2    an option, an input or a risk is refused, or a file cannot be written. Nothing is written.
  70   an unexpected error of isdp, with a traceback. Please report it.
  74   the files are written, but standard output cannot be written
  130  interrupted (Ctrl-C). 141: the reader of a pipe has closed it. 143: ended by SIGTERM.
"""
COMMANDS = (plan, compare, privatize, topdown, swap, check, account)  # in the order of the help


@cache
def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line.

    Each module of `COMMANDS` has the strings `HELP` and `EPILOG`, and the functions `add_options`
    and `run`. `add_options` adds the options of the command to a parser. `run` takes their values
    by name, prints a summary for people, and returns the exit status and the facts of `--json`.
    """
    top = argparse.ArgumentParser(
        prog="isdp",
        description="Add integer noise to tables and keep mandated totals exact.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"isdp {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        own = commands.add_parser(
            module.__name__.rpartition(".")[2],
            help=module.HELP,
            description=f"{module.HELP[0].upper()}{module.HELP[1:]}.",
            epilog=f"{module.EPILOG}\n{EXIT_STATUS}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        own.set_defaults(run=module.run)
        module.add_options(own)
        add_output(own)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    `EXIT_STATUS` lists the statuses. Errors of the input have a message of one line. Output is
    printed at the end of a command. If it cannot be printed, the process ends with status 74 after
    all files are written. If the reader of a pipe has closed it, the process ends with the status
    of SIGPIPE and prints no message.
    """
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            return _run(arguments, printed)
    finally:
        _print(printed.getvalue())


def _run(arguments: Sequence[str] | None, printed: StringIO) -> int:
    output, command, warnings, error = None, "", list[str](), ""
    facts: dict[str, Any] = {}
    status = 2
    try:
        for word in sys.argv[1:] if arguments is None else arguments:
            if word.startswith("--") and word.endswith("=--"):  # argparse would drop the value '--'
                raise InputError(
                    f"{word.removesuffix('=--')}: '--' is not a value. Give another value"
                )
        given = vars(parser().parse_args(arguments))
        command, output, run = (given.pop(name) for name in ("command", "output", "run"))
        with _warnings_kept(warnings, output == JSON):
            status, facts = run(**given)
        if "out" in given:
            facts["files"] = sorted(str(path) for path in Path(given["out"]).iterdir())
    except InputError as wrong:
        error = " ".join(str(wrong).split())
    except OSError as wrong:
        place = "" if wrong.filename is None else f"{wrong.filename}: "
        error = f"{place}{wrong.strerror or wrong}"
    except KeyboardInterrupt:
        status, error = 128 + signal.SIGINT, "interrupted"
    except Exception:
        traceback.print_exc()
        status, error = os.EX_SOFTWARE, "an unexpected error. Please report it"
    if error:
        print(f"isdp: {_escaped(error)}", file=sys.stderr)
    if output is not None:
        printed.seek(0)
        printed.truncate()
    if output == JSON:
        facts = {"command": command, "exit_status": status, "warnings": warnings} | facts
        print(json.dumps(facts | ({"error": error} if error else {}), indent=2), file=printed)
    return status


@contextmanager
def _warnings_kept(warnings: list[str], kept: bool) -> Iterator[None]:
    """Print the warnings of a command, and append them to a list if `kept` is true."""

    class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())
            super().emit(record)

    handler = _Handler()
    handler.setLevel(logging.WARNING)
    if kept:
        logging.getLogger("isdp").addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger("isdp").removeHandler(handler)


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
