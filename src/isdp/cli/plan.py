"""The options and the output of `isdp plan`, which forecasts the noise."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from isdp.cli.options import (
    add_accept,
    add_cells,
    add_columns,
    add_invariants,
    add_noise,
    add_out,
    request,
)
from isdp.errors import InputError

if TYPE_CHECKING:
    from isdp.commands.shared.margins import Estimate, Margin

MAX_SUMS_SHOWN = 12
MAX_CELLS_SHOWN = 3
HELP = "forecast the noise, without reading the counts"
EPILOG = """\
isdp privatize --help describes the file of cells and the file of invariants. A column of counts is
ignored. The file of sums has the format of the file of invariants.

The command writes plan.csv, plan.json, curve.csv and a picture of the curve, plan.svg and plan.png,
to DIR. plan.csv has one row for each cell class and each sum. Its columns are the standard
deviation, the 95 % limit, and the probability that a count of a given size turns negative. Each
number has its method and its error.

An exact number is computed from the distribution of the noise. A bounded number is an upper bound.
A simulated number is computed from separate draws, and its error is two standard errors. With
--error N, the command finds the smallest epsilon of three digits whose 95 % limit is at most N
persons. With --sigma or --rho it finds the largest sigma instead.

The command refuses totals for which isdp privatize has no sampler, and noise that isdp privatize
refuses as too weak; --accept weak-noise shows this noise. Only isdp privatize checks whether the
rows of the table reveal counts, because this command reads no counts.
"""


def add_options(own: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_cells(own)
    add_invariants(own)
    add_noise(own)
    own.add_argument("--error", metavar="N", help="find the epsilon whose 95 %% limit is N persons")
    own.add_argument(
        "--error-of", metavar="NAME", help="name of the sum with this limit (default: every cell)"
    )
    add_columns(own)
    add_out(own, "plan", picture=True)
    add_accept(own, "weak-noise")
    own.set_defaults(allow_mcmc=False)


def run(error: str | None, error_of: str | None, **given: Any) -> int:
    """Run the command and print a summary."""
    from isdp.commands.plan import plan
    from isdp.io.wording import counted

    if error_of is not None and error is None:
        raise InputError("--error-of: this option needs --error. Add --error, or omit --error-of.")
    if error is not None and not any(given[budget] for budget in ("epsilon", "rho", "sigma")):
        given["epsilon"] = "1"  # the first epsilon of the search
    forecast = plan(request=request(given), error=_persons(error), error_of=error_of, **given)
    free = forecast.free
    unit = f" per {forecast.per}" * (forecast.setting == "epsilon")
    print(
        f"{forecast.setting} {forecast.value:g}{unit}: {counted(free.invariants.cells, 'cell')}, "
        f"{counted(int(free.degrees), 'degree')} of freedom, "
        f"{counted(len(free.determined), 'cell')} published exactly"
    )
    for line in _lines(forecast.margins, error_of, f"{given['out']}/plan.csv"):
        print(line)
    if len(free.revealed_residues):
        print(f"{counted(len(free.revealed_residues), 'count')} would be published modulo m")
    print(forecast.statement)
    sampler = forecast.sampler
    print(
        f"sampler: {sampler['method']}, {sampler['seconds']:.2g} s for one draw, which is "
        f"discarded; peak memory of this command {forecast.megabytes:,.0f} MB"
    )
    return 0


def _lines(margins: Sequence[Margin], wanted: str | None, path: str) -> Iterator[str]:
    from isdp.commands.shared.margins import UNKNOWN
    from isdp.io.wording import counted

    known = [m for m in margins if not m.held and m.sd.method != UNKNOWN]
    first = [m for m in known if (m.scope == "cell" if wanted is None else m.name == wanted)]
    sums = [m for m in known if m.scope == "sum" and m not in first]
    cells = [m for m in known if m.scope == "cell" and m not in first]
    if wanted is None:
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


def _persons(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--error must be a number of persons, such as 20, got {text!r}") from None
