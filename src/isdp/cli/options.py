"""Options that several commands share, and functions that read their values.

Each option is stored under the name of the library's parameter, so that a command passes its
options by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from isdp.errors import InputError

if TYPE_CHECKING:
    from isdp.commands.shared.noise_levels import NoiseLevels
    from isdp.commands.shared.request import NoiseRequest

MAX_SEED_DIGITS = 100
JSON, QUIET = "json", "quiet"  # outputs that replace the summary
# fields of a guarantee's record in the output of --json
GUARANTEE = (
    *("flavour", "epsilon", "rho", "delta", "unit"),
    *("epsilon_per_person", "rho_per_person"),
)
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


def add_hierarchy(own: argparse.ArgumentParser) -> None:
    """Add `--hierarchy`, whose value `take_hierarchies` reads."""
    own.add_argument(
        "--hierarchy",
        dest="hierarchies",
        metavar="COLUMN=FILE",
        action="append",
        default=[],
        help="code list of a column, a CSV file of parent and child, described below (may be "
        "repeated)",
    )


HIERARCHY_EPILOG = """\
--hierarchy region=codes.csv adds columns of larger regions to the table. The file has the columns
parent and child, with one row for each code below the top. The codes of the column region are its
leaves. The new columns are region_1 (the largest regions), region_2 and so on. A single code at the
top is the whole table and has no column.
"""


def take_hierarchies(texts: list[str]) -> dict[str, str]:
    """Read the values of `--hierarchy` as a mapping of column to file."""
    pairs = [name_and_value(text, "--hierarchy") for text in texts]
    if len(dict(pairs)) < len(pairs):
        raise InputError("--hierarchy: a column is repeated. Give one code list for each column.")
    return dict(pairs)


def add_out_format(own: argparse.ArgumentParser) -> None:
    """Add `--out-format`."""
    own.add_argument(
        "--out-format",
        choices=("csv", "parquet"),
        default="csv",
        help="format of the released table (default: csv; parquet needs the extra isdp[parquet])",
    )


def add_out(own: argparse.ArgumentParser, default: str, picture: bool = False) -> None:
    """Add `--out` and `--force`, and `--no-picture` for a command that draws a picture."""
    own.add_argument(
        "--out", metavar="DIR", default=default, help=f"output folder (default: {default})"
    )
    own.add_argument("--force", action="store_true", help="replace existing files")
    if picture:
        own.add_argument(
            "--no-picture", dest="picture", action="store_false", help="write no picture"
        )


def add_output(own: argparse.ArgumentParser) -> None:
    """Add `--json` and `--quiet`."""
    group = own.add_mutually_exclusive_group()
    for option, words in (
        (JSON, "print one JSON object with the files, the guarantee and the warnings"),
        (QUIET, "print nothing except warnings and errors"),
    ):
        group.add_argument(
            f"--{option}", dest="output", action="store_const", const=option, help=words
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
        help="CSV or Parquet file of the cells, with one row per cell",
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


def add_levels(own: argparse.ArgumentParser, errors: bool = True) -> None:
    """Add the options of noise with levels, which `request` reads."""
    own.add_argument(
        "--levels",
        metavar="A,B",
        help="region columns, from largest to smallest, whose totals get less noise",
    )
    own.add_argument(
        "--groups",
        metavar="A,B",
        help="columns that group the cells of a region, with --levels; give '' for no groups",
    )
    own.add_argument(
        "--share",
        dest="shares",
        metavar="LEVEL=SHARE",
        action="append",
        default=[],
        help="share of the budget, with --levels (may be repeated; default: equal shares)",
    )
    if not errors:
        return
    own.add_argument(
        "--error",
        dest="errors",
        metavar="NAME=PERSONS",
        action="append",
        default=[],
        help="root mean square error to meet, in place of a budget (may be repeated)",
    )


LEVELS_EPILOG = """\
With --levels, the noise has a term for each total of these columns, and a share of the budget for
each level. The totals are then more accurate than sums of independent noise. The levels are `all`
(the whole table), the columns, and `cell`. With --groups, the terms are LEVEL:GROUP, such as
county:total or state:cell, for the groups `total`, the columns of --groups, and `cell`. The noise
is then Gaussian, the groups have equal numbers of cells, and each region lists the same cells in
the same order. Shares add up to 1.
"""


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
    levels = take_levels(given)
    return NoiseRequest(**options, experiment=experiment, seed=seed, levels=levels)


def take_levels(given: dict[str, Any]) -> NoiseLevels | None:
    """Remove the options of `add_levels` from `given`, and build the levels from them.

    Without levels, `errors` stays in `given`.
    """
    from isdp.checks import parse_rational
    from isdp.commands.shared.noise_levels import NoiseLevels

    levels, groups = given.pop("levels"), given.pop("groups")
    shares = [name_and_value(text, "--share") for text in given.pop("shares")]
    if levels is None:
        if groups is not None or shares:
            option = "--share" if groups is None else "--groups"
            raise InputError(f"{option}: this option needs --levels. Add --levels.")
        return None
    errors = [name_and_value(text, "--error") for text in given.pop("errors", [])]
    for option, pairs in (("--share", shares), ("--error", errors)):
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise InputError(f"{option}: a level is repeated. Name each level once.")
    return NoiseLevels(
        tuple(levels.split(",")),
        None if groups is None else tuple(name for name in groups.split(",") if name),
        shares={name: parse_rational(f"--share: {name}", text) for name, text in shares},
        errors={name: parse_rational(f"--error: {name}", text) for name, text in errors},
    )


def lines_of_levels(levels: dict[str, Any] | None) -> Iterator[str]:
    """Yield one line with the error of each level of the noise."""
    from isdp.io.wording import counted

    for term in (levels or {}).get("terms", ()):
        name = f"{term['level']} ({counted(term['totals'], 'total')})"
        error = f"root mean square error {term['rmse']:g} ({term['errors_are']})"
        words = f"{error}, share {term['share']:.1%}" if term["rmse"] else "held exactly"
        yield f"{name}: {words}"


def guarantee_facts(record: Mapping[str, Any], for_release: bool) -> dict[str, Any]:
    """Return the fields of a guarantee's record for the output of `--json`."""
    from isdp.io.certificate import qualify_statement

    facts = {name: record[name] for name in GUARANTEE if record.get(name) is not None}
    return facts | {"statement": qualify_statement(record["statement"], for_release)}


def name_and_value(text: str, option: str) -> tuple[str, str]:
    """Split the text NAME=VALUE of an option."""
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise InputError(f"{option} must have the form NAME=VALUE, got {text!r}")
    return name, value


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
