"""`isdp swap`: exchange of values between records."""

from __future__ import annotations

import csv

from isdp.cli.options import add_out, command
from isdp.errors import InputError

EPILOG = """\
the records: a csv in UTF-8 with one row for each record; all values are read as text

Records are swapped only with records that agree on --match. Each is selected with the probability
--rate. A selected record takes the values of --swap and --carry from another one, which may be the
same values. If one record of a group is selected alone, the whole group is drawn again. All other
columns stay with the record. The totals of all columns but --swap and --carry, and of --match by
--swap and --carry, stay exactly as they are and are published.

Some columns must not stay with their records, and the command refuses them before it draws
anything:
- A column that determines a swapped or carried column, such as the tract of a county: each of its
  values occurs with one value of that column. Name it in --carry, or leave it out.
- A column that is determined by a swapped or carried column, such as the state of a county. Name
  it in --match or --carry, or leave it out.
- A column that identifies the records: the number of its distinct values is more than 90 % of the
  number of records, of which there are at least 50. Leave it out, name it in --carry, or declare it
  with --public.
The first two kinds are tested among all records and among records that agree on --match. They
reveal swaps even if the column is public, so that --public does not allow them.

The command writes to DIR: swapped.csv, certificate.json, certificate.md; all at the end or none.
The records are sorted by their columns, because the order of the input would reveal swaps.

There is no option for weighted records, for swaps within several levels of a hierarchy, or for
records chosen by their risk: the theorem behind epsilon does not cover them, and no guarantee is
known for such swaps. There is no seed, because it could be used to undo the swap.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "swap",
        run,
        EPILOG,
        help="swap values between records and keep the totals of the other columns exactly",
        description="Swap values between matching records for release, and write a certificate.",
    )
    own.add_argument("path", metavar="RECORDS", help="csv, one row per record")
    own.add_argument(
        "--swap", metavar="COLUMNS", required=True, help="columns to swap, such as county"
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
        help="probability of selecting a record, between 0 and 1, such as 0.05 or 1/20; public",
    )
    own.add_argument(
        "--carry", metavar="COLUMNS", default="", help="columns that go with the swapped ones"
    )
    own.add_argument(
        "--public",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column that identifies records and may be published unchanged; may be repeated",
    )
    add_out(own, "swapped")


def run(**given) -> int:
    """Swap the records and print a summary."""
    from isdp.commands.swap.run import swap_file
    from isdp.io.wording import counted

    for name in ("match", "swap", "carry"):
        given[name] = _columns(given[name], f"--{name}")
    certificate, out = swap_file(**given), given["out"]
    strata, privacy = certificate["strata"], certificate["privacy"]
    print(
        f"{out}/swapped.csv: {counted(certificate['input']['records'], 'record')}, "
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
    return 0


def _columns(text: str, option: str) -> list[str]:
    """Read names of columns as one row of a csv, so that quoted names may hold commas."""
    try:
        return next(csv.reader([text]), []) if text else []
    except csv.Error:
        raise InputError(f"{option}: the name of a column has a line break; rename it") from None
