"""`isdp topdown`: a table of nested regions that adds up at every level."""

from __future__ import annotations

from isdp.cli.options import (
    add_accept,
    add_count,
    add_experiment,
    add_out,
    command,
    take_experiment,
    whole_number,
)
from isdp.errors import InputError

MAX_SIMULATIONS = 10_000
EPILOG = """\
the table: a csv in UTF-8, one row per cell of a smallest region. The columns of --levels name the
region, one column has the counts, and all others describe the cell. Missing cells are empty.

The command writes to DIR, all at the end or none: released.csv (every count of every level, with
its simulated margin of error), measurements.csv, budget.csv, certificate.json, certificate.md

A share is a decimal or a fraction, such as 0.25 or 1/4; the shares of levels, and of the queries of
each level, add up to 1. The levels are those named and `all`, the whole table. A query is
`total`, `detail` (all cells; needed), an axis, or several axes joined by *. By default levels share
equally; at each level detail has one half, and the total (if not held) and the axes share the rest.

--present names a csv, one row per kind that is present in a smallest region: the last of the
levels, one or several axes, and perhaps `least`, the smallest number of people (default: 1)

Refused before anything is drawn, unless --accept names it; the certificate records the names given:
  weak-noise     a measured count stays unchanged with a probability of 0.95 or more
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "topdown",
        run,
        EPILOG,
        help="release a table of nested regions that adds up at every level, without negatives",
        description="Release a table of nested regions by the Census Bureau's TopDown algorithm.",
    )
    own.add_argument("table_path", metavar="TABLE", help="csv, one row per cell")
    own.add_argument("--levels", metavar="A,B", required=True, help="columns, largest first")
    budget = own.add_mutually_exclusive_group(required=True)
    budget.add_argument("--epsilon", metavar="E", help="total pure privacy loss per person")
    budget.add_argument("--rho", metavar="R", help="total zero-concentrated privacy loss")
    own.add_argument("--held", metavar="A,B", default="", help="levels whose totals stay exact")
    many = {"action": "append", "default": []}
    own.add_argument(
        "--share", dest="level_shares", metavar="LEVEL=SHARE", help="part of the budget", **many
    )
    own.add_argument(
        "--query",
        dest="query_shares",
        metavar="[LEVEL:]QUERY=SHARE",
        help="part of a level's budget",
        **many,
    )
    own.add_argument(
        "--structural-zero",
        dest="structural_zeros",
        metavar="AXIS=CATEGORY[,...]",
        help="cells that must be empty, may be repeated",
        **many,
    )
    own.add_argument(
        "--present", metavar="FILE", help="csv of kinds that are present in a region, see below"
    )
    own.add_argument(
        "--absent-otherwise", action="store_true", help="kinds not in --present are absent"
    )
    own.add_argument("--one-pass", action="store_true", help="do not estimate totals first")
    own.add_argument("--simulations", metavar="N", default="20", help="0, or from 10; default: 20")
    add_count(own)
    add_out(own, "topdown")
    add_accept(own, "weak-noise")
    add_experiment(own)


def run(table_path: str, out: str, epsilon: str | None, rho: str | None, **given) -> int:
    """Run the command and print a summary."""
    from isdp.commands.topdown.run import TopDownOptions, topdown
    from isdp.exact.release_noise import parse_epsilon
    from isdp.io.certificate import qualify_statement

    options = {name: given.pop(name) for name in ("count", "force", "accept")}
    experiment, seed = take_experiment(given)
    queries: dict[str, dict] = {}
    for text in given["query_shares"]:
        level, _, rest = text.rpartition(":")
        name, share = _pair(rest, "--query")
        queries.setdefault(level, {})[name] = _share(share, "--query")
    pairs = (_pair(text, "--share") for text in given["level_shares"])
    simulations = whole_number(given["simulations"], "--simulations")
    if 0 < simulations < 10 or simulations > MAX_SIMULATIONS:
        raise InputError(
            f"--simulations must be 0 or from 10 up to {MAX_SIMULATIONS:,}, got {simulations}"
        )
    given |= {
        "levels": tuple(given["levels"].split(",")),
        "held": tuple(name for name in given["held"].split(",") if name),
        "level_shares": {name: _share(share, "--share") for name, share in pairs},
        "query_shares": queries,
        "structural_zeros": tuple(
            dict(_pair(part, "--structural-zero") for part in text.split(","))
            for text in given["structural_zeros"]
        ),
        "simulations": simulations,
    }
    wish = TopDownOptions(
        flavour="zCDP" if epsilon is None else "pure",
        total=parse_epsilon(rho, "rho") if epsilon is None else parse_epsilon(epsilon),
        seed=seed,
        experiment=experiment,
        **given,
    )
    certificate = topdown(table_path, wish, out, **options)
    print(f"{out}/certificate.md: {certificate['status']}")
    print(qualify_statement(certificate["guarantee"]["statement"], certificate["for_release"]))
    return 0


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise InputError(f"{option} needs NAME=VALUE, got {text!r}")
    return name, value


def _share(text: str, option: str):
    from isdp.checks import parse_rational

    return parse_rational(f"{option}: the share", text)
