"""`isdp compare`: the errors of several systems at given budgets."""

from __future__ import annotations

from isdp.cli.options import add_cells, add_columns, add_invariants, add_out, command, whole_number
from isdp.errors import InputError

EPILOG = """\
the cells: a csv in UTF-8, one row per cell; its columns name the cell. If it has a column of counts
(--count) and there is no --stand-in, the counts are used, and every file is marked CONFIDENTIAL

the file of invariants (YAML): as for isdp privatize; see isdp privatize --help

--epsilon and --rho are for one person who changes cell. Each budget may be a list, such as 0.5,1,2

The command writes to DIR, all at the end or none: comparison.csv, comparison.md, and a picture,
comparison.svg and comparison.png, if matplotlib is installed

Nothing is released. Systems are ranked only within one flavour and unit.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "compare",
        run,
        EPILOG,
        help="compare the errors of five papers' systems on cells and totals like yours",
        description="Compare systems on cells like yours, each at its own budget.",
    )
    add_cells(own)
    add_invariants(own)
    for name, metavar, words in (
        ("epsilon", "E", "pure privacy loss"),
        ("rho", "R", "zero-concentrated privacy loss"),
        ("rate", "P", "swap rate, such as 0.05"),
    ):
        options = {"action": "append", "default": [], "metavar": metavar, "help": words}
        own.add_argument(f"--{name}", dest=f"{name}s", **options)
    own.add_argument("--stand-in", metavar="FILE", help="public counts of the same cells")
    own.add_argument("--region", metavar="COLUMN", help="default: the one whose totals are held")
    own.add_argument("--area", metavar="COLUMN", help="default: the one nested in the regions")
    own.add_argument("--simulations", metavar="N", default="20", help="from 10; default: 20")
    own.add_argument("--seed", metavar="N", default="0", help="default: 0")
    add_columns(own)
    add_out(own, "comparison", picture=True)


def run(**given) -> int:
    """Run the command and print a summary."""
    from isdp.commands.compare.files import compare_files
    from isdp.commands.compare.report import format_budget, why_confidential
    from isdp.io.wording import counted

    for name in ("epsilon", "rho", "rate"):
        given[f"{name}s"] = _budgets(given[f"{name}s"], f"--{name}")
    for name in ("simulations", "seed"):
        given[name] = whole_number(given[name], f"--{name}")
    found, out = compare_files(**given), given["out"]
    marked = why_confidential(found)
    if marked:
        print(marked)
    print(
        f"{out}: {counted(len(found.systems), 'system and budget', 'systems and budgets')} "
        f"compared on {counted(found.question.cells, 'cell')}"
    )
    for _, row in found.left_out.iterrows():
        budget = format_budget(row["parameter"], row["budget"])
        print(f"left out: {row['system']}, {budget}: {row['reason']}")
    return 0


def _budgets(texts: list[str], option: str) -> list[float]:
    """Read decimals or fractions separated by commas."""
    from isdp.exact.release_noise import parse_epsilon

    found = []
    for text in ",".join(texts).split(",") if texts else []:
        try:
            found.append(float(parse_epsilon(text.strip())))
        except InputError:
            raise InputError(
                f"{option}: wanted numbers from 1e-14 to 1000, such as 0.5 or 1/4,1/2, got "
                f"{text[:40]!r}"
            ) from None
    return found
