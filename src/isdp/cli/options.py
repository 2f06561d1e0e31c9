"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from isdp.errors import InputError

MOST_DIGITS = 100  # of a seed


def command(
    commands, name: str, run: Callable[[argparse.Namespace], int], epilog: str, **words: str
) -> argparse.ArgumentParser:
    """Add a command whose epilog keeps its lines.

    Parameters
    ----------
    commands : subparsers of argparse
    name : str
    run : callable
        ``run(given)`` does it, and returns the exit status.
    epilog : str
    **words : str
        Its `help` and `description`.
    """
    own = commands.add_parser(
        name, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, **words
    )
    own.set_defaults(run=run)
    return own


def add_count(own: argparse.ArgumentParser) -> None:
    """Add `--count`."""
    own.add_argument("--count", metavar="COLUMN", default="count", help="default: count")


def add_name(own: argparse.ArgumentParser) -> None:
    """Add `--name`."""
    own.add_argument(
        "--name",
        metavar="COLUMN",
        action="append",
        help="a column that names the cell, may be repeated; default: all but the counts",
    )


def add_out(own: argparse.ArgumentParser, default: str) -> None:
    """Add `--out` and `--force`."""
    own.add_argument("--out", metavar="DIR", default=default, help=f"default: {default}")
    own.add_argument("--force", action="store_true", help="replace files that are there")


def add_accept(own: argparse.ArgumentParser, *names: str) -> None:
    """Add `--accept`, which takes names of risks."""
    own.add_argument(
        "--accept",
        metavar="NAME",
        action="append",
        default=[],
        help=f"release although this risk is found, may be repeated: {', '.join(names)}; see below",
    )


def add_experiment(own: argparse.ArgumentParser) -> None:
    """Add `--for-experiments` and `--seed`."""
    own.add_argument(
        "--for-experiments",
        action="store_true",
        help="allow floating point and a pseudo-random generator; NOT FOR RELEASE",
    )
    own.add_argument(
        "--seed", metavar="N", help="draw the same noise again; implies --for-experiments"
    )


def experiment(given: argparse.Namespace) -> tuple[bool, int | None]:
    """Read whether a pseudo-random generator will do, and its seed.

    Raises
    ------
    InputError
        If the seed is no whole number.
    """
    seed = _seed(given.seed)
    return given.for_experiments or seed is not None, seed


def whole_number(text: str, option: str) -> int:
    """Read a whole number from 0 up, of at most 18 digits.

    Raises
    ------
    InputError
        If it is none; it names the option.
    """
    if not text.isdecimal() or len(text) > 18:
        raise InputError(f"{option} must be a whole number from 0 up, got {text[:40]!r}")
    return int(text)


def _seed(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        shown = text if len(text) <= MOST_DIGITS else f"{len(text)} characters"
        raise InputError(
            f"--seed must be a whole number from 0 up, of at most {MOST_DIGITS} digits, got "
            f"{shown!r}"
        )
    return int(text)
