"""Compiled draws of crossing noise, in double precision with bounds on the rounding error.

All decisions compare a random word of 64 bits with a number that is known up to its rounding error.
If the error could change a decision, the draw stops, and the caller decides in exact arithmetic.
The draw of the node then starts again with the same words and the caller's decisions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.compiled import njit
from isdp.exact.overlapping.compiled_klein import mass

Words = NDArray[np.uint64]

DONE, REJECTED, MORE_WORDS, UNDECIDED = range(4)
REFUSED_PROPOSAL, UNDECIDED_PROPOSAL = -(2**62), -(2**62) + 1
WORDS_PER_PROPOSAL = 3
MARGIN = 2.0**-24  # far above the rounding error of a probability
LOG_ERROR = 2.0**-48  # far above the relative rounding error of a logarithm
MIN_UNIFORM = 2**20  # smaller words have too few digits for a geometric variable
# From this variance on, the mass around a centre varies by less than 4 exp(-4 pi^2) < 3e-17.
FLAT_VARIANCE = 2.0
MIN_POISSON_VARIANCE = 0.25


class CrossingPlan(NamedTuple):
    """Conditional distributions of the totals of the region tree, given the totals drawn earlier.

    Nodes of the region tree are indices of the first axis. Nodes of the group tree are sorted by
    level, and siblings are contiguous. Level j has the nodes ``offsets[j]`` to ``offsets[j + 1] -
    1``. The portion of a group is its number of cells, divided by the number of cells of the group
    and its later siblings.

    Attributes
    ----------
    sequence : int64 array
        The nodes in the order of their draws. Parents come first, and siblings are contiguous.
    parents : int64 array, shape (nodes,)
        The parent of each node; -1 for the root of an independent tree.
    first, last : bool arrays, shape (nodes,)
        True for the first and for the last child of a node.
    free_level : int64 array, shape (nodes,)
        The first level of the group tree whose totals in the node are not held.
    share, variance : float64 arrays, shape (nodes, levels)
        The share of the node in the remaining total of its parent, and the conditional variance of
        a cell. Both depend on the mode.
    above : int64 array, shape (groups,)
        The parent of each group; -1 for the root.
    portion, spread : float64 arrays, shape (groups,)
        The portion of each group, which is 0 for the root. The spread is the ratio of the variances
        of a total and of a cell, which is the number of cells times 1 minus the portion.
    """

    sequence: IntArray
    parents: IntArray
    first: BoolArray
    last: BoolArray
    free_level: IntArray
    share: FloatArray
    variance: FloatArray
    offsets: IntArray
    above: IntArray
    portion: FloatArray
    spread: FloatArray


class Undecided(NamedTuple):
    """Proposals that were decided in exact arithmetic.

    Attributes
    ----------
    words : int64 array
        The index of the first random word of each proposal.
    outcomes : int64 array
        The step from the integer below the centre to the proposal, or `REFUSED_PROPOSAL`.
    pending : int64 array, shape (5,)
        The proposal to be decided: its word, node, group, integer below the centre, and scale.
    """

    words: IntArray
    outcomes: IntArray
    pending: IntArray


@njit
def suffix_sums(sequence: IntArray, last: BoolArray, values: FloatArray) -> FloatArray:
    """Add the values of the later siblings to those of each node, float64 (nodes, levels)."""
    sums = np.zeros_like(values)
    total = np.zeros(values.shape[1])
    for k in range(len(sequence) - 1, -1, -1):
        node = sequence[k]
        if last[node]:
            total[:] = 0.0
        total += values[node]
        sums[node] = total
    return sums


@njit
def log_relative_mass(variance: float, centre: float) -> float:
    """Compute the logarithm of m(s, c) / m(s, 0); see `isdp.exact.overlapping.klein`."""
    if variance >= FLAT_VARIANCE:
        return 0.0
    if variance < MIN_POISSON_VARIANCE:
        s = math.sqrt(variance)
        return math.log(mass(s, centre) / mass(s, 0.0))
    q = math.exp(-2.0 * math.pi**2 * variance)
    x = math.cos(2.0 * math.pi * (centre - math.floor(centre)))
    q4, q9 = q**4, q**9  # the next term is below e^-78
    fall = q * (1.0 - x) + q4 * (2.0 - 2.0 * x * x) + q9 * (1.0 - 4.0 * x**3 + 3.0 * x)
    return math.log1p(-2.0 * fall / (1.0 + 2.0 * (q + q4 + q9)))


@njit
def _propose(words: Words, at: int, gap: float, variance: float, scale: int) -> int:
    """Return the step of a proposal, as in `isdp.exact.bits.discrete_gaussian`.

    A bit selects a side of the centre, which lies `gap` above the integer of step 0. A geometric
    variable is inverted, and the last word decides the acceptance.
    """
    up = words[at] >> np.uint64(63) == 1
    if words[at + 1] < MIN_UNIFORM:
        return UNDECIDED_PROPOSAL
    uniform = (np.float64(words[at + 1]) + 0.5) * 2.0**-64
    exponential = -scale * math.log(uniform)
    error = scale * (2.0**-62 / uniform + LOG_ERROR) + exponential * LOG_ERROR
    steps = math.floor(exponential)
    if math.floor(exponential - error) != steps or math.floor(exponential + error) != steps:
        return UNDECIDED_PROPOSAL
    nearest = 1.0 - gap if up else gap
    fall = (steps + nearest - variance / scale) ** 2 / (2.0 * variance)
    fall += (nearest - min(gap, 1.0 - gap)) / scale
    excess = np.float64(words[at + 2]) * 2.0**-64 - math.exp(-fall)
    if abs(excess) <= MARGIN:
        return UNDECIDED_PROPOSAL
    if excess > 0.0:
        return REFUSED_PROPOSAL
    return 1 + steps if up else -steps


@njit
def _draw_gaussian(
    words: Words, at: int, centre: float, variance: float, undecided: Undecided
) -> tuple[int, int, int]:
    """Draw an integer around a centre; return the status, the next word, and the integer."""
    scale = 1
    while 2.0 * scale * scale < variance:
        scale *= 2
    whole = math.floor(centre)
    while True:
        if at + WORDS_PER_PROPOSAL > len(words):
            return MORE_WORDS, at, 0
        step = UNDECIDED_PROPOSAL
        for i in range(len(undecided.words)):
            if undecided.words[i] == at:
                step = undecided.outcomes[i]
        if step == UNDECIDED_PROPOSAL:
            step = _propose(words, at, centre - whole, variance, scale)
        if step == UNDECIDED_PROPOSAL:
            undecided.pending[0], undecided.pending[3], undecided.pending[4] = at, whole, scale
            return UNDECIDED, at, 0
        at += WORDS_PER_PROPOSAL
        if step != REFUSED_PROPOSAL:
            return DONE, at, whole + step


@njit
def _draw_node(
    words: Words,
    at: int,
    plan: CrossingPlan,
    node: int,
    rest: IntArray,
    totals: IntArray,
    undecided: Undecided,
) -> tuple[int, int, float]:
    """Draw the totals of all groups in one node, given the remaining totals of its parent.

    Return the status, the next word, and the logarithm of the acceptance probability.
    """
    log_probability, parent, left, rest_left = 0.0, -1, 0, 0
    for level in range(len(plan.offsets) - 1):
        share, variance = plan.share[node, level], plan.variance[node, level]
        for group in range(plan.offsets[level], plan.offsets[level + 1]):
            if plan.above[group] != parent:
                parent = plan.above[group]
                left, rest_left = totals[node, parent], rest[parent]
            portion = plan.portion[group]
            if level < plan.free_level[node]:
                totals[node, group] = 0
            elif portion == 1.0:
                totals[node, group] = left
            else:
                centre = (left - share * rest_left) * portion + share * rest[group]
                s2 = variance * plan.spread[group]
                status, at, totals[node, group] = _draw_gaussian(words, at, centre, s2, undecided)
                if status != DONE:
                    undecided.pending[1], undecided.pending[2] = node, group
                    return status, at, 0.0
                log_probability += log_relative_mass(s2, centre)
            left -= totals[node, group]
            rest_left -= rest[group]
    return DONE, at, log_probability


@njit
def draw_nodes(
    words: Words,
    at: int,
    start: int,
    stop: int,
    log_probability: float,
    uniform: float,
    plan: CrossingPlan,
    rest: IntArray,
    totals: IntArray,
    undecided: Undecided,
) -> tuple[int, int, int, float]:
    """Draw the nodes from `start` to `stop - 1` of the sequence into `totals`.

    Return the status, the next word, the next node of the sequence, and the logarithm of the
    acceptance probability. The draw is rejected as soon as this probability is below `uniform`.
    """
    for k in range(start, stop):
        node = plan.sequence[k]
        if plan.parents[node] < 0:
            rest[:] = 0
        elif plan.first[node]:
            rest[:] = totals[plan.parents[node]]
        if plan.parents[node] >= 0 and plan.last[node]:
            totals[node] = rest
            continue
        status, end, log_factor = _draw_node(words, at, plan, node, rest, totals, undecided)
        if status != DONE:
            return status, at, k, log_probability
        at = end
        log_probability += log_factor
        if math.exp(log_probability) < uniform - MARGIN:
            return REJECTED, at, k, log_probability
        rest -= totals[node]
    return DONE, at, stop, log_probability
