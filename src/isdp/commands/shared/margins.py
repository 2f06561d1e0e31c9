"""Margins of error of the cells of a noisy table and of their sums, from the noise distribution.

No count is used. Each figure states its method. An *exact* figure is computed from the
distribution, and its probabilities have errors below 1e-9. A *bounded* figure is an upper bound.
Every probability below 1e-9 is bounded. A *simulated* figure comes from separate draws, and states
two standard errors.

If the totals are disjoint and the mechanism's weight is a product over the cells, the distribution
is computed (`isdp.exact.distributions`). This distribution is symmetric and log-concave. If its
grid is too long, the bound of Vysochanskij and Petunin for unimodal distributions is used. A
discrete Gaussian on any lattice is subgaussian with the sigma of the projected Gaussian (by Poisson
summation, as in `isdp.mechanisms.generalized_gaussian`). All other figures are simulated if an
exact sampler is fast enough, and unknown otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isdp.accounting.guarantees import upper_decimal
from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.invariants_file import HeldTotals, group_names, incidence
from isdp.commands.shared.noise_levels import (
    LevelError,
    NoiseLevels,
    SetMechanism,
    level_errors,
    probability_unchanged_bound,
)
from isdp.commands.shared.table import Table
from isdp.constraints.blocks import block_sizes
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.exact.distributions import Part, SumDistribution, sum_distribution, sum_variance
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.exact.nested.weighted_sums import sum_variances
from isdp.exact.selection import ExactSampler, select_sampler
from isdp.mechanisms.base import Energy, Mechanism
from isdp.mechanisms.crossing import CrossingGaussian
from isdp.mechanisms.nested import NestedLaplace
from isdp.streams import stream
from isdp.subspace.null_space import null_space

LEVEL = 0.95
ROUNDING = 1e-9  # bound on the error of a probability or a variance of `isdp.exact.distributions`
SIZES = (0, 1, 2, 5, 10, 20, 50, 100)  # counts whose probability of turning negative is listed
MAX_SUMS, MAX_VALUES = 1000, 100
MAX_PARTS = 2000  # maximum number of parts of all sums whose distributions are computed
MAX_DRAWN_NUMBERS = 1e7  # maximum number of cells times draws
MAX_NUMBERS_IN_MEMORY = 2e7  # maximum number of cells times draws in memory at the same time
MAX_PROPOSALS = 5e6  # maximum number of proposals of a rejection sampler in all draws
MIN_DRAWS = 100
MAX_MATRIX_NUMBERS = 2e7  # maximum number of cell classes times totals
LEVEL_CLASS = -2
MAX_POOLED_CELLS = 20  # maximum number of cells of a class that are used in each draw


EXACT, BOUNDED, SIMULATED, UNKNOWN = "exact", "bounded", "simulated", "unknown"


# methods from the least to the most certain, in the words of a release
HOW = {UNKNOWN: "unknown", SIMULATED: "simulated", BOUNDED: "bound", EXACT: "exact"}


class Estimate(NamedTuple):
    """A number and the method by which it was found.

    Attributes
    ----------
    value : float
        The number, or nan if it is unknown.
    method : {"exact", "bounded", "simulated", "unknown"}
    error : float
        Two standard errors of a simulated number, and otherwise 0.
    draws : int
        The number of draws of a simulated limit, and otherwise 0.
    """

    value: float
    method: str
    error: float = 0.0
    draws: int = 0

    def rounded(self) -> float:
        """Round the value to six digits, or round it up if it is a bound."""
        if self.method == BOUNDED:
            return float(upper_decimal(self.value))
        return _round(self.value)


@dataclass(frozen=True)
class Margin:
    """The noise of a cell or of a sum of cells, in persons.

    Attributes
    ----------
    scope : {"cell", "level", "sum"}
    cells : int
        Number of cells in the sum or in the cell class, or number of totals of the level.
    limit : Estimate
        Smallest number that the magnitude of the noise exceeds with a probability of at most 5 %.
    unchanged : Estimate
        Probability that the noise is zero.
    negative : dict of int to Estimate
        Probability that a count of a given size turns negative.
    held : bool
        True if the held totals determine this sum, which then has no noise.
    """

    scope: str
    name: str
    cells: int
    sd: Estimate
    limit: Estimate
    unchanged: Estimate
    negative: dict[int, Estimate]
    held: bool = False

    @property
    def stated_limit(self) -> int:
        """The limit for readers, which has two standard errors added if it is simulated."""
        return math.ceil(self.limit.value + self.limit.error)

    def row(self) -> dict[str, object]:
        """Return the margin as a row of the full table."""
        row: dict[str, object] = {"what": self.scope, "name": self.name, "cells": self.cells}
        figures = {"sd": self.sd, "limit_95": self.limit, "chance_unchanged": self.unchanged}
        figures |= {f"chance_negative_at_{size}": x for size, x in self.negative.items()}
        for name, figure in figures.items():
            row |= {name: figure.rounded(), f"{name}_is": figure.method}
            row[f"{name}_error"] = _round(figure.error)
        return row

    def short_row(self) -> dict[str, object]:
        """Return the margin as a row of the short table for readers of a release."""
        limit = None if self.limit.method == UNKNOWN else self.stated_limit
        methods = {self.sd.method, self.limit.method}
        how = next(words for method, words in HOW.items() if method in methods)
        return {
            "name": self.name,
            "cells": self.cells,
            "sd": self.sd.rounded(),
            "limit_95": limit,
            "how": how,
        }


class ProbabilityUnchanged(NamedTuple):
    """The mean and the maximum over the free cells of the probability of no noise.

    The values have four decimals. If they are simulated, `error` is two standard errors of
    `maximum`.
    """

    mean: float
    maximum: float
    method: str
    error: float = 0.0


def probability_unchanged(margins: Sequence[Margin]) -> ProbabilityUnchanged | None:
    """Find the mean and maximum probability of no noise in a cell, or None if one is unknown."""
    classes = [margin for margin in margins if margin.scope == "cell"]
    methods = {margin.unchanged.method for margin in classes}
    if not classes or UNKNOWN in methods:
        return None
    values = np.array([margin.unchanged.value for margin in classes])
    mean = np.average(values, weights=[margin.cells for margin in classes])
    method = next(each for each in (SIMULATED, BOUNDED, EXACT) if each in methods)
    error = classes[values.argmax()].unchanged.error
    return ProbabilityUnchanged(
        round(float(mean), 4), round(float(values.max()), 4), method, round(error, 4)
    )


def _round(value: float) -> float:
    return float(f"{value:.6g}")


@dataclass(frozen=True, eq=False)
class MarginTarget:
    """A cell class, a level of the noise or a sum of cells whose margin of error is requested.

    Attributes
    ----------
    rows : int array
        All cells of a sum, or some cells of a class.
    parts : tuple of Part
        The cells of the sum in each block, if the totals are disjoint.
    cell_class : int
        Number of the cell class from `cell_classes`, `LEVEL_CLASS` for all cells of noise with
        levels, or -1 for a sum.
    """

    scope: str
    name: str
    cells: int
    rows: NDArray[np.integer[Any]]
    parts: tuple[Part, ...] = ()
    held: bool = False
    cell_class: int = -1


def targets_of(
    table: Table,
    free: DegreesOfFreedom,
    sums: Sequence[HeldTotals],
    levels: NoiseLevels | None = None,
) -> list[MarginTarget]:
    """List the classes of free cells, or the levels of the noise if there are any, and the sums."""
    number = sum(one.totals for one in sums)
    if number > MAX_SUMS:
        raise InputError(
            f"--sums: there are {number:,} sums, and the maximum is {MAX_SUMS:,}. Name fewer sums."
        )
    found = list(_class_targets(table, free) if levels is None else _level_targets(levels))
    for one in sums:
        found += _sum_targets(table, one, free)
    return found


def cell_classes(free: DegreesOfFreedom) -> IntArray:
    """Return the class number of each cell, or -1 for a determined cell, as int64 (cells,).

    All cells of a class have the same noise distribution. Under disjoint totals the number of a
    class is the number of cells that share a total, and 0 for cells without a total.
    """
    if free.crossed is not None:
        classes = free.crossed.shapes
    elif free.blocks is None:
        classes = find_cell_classes(free.invariants)[0]
    else:
        classes = np.where(free.blocks < 0, 0, block_sizes(free.blocks)[free.blocks + 1])
    return np.where(free.steps == 0, -1, classes)


def _class_targets(table: Table, free: DegreesOfFreedom) -> Iterator[MarginTarget]:
    classes = cell_classes(free)
    numbers = np.unique(classes, return_index=True, return_counts=True)
    for number, first, cells in zip(*(each.tolist() for each in numbers), strict=True):
        if number < 0:
            continue
        if free.blocks is None:
            name = table.name(first) if cells == 1 else f"a cell such as {table.name(first)}"
            rows = np.flatnonzero(classes == number)[:MAX_POOLED_CELLS]
            yield MarginTarget("cell", name, cells, rows, cell_class=number)
        else:
            name = (
                f"a cell in a group of {number:,} whose total is held"
                if number
                else "a cell in no total"
            )
            parts = (Part(number, 1),)
            yield MarginTarget("cell", name, cells, np.array([first]), parts, cell_class=number)


def _level_targets(levels: NoiseLevels) -> Iterator[MarginTarget]:
    none = np.empty(0, dtype=np.int64)
    for name in reversed(levels.names):
        if name == levels.names[-1]:
            yield MarginTarget("cell", name, 0, none, cell_class=LEVEL_CLASS)
        else:
            yield MarginTarget("level", name, 0, none)


def _sum_targets(table: Table, one: HeldTotals, free: DegreesOfFreedom) -> Iterator[MarginTarget]:
    # integers of a small type are sorted in linear time
    small = one.labels.astype(np.min_scalar_type(-one.totals - 1))
    order = np.argsort(small, kind="stable").astype(np.int32)
    starts = np.searchsorted(one.labels[order], np.arange(one.totals + 1))
    if free.crossed is not None:
        determined = free.crossed.determined(one.incidence())
    elif free.blocks is None:
        classes = find_cell_classes(free.invariants)[0]
        sizes = np.bincount(classes)
    else:
        sizes = block_sizes(free.blocks)
    for group, name in enumerate(group_names(table, one)):
        rows = order[starts[group] : starts[group + 1]]
        parts: tuple[Part, ...] = ()
        if free.crossed is not None:
            held = bool(determined[group])
        elif free.blocks is None:
            held = _is_held(np.bincount(classes[rows], minlength=len(sizes)), sizes, free)
        else:
            blocks, chosen = np.unique(free.blocks[rows], return_counts=True)
            cells = np.where(blocks < 0, 0, sizes[blocks + 1])
            pairs, times = np.unique([cells, chosen], axis=1, return_counts=True)
            parts = tuple(map(Part, *pairs.tolist(), times.tolist()))
            held = all(part.chosen == part.cells for part in parts)
        yield MarginTarget("sum", name, len(rows), rows, parts, held)


def _is_held(chosen: IntArray, sizes: IntArray, free: DegreesOfFreedom) -> bool:
    """Return True if overlapping held totals determine a sum with `chosen` cells of each class."""
    if ((chosen > 0) & (chosen < sizes)).any():
        return False  # one person may move between two cells of a class
    inside = set(np.flatnonzero(chosen).tolist())
    vectors = free.kernel or ()
    return not any(sum(x for number, x in v.items() if number in inside) for v in vectors)


def limits_of_cells(
    targets: Sequence[MarginTarget], margins: Sequence[Margin], free: DegreesOfFreedom
) -> FloatArray | None:
    """Find the 95 % limit of the noise in each cell, float64 (cells,), or None if it is unknown.

    The limit of a determined cell is 0.
    """
    pairs = zip(targets, margins, strict=True)
    known = {target.cell_class: margin.limit for target, margin in pairs if target.scope == "cell"}
    if any(limit.method == UNKNOWN for limit in known.values()):
        return None
    if LEVEL_CLASS in known:
        return np.where(free.steps == 0, 0.0, known[LEVEL_CLASS].value)
    classes, number = np.unique(cell_classes(free), return_inverse=True)
    by_class = [known[each].value if each >= 0 else 0.0 for each in classes.tolist()]
    return np.array(by_class)[number]


def usual_sums(table: Table) -> list[HeldTotals]:
    """Return the totals by each column that names cells and has 2 to 100 values."""
    return [
        HeldTotals(f"totals by {name}", table.groups([name]), (name,))
        for name in table.names
        if 1 < len(table.columns[name].texts) <= MAX_VALUES
    ]


def margin_table(margins: Sequence[Margin]) -> pd.DataFrame:
    """Return a table with one row per margin, and all figures with their methods and errors."""
    return pd.DataFrame([margin.row() for margin in margins])


def short_margin_table(margins: Sequence[Margin]) -> pd.DataFrame:
    """Return the table of margins for the readers of a release, with one row per margin.

    Returns
    -------
    DataFrame
        The columns are name, cells, sd, limit_95 and how. The column cells is the number of cells,
        and sd is the standard deviation of the noise in persons. The absolute noise is at most
        limit_95 persons with a probability of 95 % or more. A simulated limit has two standard
        errors added. The column how is the less certain
        method of both figures: exact, bound, simulated or unknown.
    """
    return pd.DataFrame([margin.short_row() for margin in margins]).astype({"limit_95": "Int64"})


def margins_of(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism, draws: int = 400
) -> list[Margin]:
    """Find the margin of error of each target, with `draws` draws if it is simulated."""
    noisy = [target for target in targets if not target.held]
    found = iter(_margins_of_noise(noisy, free, mechanism, draws) if noisy else [])
    return [_held_margin(target) if target.held else next(found) for target in targets]


def _held_margin(target: MarginTarget) -> Margin:
    zero, one = Estimate(0.0, EXACT), Estimate(1.0, EXACT)
    return replace(_margin(target, zero, zero, one, lambda _: zero), held=True)


def _margin(
    target: MarginTarget,
    sd: Estimate,
    limit: Estimate,
    unchanged: Estimate,
    negative: Callable[[int], Estimate],
) -> Margin:
    names = target.scope, target.name, target.cells
    return Margin(*names, sd, limit, unchanged, {k: negative(k) for k in SIZES}, target.held)


def _margins_of_noise(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism, draws: int
) -> list[Margin]:
    energy, invariants = mechanism.energy, free.invariants
    if isinstance(mechanism, SetMechanism):
        return _of_levels(targets, invariants, mechanism, draws)
    if free.blocks is not None and energy is not None and energy.product:
        few = sum(len(target.parts) for target in targets) <= MAX_PARTS
        try:
            return [_under_disjoint_totals(t, energy, few or t.scope == "cell") for t in targets]
        except InputError:
            pass  # the distribution is too wide for any grid
    by_draws = None
    try:
        sampler = select_sampler(mechanism, invariants, quick=True)
        by_draws = _by_draws(targets, invariants, sampler, draws)
    except InputError:
        pass  # no exact sampler is practical
    if by_draws is not None and free.crossed is None:
        return by_draws
    sds = _bounded_sds(targets, free, mechanism)
    if by_draws is not None:
        pairs = zip(by_draws, sds or [margin.sd for margin in by_draws], strict=True)
        return [replace(margin, sd=sd) for margin, sd in pairs]
    if sds is not None:
        return [_subgaussian_bound(t, sd.value) for t, sd in zip(targets, sds, strict=True)]
    unknown = Estimate(math.nan, UNKNOWN)
    return [_margin(t, unknown, unknown, unknown, lambda _: unknown) for t in targets]


def standard_deviations(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism, draws: int = 400
) -> list[Estimate]:
    """Find the standard deviation of each target, without draws if crossing totals permit this."""
    if free.crossed is not None:
        bounds = _bounded_sds(targets, free, mechanism)
        if bounds is not None:
            return bounds
    return [margin.sd for margin in margins_of(targets, free, mechanism, draws)]


def _bounded_sds(
    targets: Sequence[MarginTarget], free: DegreesOfFreedom, mechanism: Mechanism
) -> list[Estimate] | None:
    """Bound standard deviations of Gaussian noise by those of real-valued noise.

    The result is None for other noise, or if there are too many cell classes.
    """
    energy = mechanism.energy
    if energy is None or (energy.power, energy.root) != (2, False):
        return None
    try:
        squares = _projected_squares(targets, free)
    except InputError:
        return None
    sds = np.sqrt(0.5 / energy.rate * squares).tolist()
    return [Estimate(sd, BOUNDED) for sd in sds]


def _of_levels(
    targets: Sequence[MarginTarget], invariants: Invariants, mechanism: SetMechanism, draws: int
) -> list[Margin]:
    """Find the margins of noise with a term for each total of some levels.

    The margin of a level is that of its total with the largest standard deviation.
    """
    errors = {one.name: one for one in level_errors(mechanism, invariants)}
    unchanged = Estimate(probability_unchanged_bound(mechanism, invariants), BOUNDED)
    crossing = isinstance(mechanism, CrossingGaussian)
    accuracy = None if crossing else NestedAccuracy(mechanism, invariants)
    sums = [target for target in targets if target.scope == "sum"]
    if isinstance(mechanism, NestedLaplace):
        of_sums = iter(_sums_by_draws(sums, invariants, mechanism, draws))
    else:
        variances = sum_variances(mechanism, invariants, _incidence(sums, invariants.cells))
        of_sums = map(_subgaussian_bound, sums, np.sqrt(variances).tolist())
    found = []
    for target in targets:
        if target.scope == "sum":
            found.append(next(of_sums))
            continue
        error = errors[target.name]
        margin = _of_level(replace(target, cells=error.totals), error, accuracy)
        found.append(replace(margin, unchanged=unchanged) if target.scope == "cell" else margin)
    return found


def _sums_by_draws(
    sums: Sequence[MarginTarget], invariants: Invariants, mechanism: Mechanism, draws: int
) -> list[Margin]:
    if not sums or invariants.cells * MIN_DRAWS > MAX_DRAWN_NUMBERS:
        unknown = Estimate(math.nan, UNKNOWN)
        return [_margin(target, unknown, unknown, unknown, lambda _: unknown) for target in sums]
    return _by_draws(sums, invariants, select_sampler(mechanism, invariants), draws)


def _of_level(target: MarginTarget, error: LevelError, accuracy: NestedAccuracy | None) -> Margin:
    """Find the margin of one total of a level, which has the largest standard deviation."""
    if error.max_sd == 0:
        return _held_margin(target)
    if accuracy is not None:
        try:
            sd, limit, unchanged, negative = _figures_of(accuracy.distribution(error.node))
            return _margin(target, sd, limit, unchanged, negative.__getitem__)
        except InputError:
            pass  # the distribution is too wide for a grid
    if error.method == BOUNDED:
        return _subgaussian_bound(target, error.max_sd)
    unknown, sd = Estimate(math.nan, UNKNOWN), Estimate(error.max_sd, SIMULATED, error.rmse_error)
    return _margin(target, sd, unknown, unknown, lambda _: unknown)


def _under_disjoint_totals(target: MarginTarget, energy: Energy, use_distribution: bool) -> Margin:
    """Find a margin from the distribution, or bound the margin of a sum by its variance."""
    if use_distribution:
        try:
            return _from_distribution(target, energy)
        except InputError:
            if target.scope == "cell":
                raise
    variance = sum_variance(energy, target.parts)
    return _margin(
        target,
        _sd(variance),
        Estimate(_smallest(lambda size: _bound_beyond(variance, size) <= 1 - LEVEL), BOUNDED),
        Estimate(math.nan, UNKNOWN),
        lambda size: Estimate(_bound_beyond(variance, size) / 2, BOUNDED),
    )


def _from_distribution(target: MarginTarget, energy: Energy) -> Margin:
    sd, limit, unchanged, negative = _figures(energy, target.parts)
    return _margin(target, sd, limit, unchanged, negative.__getitem__)


Figures = tuple[Estimate, Estimate, Estimate, dict[int, Estimate]]


@lru_cache(maxsize=4096)
def _figures(energy: Energy, parts: tuple[Part, ...]) -> Figures:
    return _figures_of(sum_distribution(energy, parts))


def _figures_of(distribution: SumDistribution) -> Figures:
    limit = _smallest(lambda size: distribution.beyond(size) <= 1 - LEVEL)
    return (
        _sd(distribution.sd**2),
        Estimate(limit, EXACT),
        _probability(float(distribution.pmf[len(distribution.pmf) // 2])),
        {size: _probability(distribution.below(size)) for size in SIZES},
    )


def _probability(value: float) -> Estimate:
    """Return a probability from a Fourier transform, or a bound if it is below the error."""
    return Estimate(value, EXACT) if value >= ROUNDING else Estimate(value + ROUNDING, BOUNDED)


def _sd(variance: float) -> Estimate:
    if variance >= ROUNDING:
        return Estimate(math.sqrt(variance), EXACT)
    return Estimate(math.sqrt(variance + ROUNDING), BOUNDED)


def _bound_beyond(variance: float, size: int) -> float:
    """Bound P(|X| > size) for a symmetric unimodal integer X (Vysochanskij and Petunin).

    The sum of X and a uniform variable on [-1/2, 1/2] has a unimodal density. The bound applies to
    this sum at size + 1/2.
    """
    if variance == 0:
        return 0.0
    share = (variance + 1 / 12) / (size + 0.5) ** 2
    return min(1.0, max(4 / 9 * share, 4 / 3 * share - 1 / 3))


def _smallest(holds: Callable[[int], bool]) -> int:
    """Find by bisection the smallest integer of 0 or more from which a condition holds."""
    high = 1
    while not holds(high):
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _by_draws(
    targets: Sequence[MarginTarget], invariants: Invariants, sampler: ExactSampler, draws: int
) -> list[Margin]:
    draws = _affordable(sampler, invariants.cells, draws)
    rng = stream(0, "margins")
    batch = max(1, int(MAX_NUMBERS_IN_MEMORY / invariants.cells))
    values: list[list[IntArray]] = [[] for _ in targets]
    for start in range(0, draws, batch):
        noise = sampler.sample(rng, min(batch, draws - start))
        for kept, target in zip(values, targets, strict=True):
            part = noise[:, target.rows]
            kept.append(part if target.scope == "cell" else part.sum(axis=1, keepdims=True))
    return [_estimated(t, np.concatenate(v)) for t, v in zip(targets, values, strict=True)]


def _affordable(sampler: ExactSampler, cells: int, draws: int) -> int:
    """Limit the number of draws by a criterion that does not depend on the speed of the machine."""
    by_proposals = int(MAX_PROPOSALS / sampler.expected_proposals)
    if by_proposals < MIN_DRAWS:
        raise InputError("margins: the sampler needs too many proposals per draw. Use less noise.")
    return min(by_proposals, max(MIN_DRAWS, min(draws, int(MAX_DRAWN_NUMBERS / cells))))


def two_standard_errors(values: FloatArray) -> float:
    """Return two standard errors of the mean of independent values."""
    return float(2 * values.std(ddof=1) / math.sqrt(len(values)))


def _estimated(target: MarginTarget, values: IntArray) -> Margin:
    """Average margins of error over the cells of one class, from draws of shape (draws, cells)."""

    def mean(each: FloatArray | BoolArray) -> tuple[float, float]:
        by_draw = each.mean(axis=1)
        # the rule of three is for an event that occurs in no draw or in all draws
        return float(by_draw.mean()), max(two_standard_errors(by_draw), 3 / len(by_draw))

    sizes, limits = np.abs(values), {}
    for sign in (-1, 0, 1):

        def is_rare(limit: int, sign: int = sign) -> bool:
            probability, error = mean(sizes > limit)
            return probability + sign * error <= 1 - LEVEL

        limits[sign] = _smallest(is_rare)
    half_width = max(limits[1] - limits[0], limits[0] - limits[-1])

    def negative(size: int) -> Estimate:
        probability, error = mean(sizes > size)
        return Estimate(probability / 2, SIMULATED, error / 2)

    square, error = mean(values.astype(float) ** 2)
    sd = math.sqrt(square)
    return _margin(
        target,
        Estimate(sd, SIMULATED, error / (2 * sd) if sd else 0.0),
        Estimate(limits[0], SIMULATED, half_width, len(values)),
        Estimate(mean(values == 0)[0], SIMULATED, mean(values == 0)[1]),
        negative,
    )


def _projected_squares(targets: Sequence[MarginTarget], free: DegreesOfFreedom) -> FloatArray:
    invariants, sums = free.invariants, _incidence(targets, free.invariants.cells)
    if free.crossed is not None:
        return free.crossed.projected_squares(sums)
    classes = len(find_cell_classes(invariants)[1])
    if classes * invariants.constraints > MAX_MATRIX_NUMBERS:
        raise InputError(
            f"margins: {classes:,} cell classes are too many for a bound. Merge cells."
        )
    return null_space(invariants).sum_variances(sums)


def _incidence(targets: Sequence[MarginTarget], cells: int) -> csr_array:
    """Return the 0/1 matrix (targets, cells) of sums, and of one cell of each class."""
    rows = [target.rows if target.scope == "sum" else target.rows[:1] for target in targets]
    groups = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    return incidence(groups, np.concatenate([*rows, groups[:0]]), (len(rows), cells))


def _subgaussian_bound(target: MarginTarget, sd: float) -> Margin:
    def beyond(size: int) -> float:
        return min(1.0, 2 * math.exp(-((size + 1) ** 2) / (2 * sd * sd))) if sd > 1e-9 else 0.0

    return _margin(
        target,
        Estimate(sd, BOUNDED),
        Estimate(_smallest(lambda size: beyond(size) <= 1 - LEVEL), BOUNDED),
        Estimate(math.nan, UNKNOWN),
        lambda size: Estimate(beyond(size) / 2, BOUNDED),
    )
