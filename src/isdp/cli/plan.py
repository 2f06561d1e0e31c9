"""`isdp plan`: what noise to expect, before a count is looked at."""

from __future__ import annotations

import argparse

from isdp.cli.options import add_count, add_experiment, add_name, add_out, command
from isdp.cli.privatize import add_law, request
from isdp.errors import InputError

MOST_SHOWN = 12
EPILOG = """\
the cells: a csv as for isdp privatize; a column of counts is passed over where there is one

the file of invariants, and that of sums: YAML as for isdp privatize (isdp privatize --help)

written to DIR: plan.csv (each kind of cell and each sum: standard deviation, 95 % limit, the chance
that a count of a given size turns negative; each figure with how it was found and its error),
plan.json, curve.csv and a picture of it, plan.svg and plan.png

exact: computed from the law. bounded: the true figure is at most this one. simulated: from draws
made for this alone, with two standard errors. With --error the smallest epsilon (with --sigma
or --rho the largest sigma) of three digits is looked for whose 95 % limit is at most that many
persons.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "plan",
        run,
        EPILOG,
        help="tell what noise to expect, without looking at a count",
        description="Tell what noise to expect, without looking at a count.",
    )
    own.add_argument("--cells", metavar="FILE", required=True, help="csv, a row a cell")
    add_law(own)
    own.add_argument("--sums", metavar="FILE", help="YAML; default: by each column of few values")
    own.add_argument("--error", metavar="N", help="wanted 95 %% limit: find the epsilon for it")
    own.add_argument("--error-of", metavar="NAME", help="of this sum; default: of every cell")
    add_count(own)
    add_name(own)
    add_out(own, "plan")
    own.add_argument("--no-picture", action="store_true", help="draw no picture")
    add_experiment(own)
    own.set_defaults(allow_mcmc=False)


def run(given: argparse.Namespace) -> int:
    """Run it and say what was found."""
    from isdp.privatize.outlook import plan

    if given.error_of is not None and given.error is None:
        raise InputError("--error-of names what --error is of; give --error too")
    if given.error is not None and given.epsilon is None and given.sigma is given.rho is None:
        given.epsilon = "1"  # where the search starts
    outlook = plan(
        given.cells,
        given.invariants,
        request(given),
        given.out,
        error=_persons(given.error),
        error_of=given.error_of,
        sums_path=given.sums,
        count=given.count,
        names=given.name,
        force=given.force,
        picture=not given.no_picture,
    )
    print(
        f"{outlook.setting} {outlook.value:g}: {outlook.cells:,} cells, {outlook.degrees:,} "
        f"degrees of freedom, {outlook.fixed:,} cells published exactly"
    )
    if outlook.residues:
        print(f"{outlook.residues:,} counts would be published up to a multiple")
    print(outlook.statement)
    sampler = outlook.sampler
    if "refused" in sampler:
        print(f"sampler: none; {sampler['refused']}")
    else:
        print(
            f"sampler: {sampler['method']}, {sampler['seconds']:.2g} s for one draw, which was "
            f"thrown away; up to {outlook.megabytes:,.0f} MB here, reading included"
        )
    for margin in outlook.margins[:MOST_SHOWN]:
        sd, limit = margin.sd, margin.limit
        print(f"{margin.name} ({margin.cells:,} cells): sd {_said(sd)}, 95 % limit {_said(limit)}")
    if len(outlook.margins) > MOST_SHOWN:
        print(f"{len(outlook.margins) - MOST_SHOWN:,} more in {given.out}/plan.csv")
    return 0


def _said(figure) -> str:
    from isdp.accounting import upper
    from isdp.privatize.margins import BOUNDED

    error = f" +- {figure.error:.2g}" if figure.error else ""
    bounded = figure.how == BOUNDED
    return f"{upper(figure.value, 5) if bounded else f'{figure.value:.5g}'}{error} ({figure.how})"


def _persons(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--error must be a number of persons, got {text!r}") from None
