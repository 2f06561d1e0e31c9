"""`isdp privatize`: noise for a table with held totals."""

from __future__ import annotations

from isdp.cli.options import (
    add_accept,
    add_columns,
    add_invariants,
    add_noise,
    add_out,
    command,
    request,
)

EPILOG = """\
the table: a csv in UTF-8, one row per cell; a column of counts, and others that name the cell

the file of invariants (YAML), by the table's columns:
  total: true                  the grand total
  totals:                      totals by the values of each column or combination listed
    - county
    - [county, sex]
  subsets:                     the total of the cells selected
    minors: {age: [0-4, 5-17]}         by values of columns
    twins: ["Alpha, Low", "Beta, Low"] by names of cells (their columns joined by ', ')
Both margins of a two-way table are  totals: [row, column].

The command writes to DIR, all at the end or none: noisy.csv, totals.csv (the held totals),
margins.csv (margins of error), certificate.json, certificate.md, and a picture, noisy.svg and
noisy.png, if matplotlib is installed

Epsilon and rho are per person: the privacy loss between two tables that differ in the cell of one
person and in as little else as the held totals allow. Epsilon is pure, for Laplace noise. Rho is
zero-concentrated, for Gaussian noise. Within one total a person can move alone, which is a distance
of 2. Under both margins of a table others have to move too, and the distance is 4. The certificate
states the distance, and the loss per person and per unit. Where the distance is not known, the
command asks for --per-unit: epsilon per unit of the norm, rho per unit of the squared l2 distance.
Numbers are read as they are written, as 0.25 or 1/4.

List every possible cell, also the empty ones, in an order that does not depend on the counts: the
rows and their order are published.

Refused before anything is drawn, unless --accept names it; the certificate records the names given:
  weak-noise     a count stays unchanged with a probability of 0.95 or more
  sorted-rows    six rows or more are sorted by their counts
  missing-rows   some combinations of the columns' values have no row, and no count is 0
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "privatize",
        run,
        EPILOG,
        help="add noise to a table of counts and keep named totals exactly",
        description="Add integer noise to a table of counts and keep named totals exactly.",
    )
    own.add_argument("table_path", metavar="TABLE", help="csv, one row per cell")
    add_invariants(own)
    add_noise(own)
    own.add_argument(
        "--allow-mcmc",
        action="store_true",
        help="with --for-experiments: allow a Markov chain, whose error is of unknown size",
    )
    add_columns(own)
    add_out(own, "noisy", picture=True)
    add_accept(own, "weak-noise", "sorted-rows", "missing-rows")


def run(**given) -> int:
    """Run the command and print a summary."""
    from isdp.commands.privatize.run import privatize_file
    from isdp.io.certificate import qualify_statement
    from isdp.io.wording import counted

    certificate = privatize_file(request=request(given), **given)
    out = given["out"]
    totals = sum(check["totals"] for check in certificate["invariants"])
    print(
        f"{out}/noisy.csv: {counted(certificate['input']['cells'], 'cell')}, "
        f"{counted(totals, 'total')} exact, "
        f"{counted(certificate['output']['negative_counts'], 'negative count')}"
    )
    print(f"{out}/certificate.md: {certificate['status']}")
    print(qualify_statement(certificate["mechanism"]["statement"], certificate["for_release"]))
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
        print("no picture: matplotlib is not installed (pip install 'isdp[plots]')")
    return 0
