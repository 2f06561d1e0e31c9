"""Options that several commands share, and functions that read their values.

Each option is stored under the name of the library's parameter, so that a command passes its
options by name.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from isdp.errors import InputError

if TYPE_CHECKING:
    from isdp.commands.shared.request import NoiseRequest

MAX_SEED_DIGITS = 100
DELTA = 1e-10  # equal to the default in `isdp.commands.shared.request`, whose import takes a second


def add_count(own: argparse.ArgumentParser) -> None:
    """Add `--count`."""
    own.add_argument(
        "--count", metavar="COLUMN", default="count", help="column of counts (default: count)"
    )


def add_columns(own: argparse.ArgumentParser) -> None:
    """Add `--count` and `--name`."""
    add_count(own)
    own.add_argument(
        "--name",
        dest="names",
        metavar="COLUMN",
        action="append",
        help="column that names the cell, may be repeated (default: all except the counts)",
    )


def add_out(own: argparse.ArgumentParser, default: str, picture: bool = False) -> None:
    """Add `--out` and `--force`, and `--no-picture` for a command that draws a picture."""
    own.add_argument(
        "--out", metavar="DIR", default=default, help=f"output folder (default: {default})"
    )
    own.add_argument("--force", action="store_true", help="replace existing files")
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
        help="YAML file of the totals to hold, which isdp privatize --help describes",
    )


def add_cells(own: argparse.ArgumentParser) -> None:
    """Add `--cells` and `--sums`."""
    own.add_argument(
        "--cells",
        dest="cells_path",
        metavar="FILE",
        required=True,
        help="csv of the cells, with one row per cell",
    )
    own.add_argument(
        "--sums",
        dest="sums_path",
        metavar="FILE",
        help="YAML file of the sums whose errors are computed (default: the sums by each column of "
        "2 to 100 values)",
    )


def add_accept(own: argparse.ArgumentParser, *names: str) -> None:
    """Add `--accept`, which takes the names of risks."""
    own.add_argument(
        "--accept",
        metavar="NAME",
        action="append",
        default=[],
        help=f"accept a risk that is described below, {' or '.join(names)} (may be repeated)",
    )


def add_experiment(own: argparse.ArgumentParser) -> None:
    """Add `--for-experiments` and `--seed`."""
    own.add_argument(
        "--for-experiments",
        action="store_true",
        help="allow floating point and a pseudo-random generator (NOT FOR RELEASE)",
    )
    own.add_argument(
        "--seed", metavar="N", help="seed of the generator (implies --for-experiments)"
    )


def add_noise(own: argparse.ArgumentParser) -> None:
    """Add the options of the noise, which `request` reads."""
    own.add_argument(
        "--epsilon", metavar="E", help="Laplace noise with this loss per person, such as 0.5 or 1/2"
    )
    own.add_argument("--norm", choices=("l1", "l2"), help="norm of Laplace noise (default: l1)")
    own.add_argument(
        "--sigma", metavar="S", help="Gaussian noise of this scale in persons, such as 2.5 or 5/2"
    )
    own.add_argument(
        "--rho",
        metavar="R",
        help="Gaussian noise with this zero-concentrated loss (zCDP) per person",
    )
    own.add_argument(
        "--per-unit",
        dest="per",
        action="store_const",
        const="unit",
        default="person",
        help="state --epsilon per unit of the norm, and --rho per unit of squared l2 distance",
    )
    own.add_argument(
        "--delta",
        metavar="D",
        help=f"delta at which the certificate of Gaussian noise states epsilon (default: {DELTA})",
    )
    add_experiment(own)


def request(given: dict[str, Any]) -> NoiseRequest:
    """Remove the options of the noise from `given`, and build the request from them."""
    from isdp.commands.shared.request import NoiseRequest

    experiment, seed = take_experiment(given)
    if given["allow_mcmc"] and not experiment:
        raise InputError(
            "--allow-mcmc: a Markov chain uses floating point and is never for release. Add "
            "--for-experiments."
        )
    names = ("epsilon", "rho", "sigma", "norm", "delta", "per", "allow_mcmc")
    options = {name: given.pop(name) for name in names}
    return NoiseRequest(**options, experiment=experiment, seed=seed)


def take_experiment(given: dict[str, Any]) -> tuple[bool, int | None]:
    """Remove `--for-experiments` and `--seed` from `given`, and return their values."""
    allowed, seed = given.pop("for_experiments"), given.pop("seed")
    if seed is None:
        return allowed, None
    return True, whole_number(seed, "--seed", MAX_SEED_DIGITS)


def whole_number(text: str, option: str, digits: int = 18) -> int:
    """Convert the text of an option to an integer of 0 or more."""
    if not text.isdecimal() or len(text) > digits:
        raise InputError(
            f"{option} must be a whole number of 0 or more with at most {digits} digits, got "
            f"{text[:40]!r}"
        )
    return int(text)
