"""`isdp check`: what a recipient can verify of a release."""

from __future__ import annotations

from isdp.cli.options import add_columns, add_invariants, command

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
    own.add_argument("noisy_path", metavar="NOISY", help="csv, a row a cell")
    add_invariants(own)
    own.add_argument("--totals", dest="totals_path", metavar="FILE", help="csv, a row a total")
    own.add_argument(
        "--certificate", dest="certificate_path", metavar="FILE", help="certificate.json"
    )
    add_columns(own)


def run(certificate_path: str | None, **given) -> int:
    """Run it and say what holds."""
    from isdp.commands.check import check, nothing_wrong, read_certificate

    found = check(certificate_path=certificate_path, **given)
    for what, holds, detail in found:
        print(f"{'holds' if holds else 'WRONG'}: {what}: {detail}")
    if certificate_path is not None:
        print(f"{certificate_path}: {_unverified(read_certificate(certificate_path))}")
    return 0 if nothing_wrong(found) else 1


def _unverified(certificate: dict) -> str:
    """Say what no recipient can see in the files."""
    unseen = "the law, its epsilon or rho, and its randomness are not seen in the files"
    if certificate.get("for_release") is True:
        return unseen
    return f"NOT FOR RELEASE, as it says itself; {unseen}"
