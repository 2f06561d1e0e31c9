"""The options and the output of `isdp account`, which adds up the privacy loss of releases."""

from __future__ import annotations

import argparse
from typing import Any

from isdp.cli.options import DELTA, add_columns, guarantee_facts

MAX_SHOWN = 20
HELP = "add up the privacy loss of several releases of the same data"
EPILOG = """\
Losses can be added if they are of the same kind (pure or zCDP) and have the same unit. With
--as-zcdp, a pure epsilon per person counts as rho = epsilon^2 / 2 (Bun and Steinke 2016,
Proposition 1.4), so that releases of Laplace and of Gaussian noise can be added. The sum holds for
tables that agree in the totals of all releases. The files do not show that the releases are of the
same data, or that there is no other release.

Releases of isdp privatize with different totals, or with and without --levels, need --cells and
--invariants. Without them, no loss per person is stated if the totals differ. Releases of isdp
topdown with equal held totals can be added, and so can those of isdp swap. They cannot be added to
releases of other commands.

The loss per person comes first. A rho is also stated as an epsilon at --delta. A further line gives
the epsilon from the exact composition of the privacy losses if this epsilon is smaller. It is
computed for pure losses and for Gaussian noise without levels. It is valid if no budget was chosen
from noisy counts of another release. Under disjoint totals, it is smallest with --cells and
--invariants.

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
        help="CSV or Parquet file with the cells of all releases",
    )
    own.add_argument(
        "--invariants",
        dest="invariants_paths",
        metavar="FILE",
        nargs="+",
        default=[],
        help="YAML file of the held totals of each release",
    )
    own.add_argument(
        "--as-zcdp",
        action="store_true",
        help="count a pure epsilon per person as rho = epsilon^2 / 2",
    )
    own.add_argument(
        "--delta",
        metavar="D",
        default=str(DELTA),
        help=f"delta at which epsilon is stated (default: {DELTA})",
    )
    add_columns(own)


def run(certificate_paths: list[str], **given: Any) -> tuple[int, dict[str, Any]]:
    """Run the command and print the total."""
    from isdp.commands.account import EXACT_SOURCE, account
    from isdp.commands.shared.opening import CONVERSION
    from isdp.io.certificate import qualify_statement
    from isdp.io.wording import counted
    from isdp.mechanisms.generalized_laplace import NORMS

    found = account(certificate_paths, **given)
    releases = counted(len(certificate_paths), "release")
    first = qualify_statement(found.guarantee.person_statement(), not found.experiments)
    print(f"{releases} together: {first}")
    facts: dict[str, Any] = {
        "releases": len(certificate_paths),
        "not_for_release": found.experiments,
        "guarantee": guarantee_facts(found.guarantee.record(), not found.experiments),
        "protection": found.protection,
    }
    for name, guarantee, method in (
        ("guarantee_at_delta", found.converted, f"conversion of rho: {CONVERSION}"),
        ("exact_guarantee_at_delta", found.exact, EXACT_SOURCE),
    ):
        if guarantee is not None:
            print(f"{guarantee.person_statement()} ({method})")
            facts[name] = guarantee_facts(guarantee.record(), not found.experiments)
    print(found.guarantee.statement())
    print("tables are compared that agree in the totals of all of these releases")
    for sentence in found.protection:
        print(sentence)
    for path in found.experiments:
        print(f"{path}: NOT FOR RELEASE; no guarantee holds for it")
    if found.together is None:
        # the certificates of swapping and TopDown name no file of invariants
        named = given["as_zcdp"] or found.guarantee.metric in NORMS
        advice = "; give --cells and --invariants" * named
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
