"""`isdp plan`: forecast of the noise, without the counts."""

from __future__ import annotations

from collections.abc import Iterator

from isdp.cli.options import (
    add_accept,
    add_cells,
    add_columns,
    add_invariants,
    add_noise,
    add_out,
    command,
    request,
)
from isdp.errors import InputError

MAX_SUMS_SHOWN = 12
MAX_CELLS_SHOWN = 3
EPILOG = """\
the cells: a csv as for isdp privatize; a column of counts is ignored

the file of invariants, and that of sums: YAML as for isdp privatize (isdp privatize --help)

The command writes to DIR: plan.csv (for each class of cells and each sum: standard deviation, 95 %
limit, and the probability that a count of a given size turns negative; each with its method and
error), plan.json, curve.csv and a picture of it, plan.svg and plan.png

exact: computed from the distribution of the noise. bounded: the true figure is at most this one.
simulated: from separate draws, with two standard errors. With --error the command searches for the
smallest epsilon of three digits (with --sigma or --rho: the largest sigma) whose 95 % limit is at
most that number of persons.

Totals for which isdp privatize has no sampler, and noise that it refuses as too weak, are refused
here as well; --accept weak-noise shows that noise. Whether the rows of the table reveal counts is
checked by isdp privatize alone, because this command reads no counts.
"""


def add(commands) -> None:
    """Add the command to those of `isdp`."""
    own = command(
        commands,
        "plan",
        run,
        EPILOG,
        help="forecast the noise, without reading the counts",
        description="Forecast the noise, without reading the counts.",
    )
    add_cells(own)
    add_invariants(own)
    add_noise(own)
    own.add_argument("--error", metavar="N", help="find the epsilon with this 95 %% limit")
    own.add_argument("--error-of", metavar="NAME", help="name of a sum; default: every cell")
    add_columns(own)
    add_out(own, "plan", picture=True)
    add_accept(own, "weak-noise")
    own.set_defaults(allow_mcmc=False)


def run(error: str | None, error_of: str | None, **given) -> int:
    """Run the command and print a summary."""
    from isdp.commands.plan import plan
    from isdp.io.wording import counted

    if error_of is not None and error is None:
        raise InputError("--error-of: this option needs --error")
    if error is not None and not any(given[budget] for budget in ("epsilon", "rho", "sigma")):
        given["epsilon"] = "1"  # where the search starts
    options = {"error": _persons(error), "error_of": error_of}
    forecast = plan(request=request(given), **options, **given)
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
        f"sampler: {sampler['method']}, {sampler['seconds']:.2g} s for one draw, which was "
        f"thrown away; up to {forecast.megabytes:,.0f} MB here, reading included"
    )
    return 0


def _lines(margins, wanted: str | None, path: str) -> Iterator[str]:
    """Yield the wanted margins, then sums with noise, cells, and the number of held sums."""
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
            f"{margin.name} ({counted(margin.cells, 'cell')}): sd {_said(margin.sd)}, "
            f"95 % limit {_said(margin.limit)}"
        )
    if len(known) > len(shown):
        yield f"{len(known) - len(shown):,} more in {path}"
    held = sum(m.held for m in margins)
    if held:
        yield f"{counted(held, 'sum is', 'sums are')} held exactly: no noise"
    unknown = len(margins) - held - len(known)
    if unknown:
        names = counted(unknown, "sum or kind of cells", "sums and kinds of cells")
        yield f"the noise of {names} is not known: no exact sampler is quick enough to simulate it"


def _said(figure) -> str:
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
        raise InputError(f"--error must be a number of persons, got {text!r}") from None
