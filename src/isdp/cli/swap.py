"""`isdp swap`: values exchanged between records."""

from __future__ import annotations

import argparse
import csv

from isdp.cli.options import add_out, command

EPILOG = """\
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


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "swap",
        run,
        EPILOG,
        help="swap values between records and keep the totals of what is held exactly",
        description="Swap values between records that match, for release, with a certificate.",
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
    add_out(own, "swapped")


def run(given: argparse.Namespace) -> int:
    """Run it and say what was written."""
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
    print(privacy["statement"])
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
