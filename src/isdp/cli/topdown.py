"""The options and the output of `isdp topdown`, which releases a table of nested regions."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from isdp.cli.options import (
    HIERARCHY_EPILOG,
    add_accept,
    add_count,
    add_experiment,
    add_hierarchy,
    add_out,
    add_out_format,
    guarantee_facts,
    name_and_value,
    take_experiment,
    take_hierarchies,
    whole_number,
)
from isdp.errors import InputError

MAX_SIMULATIONS = 10_000
HELP = "release a table of nested regions without negative counts by the TopDown algorithm"
EPILOG = f"""\
The table is a CSV file in UTF-8 or a Parquet file (.parquet), with one row per cell of a smallest
region. The columns of --levels name the region, one column has the counts, and all other columns
are axes, which describe the cell. A cell without a row is empty.

The command writes these files to DIR together at the end: released.csv (released.parquet, with
--out-format parquet), measurements.csv, budget.csv, certificate.json, certificate.md,
datapackage.json (a description of the tables) and registry.yaml (a draft for the registry of
deployments). The released table has the counts of all levels with simulated margins of error.

{HIERARCHY_EPILOG}
A share is a decimal or a fraction, such as 0.25 or 1/4. The shares of the levels add up to 1, and
so do the shares of the queries of each level. In addition to --levels there is the level `all`, the
whole table. A query is `total`, `detail` (all cells; required), an axis, or several axes joined by
*. By default, the levels have equal shares. At each level `detail` has one half, and the total (if
it is not held) and the axes have equal parts of the other half.

--present names a CSV file with one row for each group of people that is present in a smallest
region. Its columns are the last level, one or more axes, and optionally `least`, the minimum number
of people (default: 1).

The command refuses this risk before it draws noise. --accept accepts it, and the certificate
records the name.
  weak-noise     a measured count stays unchanged with a probability of 0.95 or more
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    own.add_argument(
        "table_path", metavar="TABLE", help="CSV or Parquet file with one row per cell"
    )
    own.add_argument(
        "--levels", metavar="A,B", required=True, help="region columns, from largest to smallest"
    )
    budget = own.add_mutually_exclusive_group(required=True)
    budget.add_argument("--epsilon", metavar="E", help="total pure privacy loss per person")
    budget.add_argument("--rho", metavar="R", help="total zero-concentrated loss per person")
    own.add_argument("--held", metavar="A,B", default="", help="levels whose totals stay exact")
    for option, name, metavar, words in (
        ("--share", "level_shares", "LEVEL=SHARE", "share of the budget"),
        ("--query", "query_shares", "[LEVEL:]QUERY=SHARE", "share of a level's budget"),
        ("--structural-zero", "structural_zeros", "AXIS=CATEGORY[,...]", "cells that are empty"),
    ):
        words += " (may be repeated)"
        own.add_argument(
            option, dest=name, metavar=metavar, action="append", default=[], help=words
        )
    own.add_argument(
        "--present",
        metavar="FILE",
        help="CSV file of the present groups of people, described below",
    )
    own.add_argument(
        "--absent-otherwise",
        action="store_true",
        help="treat groups that are not in --present as absent",
    )
    own.add_argument(
        "--one-pass",
        action="store_true",
        help="estimate all queries together instead of the totals first",
    )
    own.add_argument(
        "--simulations",
        metavar="N",
        default="20",
        help="number of runs for the margins, 0 or at least 10; the runs take most of the time "
        "(default: 20)",
    )
    add_count(own)
    add_hierarchy(own)
    add_out(own, "topdown")
    add_out_format(own)
    add_accept(own, "weak-noise")
    add_experiment(own)


def run(
    table_path: str, out: str, epsilon: str | None, rho: str | None, **given: Any
) -> tuple[int, dict[str, Any]]:
    """Run the command and print a summary."""
    from isdp.commands.topdown.run import TopDownOptions, topdown
    from isdp.exact.release_noise import parse_epsilon
    from isdp.io.certificate import qualify_statement

    options = {name: given.pop(name) for name in ("count", "force", "accept", "out_format")}
    options["hierarchies"] = take_hierarchies(given.pop("hierarchies"))
    experiment, seed = take_experiment(given)
    queries: dict[str, dict[str, Fraction]] = {}
    for text in given["query_shares"]:
        level, _, rest = text.rpartition(":")
        name, share = name_and_value(rest, "--query")
        queries.setdefault(level, {})[name] = _share(share, "--query")
    pairs = (name_and_value(text, "--share") for text in given["level_shares"])
    simulations = whole_number(given["simulations"], "--simulations")
    if 0 < simulations < 10 or simulations > MAX_SIMULATIONS:
        raise InputError(
            f"--simulations must be 0, or from 10 to {MAX_SIMULATIONS:,}, got {simulations}"
        )
    given |= {
        "levels": tuple(given["levels"].split(",")),
        "held": tuple(name for name in given["held"].split(",") if name),
        "level_shares": {name: _share(share, "--share") for name, share in pairs},
        "query_shares": queries,
        "structural_zeros": tuple(
            dict(name_and_value(part, "--structural-zero") for part in text.split(","))
            for text in given["structural_zeros"]
        ),
        "simulations": simulations,
    }
    topdown_options = TopDownOptions(
        flavour="pure" if rho is None else "zCDP",
        total=parse_epsilon(epsilon or "") if rho is None else parse_epsilon(rho, "rho"),
        seed=seed,
        experiment=experiment,
        **given,
    )
    certificate = topdown(table_path, topdown_options, out, **options)
    print(f"{out}/certificate.md: {certificate['status']}")
    print(qualify_statement(certificate["guarantee"]["statement"], certificate["for_release"]))
    return 0, {
        "for_release": certificate["for_release"],
        "regions": sum(certificate["output"]["regions"]),
        "held": certificate["held"],
        "guarantee": guarantee_facts(certificate["guarantee"], certificate["for_release"]),
        "summary": certificate["summary"],
    }


def _share(text: str, option: str) -> Fraction:
    from isdp.checks import parse_rational

    return parse_rational(f"{option}: the share", text)
