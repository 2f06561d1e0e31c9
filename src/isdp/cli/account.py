"""`isdp account`: the total privacy loss of several releases of the same data."""

from __future__ import annotations

from isdp.cli.options import add_columns, command

MAX_SHOWN = 20
EPILOG = """\
Losses add up within one flavour and one unit, and only for tables that agree in the totals of all
releases. The files do not show that the releases are of the same data, or that there is no other.
With --cells and --invariants (of every release, in any order) the command lists the cells that all
totals together determine or reveal modulo m. It then gives the loss per person at the smallest
distance that all totals together force. Certificates of version 0.2 are read too.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "account",
        run,
        EPILOG,
        help="add up the privacy loss of several releases of the same data",
        description="Add up the privacy loss of several releases of the same data.",
    )
    own.add_argument("certificate_paths", metavar="CERTIFICATE", nargs="+", help="certificate.json")
    own.add_argument("--cells", dest="cells_path", metavar="FILE", help="csv, such as noisy.csv")
    own.add_argument(
        "--invariants",
        dest="invariants_paths",
        metavar="FILE",
        nargs="+",
        default=[],
        help="YAML, of each",
    )
    add_columns(own)


def run(certificate_paths: list[str], **given) -> int:
    """Run the command and print the total."""
    from isdp.commands.account import account
    from isdp.io.certificate import DISTRIBUTION_ONLY
    from isdp.io.wording import counted
    from isdp.mechanisms.generalized_laplace import NORMS

    found = account(certificate_paths, **given)
    whose = f"{DISTRIBUTION_ONLY}: " if found.experiments else ""
    releases = counted(len(certificate_paths), "release")
    print(f"{releases} together: {whose}{found.guarantee.statement()}")
    print("tables are compared that agree in the totals of all of these releases")
    for path in found.experiments:
        print(f"{path}: NOT FOR RELEASE; no guarantee holds for it")
    if found.together is None:
        # releases by swapping and TopDown name no file of invariants
        advice = "; give --cells and --invariants" * (found.guarantee.metric in NORMS)
        print(
            f"not examined: the cells that all totals together determine, and whether one person "
            f"can change cell alone under all of them{advice}"
        )
        return 0
    determined, new, residues, _, _ = found.together
    print(
        f"all totals together determine {counted(len(determined), 'cell')}, {len(new):,} of which "
        f"no release determines alone{_listed(new)}"
    )
    print(
        f"all totals together reveal {counted(len(residues), 'count')} modulo m of which no "
        f"release alone reveals as much{_listed(residues)}"
    )
    return 0


def _listed(names: list[str]) -> str:
    shown = [*names[:MAX_SHOWN], *(["..."] if len(names) > MAX_SHOWN else [])]
    return f": {'; '.join(shown)}" if shown else ""
