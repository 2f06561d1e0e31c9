"""The options and the output of `isdp plan`, which forecasts the noise."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from isdp.cli.options import (
    HIERARCHY_EPILOG,
    LEVELS_EPILOG,
    add_accept,
    add_cells,
    add_columns,
    add_hierarchy,
    add_invariants,
    add_levels,
    add_noise,
    add_out,
    lines_of_levels,
    name_and_value,
    request,
    take_hierarchies,
)
from isdp.errors import InputError

if TYPE_CHECKING:
    from isdp.commands.shared.margins import Estimate, Margin

MAX_SUMS_SHOWN = 12
MAX_CELLS_SHOWN = 3
CELLS = "cell"  # the name of all cells in --error
HELP = "forecast the noise, without reading the counts"
EPILOG = f"""\
isdp privatize --help describes the file of cells and the file of invariants. A column of counts is
ignored. The file of sums has the format of the file of invariants.

The command writes plan.csv, plan.json, curve.csv and a picture of the curve, plan.svg and plan.png,
to DIR. plan.csv has one row for each cell class and each sum. Its columns are the standard
deviation, the 95 % limit, and the probability that a count of a given size turns negative. Each
number has its method and its error.

An exact number is computed from the distribution of the noise. A bounded number is an upper bound.
A simulated number is computed from separate draws, and its error is two standard errors. With
--error NAME=PERSONS, the command finds the smallest epsilon of three digits for which the standard
deviation of the noise of NAME is at most PERSONS. NAME is `cell` for all cells, or a name in
plan.csv. With --sigma or --rho it finds the largest sigma instead.

{HIERARCHY_EPILOG}
--totals FILE has the held totals by the names in totals.csv of a release. intervals.csv then has
the smallest and the largest count of each cell that these totals and non-negativity allow. FILE
must have every held total. The command needs a budget for this audit too.

{LEVELS_EPILOG}
With --levels, --error NAME=PERSONS gives the root mean square errors of levels in place of a budget
and shares. levels.csv lists the levels with their shares and errors.

The command refuses totals for which isdp privatize has no sampler, and noise that isdp privatize
refuses as too weak; --accept weak-noise shows this noise. Only isdp privatize checks whether the
rows of the table reveal counts, because this command reads no counts.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_cells(own)
    add_invariants(own)
    add_noise(own)
    add_levels(own)
    own.add_argument(
        "--totals",
        dest="totals_path",
        metavar="FILE",
        help="CSV file with the columns name and total: audit what these held totals alone reveal",
    )
    own.add_argument("--error-of", help=argparse.SUPPRESS)  # an option of version 0.2
    add_columns(own)
    add_hierarchy(own)
    add_out(own, "plan", picture=True)
    add_accept(own, "weak-noise")
    own.set_defaults(allow_mcmc=False)


def run(**given: Any) -> tuple[int, dict[str, Any]]:
    """Run the command and print a summary."""
    from isdp.commands.plan import plan
    from isdp.io.wording import counted

    if given.pop("error_of") is not None:
        raise InputError("--error-of: this option was removed. Write --error NAME=PERSONS.")
    if given["errors"] and given["levels"] is None:
        budgets = ("epsilon", "rho", "sigma")
        if not any(given[budget] for budget in budgets):
            given["epsilon"] = "1"  # the first epsilon of the search
    given_rho = given["rho"]
    wanted = request(given)
    given["hierarchies"] = take_hierarchies(given["hierarchies"])
    errors = _errors(given.pop("errors", []))
    forecast = plan(request=wanted, errors=errors, **given)
    free = forecast.free
    unit = f" per {forecast.per}" * (forecast.setting != "sigma")
    asked = ""
    if forecast.setting == "sigma" and given_rho and not errors:
        asked = f"rho {given_rho} per {forecast.per}, "
    print(
        f"{asked}{forecast.setting} {forecast.value:g}{unit}: "
        f"{counted(free.invariants.cells, 'cell')}, "
        f"{counted(int(free.degrees), 'degree')} of freedom, "
        f"{counted(len(free.determined), 'cell')} published exactly"
        f"{_named(forecast.determined_cells, len(free.determined))}"
    )
    if forecast.totals_audit is not None:
        audit = forecast.totals_audit
        print(
            f"the totals alone bound {audit['narrow']:,} counts closely ({audit['narrow_means']}), "
            f"and {audit['determined_by_totals']:,} of them exactly: {given['out']}/intervals.csv"
        )
    for line in lines_of_levels(forecast.levels):
        print(line)
    margins = forecast.margins
    if forecast.levels is not None:
        margins = [margin for margin in margins if margin.scope == "sum"]
    for line in _lines(margins, list(errors), f"{given['out']}/plan.csv"):
        print(line)
    if len(free.revealed_residues):
        print(f"{counted(len(free.revealed_residues), 'count')} would be published modulo m")
    print(forecast.statement)
    sampler = forecast.sampler
    print(
        f"sampler: {sampler['method']}, {sampler['seconds']:.2g} s for one draw, which is "
        f"discarded; peak memory of this command {forecast.megabytes:,.0f} MB"
    )
    return 0, {
        forecast.setting: forecast.value,
        "per": forecast.per,
        "cells": free.invariants.cells,
        "degrees_of_freedom": int(free.degrees),
        "determined_cells": len(free.determined),
        "cells_revealed_modulo_m": len(free.revealed_residues),
        "guarantee": {"statement": forecast.statement},
    }


def _named(names: Sequence[str], number: int) -> str:
    more = "; ..." if number > len(names) else ""
    return f" ({'; '.join(names)}{more})" if names else ""


def _lines(margins: Sequence[Margin], wanted: Sequence[str], path: str) -> Iterator[str]:
    from isdp.commands.shared.margins import UNKNOWN
    from isdp.io.wording import counted

    known = [m for m in margins if not m.held and m.sd.method != UNKNOWN]
    named = {*wanted} or {CELLS}
    first = [m for m in known if (CELLS if m.scope == "cell" else m.name) in named]
    sums = [m for m in known if m.scope == "sum" and m not in first]
    cells = [m for m in known if m.scope == "cell" and m not in first]
    if not wanted:
        first = first[:MAX_CELLS_SHOWN]
    shown = [*first, *sums[:MAX_SUMS_SHOWN], *cells[:MAX_CELLS_SHOWN]]
    for margin in shown:
        yield (
            f"{margin.name} ({counted(margin.cells, 'cell')}): sd {_format(margin.sd)}, "
            f"95 % limit {_format(margin.limit)}"
        )
    if len(known) > len(shown):
        yield f"{len(known) - len(shown):,} more in {path}"
    held = sum(m.held for m in margins)
    if held:
        yield f"{counted(held, 'sum is', 'sums are')} held exactly: no noise"
    unknown = len(margins) - held - len(known)
    if unknown:
        names = counted(unknown, "sum or cell class", "sums and cell classes")
        yield f"the noise of {names} is unknown: no exact sampler is fast enough to simulate it"


def _format(figure: Estimate) -> str:
    from isdp.accounting import upper_decimal
    from isdp.commands.shared.margins import BOUNDED

    error = f" +- {figure.error:.2g}" if figure.error else ""
    bounded = figure.method == BOUNDED
    value = upper_decimal(figure.value, 5) if bounded else f"{figure.value:.5g}"
    return f"{value}{error} ({figure.method})"


def _errors(texts: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, value = name_and_value(text, "--error")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(
                f"--error: {name}: wanted a number of persons, such as {name}=20, got {value!r}"
            ) from None
    return found
