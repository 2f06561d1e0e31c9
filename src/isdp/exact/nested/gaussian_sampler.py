"""Exact draws of Gaussian noise with a term for each set of a nested family.

Let p_v be the inverse variance of the term of node v. Let W_v = 1 / (p_v + 1 / T_v), where T_v is
the sum of W over the children of v (`isdp.exact.nested.least_squares`). For a block of m cells with
the variance sigma^2, T is m sigma^2. Totals are proposed from the top down. Given the total of the
parent, the totals of the children are discrete Gaussians with the variances W, conditioned on their
sum. The weight of a proposal relative to its probability is a product over the nodes. All totals
below a root are therefore accepted together. The acceptance of single nodes would be wrong, because
the normalizing constant of a node depends on the total of its parent. The cells of a block are
drawn last, given its total.

Children with equal W form a group, which is divided by recursive splitting, without error. Its
factor in the acceptance probability is theta(s) / theta(0), for the theta of
`isdp.exact.disjoint.recursive_splitting` and the total s of the group. A block has the same factor.
The totals of the groups of a node are drawn one after the other, as in Klein's algorithm. Each
total is a discrete Gaussian around its share of the remaining total. Its factor is the sum of this
Gaussian over the integers, divided by the sum of the same Gaussian around 0. By Poisson's summation
formula no factor exceeds 1.

The values W of the proposal are rounded up to multiples of a power of two, so that their sums are
exact. The rounding is corrected by the factor exp(-d_v S_v^2 / 2), where d_v is the excess of p_v +
1/T_v over 1 / W_v.

The sum of the weights over the lattice is at least their integral, again by Poisson summation. This
gives a lower bound of the probability of acceptance. A second bound is the probability that all
proposed totals are 0, for which all factors are 1.
"""

from __future__ import annotations

import math
from copy import copy
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from isdp.arrays import BoolArray, FloatArray, IntArray, distinct_columns
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.bernoulli import PROBABILITY_MARGIN, draw_bernoulli, to_ball
from isdp.exact.bits.discrete_gaussian import (
    draw_gaussian_around,
    draw_gaussians,
    log_relative_mass,
)
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.recursive_splitting import (
    MAX_DEVIATIONS,
    MAX_PRODUCT,
    bound_split_proposals,
    log_mass,
    rough_precision,
    split_totals,
    theta_period,
)
from isdp.exact.nested.reduced_tree import (
    ReducedTree,
    concatenate_ranges,
    reduce_tree,
)
from isdp.exact.sampler import RandomBitSampler, refuse_proposals
from isdp.mechanisms.base import Mechanism, NestedEnergy, Target

MAX_PROPOSALS = 10_000  # maximum expected number of proposals for the totals below a root
TOTAL_BITS = 60  # the sum of all W is below 2^60 units
MIN_BITS = 20  # each W is at least 2^20 units
MAX_SQUEEZE = 0.01  # maximum difference of two bounds that are used instead of a probability


class NestedGaussianSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-sum of S_v(u)^2 / (2 sigma_v^2)).

    Parameters
    ----------
    invariants : Invariants
        Totals that are nested with the sets of the mechanism.
    target : Mechanism
        Its energy has a term for each set of a nested family, as for `NestedGaussian`.

    Attributes
    ----------
    expected_proposals : float
        A bound on the expected number of proposals for the totals below any root.

    Raises
    ------
    InputError
        If the totals are not nested, or the energy has another form. The error is also raised if
        sums could overflow 64-bit integers, or fewer than 1 in 10,000 proposals may be accepted.
    """

    method = "nested splitting"
    reason = "the noise is Gaussian with terms for nested sets, and the invariants are nested"

    def __init__(self, invariants: Invariants, target: Target | Mechanism) -> None:
        energy = target.set_energy
        if not isinstance(energy, NestedEnergy) or energy.power != 2:
            raise MisfitError(
                f"{self.method}: the {target.name} noise has no Gaussian terms for nested sets"
            )
        self.invariants = invariants
        self._totals = _Totals(reduce_tree(self.method, energy, invariants))
        self.expected_proposals = self._totals.expected_proposals
        remedy = "Use larger variances for small sets, or hold more totals."
        refuse_proposals("variances: a draw", self.expected_proposals, MAX_PROPOSALS, remedy)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        tree = self._totals.tree
        totals = self._totals.draw(bits, n_draws)[:, : tree.blocks]
        noise = tree.place_totals(totals, self.invariants.cells)
        for rate, blocks, cells in tree.larger_blocks():
            sizes = np.tile(tree.sizes[blocks], n_draws)
            drawn = split_totals(bits, 1 / (2 * rate), totals[:, blocks].ravel(), sizes)
            noise[:, cells] = drawn.reshape(n_draws, -1)
        return noise


class _Totals:
    """Draws of the totals of all nodes of a reduced tree."""

    # Groups are sorted by their parent and then by the sum of their W. The members of group g are
    # `members[first[g]:first[g] + count[g]]`. The groups of node v are `begin[v]` to `end[v]`.
    # `rest` is the sum of W over a group and the later groups with the same parent.

    def __init__(self, tree: ReducedTree) -> None:
        self.tree, n_nodes = tree, len(tree.parents)
        self._find_widths()
        self.root_of = np.arange(n_nodes)
        for nodes in tree.by_depth[1:]:
            self.root_of[nodes] = self.root_of[tree.parents[nodes]]
        self.roots = np.flatnonzero(tree.parents < 0)
        self.root_number = np.searchsorted(self.roots, self.root_of)
        self._group_children()
        sets = np.flatnonzero(self.end > self.begin)
        self.sets = [
            _ByRoot(sets[tree.depths[sets] == depth], self.root_number, len(self.roots))
            for depth in np.unique(tree.depths[sets]).tolist()
        ]
        self.nodes = _ByRoot(np.arange(n_nodes), self.root_number, len(self.roots))
        self._find_factors()

    def _find_widths(self) -> None:
        """Compute W of all nodes in units, and the exact excess that corrects its rounding."""
        tree, n_nodes = self.tree, len(self.tree.parents)
        self.block_variance = [Fraction(0)] * len(tree.rates)
        for rate in np.unique(tree.cell_rate_of[tree.sizes > 1]).tolist():
            self.block_variance[rate] = 1 / (2 * tree.rates[rate])
        variance = np.array(self.block_variance, dtype=float)[tree.cell_rate_of] * tree.sizes
        single = tree.sizes == 1
        own = np.array([float(1 / (2 * rate)) if rate else 0.0 for rate in tree.rates])
        variance[single] = own[tree.rate_of[: tree.blocks][single]]
        largest = float(variance.sum()) + 1
        if MAX_DEVIATIONS * math.sqrt(largest) * max(tree.order.size, 1) > MAX_PRODUCT:
            raise InputError(
                f"variances: sums of {tree.order.size} cells could overflow 64-bit integers. Use "
                f"smaller variances or fewer cells."
            )
        self.unit = Fraction(2) ** (math.ceil(math.log2(largest)) - TOTAL_BITS)
        self.below = np.zeros(n_nodes, dtype=np.int64)  # T in units
        self.widths = np.zeros(n_nodes, dtype=np.int64)
        self.excesses: list[Fraction] = []
        self.excess_of = np.zeros(n_nodes, dtype=np.int64)
        for nodes in reversed(tree.by_depth):
            is_block = nodes < tree.blocks
            blocks = nodes[is_block]
            self._round_up(blocks, [tree.cell_rate_of[blocks], tree.sizes[blocks]], True)
            sets = nodes[~is_block]
            self._round_up(sets, [self.below[sets]], False)
            inside = nodes[tree.parents[nodes] >= 0]
            np.add.at(self.below, tree.parents[inside], self.widths[inside])
        if self.widths.min(initial=2**MIN_BITS) < 2**MIN_BITS:
            raise InputError(
                "variances: the scales differ too much for exact draws. Use scales that differ less"
            )

    def _round_up(self, nodes: IntArray, parts: list[IntArray], blocks: bool) -> None:
        """Compute W for each distinct pair of a rate and the parts of a node."""
        distinct, where = distinct_columns(self.tree.rate_of[nodes], *parts)
        widths = []
        for rate, *part in distinct.T.tolist():
            below = self.block_variance[part[0]] * part[1] if blocks else part[0] * self.unit
            if blocks and part[1] == 1:
                below = Fraction(0)
            precision = 2 * self.tree.rates[rate] + (1 / below if below else 0)
            widths.append(math.ceil(1 / (precision * self.unit)))
            self.excesses.append(precision - 1 / (widths[-1] * self.unit))
        self.widths[nodes] = np.array(widths, dtype=np.int64)[where]
        self.excess_of[nodes] = len(self.excesses) - len(widths) + where

    def _group_children(self) -> None:
        parents, widths = self.tree.parents, self.widths
        children = np.flatnonzero(parents >= 0)
        children = children[np.lexsort((widths[children], parents[children]))]
        new = np.diff(parents[children], prepend=-1) != 0
        new |= np.diff(widths[children], prepend=-1) != 0
        first = np.flatnonzero(new)
        count = np.diff(np.append(first, len(children)))
        parent, total = parents[children[first]], count * widths[children[first]]
        order = np.lexsort((total, parent))
        self.members, self.first, self.count = children, first[order], count[order]
        self.parent, self.total = parent[order], total[order]
        self.width = widths[children[self.first]] if len(children) else self.first
        nodes = np.arange(len(parents))
        self.begin = np.searchsorted(self.parent, nodes)
        self.end = np.searchsorted(self.parent, nodes, side="right")
        before = np.cumsum(self.total) - self.total
        self.rest = self.below[self.parent] - (before - before[self.begin[self.parent]])
        self.chained = np.flatnonzero(self.rest > self.total)
        self.group_variance: dict[int, Fraction] = {}
        for g, part, rest in zip(
            self.chained.tolist(),
            self.total[self.chained].tolist(),
            self.rest[self.chained].tolist(),
            strict=True,
        ):
            self.group_variance[g] = Fraction(part * (rest - part), rest) * self.unit

    def _find_factors(self) -> None:
        """Collect the factors of the acceptance probabilities, with their bounds by root."""
        tree, n_roots = self.tree, len(self.roots)
        blocks, groups = np.flatnonzero(tree.sizes > 1), np.flatnonzero(self.count > 1)
        distinct, self.theta_kind = distinct_columns(
            np.repeat([0, 1], [len(blocks), len(groups)]),
            np.append(tree.cell_rate_of[blocks], self.width[groups]),
            np.append(tree.sizes[blocks], self.count[groups]),
        )
        self.theta_kinds = [
            (key * self.unit if is_group else self.block_variance[key], cells)
            for is_group, key, cells in distinct.T.tolist()
        ]
        for variance, cells in self.theta_kinds:
            if theta_period(variance, cells).spread > PROBABILITY_MARGIN:
                bound_split_proposals(variance, cells)
        spread = np.array([theta_period(*kind).spread for kind in self.theta_kinds])
        log_theta = np.log1p(spread / 2)[self.theta_kind]
        of_block = np.arange(len(self.theta_kind)) < len(blocks)
        # logarithms of sums over the integers, relative to their integrals
        chain_excess = np.array([_log_mass(v) for v in self.group_variance.values()])
        self.chain_spread = 2 * np.expm1(chain_excess)
        chain_root = self.root_number[self.parent[self.chained]]
        group_root = self.root_number[self.parent[groups]]
        theta_root = np.append(self.root_number[blocks], group_root)
        free = np.flatnonzero(~tree.held[self.roots])
        root_width, where = np.unique(self.widths[self.roots[free]], return_inverse=True)
        root_variance = [int(w) * self.unit for w in root_width]
        root_excess = np.array([_log_mass(v) for v in root_variance])[where]

        def by_root(root: IntArray, values: FloatArray) -> FloatArray:
            return np.bincount(root, values, n_roots).astype(float)

        self.root_spread = by_root(theta_root, spread[self.theta_kind])
        self.root_spread += by_root(chain_root, self.chain_spread)
        proposals = by_root(theta_root, np.where(of_block, 0, log_theta))
        proposals += by_root(chain_root, chain_excess) + by_root(free, root_excess)
        cost = proposals + by_root(theta_root, np.where(of_block, log_theta, 0))
        # the integrals turn relative sums into sums
        width, count = self.width[groups].astype(float) * float(self.unit), self.count[groups]
        integral = (count - 1) / 2 * np.log(2 * np.pi * width) - np.log(count) / 2
        all_zero = proposals + by_root(group_root, integral)
        chain = np.array([float(v) for v in self.group_variance.values()])
        all_zero += by_root(chain_root, np.log(2 * np.pi * chain) / 2)
        variance = np.array([float(v) for v in root_variance])[where]
        all_zero += by_root(free, np.log(2 * np.pi * variance) / 2)
        cost = np.minimum(cost, all_zero)
        self.expected_proposals = math.exp(min(float(cost.max(initial=0.0)), 700.0))
        self.excess = np.array([float(excess) for excess in self.excesses])
        self.thetas = _ByRoot(np.arange(len(self.theta_kind)), theta_root, n_roots)
        self.theta_column = np.append(blocks, len(tree.parents) + groups)
        self.chains = _ByRoot(np.arange(len(self.chained)), chain_root, n_roots)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """Draw the totals of all nodes, as int64 of shape (n_draws, nodes)."""
        return copy(self)._draw(bits, n_draws)  # the copy holds the arrays of this call

    def _draw(self, bits: BitSource, n_draws: int) -> IntArray:
        # totals of the nodes, and then of the groups
        self.totals = np.zeros((n_draws, len(self.tree.parents) + len(self.count)), dtype=np.int64)
        self.drawn, self.drawn_groups = np.split(self.totals, [len(self.tree.parents)], axis=1)
        self.remaining = np.zeros_like(self.drawn_groups)
        n_roots = len(self.roots)
        draws, roots = np.divmod(np.arange(n_draws * n_roots), max(n_roots, 1))
        while len(draws):
            self._propose(bits, draws, roots)
            rejected = ~self._accept(bits, draws, roots)
            draws, roots = draws[rejected], roots[rejected]
        return self.drawn

    def _propose(self, bits: BitSource, draws: IntArray, roots: IntArray) -> None:
        nodes = self.roots[roots]
        free = np.flatnonzero(~self.tree.held[nodes])
        for width in np.unique(self.widths[nodes[free]]).tolist():
            alike = free[self.widths[nodes[free]] == width]
            zeros = np.zeros(len(alike), dtype=np.int64)
            self.drawn[draws[alike], nodes[alike]] = draw_gaussian_around(
                bits, width * self.unit, zeros, 1
            )
        for sets in self.sets:
            which, node = sets.of(roots)
            self._divide_into_groups(bits, draws[which], node)

    def _divide_into_groups(self, bits: BitSource, draws: IntArray, nodes: IntArray) -> None:
        rest, begin, n_groups = self.drawn[draws, nodes], self.begin[nodes], self.end[nodes]
        n_groups = n_groups - begin
        for position in range(int(n_groups.max(initial=0))):
            here = np.flatnonzero(n_groups > position)
            group = begin[here] + position
            self.remaining[draws[here], group] = rest[here]
            chained = n_groups[here] > position + 1
            centres = [
                self._centre(g, s)
                for g, s in zip(group[chained].tolist(), rest[here[chained]].tolist(), strict=True)
            ]
            variances = [self.group_variance[g] for g in group[chained].tolist()]
            value = rest[here]
            value[chained] = draw_gaussians(bits, variances, centres)
            self.drawn_groups[draws[here], group] = value
            rest[here] -= value
        which, group = concatenate_ranges(begin, n_groups)
        self._divide_groups(bits, draws[which], group)

    def _centre(self, group: int, remaining: int) -> Fraction:
        return Fraction(remaining * int(self.total[group]), int(self.rest[group]))

    def _divide_groups(self, bits: BitSource, draws: IntArray, groups: IntArray) -> None:
        value, count = self.drawn_groups[draws, groups], self.count[groups]
        single = count == 1
        self.drawn[draws[single], self.members[self.first[groups[single]]]] = value[single]
        for width in np.unique(self.width[groups[~single]]).tolist():
            alike = np.flatnonzero(~single & (self.width[groups] == width))
            parts = split_totals(bits, width * self.unit, value[alike], count[alike])
            which, member = concatenate_ranges(self.first[groups[alike]], count[alike])
            self.drawn[draws[alike[which]], self.members[member]] = parts

    def _accept(self, bits: BitSource, draws: IntArray, roots: IntArray) -> BoolArray:
        """Accept the totals below each root with the probability in the module's docstring."""
        which, node = self.nodes.of(roots)
        squares = self.drawn[draws[which], node].astype(float) ** 2
        fall = np.bincount(which, self.excess[self.excess_of[node]] * squares, len(roots)) / 2
        spread = self.root_spread[roots]
        probabilities = np.exp(-fall)
        margin = PROBABILITY_MARGIN
        exact = spread > MAX_SQUEEZE
        if not exact.all():
            margin = max(margin, 2 * float(spread[~exact].max()))
        if exact.any():
            some = np.flatnonzero(exact)
            logs, error = self._approximate_logs(draws[some], roots[some])
            probabilities[some] *= np.exp(logs)
            margin = max(margin, 2 * error)

        def log_probability(i: int) -> arb:
            return self._log_probability(int(draws[i]), int(roots[i]))

        return draw_bernoulli(bits, probabilities, log_probability, margin)

    def _factors(
        self, draws: IntArray, roots: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Return the theta factors (request, kind, total) and the chained groups (request, group).

        A request is a pair of a draw and a root.
        """
        of_theta, theta = self.thetas.of(roots)
        totals = self.totals[draws[of_theta], self.theta_column[theta]]
        return of_theta, self.theta_kind[theta], totals, *self.chains.of(roots)

    def _approximate_logs(self, draws: IntArray, roots: IntArray) -> tuple[FloatArray, float]:
        """Approximate the logarithms of the products of factors, and bound the error."""
        which, kinds, totals, of_chain, chain = self._factors(draws, roots)
        ratios = np.ones(len(kinds))
        for kind in np.unique(kinds).tolist():
            alike = kinds == kind
            ratios[alike] = theta_period(*self.theta_kinds[kind]).relative(totals[alike])
        logs = np.bincount(which, np.log(np.maximum(ratios, 1e-300)), len(roots)).astype(float)
        for i, j in zip(of_chain.tolist(), chain.tolist(), strict=True):
            if self.chain_spread[j] > PROBABILITY_MARGIN / 8:
                with ctx.workprec(64):
                    logs[i] += float(self._log_mass_ratio(int(draws[i]), int(self.chained[j])))
        most = np.bincount(np.append(which, of_chain), minlength=len(roots)).max(initial=0)
        return logs, float(most) * PROBABILITY_MARGIN / 4

    def _log_mass_ratio(self, draw: int, group: int) -> arb:
        centre = self._centre(group, int(self.remaining[draw, group]))
        return log_relative_mass(self.group_variance[group], centre)

    def _log_probability(self, draw: int, root: int) -> arb:
        draws, roots = np.array([draw]), np.array([root])
        _, node = self.nodes.of(roots)
        total = arb(0)
        values = self.drawn[draw, node]
        moving = values != 0
        for excess, value in zip(
            self.excess_of[node[moving]].tolist(), values[moving].tolist(), strict=True
        ):
            total -= to_ball(self.excesses[excess] * value**2 / 2)
        _, kinds, sums, _, chain = self._factors(draws, roots)
        cells = np.array([m for _, m in self.theta_kinds], dtype=np.int64)[kinds]
        rests = sums % np.maximum(cells, 1)
        rests = np.minimum(rests, cells - rests)
        pairs, index = distinct_columns(kinds, rests)
        for (kind, rest), count in zip(pairs.T.tolist(), np.bincount(index).tolist(), strict=True):
            total += count * _log_theta(*self.theta_kinds[kind], rest, ctx.prec)
        for group in self.chained[chain].tolist():
            total += self._log_mass_ratio(draw, group)
        return total


@lru_cache(maxsize=100_000)
def _log_theta(variance: Fraction, cells: int, rest: int, precision: int) -> arb:
    """Compute log(theta(rest) / theta(0)) at the current precision, which is part of the key."""
    return theta_period(variance, cells).log_relative(rest)


def _log_mass(variance: Fraction) -> float:
    """Bound the logarithm of the sum of a Gaussian over the integers, relative to its integral."""
    with ctx.workprec(rough_precision(variance)):
        return float(log_mass(variance).upper())


class _ByRoot:
    """Items sorted by their root."""

    def __init__(self, items: IntArray, root_of: IntArray, n_roots: int) -> None:
        roots = root_of[items]
        order = np.argsort(roots, kind="stable")
        self.items = items[order]
        self.counts = np.bincount(roots, minlength=n_roots)
        self.starts = np.cumsum(self.counts) - self.counts

    def of(self, roots: IntArray) -> tuple[IntArray, IntArray]:
        """Return the items of each of the given roots, after the position of the root."""
        which, at = concatenate_ranges(self.starts[roots], self.counts[roots])
        return which, self.items[at]
