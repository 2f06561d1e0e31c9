"""`isdp check`: verification of a release by its recipient."""

from __future__ import annotations

from isdp.cli.options import add_columns, add_invariants, command

EPILOG = """\
the totals: a csv with the columns name and total, such as totals.csv of a release. A total is named
by its columns and values, such as  county: A, sex: f ; the grand total is named  grand total  and a
subset  subset NAME

The certificate holds hashes of the noisy table and of the invariants, and figures that follow from
them. Exit status: 0 if all checks hold, 1 if one does not, 2 if a file is invalid.
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
    own.add_argument("noisy_path", metavar="NOISY", help="csv, one row per cell")
    add_invariants(own)
    own.add_argument("--totals", dest="totals_path", metavar="FILE", help="csv, one row per total")
    own.add_argument(
        "--certificate", dest="certificate_path", metavar="FILE", help="certificate.json"
    )
    add_columns(own)


def run(certificate_path: str | None, **given) -> int:
    """Run the checks and print their results."""
    from isdp.commands.check import check, nothing_wrong, read_certificate

    found = check(certificate_path=certificate_path, **given)
    for what, holds, detail in found:
        print(f"{'holds' if holds else 'WRONG'}: {what}: {detail}")
    if certificate_path is not None:
        print(f"{certificate_path}: {_unverified(read_certificate(certificate_path))}")
    return 0 if nothing_wrong(found) else 1


def _unverified(certificate: dict) -> str:
    """Return the statement of what the files cannot show."""
    unseen = "the files do not show the noise distribution, its epsilon or rho, or its randomness"
    if certificate.get("for_release") is True:
        return unseen
    return f"NOT FOR RELEASE, as the certificate states; {unseen}"
