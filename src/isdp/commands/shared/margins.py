"""Margins of error of the cells of a noisy table and of their sums, from the noise distribution.

No count is used. Every figure states its method. *exact*: computed from the distribution, with an
error of probabilities below 1e-9. *bounded*: an upper bound, as for every probability below 1e-9.
*simulated*: from separate draws, with two standard errors. If the cells of disjoint totals have
independent weights, their distribution is computed (`isdp.exact.distributions`). It is symmetric
and log-concave. If its grid is too long, the bound of Vysochanskij and Petunin for unimodal
distributions is used. A discrete Gaussian on any lattice is subgaussian with the sigma of the
projected Gaussian (by Poisson's formula, see `isdp.mechanisms.generalized_gaussian`). All other
figures are simulated if an exact sampler is fast enough, and unknown otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.accounting.guarantees import upper_decimal
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.invariants_file import HeldTotals, group_names, incidence
from isdp.commands.shared.table import Table
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.exact.disjoint.blocks import block_sizes
from isdp.exact.distributions import Part, sum_distribution, sum_variance
from isdp.exact.selection import ExactSampler, select_sampler
from isdp.mechanisms.base import Energy, Mechanism
from isdp.streams import stream
from isdp.subspace.null_space import null_space

LEVEL = 0.95
PROBABILITY_ERROR = 1e-9  # bound on the error of a probability from `isdp.exact.distributions`
SIZES = (0, 1, 2, 5, 10, 20, 50, 100)  # counts whose probability of turning negative is listed
MAX_SUMS, MAX_VALUES = 1000, 100
MAX_PARTS = 2000  # of all sums together whose distributions are computed
MAX_DRAWN_NUMBERS = 1e7  # cells times draws
MAX_PROPOSALS = 5e6  # of all draws together, for rejection samplers
MIN_DRAWS = 100
MAX_MATRIX_NUMBERS = 2e7  # cell classes times totals
MAX_POOLED_CELLS = 20  # cells of a class that are used in each draw
EXACT, BOUNDED, SIMULATED, UNKNOWN = "exact", "bounded", "simulated", "unknown"


class Estimate(NamedTuple):
    """A number and the method that it was found by.

    Attributes
    ----------
    value : float
        nan if unknown.
    how : str
        "exact", "bounded" (from above), "simulated" or "unknown".
    error : float
        Two standard errors of a simulated number; otherwise 0.
    """

    value: float
    how: str
    error: float = 0.0

    def rounded(self) -> float:
        """Value to six digits; a bound is never rounded down."""
        return float(upper_decimal(self.value)) if self.how == BOUNDED else _rounded(self.value)


@dataclass(frozen=True)
class Margin:
    """Noise of a cell, or of a sum of cells, in persons.

    Attributes
    ----------
    what : str
        "cell" or "sum".
    name : str
        Name of the sum, or of the cell class.
    cells : int
        Number of cells in the sum or in the class.
    limit : Estimate
        Smallest number that the magnitude of the noise exceeds with probability at most 5 %.
    unchanged : Estimate
        Probability of no noise.
    negative : dict of int to Estimate
        Probability that a count of a given size turns negative.
    held : bool
        Whether the held totals determine this sum, so that it has no noise.
    """

    what: str
    name: str
    cells: int
    sd: Estimate
    limit: Estimate
    unchanged: Estimate
    negative: dict[int, Estimate]
    held: bool = False

    def row(self) -> dict:
        """Return the margin as a row of a table."""
        row = {"what": self.what, "name": self.name, "cells": self.cells}
        figures = {"sd": self.sd, "limit_95": self.limit, "chance_unchanged": self.unchanged}
        figures |= {f"chance_negative_at_{size}": x for size, x in self.negative.items()}
        for name, figure in figures.items():
            row |= {name: figure.rounded(), f"{name}_is": figure.how}
            row[f"{name}_error"] = _rounded(figure.error)
        return row


class ProbabilityUnchanged(NamedTuple):
    """Probability that a free cell keeps its count.

    Attributes
    ----------
    mean, most : float
        Mean and maximum over the free cells, to four decimals.
    how : str
        "exact" or "simulated".
    error : float
        Two standard errors of `most`, if it is simulated.
    """

    mean: float
    most: float
    how: str
    error: float = 0.0


def probability_unchanged(margins: Sequence[Margin]) -> ProbabilityUnchanged | None:
    """Find the probability of no noise from the margins of cells; None if one is unknown."""
    kinds = [margin for margin in margins if margin.what == "cell"]
    ways = {margin.unchanged.how for margin in kinds}
    if not kinds or UNKNOWN in ways:
        return None
    chances = np.array([margin.unchanged.value for margin in kinds])
    mean = np.average(chances, weights=[margin.cells for margin in kinds])
    how = EXACT if ways == {EXACT} else SIMULATED
    error = kinds[chances.argmax()].unchanged.error
    return ProbabilityUnchanged(
        round(float(mean), 4), round(float(chances.max()), 4), how, round(error, 4)
    )


class NoiseSpread(NamedTuple):
    """Standard deviations of the noise in some cells, float64 (cells,), and their method."""

    sd: np.ndarray
    how: str


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


@dataclass(frozen=True, eq=False)
class MarginTarget:
    """A cell class or a sum of cells whose margin of error is requested.

    Attributes
    ----------
    rows : int array
        All cells of a sum, or some cells of a class.
    parts : tuple of Part
        Its share of each block, if the totals are those of disjoint blocks.
    held : bool
        Whether the held totals determine this sum, so that it has no noise.
    kind : int
        Number of the cell class; see `cell_classes`.
    """

    what: str
    name: str
    cells: int
    rows: np.ndarray
    parts: tuple[Part, ...] = ()
    held: bool = False
    kind: int = -1


def targets_of(
    table: Table, free: DegreesOfFreedom, sums: Sequence[HeldTotals]
) -> list[MarginTarget]:
    """List the classes of free cells, and the sums.

    Raises
    ------
    InputError
        If there are more than 1000 sums.
    """
    many = sum(one.totals for one in sums)
    if many > MAX_SUMS:
        raise InputError(f"--sums: {many:,} sums are too many; name at most {MAX_SUMS:,}")
    sizes = None if free.blocks is None else block_sizes(free.blocks)
    return _kinds(table, free) + [
        target for one in sums for target in _sums_of(table, one, free, sizes)
    ]


class _HeldSums:
    """Set of the sums that overlapping held totals determine."""

    def __init__(self, free: DegreesOfFreedom):
        self.kind, _ = find_cell_classes(free.invariants)
        self.sizes = np.bincount(self.kind)
        self.kernel = free.kernel

    def __contains__(self, rows: np.ndarray) -> bool:
        chosen = np.bincount(self.kind[rows], minlength=len(self.sizes))
        if ((chosen > 0) & (chosen < self.sizes)).any():
            return False  # one person may move between two cells of a class
        inside = set(np.flatnonzero(chosen).tolist())
        return not any(sum(x for kind, x in v.items() if kind in inside) for v in self.kernel)


def cell_classes(free: DegreesOfFreedom) -> np.ndarray:
    """Return the number of each cell's class, -1 for determined cells; int64 (cells,).

    All cells of a class have the same noise distribution. Under disjoint totals the number of a
    class is the number of cells that share a total, and 0 for cells without a total.
    """
    if free.blocks is None:
        kind = find_cell_classes(free.invariants)[0]
    else:
        kind = np.where(free.blocks < 0, 0, block_sizes(free.blocks)[free.blocks + 1])
    return np.where(free.steps == 0, -1, kind)


def _kinds(table: Table, free: DegreesOfFreedom) -> list[MarginTarget]:
    kinds, found = cell_classes(free), []
    numbers = np.unique(kinds, return_index=True, return_counts=True)
    for kind, first, cells in zip(*(each.tolist() for each in numbers), strict=True):
        if kind < 0:
            continue
        if free.blocks is None:
            name = table.name(first) if cells == 1 else f"a cell such as {table.name(first)}"
            rows, parts = np.flatnonzero(kinds == kind)[:MAX_POOLED_CELLS], ()
        else:
            name = f"a cell among {kind:,} with one total" if kind else "a cell in no total"
            rows, parts = np.array([first]), (Part(kind, 1),)
        found.append(MarginTarget("cell", name, cells, rows, parts, kind=kind))
    return found


def spread_of_cells(
    targets: Sequence[MarginTarget],
    margins: Sequence[Margin],
    free: DegreesOfFreedom,
    rows: np.ndarray,
) -> NoiseSpread | None:
    """Find the standard deviations of the noise in the cells `rows`; None if one is unknown."""
    known = {t.kind: m.sd for t, m in zip(targets, margins, strict=True) if t.what == "cell"}
    ways = {sd.how for sd in known.values()}
    if UNKNOWN in ways:
        return None
    how = next(each for each in (SIMULATED, BOUNDED, EXACT) if each in ways)
    kinds = cell_classes(free)[rows].tolist()
    return NoiseSpread(np.array([known[kind].value if kind >= 0 else 0.0 for kind in kinds]), how)


def _sums_of(table: Table, one: HeldTotals, free: DegreesOfFreedom, sizes) -> list[MarginTarget]:
    order = np.argsort(one.labels, kind="stable")
    starts = np.searchsorted(one.labels[order], np.arange(one.totals + 1))
    names, found = group_names(table, one), []
    held_sums = _HeldSums(free) if free.blocks is None else None
    for group in range(one.totals):
        rows = order[starts[group] : starts[group + 1]]
        parts: tuple[Part, ...] = ()
        if free.blocks is not None:
            blocks, chosen = np.unique(free.blocks[rows], return_counts=True)
            cells = np.where(blocks < 0, 0, sizes[blocks + 1])
            pairs, times = np.unique([cells, chosen], axis=1, return_counts=True)
            parts = tuple(map(Part, *pairs.tolist(), times.tolist()))
            held = all(part.chosen == part.cells for part in parts)
        else:
            held = rows in held_sums
        found.append(MarginTarget("sum", names[group], len(rows), rows, parts, held))
    return found


def usual_sums(table: Table) -> list[HeldTotals]:
    """Totals by each column that names cells and has 2 to 100 values."""
    return [
        HeldTotals(f"totals by {name}", table.groups([name]), (name,))
        for name in table.names
        if 1 < len(table.columns[name].texts) <= MAX_VALUES
    ]


def margin_table(margins: Sequence[Margin]) -> pd.DataFrame:
    """Return a table with one row per margin."""
    return pd.DataFrame([margin.row() for margin in margins])


def margins_of(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism, draws: int = 400
) -> list[Margin]:
    """Find the margins of error.

    Parameters
    ----------
    draws : int
        Number of draws for simulated margins.

    Returns
    -------
    list of Margin
        One per target, in the order of the targets.
    """
    noisy = [target for target in targets if not target.held]
    found = iter(_margins_of_noise(noisy, free, mechanism, draws) if noisy else [])
    return [_without_noise(target) if target.held else next(found) for target in targets]


def _without_noise(target: MarginTarget) -> Margin:
    zero = Estimate(0.0, EXACT)
    negative = dict.fromkeys(SIZES, zero)
    names = (target.what, target.name, target.cells)
    return Margin(*names, zero, zero, Estimate(1.0, EXACT), negative, held=True)


def _margins_of_noise(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism, draws: int
) -> list[Margin]:
    energy = mechanism.energy
    if free.blocks is not None and energy is not None and energy.product:
        try:
            few = sum(len(target.parts) for target in targets) <= MAX_PARTS
            return [_by_law(t, energy, few or t.what == "cell") for t in targets]
        except InputError:
            pass  # too wide for any grid
    try:
        return _by_draws(
            targets, free.invariants, select_sampler(mechanism, free.invariants, quick=True), draws
        )
    except InputError:
        pass  # no exact sampler is practical
    try:
        if energy is None or (energy.power, energy.root) != (2, False):
            raise InputError("margins: no bound is known for this distribution")
        sds = np.sqrt(0.5 / energy.rate * _kept(targets, free.invariants)).tolist()
    except InputError:
        no = Estimate(math.nan, UNKNOWN)
        return [
            Margin(t.what, t.name, t.cells, no, no, no, dict.fromkeys(SIZES, no)) for t in targets
        ]
    return [_by_subgaussian(target, sd) for target, sd in zip(targets, sds, strict=True)]


def _by_law(target: MarginTarget, energy: Energy, lawful: bool) -> Margin:
    names = (target.what, target.name, target.cells)
    if lawful:
        try:
            return Margin(*names, *_figures_of_law(energy, target.parts))
        except InputError:
            if target.what == "cell":
                raise
    variance = sum_variance(energy, target.parts)
    sd = Estimate(math.sqrt(variance), EXACT)
    limit = Estimate(_first(lambda size: _peaked(variance, size) <= 1 - LEVEL), BOUNDED)
    negative = {size: Estimate(_peaked(variance, size) / 2, BOUNDED) for size in SIZES}
    return Margin(*names, sd, limit, Estimate(math.nan, UNKNOWN), negative)


@lru_cache(maxsize=4096)
def _figures_of_law(energy: Energy, parts: tuple[Part, ...]) -> tuple:
    law = sum_distribution(energy, parts)
    limit = _first(lambda size: law.beyond(size) <= 1 - LEVEL)
    negative = {size: _probability(law.below(size)) for size in SIZES}
    unchanged = float(law.pmf[len(law.pmf) // 2])
    return Estimate(law.sd, EXACT), Estimate(limit, EXACT), Estimate(unchanged, EXACT), negative


def _probability(value: float) -> Estimate:
    """Label a probability from a Fourier transform, whose rounding error hides small ones."""
    if value < PROBABILITY_ERROR:
        return Estimate(value + PROBABILITY_ERROR, BOUNDED)
    return Estimate(value, EXACT)


def _peaked(variance: float, size: int) -> float:
    """Bound P(|X| > size) for a symmetric unimodal integer X (Vysochanskij and Petunin).

    X plus a uniform number from -1/2 to 1/2 has a unimodal density, and exceeds size + 1/2.
    """
    if variance == 0:
        return 0.0
    share = (variance + 1 / 12) / (size + 0.5) ** 2
    return min(1.0, max(4 / 9 * share, 4 / 3 * share - 1 / 3))


def _first(holds) -> int:
    """Find the smallest integer of 0 or more from which on a condition holds, by bisection."""
    high = 1
    while not holds(high):
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _by_draws(targets, invariants: Invariants, sampler: ExactSampler, draws: int) -> list[Margin]:
    draws = _affordable(sampler, invariants.cells, draws)
    rng, at_once = stream(0, "margins"), max(1, int(2e7 / invariants.cells))
    values: list[list[np.ndarray]] = [[] for _ in targets]
    for start in range(0, draws, at_once):
        noise = sampler.sample(rng, min(at_once, draws - start))
        for kept, target in zip(values, targets, strict=True):
            part = noise[:, target.rows]
            kept.append(part if target.what == "cell" else part.sum(axis=1, keepdims=True))
    return [_of_draws(t, np.concatenate(v)) for t, v in zip(targets, values, strict=True)]


def _affordable(sampler: ExactSampler, cells: int, draws: int) -> int:
    """Return a number of draws that takes seconds; it is the same on every machine.

    Raises
    ------
    InputError
        If that number is too small for an estimate.
    """
    by_tries = int(MAX_PROPOSALS / sampler.expected_proposals)
    if by_tries < MIN_DRAWS:
        raise InputError("margins: the sampler takes too many proposals per draw")
    return min(by_tries, max(MIN_DRAWS, min(draws, int(MAX_DRAWN_NUMBERS / cells))))


def two_standard_errors(values: np.ndarray) -> float:
    """Return two standard errors of the mean of independent values."""
    return float(2 * values.std(ddof=1) / math.sqrt(len(values)))


def _of_draws(target: MarginTarget, values: np.ndarray) -> Margin:
    """Estimate a margin from draws, int64 (draws, cells of one class); cells are averaged."""

    def mean(each) -> tuple[float, float]:
        by_draw = each.mean(axis=1)
        # rule of three, for an event that occurs in no draw or in all draws
        return float(by_draw.mean()), max(two_standard_errors(by_draw), 3 / len(by_draw))

    square, error = mean(values.astype(float) ** 2)
    sd = math.sqrt(square)
    size, limits = np.abs(values), {}
    for sign in (-1, 0, 1):

        def rare(limit, sign=sign):
            chance, error = mean(size > limit)
            return chance + sign * error <= 1 - LEVEL

        limits[sign] = _first(rare)
    half_width = max(limits[1] - limits[0], limits[0] - limits[-1])
    limit = Estimate(limits[0], SIMULATED, half_width)
    chances = {
        least: Estimate(mean(size > least)[0] / 2, SIMULATED, mean(size > least)[1] / 2)
        for least in SIZES
    }
    return Margin(
        target.what,
        target.name,
        target.cells,
        Estimate(sd, SIMULATED, error / (2 * sd) if sd else 0.0),
        limit,
        Estimate(mean(values == 0)[0], SIMULATED, mean(values == 0)[1]),
        chances,
    )


def _kept(targets: Sequence[MarginTarget], invariants: Invariants) -> np.ndarray:
    """Squared norm of the projection of each target onto the null space of the totals."""
    kinds = len(find_cell_classes(invariants)[1])
    if kinds * invariants.constraints > MAX_MATRIX_NUMBERS:
        raise InputError(f"margins: {kinds:,} cell classes are too many for a bound")
    rows = [target.rows if target.what == "sum" else target.rows[:1] for target in targets]
    groups = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    sums = incidence(groups, np.concatenate(rows), (len(rows), invariants.cells))
    return null_space(invariants).sum_variances(sums)


def _by_subgaussian(target: MarginTarget, sd: float) -> Margin:
    def chance(size: int) -> float:
        return min(1.0, 2 * math.exp(-((size + 1) ** 2) / (2 * sd * sd))) if sd > 1e-9 else 0.0

    return Margin(
        target.what,
        target.name,
        target.cells,
        Estimate(sd, BOUNDED),
        Estimate(_first(lambda size: chance(size) <= 1 - LEVEL), BOUNDED),
        Estimate(math.nan, UNKNOWN),
        {size: Estimate(chance(size) / 2, BOUNDED) for size in SIZES},
    )
