"""The options and the output of `isdp privatize`, which adds noise to a table."""

from __future__ import annotations

import argparse
from typing import Any

from isdp.cli.options import (
    HIERARCHY_EPILOG,
    LEVELS_EPILOG,
    add_accept,
    add_columns,
    add_hierarchy,
    add_invariants,
    add_levels,
    add_noise,
    add_out,
    add_out_format,
    guarantee_facts,
    lines_of_levels,
    request,
    take_hierarchies,
)
from isdp.errors import InputError

HELP = "add integer noise to a table of counts and keep named totals exactly"
EPILOG = f"""\
The table is a CSV file in UTF-8 or a Parquet file (.parquet), with one row per cell. One column has
the counts, and the other columns name the cell. List every possible cell, including empty cells, in
an order that does not depend on the counts, because the rows and their order are published.

The file of invariants is a YAML file with one or more of these keys:
  total: true                  the grand total
  totals:                      the totals by the values of each listed column or combination
    - county
    - [county, sex]
  subsets:                     the total of the selected cells
    minors: {{age: [0-4, 5-17]}}         selected by values of columns
    twins: ["Alpha, Low", "Beta, Low"] selected by names of cells (their columns joined by ', ')
Both margins of a two-way table are  totals: [row, column].

The command writes these files to DIR together at the end: noisy.csv (noisy.parquet, with
--out-format parquet), totals.csv (the held totals), margins.csv (margins of error in persons),
margins_full.csv (their methods, and probabilities), certificate.json, certificate.md,
datapackage.json (a description of the tables), registry.yaml (a draft for the registry of
deployments), and a picture, noisy.svg and noisy.png, if matplotlib is installed.

Epsilon is the pure privacy loss of Laplace noise, and rho is the zero-concentrated loss of Gaussian
noise. Both are per person: the loss between two tables that agree in the held totals, differ in the
cell of one person, and are otherwise as close as possible. Within one total a person can move
alone, which is a distance of 2. Under both margins of a table other people have to move too, and
the distance is 4. The certificate states this distance, the largest distance between two cells, and
the loss at each. If no bound on the distance is found, the command asks for --per-unit. Epsilon is
then per unit of the norm, and rho per unit of the squared l2 distance. Numbers are exact decimals
or fractions, such as 0.25 or 1/4.

{HIERARCHY_EPILOG}
{LEVELS_EPILOG}
With --levels, --error NAME=PERSONS gives the root mean square errors of levels in place of a budget
and shares. levels.csv lists the levels with their shares and errors.

The command refuses these risks before it draws noise. --accept accepts a risk by its name, and the
certificate records the accepted names.
  weak-noise     a count stays unchanged with a probability of 0.95 or more
  sorted-rows    six rows or more are sorted by their counts
  missing-rows   some combinations of the columns' values have no row, and no count is 0
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    own.add_argument(
        "table_path", metavar="TABLE", help="CSV or Parquet file with one row per cell"
    )
    add_invariants(own)
    add_noise(own)
    add_levels(own)
    own.add_argument(
        "--allow-mcmc",
        action="store_true",
        help="allow a Markov chain of unknown convergence error (needs --for-experiments)",
    )
    own.add_argument(
        "--nonnegative",
        action="store_true",
        help="also write nonnegative.csv, the nearest table without negative counts (biased)",
    )
    add_columns(own)
    add_hierarchy(own)
    add_out(own, "noisy", picture=True)
    add_out_format(own)
    add_accept(own, "weak-noise", "sorted-rows", "missing-rows")


def run(**given: Any) -> tuple[int, dict[str, Any]]:
    """Run the command and print a summary."""
    from isdp.commands.privatize.run import privatize_file
    from isdp.io.certificate import qualify_statement
    from isdp.io.wording import counted

    wanted = request(given)
    given["hierarchies"] = take_hierarchies(given["hierarchies"])
    if given.pop("errors", None):
        raise InputError("--error: this option needs --levels. isdp plan finds other budgets.")
    certificate = privatize_file(request=wanted, **given)
    out = given["out"]
    totals = sum(check["totals"] for check in certificate["invariants"])
    output = certificate["output"]
    print(
        f"{out}/{output['table']}: {counted(certificate['input']['cells'], 'cell')}, "
        f"{counted(totals, 'total')} exact, "
        f"{counted(output['negative_counts'], 'negative count')}"
    )
    print(f"{out}/certificate.md: {certificate['status']}")
    print(qualify_statement(certificate["mechanism"]["statement"], certificate["for_release"]))
    for line in lines_of_levels(certificate["levels"]):
        print(line)
    fixed = certificate["lattice"]["cells_without_freedom"]
    if fixed:
        determined = counted(fixed, "cell is", "cells are")
        print(f"{determined} determined by these totals: published exactly")
    residues = certificate["residues"]
    if residues["cells"]:
        print(
            f"{counted(residues['cells'], 'count is', 'counts are')} published modulo m: "
            f"{residues['published']}"
        )
    if given["picture"] and not certificate["output"]["picture"]:
        print("no picture: matplotlib cannot be imported; run pip install 'isdp[plots]'")
    return 0, {
        "for_release": certificate["for_release"],
        "cells": certificate["input"]["cells"],
        "exact_totals": totals,
        "determined_cells": fixed,
        "cells_revealed_modulo_m": residues["cells"],
        "negative_counts": certificate["output"]["negative_counts"],
        "guarantee": guarantee_facts(certificate["mechanism"], certificate["for_release"]),
        "summary": certificate["summary"],
    }
