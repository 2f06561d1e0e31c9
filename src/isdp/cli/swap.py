"""The options and the output of `isdp swap`, which swaps values between records."""

from __future__ import annotations

import argparse
import csv
from typing import Any

from isdp.cli.options import add_out, add_out_format, guarantee_facts
from isdp.errors import InputError

HELP = "swap values between records and keep the totals of the other columns exactly"
EPILOG = """\
The file of records is a CSV file in UTF-8 or a Parquet file (.parquet), with one row per record.
All values are read as strings.

A record is swapped only with records that have the same values of --match. These records are its
group. Each record is selected with the probability --rate. A selected record takes the values of
--swap and --carry from another selected record of its group. These values may be the same. If only
one record of a group is selected, the selection in the group is drawn again. All other columns stay
with the record. The command publishes two sets of totals unchanged: the totals of all columns
except --swap and --carry, and the totals of --match by --swap and --carry.

The command refuses some columns that would stay with their records:
- A column that determines a swapped or carried column: each of its values occurs with one value of
  that column. The tract determines the county. Name the column in --carry, or leave it out.
- A column that is determined by a swapped or carried column, as the state is determined by the
  county. Name the column in --match or --carry, or leave it out.
- A column that identifies the records: the number of its distinct values is more than 90 % of the
  number of records, and there are at least 50 records. Leave the column out, name it in --carry, or
  declare it with --public.
The first two conditions are tested in the whole file and within the groups. Such a column reveals
swaps even if it is public, so that --public does not allow it.

The command writes swapped.csv (swapped.parquet, with --out-format parquet), certificate.json,
certificate.md, datapackage.json (a description of the table) and registry.yaml (a draft for the
registry of deployments) to DIR together at the end. The records are sorted by their columns,
because the order of the input would reveal swaps.

There are no options for weighted records, for swaps within several levels of a hierarchy, or for
records selected by their risk, because no guarantee is known for these swaps. There is no seed,
because a reader could use it to undo the swap.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    own.add_argument("path", metavar="RECORDS", help="CSV or Parquet file with one row per record")
    own.add_argument(
        "--swap", metavar="COLUMNS", required=True, help="columns to swap, such as county"
    )
    own.add_argument(
        "--match",
        metavar="COLUMNS",
        default="",
        help="columns that must agree, such as state,size (default: all records are one group)",
    )
    own.add_argument(
        "--rate",
        metavar="P",
        required=True,
        help="published probability of selecting a record, such as 0.05 or 1/20",
    )
    own.add_argument(
        "--carry", metavar="COLUMNS", default="", help="columns that move with the swapped columns"
    )
    own.add_argument(
        "--public",
        metavar="COLUMN",
        action="append",
        default=[],
        help="column that identifies records but may be published unchanged (may be repeated)",
    )
    add_out(own, "swapped")
    add_out_format(own)


def run(**given: Any) -> tuple[int, dict[str, Any]]:
    """Swap the records and print a summary."""
    from isdp.commands.swap.run import swap_file
    from isdp.io.wording import counted

    if given["rate"].endswith("%"):
        raise InputError("--rate: percentages are not read. Write a fraction, such as 0.05.")
    for name in ("match", "swap", "carry"):
        given[name] = _columns(given[name], f"--{name}")
    certificate, out = swap_file(**given), given["out"]
    strata, privacy = certificate["strata"], certificate["privacy"]
    print(
        f"{out}/{certificate['output']['file']}: "
        f"{counted(certificate['input']['records'], 'record')}, "
        f"{counted(sum(check['totals'] for check in certificate['totals']), 'total')} exact"
    )
    print(
        f"{out}/certificate.md: epsilon {privacy['epsilon_bound']} for each record in which "
        f"two datasets differ, {privacy['epsilon_between_nearest']} between the nearest two"
    )
    print(privacy["statement"])
    fixed = strata["records_that_cannot_change"]
    if fixed:
        print(
            f"{counted(fixed, 'record')} cannot change, in "
            f"{strata['where_nothing_can_change']:,} of "
            f"{counted(strata['number'], 'stratum', 'strata')}, and must be published unchanged"
        )
    return 0, {
        "for_release": certificate["for_release"],
        "records": certificate["input"]["records"],
        "exact_totals": sum(check["totals"] for check in certificate["totals"]),
        "records_that_cannot_change": fixed,
        "guarantee": guarantee_facts(privacy, certificate["for_release"]),
        "summary": certificate["summary"],
    }


def _columns(text: str, option: str) -> list[str]:
    """Read names of columns as one row of a CSV file, so that a quoted name may contain commas."""
    try:
        return next(csv.reader([text]), []) if text else []
    except csv.Error:
        raise InputError(f"{option}: a name has a line break. Rename the column.") from None
