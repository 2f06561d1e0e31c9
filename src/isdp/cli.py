"""The command `isdp`: arguments only."""

from __future__ import annotations

import argparse
import csv
import signal
import sys
from collections.abc import Sequence

from isdp.errors import InputError

MOST_DIGITS = 100  # of a seed
SCHEMA = """\
the table: a csv in UTF-8, a row a cell; a column of counts, and others that name the cell

the file of invariants (YAML), by the table's columns:
  total: true                  the grand total
  totals:                      totals by the values of each column or combination listed
    - county
    - [county, sex]
  subsets:                     the total of the cells selected
    minors: {age: [0-4, 5-17]}         by values of columns
    twins: ["Alpha, Low", "Beta, Low"] by names of cells (their columns joined by ', ')
Both margins of a two-way table are  totals: [row, column].

written to DIR: noisy.csv, certificate.json, certificate.md, and a picture, noisy.svg and noisy.png,
where matplotlib is installed; all of them at the end, or none

Epsilon is the privacy loss per unit of the norm, not per person: one person who changes cell moves
the l1 distance by 2. Give the table a row for every possible cell, also for the empty ones, in an
order that does not depend on the counts: the rows and their order are published.
"""

SWAP = """\
the records: a csv in UTF-8, a row a record, all values read as text

Among records that agree on --match each is selected with the chance --rate (one selected alone is
drawn anew, with all of its group), and each one selected takes the values of --swap and --carry
from another one, which may be the same values. All other columns stay with the record. The totals
of all columns but --swap and --carry, and of --match by --swap and --carry, stay exactly as they
are and are published. A column that gives the swapped one away, such as the tract of a county,
belongs to --carry: where it stays with the record it undoes the swap.

written to DIR: swapped.csv, certificate.json, certificate.md; all of them at the end, or none. The
records are sorted by their own columns, as an order kept from the input would tell who was swapped.

There is no option for weighted records, for swaps within several levels of a hierarchy, or for
records chosen by their risk: the theorem behind epsilon covers none of them, and with such swaps no
guarantee is known. There is no seed: who has it can undo the swap.
"""


TOPDOWN = """\
the table: a csv in UTF-8, a row a cell of a smallest region: the columns of --levels name the
region, a column holds the count, all others say what the cell is; cells not listed are empty

written to DIR, all at the end or none: released.csv (every count of every level, with its margin of
error, simulated), measurements.csv, budget.csv, certificate.json, certificate.md

A share is a decimal or a fraction, such as 0.25 or 1/4; the shares of levels, and of the queries of
each level, add up to 1. The levels are those named and `all`, which holds everything. A query is
`total`, `detail` (all cells; needed), an axis, or several axes joined by *. By default levels share
equally; at each level detail has a half, the total (where it is not held) and the axes the rest.
"""


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="isdp", description="Integer noise that keeps mandated totals exact."
    )
    commands = top.add_subparsers(dest="command", required=True)
    own = commands.add_parser(
        "privatize",
        help="add noise to a table of counts and keep named totals exactly",
        description="Add integer noise to a table of counts and keep named totals exactly.",
        epilog=SCHEMA,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("table", metavar="TABLE", help="csv, a row a cell")
    own.add_argument("--invariants", metavar="FILE", required=True, help="YAML, see below")
    own.add_argument("--epsilon", metavar="E", help="loss per unit of norm, such as 0.25 or 1/4")
    law = own.add_mutually_exclusive_group()
    law.add_argument("--norm", choices=("l1", "l2"), default="l1", help="default: l1")
    law.add_argument("--sigma", metavar="S", help="Gaussian noise of this scale, for experiments")
    own.add_argument("--count", metavar="COLUMN", default="count", help="default: count")
    own.add_argument(
        "--name",
        metavar="COLUMN",
        action="append",
        help="a column that names the cell, may be repeated; default: all but the counts",
    )
    own.add_argument("--out", metavar="DIR", default="noisy", help="default: noisy")
    own.add_argument("--force", action="store_true", help="replace files that are there")
    own.add_argument("--no-picture", action="store_true", help="draw no picture")
    own.add_argument("--strict", action="store_true", help="take every warning for an error")
    own.add_argument(
        "--for-experiments",
        action="store_true",
        help="allow floating point and a pseudo-random generator; NOT FOR RELEASE",
    )
    own.add_argument(
        "--seed", metavar="N", help="draw the same noise again; implies --for-experiments"
    )
    own.add_argument(
        "--allow-mcmc",
        action="store_true",
        help="with --for-experiments: allow a Markov chain, whose error is of unknown size",
    )
    _add_topdown(commands)
    _add_swap(commands)
    return top


def _add_topdown(commands) -> None:
    own = commands.add_parser(
        "topdown",
        help="release a table of nested regions that adds up at every level, without negatives",
        description="Release a table of nested regions by the Census Bureau's TopDown algorithm.",
        epilog=TOPDOWN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("table", metavar="TABLE", help="csv, a row a cell")
    own.add_argument("--levels", metavar="A,B", required=True, help="columns, largest first")
    budget = own.add_mutually_exclusive_group(required=True)
    budget.add_argument("--epsilon", metavar="E", help="pure privacy loss per person, in all")
    budget.add_argument("--rho", metavar="R", help="zero-concentrated privacy loss, in all")
    own.add_argument("--held", metavar="A,B", default="", help="levels whose totals stay exact")
    many = {"action": "append", "default": []}
    own.add_argument("--share", metavar="LEVEL=SHARE", help="part of the budget", **many)
    own.add_argument("--query", metavar="[LEVEL:]QUERY=SHARE", help="part of a level's", **many)
    own.add_argument(
        "--structural-zero",
        metavar="AXIS=CATEGORY[,...]",
        help="cells that nobody can be in, may be repeated",
        **many,
    )
    own.add_argument("--one-pass", action="store_true", help="do not estimate totals first")
    own.add_argument("--simulations", metavar="N", default="20", help="0, or from 10; default: 20")
    own.add_argument("--count", metavar="COLUMN", default="count", help="default: count")
    own.add_argument("--out", metavar="DIR", default="topdown", help="default: topdown")
    own.add_argument("--force", action="store_true", help="replace files that are there")
    own.add_argument(
        "--for-experiments",
        action="store_true",
        help="allow floating point and a pseudo-random generator; NOT FOR RELEASE",
    )
    own.add_argument(
        "--seed", metavar="N", help="draw the same noise again; implies --for-experiments"
    )


def _add_swap(commands) -> None:
    """Add the command `swap`."""
    own = commands.add_parser(
        "swap",
        help="swap values between records and keep the totals of what is held exactly",
        description="Swap values between records that match, for release, with a certificate.",
        epilog=SWAP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("records", metavar="RECORDS", help="csv, a row a record")
    own.add_argument(
        "--swap", metavar="COLUMNS", required=True, help="what is swapped, such as county"
    )
    own.add_argument(
        "--match",
        metavar="COLUMNS",
        default="",
        help="swap only where these agree, such as state,size; default: all records are one group",
    )
    own.add_argument(
        "--rate",
        metavar="P",
        required=True,
        help="chance of a record to be selected, between 0 and 1, such as 0.05 or 1/20; public",
    )
    own.add_argument(
        "--carry", metavar="COLUMNS", default="", help="columns that go with the swapped ones"
    )
    own.add_argument("--out", metavar="DIR", default="swapped", help="default: swapped")
    own.add_argument("--force", action="store_true", help="replace files that are there")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 2 if the input is wrong, with one line why."""
    given = parser().parse_args(arguments)
    try:
        run = {"privatize": _privatize, "topdown": _topdown, "swap": _swap}[given.command]
        return run(given)
    except InputError as error:
        print(f"isdp: {' '.join(str(error).split())}", file=sys.stderr)
    except OSError as error:
        print(f"isdp: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("isdp: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 2


def _privatize(given: argparse.Namespace) -> int:
    from isdp.privatize import privatize

    certificate = privatize(
        given.table,
        given.invariants,
        _request(given),
        given.out,
        count=given.count,
        names=given.name,
        force=given.force,
        picture=not given.no_picture,
        strict=given.strict,
    )
    totals = sum(check["totals"] for check in certificate["invariants"])
    print(
        f"{given.out}/noisy.csv: {certificate['input']['cells']:,} cells, {totals:,} totals exact, "
        f"{certificate['output']['negative_counts']:,} negative counts"
    )
    print(f"{given.out}/certificate.md: {certificate['status']}")
    fixed = certificate["lattice"]["cells_without_freedom"]
    if fixed:
        print(f"{fixed:,} cells have no freedom under these totals and are published exactly")
    if not (given.no_picture or certificate["output"]["picture"]):
        print("no picture: matplotlib is not installed (pip install 'isdp[plots]')")
    return 0


def _topdown(given: argparse.Namespace) -> int:
    from isdp.exact.secure import exact_epsilon
    from isdp.privatize.topdown import Wish, topdown

    seed = _seed(given.seed)
    pure = given.epsilon is not None
    queries: dict[str, dict] = {}
    for text in given.query:
        level, _, rest = text.rpartition(":")
        name, share = _pair(rest, "--query")
        queries.setdefault(level, {})[name] = _share(share, "--query")
    if not given.simulations.isdecimal() or 0 < int(given.simulations) < 10:
        raise InputError(f"--simulations must be 0 or from 10 up, got {given.simulations!r}")
    wish = Wish(
        levels=tuple(given.levels.split(",")),
        flavour="pure" if pure else "zCDP",
        total=exact_epsilon(given.epsilon if pure else given.rho),
        held=tuple(name for name in given.held.split(",") if name),
        level_shares={
            name: _share(share, "--share")
            for name, share in (_pair(text, "--share") for text in given.share)
        },
        query_shares=queries,
        structural_zeros=tuple(
            dict(_pair(part, "--structural-zero") for part in text.split(","))
            for text in given.structural_zero
        ),
        one_pass=given.one_pass,
        seed=seed,
        experiment=given.for_experiments or seed is not None,
        simulations=int(given.simulations),
    )
    certificate = topdown(given.table, wish, given.out, count=given.count, force=given.force)
    print(f"{given.out}/certificate.md: {certificate['status']}")
    print(certificate["guarantee"]["statement"])
    return 0


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise InputError(f"{option} needs NAME=VALUE, got {text!r}")
    return name, value


def _share(text: str, option: str):
    from fractions import Fraction

    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{option}: a share is a number such as 0.25 or 1/4, got {text!r}"
        ) from None


def _swap(given: argparse.Namespace) -> int:
    from isdp.swapping.release import swap_file

    certificate = swap_file(
        given.records,
        given.out,
        match=_columns(given.match),
        swap=_columns(given.swap),
        rate=given.rate,
        carry=_columns(given.carry),
        force=given.force,
    )
    strata, privacy = certificate["strata"], certificate["privacy"]
    print(
        f"{given.out}/swapped.csv: {certificate['input']['records']:,} records, "
        f"{sum(check['totals'] for check in certificate['totals']):,} totals exact"
    )
    print(
        f"{given.out}/certificate.md: epsilon {privacy['epsilon_bound']} for each record in which "
        f"two datasets differ, {privacy['epsilon_between_nearest']} between the nearest two"
    )
    fixed = strata["records_that_cannot_change"]
    if fixed:
        print(
            f"{fixed:,} records cannot change, in {strata['where_nothing_can_change']:,} of "
            f"{strata['number']:,} strata, and are published as they are"
        )
    return 0


def _columns(text: str) -> list[str]:
    """Names of columns separated by commas, as one row of a csv, so that quotes may hold commas."""
    return next(csv.reader([text]), []) if text else []


def _request(given: argparse.Namespace):
    """Turn the options into a request.

    Raises
    ------
    InputError
        If they do not go together or are out of range.
    """
    from isdp.exact.secure import exact_epsilon
    from isdp.mechanisms.gaussian import GeneralizedGaussian
    from isdp.mechanisms.laplace import GeneralizedLaplace
    from isdp.privatize import Request

    seed = _seed(given.seed)
    experiment = given.for_experiments or seed is not None
    if given.allow_mcmc and not experiment:
        raise InputError(
            "--allow-mcmc: a Markov chain is in floating point and never for release; add "
            "--for-experiments"
        )
    epsilon = None
    if given.sigma is not None:
        if given.epsilon is not None:
            raise InputError("--sigma and --epsilon exclude each other: no epsilon is known here")
        mechanism = GeneralizedGaussian(_number(given.sigma))
    elif given.epsilon is None:
        raise InputError("--epsilon is missing: the privacy loss per unit of norm, such as 0.25")
    else:
        epsilon = exact_epsilon(given.epsilon)
        mechanism = GeneralizedLaplace(float(epsilon), given.norm)
        epsilon = epsilon if given.norm == "l1" else None
    return Request(mechanism, epsilon, experiment, seed, given.allow_mcmc)


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


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--sigma must be a positive number, got {text!r}") from None
