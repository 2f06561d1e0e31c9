"""The options and the output of `isdp check`, which verifies a release."""

from __future__ import annotations

import argparse
from typing import Any

from isdp.cli.options import add_columns, add_invariants

HELP = "verify the totals and the certificate of a release of isdp privatize"
NOT_VERIFIED = "the files do not show the noise distribution, its epsilon or rho, or its randomness"
EPILOG = """\
The file of totals is a CSV file with the columns name and total, such as totals.csv of a release.
The name of a total consists of its columns and values, such as  county: A, sex: f . The name of
the grand total is  grand total  and the name of a subset is  subset NAME .

The certificate has hashes of the noisy table and of the invariants, and numbers that are computed
from them. Without --certificate, changes that cancel within a held total are not found. A file of
a release of isdp topdown or isdp swap can be compared with the hash in its certificate.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    own.add_argument("noisy_path", metavar="NOISY", help="CSV or Parquet file of the noisy table")
    add_invariants(own)
    own.add_argument(
        "--totals",
        dest="totals_path",
        metavar="FILE",
        help="CSV or Parquet file of the published totals",
    )
    own.add_argument(
        "--certificate",
        dest="certificate_path",
        metavar="FILE",
        help="certificate.json of the release",
    )
    add_columns(own)


def run(certificate_path: str | None, **given: Any) -> tuple[int, dict[str, Any]]:
    """Run the checks and print their results."""
    from isdp.commands.check import check, read_certificate

    found = check(certificate_path=certificate_path, **given)
    for item, holds, detail in found:
        print(f"{'holds' if holds else 'WRONG'}: {item}: {detail}")
    facts: dict[str, Any] = {"checks": [finding._asdict() for finding in found]}
    if certificate_path is not None:
        facts["for_release"] = for_release = (
            read_certificate(certificate_path).get("for_release") is True
        )
        marked = "" if for_release else "NOT FOR RELEASE, as the certificate states; "
        print(f"{certificate_path}: {marked}{NOT_VERIFIED}")
    return (0 if all(finding.holds for finding in found) else 1), facts
