"""Options that several commands have, and how their values are read.

An option is stored under the name of the parameter that takes it in the library, so that commands
pass their options on by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from isdp.errors import InputError

MAX_DIGITS = 100  # of a seed
DELTA = 1e-10  # of `isdp.commands.shared.request`, which takes a second to import


def command(
    commands, name: str, run: Callable[..., int], epilog: str, **words: str
) -> argparse.ArgumentParser:
    """Add a command whose epilog keeps its lines.

    Parameters
    ----------
    run : callable
        It takes the options by name and returns the exit status.
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


def add_columns(own: argparse.ArgumentParser) -> None:
    """Add `--count` and `--name`."""
    add_count(own)
    own.add_argument(
        "--name",
        dest="names",
        metavar="COLUMN",
        action="append",
        help="a column that names the cell, may be repeated; default: all but the counts",
    )


def add_out(own: argparse.ArgumentParser, default: str, picture: bool = False) -> None:
    """Add `--out` and `--force`, and `--no-picture` for a command that draws one."""
    own.add_argument("--out", metavar="DIR", default=default, help=f"default: {default}")
    own.add_argument("--force", action="store_true", help="replace files that are there")
    if picture:
        own.add_argument(
            "--no-picture", dest="picture", action="store_false", help="draw no picture"
        )


def add_invariants(own: argparse.ArgumentParser) -> None:
    """Add `--invariants`."""
    own.add_argument(
        "--invariants",
        dest="invariants_path",
        metavar="FILE",
        required=True,
        help="YAML: the totals to hold; isdp privatize --help explains it",
    )


def add_cells(own: argparse.ArgumentParser) -> None:
    """Add `--cells` and `--sums`."""
    own.add_argument(
        "--cells", dest="cells_path", metavar="FILE", required=True, help="csv, a row a cell"
    )
    own.add_argument(
        "--sums",
        dest="sums_path",
        metavar="FILE",
        help="YAML: sums whose errors are wanted; default: by each column of few values",
    )


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


def add_noise(own: argparse.ArgumentParser) -> None:
    """Add the options of the noise, which `request` reads."""
    own.add_argument("--epsilon", metavar="E", help="loss per person, such as 0.5 or 1/2")
    own.add_argument("--norm", choices=("l1", "l2"), help="of the noise by --epsilon; default: l1")
    own.add_argument(
        "--sigma", metavar="S", help="Gaussian noise of this scale in persons, such as 2.5 or 5/2"
    )
    own.add_argument(
        "--rho",
        metavar="R",
        help="Gaussian noise of this zero-concentrated loss (zCDP) per person",
    )
    own.add_argument(
        "--per-unit",
        dest="per",
        action="store_const",
        const="unit",
        default="person",
        help="take --epsilon per unit of the norm, and --rho per unit of squared l2 distance",
    )
    own.add_argument(
        "--delta",
        metavar="D",
        help=f"at which Gaussian noise's epsilon is certified too; default: {DELTA}",
    )
    add_experiment(own)


def request(given: dict):
    """Take the options of the noise out of the given ones, and build the request.

    Raises
    ------
    InputError
        If they do not go together or are out of range.
    """
    from isdp.commands.shared.request import NoiseRequest

    experiment, seed = take_experiment(given)
    if given["allow_mcmc"] and not experiment:
        raise InputError(
            "--allow-mcmc: a Markov chain is in floating point and never for release; add "
            "--for-experiments"
        )
    names = ("epsilon", "rho", "sigma", "norm", "delta", "per", "allow_mcmc")
    options = {name: given.pop(name) for name in names}
    return NoiseRequest(**options, experiment=experiment, seed=seed)


def take_experiment(given: dict) -> tuple[bool, int | None]:
    """Take out of the given options whether a pseudo-random generator will do, and its seed.

    Raises
    ------
    InputError
        If the seed is no whole number.
    """
    allowed, seed = given.pop("for_experiments"), given.pop("seed")
    if seed is None:
        return allowed, None
    return True, whole_number(seed, "--seed", MAX_DIGITS)


def whole_number(text: str, option: str, digits: int = 18) -> int:
    """Read a whole number from 0 up.

    Raises
    ------
    InputError
        If it is none; it names the option.
    """
    if not text.isdecimal() or len(text) > digits:
        raise InputError(
            f"{option} must be a whole number from 0 up, of at most {digits} digits, got "
            f"{text[:40]!r}"
        )
    return int(text)
