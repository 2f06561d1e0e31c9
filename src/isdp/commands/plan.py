"""A forecast of the noise that reads no counts, and the budget that meets a wanted error."""

from __future__ import annotations

import difflib
import math
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.guarantee import privacy_guarantee, request_per_unit
from isdp.commands.shared.invariants_file import read_invariants, refuse_equal_names
from isdp.commands.shared.margins import (
    UNKNOWN,
    Margin,
    MarginTarget,
    margin_table,
    margins_of,
    targets_of,
    usual_sums,
)
from isdp.commands.shared.noise import draw
from isdp.commands.shared.refusals import read_accepted, refuse_weak_noise
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import Table, describe_cells
from isdp.errors import InputError
from isdp.io.csv_files import read_columns
from isdp.io.output_folder import OutputFolder
from isdp.io.progress import progress
from isdp.mechanisms.base import Mechanism
from isdp.plots import can_draw

PICTURES = ("plan.svg", "plan.png")
FILES = ("plan.csv", "plan.json", "curve.csv", *PICTURES)
DRAWS, DRAWS_OF_CURVE = 2000, 400
FACTORS = tuple(2.0**power for power in range(-3, 4))
MIN_SETTING, MAX_SETTING = 1e-6, 1e3  # range of the search
STRIDE = 300  # settings of three digits, a third of a power of ten


class NoiseForecast(NamedTuple):
    """The noise of one request under one set of totals.

    Attributes
    ----------
    setting : str
        "epsilon" or "sigma".
    per : {"person", "unit"}
        The unit of epsilon.
    value : float
        Value of the setting.
    statement : str
        The guarantee in words.
    sampler : dict
        Method, reason, error bound and seconds of one draw, which is discarded.
    megabytes : float
        Peak memory of this process so far.
    """

    setting: str
    per: str
    value: float
    statement: str
    margins: list[Margin]
    free: DegreesOfFreedom
    sampler: dict
    megabytes: float


@dataclass(frozen=True, eq=False)
class PlannedTable:
    """Cells without counts, and the totals to hold.

    Attributes
    ----------
    table : Table
        All of its counts are 0.
    targets : list of MarginTarget
        Cell classes and sums whose margins are forecast.
    """

    table: Table
    free: DegreesOfFreedom
    targets: list[MarginTarget]

    def forecast(self, request: NoiseRequest, accepted: Sequence[str] = ()) -> NoiseForecast:
        """Forecast the noise of a request; its sampler draws once.

        Parameters
        ----------
        accepted : sequence of str
            Names of accepted risks.

        Raises
        ------
        InputError
            If `isdp.commands.privatize.privatize_file` would refuse to draw this noise.
        """
        setting, per, value = setting_of(request), request.per, self.value_of(request)
        request = request_per_unit(request, self.free)
        margins = margins_of(self.targets, self.free, request.mechanism, DRAWS)
        refuse_weak_noise(margins, self.free, request.mechanism, accepted)
        sampler = _tried(self.free, request)  # after all refusals that need no draw
        return NoiseForecast(
            setting,
            per,
            value,
            privacy_guarantee(request, self.free).statement(),
            margins,
            self.free,
            sampler,
            _megabytes(),
        )

    def value_of(self, request: NoiseRequest) -> float:
        """Return the epsilon of a request in its own unit, or its sigma."""
        if request.rho is None:
            return float(request.epsilon)
        return float(request_per_unit(request, self.free).mechanism.sigma)

    def mechanism_at(self, request: NoiseRequest, value: Fraction) -> Mechanism:
        """Return the mechanism of a request with another epsilon or sigma, in any range."""
        unit = request_per_unit(request, self.free)
        if request.rho is None:
            value = value * unit.epsilon / request.epsilon
        return replace(unit.mechanism, **{setting_of(request): float(value)})

    def target(self, name: str | None) -> list[MarginTarget]:
        """Find the targets with a name; all cells for None.

        Raises
        ------
        InputError
            If no target has the name, or it has no noise.
        """
        found = [t for t in self.targets if (t.what == "cell" if name is None else t.name == name)]
        if not found:
            raise InputError(
                f"--error-of: no sum or cell class is called {name!r}{self._near(name)}"
            )
        if all(target.held for target in found):
            raise InputError(f"--error-of: {name!r} is held exactly, so that it has no noise")
        return found

    def _near(self, name: str) -> str:
        """Suggest similar names, or examples if there are none."""
        names = [t.name for t in self.targets if t.what == "sum" and not t.held]
        names += [t.name for t in self.targets if t.what == "cell" and self.free.blocks is None]
        near = difflib.get_close_matches(name, [*names, *self._held_names()], cutoff=0.4)
        if near:
            return f"; did you mean {' or '.join(map(repr, near))}?"
        return f"; there are {', '.join(map(repr, names[:3]))}, ..." if names else ""

    def _held_names(self) -> list[str]:
        return [target.name for target in self.targets if target.held]

    def request_for_error(
        self, request: NoiseRequest, error: float, name: str | None = None
    ) -> NoiseRequest:
        """Find the setting with which 95 % of the noise stays within an error, by bisection.

        Parameters
        ----------
        request : NoiseRequest
            Request whose setting is searched; the search starts at its present setting.
        error : float
            Maximum of the 95 % limit in persons, 1 or more.
        name : str, optional
            Name of a sum or a cell class; by default all cells meet the limit.

        Returns
        -------
        NoiseRequest
            The setting has three digits, and is rounded to the side that meets the limit.

        Raises
        ------
        InputError
            If no setting in the range meets the limit, or no limit is known.
        """
        if not 1 <= error < math.inf:
            raise InputError(f"--error: the error must be 1 person or more, got {error:g}")
        wanted = self.target(name)

        def meets(step: int) -> bool:
            law = self.mechanism_at(request, _setting_at(step))
            margins = margins_of(wanted, self.free, law, DRAWS)
            if any(margin.limit.how == UNKNOWN for margin in margins):
                # if there is no sampler, its refusal suggests a mechanism
                tried = _with(request, _setting_at(step))
                draw(self.free, request_per_unit(tried, self.free))
                raise InputError(
                    "--error: no margin of error is known under these totals, because no exact "
                    "sampler is fast enough; hold fewer totals, or use a smaller table"
                )
            return all(margin.limit.value <= error for margin in margins)

        setting = setting_of(request)
        less = 1 if setting == "epsilon" else -1  # direction of less noise
        ends = sorted((less * _step_of(MIN_SETTING), less * _step_of(MAX_SETTING)))
        high = less * _step_of(self.value_of(request))
        while not meets(less * high):
            if high >= ends[1]:
                raise InputError(
                    f"--error: no {setting} from {MIN_SETTING:g} to {MAX_SETTING:g} brings the "
                    f"error down to {error:g}; give a larger error"
                )
            high = min(high + STRIDE, ends[1])
        low = high - STRIDE
        while low > ends[0] and meets(less * low):
            low, high = low - STRIDE, low
        if low <= ends[0]:
            low = ends[0]
            if meets(less * low):
                raise InputError(
                    f"--error: every {setting} from {MIN_SETTING:g} to {MAX_SETTING:g} keeps the "
                    f"error within {error:g}; give a smaller error"
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if meets(less * middle) else (middle, high)
        return _with(request, _setting_at(less * high))

    def curve(self, request: NoiseRequest, margins: Sequence[Margin]) -> pd.DataFrame:
        """Find standard deviations at settings from an eighth to eight times that of a request.

        Parameters
        ----------
        margins : sequence of Margin
            Margins of all targets for the request itself.

        Returns
        -------
        DataFrame
            Columns what, name, the setting, sd, sd_is (its method) and sd_error, for at most six
            targets: cells come before sums, and larger noise before smaller noise.
        """
        setting, rows = setting_of(request), []
        value = Fraction(repr(self.value_of(request)))
        shown = _shown(self.targets, margins)
        with progress("error against the setting", len(FACTORS)) as at:
            for done, factor in enumerate(FACTORS):
                law = self.mechanism_at(request, value * Fraction(factor))
                for margin in margins_of(shown, self.free, law, DRAWS_OF_CURVE):
                    row = {"what": margin.what, "name": margin.name, setting: float(value) * factor}
                    rows.append(row | {"sd": margin.sd.value, "sd_is": margin.sd.how})
                    rows[-1]["sd_error"] = margin.sd.error
                at(done + 1)
        return pd.DataFrame(rows)


def _shown(targets: Sequence[MarginTarget], margins: Sequence[Margin]) -> list[MarginTarget]:
    """Select the cells and the sums with the largest, median and smallest noise."""
    shown = []
    for what in ("cell", "sum"):
        widths: dict[str, MarginTarget] = {}  # one target for each width
        for target, margin in zip(targets, margins, strict=True):
            if target.what == what and margin.sd.value > 0:
                widths.setdefault(f"{margin.sd.value:.4g}", target)
        found = [widths[width] for width in sorted(widths, key=float, reverse=True)]
        some = [*found[:1], *found[len(found) // 2 :][:1], *found[-1:]]
        shown += list({id(target): target for target in some}.values())
    return shown


def setting_of(request: NoiseRequest) -> str:
    """Return the name of the number that scales the noise of a request."""
    return "epsilon" if request.rho is None else "sigma"


def _with(request: NoiseRequest, value: Fraction) -> NoiseRequest:
    """Copy a request with another setting."""
    if request.rho is None:
        return replace(request, epsilon=value)
    return replace(request, rho=1 / (2 * value * value), per="unit")


def _step_of(value: float) -> int:
    """Return the index of a number among the settings of three digits, rounded down."""
    power = math.floor(math.log10(value) + 1e-12)
    return 900 * power + math.floor(value / 10.0 ** (power - 2) + 1e-9) - 100


def _setting_at(step: int) -> Fraction:
    power, digits = divmod(step, 900)
    return (digits + 100) * Fraction(10) ** (power - 2)


def _tried(free: DegreesOfFreedom, request: NoiseRequest) -> dict:
    started = time.perf_counter()
    report = draw(free, request).report
    return {
        "method": report.method,
        "reason": report.reason,
        "error_bound": report.error_bound,
        "seconds": time.perf_counter() - started,
    }


def _megabytes() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def read_planned_table(
    cells_path,
    invariants_path,
    *,
    sums_path=None,
    count: str = "count",
    names: list[str] | None = None,
) -> PlannedTable:
    """Read the cells of a table, without their counts, and the totals to hold.

    Parameters
    ----------
    cells_path : path
        A csv with one row per cell.
    invariants_path : path
        As for `isdp.commands.privatize.privatize_file`.
    sums_path : path, optional
        A file of the same format with the sums whose margins are forecast; by default the totals
        by each column of 2 to 100 values.
    count : str
        A column that is ignored if it exists.
    names : list of str, optional
        The columns that name a cell; by default all except `count`.

    Raises
    ------
    InputError
        If a file is invalid, or the totals determine every cell.
    """
    path = Path(cells_path)
    columns = read_columns(path, "a csv with one row per cell", skipped=(count,))
    table = describe_cells(path, columns, names, count)
    held = read_invariants(invariants_path, table)
    refuse_equal_names(held, table, invariants_path)
    free = find_degrees_of_freedom(held)
    if free.degrees == 0:
        raise InputError(f"{invariants_path}: these totals determine every cell; hold fewer")
    sums = usual_sums(table) if sums_path is None else read_invariants(sums_path, table)
    return PlannedTable(table, free, targets_of(table, free, sums))


def plan(
    cells_path,
    invariants_path,
    request: NoiseRequest,
    out,
    *,
    error: float | None = None,
    error_of: str | None = None,
    force: bool = False,
    picture: bool = True,
    accept: Iterable[str] = (),
    sums_path=None,
    **columns,
) -> NoiseForecast:
    """Write a forecast of the noise, without reading the counts.

    Parameters
    ----------
    cells_path, invariants_path, sums_path : path
        As in `read_planned_table`.
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    error : float, optional
        Maximum of the 95 % limit in persons; it replaces the setting of `request`.
    error_of : str, optional
        Name of the sum or cell class with that limit; by default all cells.
    accept : iterable of str
        Names of accepted risks, such as "weak-noise".
    **columns
        As in `read_planned_table`: count, names.

    Raises
    ------
    InputError
        If an input is invalid, or `isdp privatize` would refuse; nothing is written then.
    """
    accepted = read_accepted(accept)
    inputs = [path for path in (cells_path, invariants_path, sums_path) if path is not None]
    folder = OutputFolder(Path(out), FILES, inputs, force, "plan costs nothing")
    planned = read_planned_table(cells_path, invariants_path, sums_path=sums_path, **columns)
    if error is not None:
        request = planned.request_for_error(request, error, error_of)
    forecast = planned.forecast(request, accepted)
    curve = planned.curve(request, forecast.margins)
    save = _picture(curve, forecast) if picture and len(curve) and can_draw() else None
    tables = {"plan.csv": margin_table(forecast.margins), "curve.csv": curve}
    folder.write(tables, lambda _: {"plan.json": record(forecast)}, save, PICTURES)
    return forecast


def record(forecast: NoiseForecast) -> dict:
    """Return a forecast for JSON, with null for unknown values."""
    rows = [
        {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in row.items()}
        for row in (margin.row() for margin in forecast.margins)
    ]
    return {
        "made_by": "isdp plan",
        forecast.setting: forecast.value,
        "per": forecast.per,
        "guarantee": forecast.statement,
        "cells": forecast.free.invariants.cells,
        "degrees_of_freedom": int(forecast.free.degrees),
        "cells_without_freedom": len(forecast.free.determined),
        "cells_known_up_to_a_multiple": len(forecast.free.revealed_residues),
        "sampler": forecast.sampler,
        "megabytes_of_this_process": round(forecast.megabytes),
        "margins": rows,
    }


def _picture(curve: pd.DataFrame, forecast: NoiseForecast):
    """Draw the curve, and return a function that saves the figure."""
    from isdp.plots.noise_curves import plot_error_curves
    from isdp.plots.style import save

    return partial(save, plot_error_curves(curve, forecast.setting, forecast.value))
