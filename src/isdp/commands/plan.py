"""A forecast of the noise that reads no counts, and the search for the budget of a given error."""

from __future__ import annotations

import difflib
import math
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from isdp.commands.check import read_totals
from isdp.commands.disclosure.totals_audit import audit_named_totals
from isdp.commands.shared.code_list import add_regions
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.guarantee import (
    levels_of,
    privacy_guarantee,
    request_for_table,
    with_budget,
)
from isdp.commands.shared.invariants_file import HeldTotals, read_invariants, refuse_equal_names
from isdp.commands.shared.margins import (
    UNKNOWN,
    Margin,
    MarginTarget,
    margin_table,
    margins_of,
    standard_deviations,
    targets_of,
    usual_sums,
)
from isdp.commands.shared.noise import draw
from isdp.commands.shared.noise_levels import LEVELS, NoiseLevels
from isdp.commands.shared.output import output_folder
from isdp.commands.shared.refusals import read_accepted, refuse_weak_noise
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import Table, describe_cells, missing_count
from isdp.errors import InputError
from isdp.io.progress import progress
from isdp.io.tables import ROW_PER_CELL, read_columns
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.mechanisms.set_tree import CELL_LEVEL
from isdp.plots import try_to_draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = ("plan.svg", "plan.png")
INTERVALS = "intervals.csv"
FILES = ("plan.csv", "plan.json", "curve.csv", INTERVALS, LEVELS, *PICTURES)
DEFAULT_COUNT = "count"
MAX_LISTED = 10  # maximum number of determined cells that are named
DRAWS, DRAWS_OF_CURVE = 2000, 400
FACTORS = tuple(2.0**power for power in range(-3, 4))
MIN_SETTING, MAX_SETTING = 1e-6, 1e3  # the range of the search
STRIDE = 300  # settings of three digits per step of the search (900 per power of ten)


class NoiseForecast(NamedTuple):
    """A forecast of the noise of a request under the held totals.

    Attributes
    ----------
    setting : {"epsilon", "rho", "sigma"}
        The number that scales the noise. It is rho for Gaussian noise with levels.
    per : {"person", "unit"}
        The unit of epsilon.
    statement : str
        The privacy guarantee in words.
    sampler : dict
        The method, the reason and the error bound of the sampler, and the seconds of one draw. This
        draw is discarded.
    megabytes : float
        Peak memory of this process.
    levels : dict or None
        The result of `isdp.commands.shared.noise_levels.describe_levels`, if the noise has levels.
    totals_audit : dict or None
        The counts that given totals alone bound closely, or None without totals.
    determined_cells : sequence of str
        The names of at most ten cells that the totals determine.
    """

    setting: str
    per: str
    value: float
    statement: str
    margins: list[Margin]
    free: DegreesOfFreedom
    sampler: dict[str, object]
    megabytes: float
    levels: dict[str, object] | None = None
    totals_audit: dict[str, object] | None = None
    determined_cells: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class PlannedTable:
    """The cells of a table without their counts, and the totals to hold.

    `targets` are the cell classes and the sums whose margins of error are forecast.
    """

    table: Table
    free: DegreesOfFreedom
    targets: list[MarginTarget]
    held: list[HeldTotals]

    def forecast(self, request: NoiseRequest, accepted: Sequence[str] = ()) -> NoiseForecast:
        """Forecast the noise of a request, and draw it once.

        Raises
        ------
        InputError
            If `isdp.commands.privatize.privatize_file` would refuse to draw this noise.
        """
        per_unit = request_for_table(request, self.free, self.table)
        margins = margins_of(self.targets, self.free, per_unit.mechanism, DRAWS)
        refuse_weak_noise(margins, self.free, per_unit.mechanism, accepted)
        started = time.perf_counter()
        report = draw(self.free, per_unit).report
        return NoiseForecast(
            setting=setting_of(request),
            per=request.per,
            value=self.value_of(request),
            statement=privacy_guarantee(per_unit, self.free).statement(),
            margins=margins,
            free=self.free,
            sampler={
                "method": report.method,
                "reason": report.reason,
                "error_bound": report.error_bound,
                "seconds": time.perf_counter() - started,
            },
            megabytes=_megabytes(),
            levels=levels_of(per_unit, self.free),
            determined_cells=[self.table.name(row) for row in self.free.determined[:MAX_LISTED]],
        )

    def value_of(self, request: NoiseRequest) -> float:
        """Return the epsilon of a request in its own unit, its sigma, or its rho with levels."""
        if request.levels is not None:
            return float((request.rho if request.epsilon is None else request.epsilon) or 0)
        mechanism = request_for_table(request, self.free, self.table).mechanism
        if isinstance(mechanism, GeneralizedGaussian):
            return float(mechanism.sigma)
        return float(request.epsilon or 0)

    def mechanism_at(self, request: NoiseRequest, value: Fraction) -> Mechanism:
        """Return the mechanism of a request with another epsilon, sigma or rho, of any size."""
        if request.levels is not None:
            gaussian = request.epsilon is None
            changed = replace(request, rho=value) if gaussian else replace(request, epsilon=value)
            return request_for_table(changed, self.free, self.table).mechanism
        unit = request_for_table(request, self.free, self.table)
        if request.epsilon is None or unit.epsilon is None:
            return GeneralizedGaussian(float(value))
        per_unit = value * Fraction(unit.epsilon) / Fraction(request.epsilon)
        return GeneralizedLaplace(float(per_unit), unit.norm or "l1")

    def target(self, name: str) -> list[MarginTarget]:
        """Return the targets with a name, or all cells if the name is "cell"."""
        if name == CELL_LEVEL:
            return [target for target in self.targets if target.scope == "cell"]
        found = [target for target in self.targets if target.name == name]
        if not found:
            raise InputError(
                f"--error: no sum or cell class is called {name!r}. {self._suggestion(name)}"
            )
        if all(target.held for target in found):
            raise InputError(
                f"--error: {name!r} is held exactly and has no noise. Name another sum."
            )
        return found

    def _suggestion(self, name: str) -> str:
        names = [t.name for t in self.targets if t.scope == "sum" or self.free.blocks is None]
        near = difflib.get_close_matches(name, names, cutoff=0.4)
        if near:
            return f"Did you mean {' or '.join(map(repr, near))}?"
        return f"Use a name of plan.csv, such as {', '.join(map(repr, names[:3]))}."

    def request_for_errors(
        self, request: NoiseRequest, errors: Mapping[str, float]
    ) -> NoiseRequest:
        """Find the setting for which the standard deviations are at most the given errors.

        Parameters
        ----------
        request : NoiseRequest
            The search by bisection starts at the setting of this request.
        errors : mapping of str to float
            Maximum standard deviation of the noise, in persons, by the name of a sum or of a cell
            class. The name "cell" means all cells.

        Returns
        -------
        NoiseRequest
            The setting is rounded to three digits, so that it still meets the limits.

        Raises
        ------
        InputError
            If no setting in the range meets the limits, or a standard deviation is unknown.
        """
        for error in errors.values():
            if not 0 < error < math.inf:
                raise InputError(f"--error: the error must be positive, got {error:g}")
        limits = [(target, error) for name, error in errors.items() for target in self.target(name)]
        wanted = [target for target, _ in limits]

        def meets_limit(step: int) -> bool:
            mechanism = self.mechanism_at(request, _setting_at(step))
            sds = standard_deviations(wanted, self.free, mechanism, DRAWS)
            if any(sd.method == UNKNOWN for sd in sds):
                # if no sampler is practical, the message of this draw suggests a mechanism
                changed = _with_setting(request, _setting_at(step))
                draw(self.free, request_for_table(changed, self.free, self.table))
                raise InputError(
                    "--error: no margin of error is known under these totals, because no exact "
                    "sampler is fast enough. Hold fewer totals, or use a smaller table."
                )
            return all(sd.value <= error for sd, (_, error) in zip(sds, limits, strict=True))

        setting = setting_of(request)
        sign = 1 if setting == "epsilon" else -1  # the noise becomes smaller as sign * step grows
        ends = sorted((sign * _step_of(MIN_SETTING), sign * _step_of(MAX_SETTING)))
        high = sign * _step_of(self.value_of(request))
        while not meets_limit(sign * high):
            if high >= ends[1]:
                raise InputError(
                    f"--error: no {setting} from {MIN_SETTING:g} to {MAX_SETTING:g} keeps the "
                    f"errors within these limits. Give larger errors."
                )
            high = min(high + STRIDE, ends[1])
        low = high - STRIDE
        while low > ends[0] and meets_limit(sign * low):
            low, high = low - STRIDE, low
        if low <= ends[0]:
            low = ends[0]
            if meets_limit(sign * low):
                raise InputError(
                    f"--error: every {setting} from {MIN_SETTING:g} to {MAX_SETTING:g} keeps the "
                    f"errors within these limits. Give smaller errors."
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if meets_limit(sign * middle) else (middle, high)
        return _with_setting(request, _setting_at(sign * high))

    def curve(self, request: NoiseRequest, margins: Sequence[Margin]) -> pd.DataFrame:
        """Find standard deviations of the noise at an eighth to eight times a request's setting.

        The columns are what, name, the setting, sd, sd_is (the method of sd), sd_error and similar.
        The column similar has the number of other cell classes or sums with the same sd. At most
        nine targets are selected by their margins of error for the request, `margins`. Cells come
        before sums, and larger noise before smaller noise.
        """
        setting, rows = setting_of(request), []
        value = self.value_of(request)
        similar = _shown(self.targets, margins)
        shown = list(similar)
        with progress("error against the setting", len(FACTORS)) as report:
            for done, factor in enumerate(FACTORS):
                mechanism = self.mechanism_at(request, Fraction(repr(value)) * Fraction(factor))
                sds = standard_deviations(shown, self.free, mechanism, DRAWS_OF_CURVE)
                for target, sd in zip(shown, sds, strict=True):
                    row = {"what": target.scope, "name": target.name, setting: value * factor}
                    row |= {"sd": sd.value, "sd_is": sd.method, "sd_error": sd.error}
                    rows.append(row)
                report(done + 1)
        numbers = list(similar.values())
        return pd.DataFrame(rows).assign(similar=numbers * len(FACTORS)) if rows else pd.DataFrame()


def _shown(targets: Sequence[MarginTarget], margins: Sequence[Margin]) -> dict[MarginTarget, int]:
    """Select the cells, levels and sums with the largest, median and smallest noise.

    The value of each selected target is the number of other targets with the same noise.
    """
    shown: dict[MarginTarget, int] = {}
    for scope in ("cell", "level", "sum"):
        by_sd: dict[str, list[MarginTarget]] = {}
        for target, margin in zip(targets, margins, strict=True):
            if target.scope == scope and margin.sd.value > 0:
                by_sd.setdefault(f"{margin.sd.value:.4g}", []).append(target)
        found = [by_sd[sd] for sd in sorted(by_sd, key=float, reverse=True)]
        some = [*found[:1], *found[len(found) // 2 :][:1], *found[-1:]]
        shown |= {same[0]: len(same) - 1 for same in some}
    return shown


def setting_of(request: NoiseRequest) -> str:
    """Return the name of the number that scales the noise of a request."""
    if request.rho is None:
        return "epsilon"
    return "sigma" if request.levels is None else "rho"


def _with_setting(request: NoiseRequest, value: Fraction) -> NoiseRequest:
    if request.rho is None:
        return replace(request, epsilon=value)
    return replace(request, rho=1 / (2 * value * value), per="unit")


# The settings of three digits are numbered. Number 900 p + d - 100 is d 10^(p - 2), 100 <= d <
# 1000.


def _step_of(value: float) -> int:
    """Return the number of the largest setting of three digits that is at most a value."""
    power = math.floor(math.log10(value) + 1e-12)
    return 900 * power + math.floor(value / 10.0 ** (power - 2) + 1e-9) - 100


def _setting_at(step: int) -> Fraction:
    power, digits = divmod(step, 900)
    return (digits + 100) * Fraction(10) ** (power - 2)


def _megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def read_planned_table(
    cells_path: str | Path,
    invariants_path: str | Path,
    *,
    sums_path: str | Path | None = None,
    count: str = DEFAULT_COUNT,
    names: list[str] | None = None,
    levels: NoiseLevels | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
) -> PlannedTable:
    """Read the cells of a table, without their counts, and the totals to hold.

    Parameters
    ----------
    cells_path : path
        A CSV or Parquet file with one row per cell.
    invariants_path : path
        The file of invariants, as in `isdp.commands.shared.invariants_file.read_invariants`.
    sums_path : path, optional
        A file in the format of `invariants_path` with the sums whose margins are forecast. By
        default they are the totals by each column of 2 to 100 values.
    count : str
        The column of counts, which is ignored. Only the default may be missing, if no
        name is similar.
    names : list of str, optional
        The columns that name a cell. The default is all columns except `count`.
    levels : NoiseLevels, optional
        The levels of the noise. Their margins are forecast instead of those of cell classes.
    hierarchies : mapping of str to path, optional
        Code lists of columns, as in `isdp.commands.shared.code_list.add_regions`.

    Raises
    ------
    InputError
        If a file is invalid, or the totals determine every cell.
    """
    path = Path(cells_path)
    named = count != DEFAULT_COUNT  # a column that the user names must exist
    columns = read_columns(path, ROW_PER_CELL, skipped=() if named else (count,))
    alike = any(name.strip().lower() in ("count", "counts") for name in columns)
    if count not in columns and (named or alike):
        raise missing_count(path, list(columns), count)
    columns.pop(count, None)
    columns = add_regions(columns, hierarchies or {}, path, count)
    table = describe_cells(path, columns, names, count)
    held = read_invariants(invariants_path, table)
    refuse_equal_names(held, table, invariants_path)
    free = find_degrees_of_freedom(held)
    if free.degrees == 0:
        raise InputError(f"{invariants_path}: these totals determine every cell. Hold fewer.")
    sums = usual_sums(table) if sums_path is None else read_invariants(sums_path, table)
    return PlannedTable(table, free, targets_of(table, free, sums, levels), held)


def plan(
    cells_path: str | Path,
    invariants_path: str | Path,
    request: NoiseRequest,
    out: str | Path,
    *,
    errors: Mapping[str, float] | None = None,
    force: bool = False,
    picture: bool = True,
    accept: Iterable[str] = (),
    sums_path: str | Path | None = None,
    totals_path: str | Path | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    **columns: Any,
) -> NoiseForecast:
    """Write a forecast of the noise, without reading the counts.

    Parameters
    ----------
    cells_path, invariants_path, sums_path, hierarchies : path or mapping
        See `read_planned_table`.
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    totals_path : path, optional
        A CSV file with the columns `name` and `total` of all held totals. The intervals of counts
        under these totals alone are written to intervals.csv.
    errors : mapping of str to float, optional
        Maximum standard deviations, as in `PlannedTable.request_for_errors`. The setting of
        `request` is changed so that the errors stay below these maxima.
    accept : iterable of str
        Names of accepted risks, such as "weak-noise".
    **columns
        The arguments `count` and `names` of `read_planned_table`.

    Raises
    ------
    InputError
        If an input is invalid, or `isdp privatize` would refuse this noise. Nothing is written in
        this case.
    """
    accepted = read_accepted(accept)
    hierarchies = hierarchies or {}
    inputs = cells_path, invariants_path, sums_path, totals_path, *hierarchies.values()
    folder = output_folder(out, FILES, *inputs, force=force, cost="plan costs nothing")
    planned = read_planned_table(
        cells_path,
        invariants_path,
        sums_path=sums_path,
        levels=request.levels,
        hierarchies=hierarchies,
        **columns,
    )
    request = with_budget(request, planned.free, planned.table)
    if errors:
        request = planned.request_for_errors(request, errors)
    audit = None
    if totals_path is not None:
        named = read_totals(totals_path)
        audit = audit_named_totals(planned.table, planned.held, named, totals_path)
    forecast = planned.forecast(request, accepted)
    if audit is not None:
        forecast = forecast._replace(totals_audit=audit.record(planned.table))
    curve = planned.curve(request, forecast.margins)
    save = try_to_draw(partial(_picture, curve, forecast)) if picture and len(curve) else None
    tables = {"plan.csv": margin_table(forecast.margins), "curve.csv": curve}
    if forecast.levels is not None:
        tables[LEVELS] = pd.DataFrame(forecast.levels["terms"])
    if audit is not None:
        tables[INTERVALS] = audit.frame(planned.table)
    folder.write(tables, lambda _: {"plan.json": record(forecast)}, save, PICTURES)
    return forecast


def record(forecast: NoiseForecast) -> dict[str, object]:
    """Return the content of `plan.json`, with None for unknown values."""
    rows = [
        {name: None if isinstance(x, float) and math.isnan(x) else x for name, x in row.items()}
        for row in (margin.row() for margin in forecast.margins)
    ]
    return {
        "made_by": "isdp plan",
        forecast.setting: forecast.value,
        "per": forecast.per,
        "guarantee": {"statement": forecast.statement},
        "cells": forecast.free.invariants.cells,
        "degrees_of_freedom": int(forecast.free.degrees),
        "determined_cells": len(forecast.free.determined),
        "cells_revealed_modulo_m": len(forecast.free.revealed_residues),
        "sampler": forecast.sampler,
        "megabytes_of_this_process": round(forecast.megabytes),
        "levels": forecast.levels,
        "totals_audit": forecast.totals_audit,
        "margins": rows,
    }


def _picture(curve: pd.DataFrame, forecast: NoiseForecast) -> Figure:
    from isdp.plots.noise_curves import plot_error_curves

    return plot_error_curves(curve, forecast.setting, forecast.value)
