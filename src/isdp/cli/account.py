"""The options and the output of `isdp account`, which adds up the privacy loss of releases."""

from __future__ import annotations

import argparse
from typing import Any

from isdp.cli.options import add_columns, guarantee_facts

MAX_SHOWN = 20
HELP = "add up the privacy loss of several releases of the same data"
EPILOG = """\
Losses can be added if they have the same flavour and the same unit. The sum holds for tables that
agree in the totals of all releases. The files do not show that the releases are of the same data,
or that there is no other release.

--invariants takes the files of invariants of all releases, in any order. With --cells and
--invariants the command lists the cells that all totals together determine or reveal modulo m. It
then states the loss per person at the smallest distance that all totals together force.
Certificates of version 0.2 are accepted too.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    own.add_argument(
        "certificate_paths", metavar="CERTIFICATE", nargs="+", help="certificate.json of a release"
    )
    own.add_argument(
        "--cells",
        dest="cells_path",
        metavar="FILE",
        help="csv or Parquet file with the cells of all releases",
    )
    own.add_argument(
        "--invariants",
        dest="invariants_paths",
        metavar="FILE",
        nargs="+",
        default=[],
        help="YAML file of the held totals of each release",
    )
    add_columns(own)


def run(certificate_paths: list[str], **given: Any) -> tuple[int, dict[str, Any]]:
    """Run the command and print the total."""
    from isdp.commands.account import account
    from isdp.io.certificate import qualify_statement
    from isdp.io.wording import counted
    from isdp.mechanisms.generalized_laplace import NORMS

    found = account(certificate_paths, **given)
    releases = counted(len(certificate_paths), "release")
    statement = qualify_statement(found.guarantee.statement(), not found.experiments)
    print(f"{releases} together: {statement}")
    print("tables are compared that agree in the totals of all of these releases")
    for path in found.experiments:
        print(f"{path}: NOT FOR RELEASE; no guarantee holds for it")
    facts: dict[str, Any] = {
        "releases": len(certificate_paths),
        "not_for_release": found.experiments,
        "guarantee": guarantee_facts(found.guarantee.record(), not found.experiments),
    }
    if found.together is None:
        # the certificates of swapping and TopDown name no file of invariants
        advice = "; give --cells and --invariants" * (found.guarantee.metric in NORMS)
        print(
            f"not examined: the cells that all totals together determine, and whether one person "
            f"can change cell alone under all of them{advice}"
        )
        return 0, facts
    determined, new, residues, _ = found.together
    print(
        f"all totals together determine {counted(len(determined), 'cell')}, {len(new):,} of which "
        f"no release determines alone{_listed(new)}"
    )
    print(
        f"all totals together reveal {counted(len(residues), 'count')} modulo m of which no "
        f"release alone reveals as much{_listed(residues)}"
    )
    return 0, facts | {
        "determined_cells": determined,
        "newly_determined_cells": new,
        "cells_revealed_modulo_m": residues,
    }


def _listed(names: list[str]) -> str:
    shown = [*names[:MAX_SHOWN], *(["..."] if len(names) > MAX_SHOWN else [])]
    return f": {'; '.join(shown)}" if shown else ""
