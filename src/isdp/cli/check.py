"""`isdp check`: what a recipient can verify of a release."""

from __future__ import annotations

import argparse

from isdp.cli.options import add_count, add_name, command

EPILOG = """\
the totals: a csv with the columns name and total, as totals.csv of a release; a total is called
by its columns and values, such as  county: A, sex: f ; the grand total is  grand total  and a
subset  subset NAME

The certificate holds hashes of the noisy table and of the invariants, and figures that follow from
them. Exit status: 0 if all holds, 1 if something does not, 2 if a file is not what it should be.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "check",
        run,
        EPILOG,
        help="verify the totals and the certificate of a noisy table",
        description="Verify the totals and the certificate of a noisy table.",
    )
    own.add_argument("noisy", metavar="NOISY", help="csv, a row a cell")
    own.add_argument("--invariants", metavar="FILE", required=True, help="YAML")
    own.add_argument("--totals", metavar="FILE", help="csv, a row a total")
    own.add_argument("--certificate", metavar="FILE", help="certificate.json")
    add_count(own)
    add_name(own)


def run(given: argparse.Namespace) -> int:
    """Run it and say what holds."""
    from isdp.privatize.check import check, nothing_wrong, read_certificate

    found = check(
        given.noisy,
        given.invariants,
        totals_path=given.totals,
        certificate_path=given.certificate,
        count=given.count,
        names=given.name,
    )
    for what, holds, detail in found:
        print(f"{'holds' if holds else 'WRONG'}: {what}: {detail}")
    if given.certificate is not None:
        print(f"{given.certificate}: {_unverified(read_certificate(given.certificate))}")
    return 0 if nothing_wrong(found) else 1


def _unverified(certificate: dict) -> str:
    """Say what no recipient can see in the files."""
    unseen = "the law, its epsilon or rho, and its randomness are not seen in the files"
    if certificate.get("for_release") is True:
        return unseen
    return f"NOT FOR RELEASE, as it says itself; {unseen}"
