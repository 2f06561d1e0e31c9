"""The options and the output of `isdp compare`, which compares the errors of several systems."""

from __future__ import annotations

import argparse
from typing import Any

from isdp.cli.options import (
    HIERARCHY_EPILOG,
    LEVELS_EPILOG,
    add_cells,
    add_columns,
    add_hierarchy,
    add_invariants,
    add_levels,
    add_out,
    take_hierarchies,
    take_levels,
    whole_number,
)
from isdp.errors import InputError

HELP = "compare the errors of the systems of five papers on your cells and totals"
EPILOG = f"""\
The file of cells is a CSV file in UTF-8 or a Parquet file (.parquet), with one row per cell. Its
columns name the cell. If the file has a column of counts (--count) and --stand-in is not given, the
counts are used, and every file is marked CONFIDENTIAL. isdp privatize --help describes the file of
invariants.

--epsilon and --rho are for one person who changes cell. Each budget may be a list, such as 0.5,1,2.

The command writes comparison.csv and comparison.md to DIR, and a picture, comparison.svg and
comparison.png, if matplotlib is installed. It writes all files together at the end.

{HIERARCHY_EPILOG}
{LEVELS_EPILOG}
Nothing is released. Systems are ranked only if they have the same flavour and unit.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_cells(own)
    add_invariants(own)
    for name, metavar, words in (
        ("epsilon", "E", "pure privacy loss per person"),
        ("rho", "R", "zero-concentrated privacy loss per person"),
        ("rate", "P", "swap rate, such as 0.05"),
    ):
        own.add_argument(
            f"--{name}", dest=f"{name}s", metavar=metavar, action="append", default=[], help=words
        )
    own.add_argument(
        "--stand-in", metavar="FILE", help="CSV or Parquet file of public counts of the same cells"
    )
    own.add_argument(
        "--region",
        metavar="COLUMN",
        help="column of the regions (default: the only column with held totals)",
    )
    own.add_argument(
        "--area",
        metavar="COLUMN",
        help="column of the areas (default: the only column nested in the regions)",
    )
    own.add_argument(
        "--simulations",
        metavar="N",
        default="20",
        help="number of simulated runs, 10 or more (default: 20)",
    )
    own.add_argument("--seed", metavar="N", default="0", help="seed of the simulation (default: 0)")
    add_levels(own, errors=False)
    add_columns(own)
    add_hierarchy(own)
    add_out(own, "comparison", picture=True)


def run(**given: Any) -> tuple[int, dict[str, Any]]:
    """Run the command and print a summary."""
    from isdp.commands.compare.files import compare_files
    from isdp.commands.compare.report import format_budget, why_confidential
    from isdp.io.wording import counted

    for name in ("epsilon", "rho", "rate"):
        given[f"{name}s"] = _budgets(given[f"{name}s"], f"--{name}")
    given["hierarchies"] = take_hierarchies(given["hierarchies"])
    for name in ("simulations", "seed"):
        given[name] = whole_number(given[name], f"--{name}")
    found, out = compare_files(levels=take_levels(given), **given), given["out"]
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
    return 0, {
        "confidential": bool(marked),
        "cells": found.question.cells,
        "systems_and_budgets": len(found.systems),
        "left_out": found.left_out.to_dict("records"),
    }


def _budgets(texts: list[str], option: str) -> list[float]:
    from isdp.exact.release_noise import parse_epsilon

    found = []
    for text in ",".join(texts).split(",") if texts else []:
        try:
            found.append(float(parse_epsilon(text.strip())))
        except InputError:
            raise InputError(
                f"{option}: {text[:40]!r} is not a number from 1e-14 to 1000. Give numbers such as "
                f"0.5 or 1/4,1/2."
            ) from None
    return found
