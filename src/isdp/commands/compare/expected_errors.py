"""The expected errors of answers, from a closed form or from simulation.

Each number states its method, as in `isdp.commands.shared.margins`. A simulated number is a mean
over runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.commands.compare.level_noise import LevelNoise
from isdp.commands.compare.question import Question
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import BOUNDED, EXACT, SIMULATED, Estimate, two_standard_errors
from isdp.compare.areas import Areas
from isdp.compare.systems import PlainNoise
from isdp.errors import InputError
from isdp.subspace.null_space import null_space
from isdp.swapping.accuracy import covariance, expected_table

MAX_PROJECTED = 2e7  # maximum number of sums times cells
MAX_COVARIANCES = 2e7  # maximum number of pairs of cells, summed over the regions
NEGLIGIBLE = 1e-9  # a sum below this share of its terms is a rounding error, and is set to 0


class ErrorMoments(NamedTuple):
    """The moments of the errors of a query's answers.

    Attributes
    ----------
    square, bias : float64 array, shape (answers,)
        Mean squared error (persons squared) and mean error (persons).
    method : {"exact", "bounded"}
        "exact" if `square` is exact, and "bounded" if it is an upper bound.
    """

    square: FloatArray
    bias: FloatArray
    method: str


def of_plain_noise(
    system: PlainNoise, budget: float, question: Question, query: HeldTotals
) -> ErrorMoments | None:
    """Find the moments of noise that does not depend on the counts, or None if they are unknown.

    The noise of the n cells of one total is exchangeable and adds up to zero. If a cell has the
    variance v, the sum of k cells therefore has the variance v k (n - k) / (n - 1). Let Pi_N be the
    orthogonal projection onto the null space of the totals. Under overlapping totals the covariance
    of projected noise is s^2 Pi_N. The covariance of discrete Gaussian noise is at most s^2 Pi_N.
    """
    if isinstance(system, LevelNoise):
        bounds = system.variance_bounds(budget, query)
        zeros = np.zeros(query.totals)
        return None if bounds is None else ErrorMoments(bounds, zeros, BOUNDED)
    scale = system.covariance_scale(budget)
    square, method = None, EXACT
    if question.free.blocks is not None:
        try:
            each = partial(_cell_variance, system, budget)
            square = _in_blocks(each, question.free.blocks, query)
        except InputError:
            pass  # no distribution of a cell is known, or its grid is too long
    if square is None and scale is not None:
        try:
            square = scale * _projected_squares(question, query)
        except InputError:
            return None
        method = EXACT if system.scale_is_exact else BOUNDED
    return None if square is None else ErrorMoments(square, np.zeros(len(square)), method)


def _in_blocks(each: Callable[[int], float], blocks: IntArray, query: HeldTotals) -> FloatArray:
    """Return the variance of each sum from the variance ``each(n)`` in a block of n cells."""
    sizes = np.bincount(blocks + 1, minlength=1)
    variance = {n: each(n) for n in np.unique(sizes[1:]).tolist()}
    of_block = np.array([0.0, *(variance[n] for n in sizes[1:].tolist())])
    if sizes[0]:
        of_block[0] = each(0)
    inside = query.labels >= 0
    pairs = query.labels[inside].astype(np.int64) * len(sizes) + blocks[inside] + 1
    there, chosen = np.unique(pairs, return_counts=True)
    group, block = np.divmod(there, len(sizes))
    n = sizes[block]
    share = np.where(block == 0, chosen, chosen * (n - chosen) / np.maximum(n - 1, 1))
    return np.asarray(np.bincount(group, of_block[block] * share, query.totals), dtype=float)


@lru_cache(maxsize=4096)
def _cell_variance(system: PlainNoise, budget: float, cells: int) -> float:
    return 0.0 if cells == 1 else system.cell_variance(cells, budget)


def _projected_squares(question: Question, query: HeldTotals) -> FloatArray:
    if query.totals * question.cells > MAX_PROJECTED and query.totals < question.cells:
        raise InputError("compare: there are too many sums to project. Name fewer sums.")
    return null_space(question.free.invariants).sum_variances(query.incidence())


class SwappedMoments:
    """The exact moments of a swapped table (`isdp.swapping.accuracy`), computed by region.

    `rows`, int64 (areas, cells), has the row of each cell in the table of the question.
    """

    def __init__(self, areas: Areas, rows: np.ndarray, rate: float):
        width = areas.schema.cells
        numbers = sum((len(each) * width) ** 2 for each in areas.blocks.values())
        if numbers > MAX_COVARIANCES:
            raise InputError(
                "compare: the table has too many cells to compute their covariances. Merge cells."
            )
        self.parts = []
        for inside in areas.blocks.values():
            counts = areas.counts[inside][None]
            bias = expected_table(counts, rate)[0] - counts[0]
            whole = np.empty((width, len(inside), width, len(inside)))
            for one in range(width):
                for other in range(one, width):
                    found = covariance(counts, rate, one, other)
                    whole[one, :, other, :] = found
                    whole[other, :, one, :] = found.T
            self.parts.append(
                (rows[inside].T.ravel(), bias.T.ravel(), whole.reshape(bias.size, bias.size))
            )

    def of(self, query: HeldTotals) -> ErrorMoments:
        """Return the moments of the errors of a query's answers."""
        variance, bias = np.zeros(query.totals), np.zeros(query.totals)
        for rows, means, whole in self.parts:
            sums = query.incidence(rows)
            found = np.asarray((sums * (sums @ whole)).sum(axis=1)).ravel()
            size = np.asarray((sums * (sums @ np.abs(whole))).sum(axis=1)).ravel()
            variance += np.where(found > NEGLIGIBLE * size, found, 0.0)
            bias += sums @ means
        scale = max(1.0, max(float(np.abs(means).max(initial=0)) for _, means, _ in self.parts))
        bias[np.abs(bias) < NEGLIGIBLE * scale] = 0
        return ErrorMoments(variance + bias**2, bias, EXACT)


def of_swapping(rate: float, question: Question) -> SwappedMoments | None:
    """Compute the moments of swapping, or return None if they need too much memory."""
    try:
        return SwappedMoments(*question.by_areas(), rate)
    except InputError:
        return None


def answered(errors: FloatArray, query: HeldTotals) -> FloatArray:
    """Return the errors of a query's answers, float64 (answers,), from the errors of the cells."""
    return np.asarray(np.bincount(query.labels + 1, errors, query.totals + 1)[1:], dtype=float)


def from_moments(moments: ErrorMoments, chosen: BoolArray) -> tuple[Estimate, Estimate]:
    """Return the root mean square error and the bias over the answers marked in `chosen`."""
    square, bias = moments.square[chosen], moments.bias[chosen]
    return (
        Estimate(math.sqrt(square.mean()), moments.method),
        Estimate(float(bias.mean()), EXACT),
    )


def by_simulation(
    draw: Callable[[int], FloatArray],
    simulations: int,
    wanted: Sequence[tuple[HeldTotals, BoolArray]],
    report_progress: Callable[[int], None] = lambda done: None,
) -> list[tuple[Estimate, Estimate]]:
    """Estimate root mean square errors and biases of some answers by simulation.

    Parameters
    ----------
    draw : callable
        ``draw(run)`` returns the errors of the cells in one run, float64 (cells,).
    simulations : int
        Number of runs, at least 2.
    wanted : sequence of (query, bool array)
        Each array marks the answers over which the errors are averaged.
    report_progress : callable
        A function that is called with the number of completed runs.
    """
    squares, biases = (np.empty((simulations, len(wanted))) for _ in range(2))
    for run in range(simulations):
        errors = draw(run)
        last: tuple[HeldTotals | None, np.ndarray] = (None, errors)
        for place, (query, chosen) in enumerate(wanted):
            if query is not last[0]:
                last = query, answered(errors, query)
            some = last[1][chosen]
            squares[run, place], biases[run, place] = np.mean(some**2), np.mean(some)
        report_progress(run + 1)
    found = []
    for square, bias in zip(squares.T, biases.T, strict=True):
        root = math.sqrt(square.mean())
        error = two_standard_errors(square) / (2 * root) if root else 0.0
        found.append(
            (
                Estimate(root, SIMULATED, error),
                Estimate(float(bias.mean()), SIMULATED, two_standard_errors(bias)),
            )
        )
    return found
