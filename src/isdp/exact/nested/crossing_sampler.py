"""Exact draws of crossing noise by Klein's algorithm, in time linear in the number of cells.

The totals of a node of the region tree are drawn after the totals of its parent and of its earlier
siblings. Within a node, the groups are drawn from the largest to the smallest. The draws of the
other siblings determine the last sibling. A unimodular matrix maps the drawn totals x_j to the
cells, so that they are integer coordinates of the noise. In these coordinates

    q(u) = sum_j (x_j - c_j)^2 / s_j^2,

where c_j depends on the earlier coordinates only. Let T be the remaining totals of the parent, f
the share of the node in T, and v the conditional variance of the node.
`isdp.mechanisms.crossing_modes` computes f and v in each mode of the groups. Let p be the portion
of a group of n cells among the cells of the remaining sibling groups. The group that contains these
siblings has the remaining totals R(x) in the node and R(T) in T. Then

    c = (R(x) - f R(T)) p + f T,    s^2 = n v (1 - p).

Each x_j is drawn from the discrete Gaussian distribution around c_j. Let m(s, c) be the sum of
exp(-(k - c)^2 / (2 s^2)) over the integers k. The whole draw is accepted with probability prod_j
m(s_j, c_j) / m(s_j, 0). By Poisson's summation formula the maximum of m is at c = 0. The draws have
exactly the target distribution (Klein 2000; Brakerski, Langlois, Peikert, Regev and Stehle 2013,
Lemma 2.3).

The sum of exp(-q/2) over the lattice is at least its integral, prod_j s_j sqrt(2 pi), and at least
1. The acceptance probability therefore has two lower bounds. The first bound is prod_j s_j sqrt(2
pi) / m(s_j, 0), which is about exp(-2 sum_j exp(-2 pi^2 s_j^2)). The second bound is prod_j 1 /
m(s_j, 0). If the regions form independent trees, because all totals above them are held or have no
term, each tree is accepted or rejected separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_integer_array, refuse_overflow
from isdp.constraints.invariants import Invariants
from isdp.errors import MisfitError
from isdp.exact.bits.bernoulli import decide_bernoulli, to_ball
from isdp.exact.bits.discrete_gaussian import log_relative_mass
from isdp.exact.bits.source import BitSource
from isdp.exact.nested.compiled_crossing import (
    DONE,
    MARGIN,
    MORE_WORDS,
    REFUSED_PROPOSAL,
    REJECTED,
    UNDECIDED,
    CrossingPlan,
    Undecided,
    draw_nodes,
    suffix_sums,
)
from isdp.exact.overlapping.compiled_klein import ROOT_TWO_PI
from isdp.exact.overlapping.klein import log_masses
from isdp.exact.sampler import RandomBitSampler, refuse_proposals
from isdp.io.progress import progress
from isdp.mechanisms.base import CrossingEnergy, Mechanism, Target
from isdp.mechanisms.crossing_modes import CrossingModes, held_levels, ordered_levels
from isdp.mechanisms.set_tree import SetTree

MAX_PROPOSALS = 1e4  # maximum expected number of proposals per draw
MAX_DEVIATIONS = 64  # maximum size of a sum of noise, in standard deviations
MAX_WORDS_PER_READ = 1 << 18
EXPECTED_WORDS = 6  # number of random words per total


class CrossingSampler(RandomBitSampler):
    """Independent exact draws of `CrossingGaussian` noise under totals of pairs of levels.

    Parameters
    ----------
    invariants : Invariants
        Totals of all sets of one or more pairs of levels.
    target : Mechanism
        Its weight must have a term for each total of a crossing family.

    Attributes
    ----------
    expected_proposals : float
        A bound on the expected number of proposals per draw of one independent tree of regions.

    Raises
    ------
    InputError
        If the weight does not have this form, or an invariant is no total of the family. The error
        is also raised if draws take more than `max_proposals`, or sums could overflow 64-bit
        integers.
    """

    method = "crossing totals"
    reason = "the noise has a term for each total of a crossing family"
    setting = "variances"
    remedy = "Use larger variances, fewer levels, or hold the totals of smaller regions."

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        max_proposals: float = MAX_PROPOSALS,
    ):
        energy = target.set_energy
        if not isinstance(energy, CrossingEnergy):
            raise MisfitError(
                f"{self.method}: the {target.name} noise has no terms for the totals of a crossing "
                f"family. Use CrossingGaussian"
            )
        self.invariants = invariants
        variance = float(1 / energy.precisions[-1][-1])
        max_sum = MAX_DEVIATIONS * math.sqrt(invariants.cells * (variance + 1))
        advice = f"Use smaller {self.setting}."
        refuse_overflow(self.setting, "sums of noise", max_sum, 50, advice)
        held = held_levels(energy.regions, energy.groups, invariants)
        self.modes = CrossingModes(energy, held)
        order = ordered_levels(energy.groups)
        self.group_order, self.sizes = order[-1], energy.groups.sizes[np.concatenate(order)]
        self.plan, self.starts = _plan(self.modes, _top_level(self.modes, energy.precisions))
        logs = _log_acceptance(self.plan, self.starts)
        self.expected_proposals = math.exp(min(-float(logs.min()), 700.0))
        draw = f"{self.setting}: a draw"
        refuse_proposals(draw, self.expected_proposals, max_proposals, self.remedy)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        regions, groups = self.modes.regions, self.modes.groups
        noise = np.zeros((n_draws, regions.cells, groups.cells), dtype=np.int64)
        totals = np.zeros((regions.nodes, groups.nodes), dtype=np.int64)
        draw = _Draw(self, bits, totals, n_draws)
        n_trees = len(self.starts) - 1
        with progress("drawing noise", n_draws * n_trees) as report:
            for i in range(n_draws):
                for tree in range(n_trees):
                    draw.draw_tree(tree)
                    report(i * n_trees + tree + 1)
                noise[i][:, self.group_order] = totals[: regions.cells, -groups.cells :]
        return noise.reshape(n_draws, self.invariants.cells)

    def terms(self, noise: ArrayLike) -> list[tuple[int, Fraction, Fraction]]:
        """List the terms (x_j, c_j, s_j^2) of the energy of one noise vector exactly.

        Parameters
        ----------
        noise : int array_like, shape (cells,)
        """
        regions, groups = self.modes.regions, self.modes.groups
        cells = check_integer_array("noise", noise, (self.invariants.cells,))
        rows = groups.totals(cells.reshape(regions.cells, groups.cells))
        order = np.concatenate(ordered_levels(groups))
        totals = regions.totals(rows[:, order].T).T
        return list(self.terms_of_totals(totals, 0, len(self.plan.sequence)))

    def terms_of_totals(
        self, totals: IntArray, start: int, stop: int
    ) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Yield the terms of the nodes from `start` to `stop - 1` of the sequence.

        Parameters
        ----------
        totals : int64 array, shape (nodes of the regions, nodes of the groups)
        """
        plan = self.plan
        for node in plan.sequence[start:stop].tolist():
            if plan.last[node] and plan.parents[node] >= 0:
                continue
            for group in range(int(plan.offsets[plan.free_level[node]]), len(plan.above)):
                if plan.portion[group] < 1:
                    yield int(totals[node, group]), *self.term(totals, node, group)

    def term(self, totals: IntArray, node: int, group: int) -> tuple[Fraction, Fraction]:
        """Compute c and s^2 of one total from the totals that are drawn before it."""
        plan, modes = self.plan, self.modes
        level = int(np.searchsorted(plan.offsets, group, side="right")) - 1
        own = modes.exact_variance(node, level)
        share, variance, rest = Fraction(0), own, np.zeros(totals.shape[1], dtype=np.int64)
        parent = int(plan.parents[node])
        if parent >= 0:
            siblings = plan.sequence[plan.parents[plan.sequence] == parent]
            before, after = np.split(siblings, np.flatnonzero(siblings == node))
            rest = totals[parent] - totals[before].sum(axis=0)
            _, first, counts = np.unique(
                modes.shape_of[after], return_index=True, return_counts=True
            )
            pairs = zip(after[first].tolist(), counts.tolist(), strict=True)
            share = own / sum((n * modes.exact_variance(s, level) for s, n in pairs), Fraction(0))
            variance = own * (1 - share)
        size, above = int(self.sizes[group]), int(plan.above[group])
        variance, centre = variance * size, share * int(rest[group])
        if above < 0:
            return centre, variance
        siblings = np.flatnonzero(plan.above == above)
        portion = Fraction(size, int(self.sizes[siblings[siblings >= group]].sum()))
        before = siblings[siblings < group]
        left, rest_left = (int(row[above]) - int(row[before].sum()) for row in (totals[node], rest))
        return centre + (left - share * rest_left) * portion, variance * (1 - portion)


class _Draw:
    """State of one draw, with the random words that are not yet used."""

    def __init__(self, sampler: CrossingSampler, bits: BitSource, totals: IntArray, n_draws: int):
        self.sampler, self.bits, self.totals = sampler, bits, totals
        self.rest = np.zeros(totals.shape[1], dtype=np.int64)
        self.words, self.at = np.empty(0, dtype=np.uint64), 0
        n_totals = len(sampler.plan.sequence) * totals.shape[1]
        self.n_words = min(MAX_WORDS_PER_READ, EXPECTED_WORDS * n_totals * max(n_draws, 1))
        self.decided: dict[int, int] = {}

    def draw_tree(self, tree: int) -> None:
        """Draw proposals of one independent tree into `totals` until one is accepted."""
        start, stop = self.sampler.starts[tree : tree + 2].tolist()
        while True:
            if self.at == len(self.words):
                self._read()
            uniform = int(self.words[self.at])
            self.at += 1
            accepted, log_probability = self._propose(start, stop, uniform * 2.0**-64)
            if accepted and self._accept(start, stop, uniform, log_probability):
                return

    def _read(self) -> None:
        fresh = self.bits.take(self.n_words)
        self.words = np.concatenate([self.words[self.at :], fresh])
        self.decided = {word - self.at: step for word, step in self.decided.items()}
        self.at = 0

    def _propose(self, start: int, stop: int, uniform: float) -> tuple[bool, float]:
        """Draw a proposal. Return False if it is rejected, and its log acceptance probability."""
        pending, log_probability, status = np.zeros(5, dtype=np.int64), 0.0, MORE_WORDS
        self.decided = {}
        while status not in (DONE, REJECTED):
            undecided = Undecided(
                np.array(list(self.decided), dtype=np.int64),
                np.array(list(self.decided.values()), dtype=np.int64),
                pending,
            )
            status, self.at, start, log_probability = draw_nodes(
                self.words,
                self.at,
                start,
                stop,
                log_probability,
                uniform,
                self.sampler.plan,
                self.rest,
                self.totals,
                undecided,
            )
            if status == MORE_WORDS:
                self._read()
            elif status == UNDECIDED:
                self.decided[int(pending[0])] = self._decide(*pending.tolist())
        return status == DONE, log_probability

    def _decide(self, word: int, node: int, group: int, whole: int, scale: int) -> int:
        """Decide a proposal exactly; see `isdp.exact.nested.compiled_crossing`."""
        centre, variance = self.sampler.term(self.totals, node, group)
        side, uniform, last = self.words[word : word + 3].tolist()
        steps = _geometric(self.bits, uniform, scale)
        gaps = [centre - whole, whole + 1 - centre]
        nearest = gaps[side >> 63]
        fall = (steps + nearest - variance / scale) ** 2 / (2 * variance)
        fall += (nearest - min(gaps)) / scale
        if not decide_bernoulli(self.bits, last, lambda: -to_ball(fall)):
            return REFUSED_PROPOSAL
        return 1 + steps if side >> 63 else -steps

    def _accept(self, start: int, stop: int, uniform: int, log_probability: float) -> bool:
        if uniform * 2.0**-64 < math.exp(log_probability) - MARGIN:
            return True

        def exact() -> arb:
            terms = self.sampler.terms_of_totals(self.totals, start, stop)
            return sum((log_relative_mass(s2, c) for _, c, s2 in terms), arb(0))

        return decide_bernoulli(self.bits, uniform, exact)


def _geometric(bits: BitSource, uniform: int, scale: int) -> int:
    """Compute floor(-scale log U), given the first 64 bits of the uniform number U.

    Further bits are drawn if these bits do not determine the result.
    """
    n_bits = 64
    while True:
        with ctx.workprec(2 * n_bits + 64):
            ends = [
                (-scale * (arb(end) / arb(1 << n_bits)).log()).floor().unique_fmpz()
                for end in (max(uniform, 1), uniform + 1)
            ]
        if uniform and ends[0] is not None and ends[0] == ends[1]:
            return int(ends[0])
        uniform, n_bits = uniform << 64 | bits.take_one(), n_bits + 64


def _top_level(modes: CrossingModes, precisions: tuple[tuple[Fraction, ...], ...]) -> int:
    """Find the level of the roots of independent trees of regions."""
    top = 0
    used = np.array([[precision > 0 for precision in row] for row in precisions])
    for level in range(1, len(precisions)):
        above = used[:level] | modes.held[:level]
        if (above & ~modes.held[level]).any():
            break
        top = level
    return top


def _plan(modes: CrossingModes, top: int) -> tuple[CrossingPlan, IntArray]:
    """Return the plan, and the bounds of each independent tree in its sequence."""
    regions, held = modes.regions, modes.held
    levels = ordered_levels(regions)[top:]
    root = np.zeros(regions.nodes, dtype=np.int64)
    root[levels[0]] = np.arange(len(levels[0]))
    for nodes in levels[1:]:
        root[nodes] = root[regions.parents[nodes]]
    sequence = np.concatenate(levels)
    sequence = sequence[np.argsort(root[sequence], kind="stable")]
    starts = np.searchsorted(root[sequence], np.arange(len(levels[0]) + 1))
    parents = regions.parents.copy()
    parents[levels[0]] = -1
    new = np.diff(parents[sequence], prepend=-2) != 0
    new |= parents[sequence] == -1
    first, last = np.zeros((2, regions.nodes), dtype=bool)
    first[sequence] = new
    last[sequence] = np.append(new[1:], True)
    own = modes.variances
    sums = suffix_sums(sequence, last, own)
    whole = parents[:, None] < 0
    after = np.where(whole, 1.0, sums - own)
    share = np.divide(own, sums, out=np.zeros_like(own), where=(sums > 0) & ~whole)
    variance = own * np.where(whole, 1.0, np.divide(after, sums, out=after, where=sums > 0))
    group_levels = ordered_levels(modes.groups)
    above, size, left = _siblings(modes.groups, np.concatenate(group_levels))
    plan = CrossingPlan(
        sequence=sequence,
        parents=parents,
        first=first,
        last=last,
        free_level=held.sum(axis=1)[regions.level_of],
        share=share,
        variance=variance,
        offsets=np.append(0, np.cumsum([len(nodes) for nodes in group_levels])),
        above=above,
        portion=np.where(above < 0, 0.0, size / left),
        spread=np.where(above < 0, 1.0, (left - size) / left) * size,
    )
    return plan, starts


def _siblings(groups: SetTree, order: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the place of each group's parent in `order`, and two numbers of cells.

    The first number is that of the group. The second number is that of the group and its later
    siblings.
    """
    place = np.empty(groups.nodes + 1, dtype=np.int64)
    place[np.append(order, groups.nodes)] = np.append(np.arange(groups.nodes), -1)
    above, size = place[groups.parents[order]], groups.sizes[order]
    after = np.append(np.cumsum(size[::-1])[::-1], 0)
    return above, size, after[:-1] - after[np.searchsorted(above, above, side="right")]


def _log_acceptance(plan: CrossingPlan, starts: IntArray) -> FloatArray:
    """Bound the logarithm of the acceptance probability of each independent tree from below."""
    nodes = plan.sequence
    drawn = ~plan.last[nodes] | (plan.parents[nodes] < 0)
    logs = np.zeros((2, len(nodes)))
    for level, (start, stop) in enumerate(pairwise(plan.offsets.tolist())):
        free = drawn & (plan.free_level[nodes] <= level)
        variances, where = np.unique(plan.variance[nodes[free], level], return_inverse=True)
        spreads, counts = np.unique(plan.spread[start:stop], return_counts=True)
        counts, spreads = counts[spreads > 0], spreads[spreads > 0]
        widths = np.sqrt(variances[:, None] * spreads)
        masses = log_masses(widths, 0.0)
        logs[0, free] += ((np.log(widths * ROOT_TWO_PI) - masses) @ counts)[where]
        logs[1, free] -= (masses @ counts)[where]
    return np.asarray(np.add.reduceat(logs, starts[:-1], axis=1).max(axis=0))
