"""Exact draws of Laplace noise with a term for each set of a nested family.

A node without a fixed total is drawn from the bottom up. The total of a block of cells is X - Y for
two independent negative binomial variables. The total of a set is the sum of its children, which
are drawn independently. A total S is accepted with the probability exp(-epsilon |S|), for the
epsilon of the node. After a rejection, everything in the node is drawn again. The total S of a
block may also be drawn first, from its own term. Then Y is drawn, and accepted with a probability
proportional to that of X = Y + S. The sampler uses the order with the larger acceptance
probability.

Below a root whose total is held, one path leads from the root to a block. All nodes next to this
path are drawn without a fixed total, and determine the totals on the path. These totals S are
accepted with the probabilities exp(-epsilon |S|). At the end of the path, the total S of the block
is given. Y is drawn, and accepted with a probability proportional to that of X = Y + S. After a
rejection, everything below the root is drawn again.

Given X and Y, the cells of a block are the difference of two uniform compositions of X and Y, as in
`isdp.exact.disjoint.compositions`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.arrays import BoolArray, IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import MisfitError
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.negative_binomial import negative_binomials
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.compositions import draw_compositions
from isdp.exact.nested.messages import MAX_GRID_POINTS, Messages, grid_points
from isdp.exact.nested.reduced_tree import ReducedTree, concatenate_ranges, reduce_tree
from isdp.exact.overflow import refuse_large_sums
from isdp.exact.sampler import RandomBitSampler, refuse_proposals
from isdp.mechanisms.base import Mechanism, NestedEnergy, Target

MAX_PROPOSALS = 10_000  # maximum expected number of proposals per block
BLOCKS_AT_ONCE = 1 << 17  # maximum number of blocks that are proposed together
PROPOSALS_AT_ONCE, MAX_PROPOSALS_AT_ONCE = 1 << 10, 16  # of all blocks, and of one block


class NestedLaplaceSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-sum of epsilon_v |S_v(u)|).

    Parameters
    ----------
    invariants : Invariants
        Totals that are nested with the sets of the mechanism.
    target : Mechanism
        Its energy has a term for each set of a nested family, as for `NestedLaplace`.

    Attributes
    ----------
    expected_proposals : float
        The largest expected number of proposals per block below any root.

    Raises
    ------
    InputError
        If the totals are not nested, the energy has another form, sums could exceed 2^53, or fewer
        than 1 in 10,000 proposals are accepted.
    """

    method = "nested compositions"
    reason = "the noise has l1 terms for nested sets, and the invariants are nested"

    def __init__(self, invariants: Invariants, target: Target | Mechanism) -> None:
        energy = target.set_energy
        if not isinstance(energy, NestedEnergy) or energy.power != 1:
            raise MisfitError(
                f"{self.method}: the {target.name} noise has no l1 terms for nested sets"
            )
        self.invariants = invariants
        self._tree = tree = reduce_tree(self.method, energy, invariants)
        cell_rates = np.where(tree.sizes > 1, tree.cell_rate_of, tree.rate_of[: tree.blocks])
        smallest = min((tree.rates[rate] for rate in np.unique(cell_rates)), default=None)
        if smallest is not None:
            refuse_large_sums(len(tree.order), float(smallest))
        forecast = _Forecast(tree)
        self.expected_proposals = forecast.expected_proposals
        remedy = "Use smaller scales for large sets, or hold more totals."
        draw = "epsilons: a draw of one total"
        refuse_proposals(draw, self.expected_proposals, MAX_PROPOSALS, remedy)
        self._totals = _Totals(tree, forecast)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        tree = self._tree
        x, y = self._totals.draw(bits, n_draws)
        noise = tree.place_totals(x - y, self.invariants.cells)
        for rate, blocks, cells in tree.larger_blocks():
            sizes, geometric = np.tile(tree.sizes[blocks], n_draws), cached_geometric(rate)
            drawn = draw_compositions(bits, x[:, blocks].ravel(), sizes, geometric)
            drawn -= draw_compositions(bits, y[:, blocks].ravel(), sizes, geometric)
            noise[:, cells] = drawn.reshape(n_draws, -1)
        return noise


class _Forecast:
    """The probabilities of acceptance, and the choices that maximize them.

    Rates so small that the distributions would need a large grid are multiplied by a common factor,
    which hardly changes the probabilities.

    Attributes
    ----------
    on_path : bool array, shape (nodes,)
        True for one child of each set. The path goes through this child.
    total_first : bool array, shape (blocks,)
        The blocks whose total is proposed from their own term, instead of from their cells.
    accepted : float64 array, shape (nodes,)
        For each held root, the probability of acceptance of everything below it. For each other
        set, the probability of acceptance of its total.
    expected_proposals : float
        The largest expected number of proposals per block below any root.
    """

    def __init__(self, tree: ReducedTree) -> None:
        points = grid_points(tree, [float(rate) for rate in tree.rates], 1)
        messages = Messages(tree, 1, max(1.0, 2 * points / MAX_GRID_POINTS))
        kind_of = messages.kind_of
        modes: dict[int, float] = {}  # largest log probability of X, by kind of block
        rate_of: dict[int, float] = {}
        for block in np.flatnonzero(tree.sizes > 1).tolist():
            kind, rate = int(kind_of[block]), messages.rates[int(tree.cell_rate_of[block])]
            if kind not in modes:
                modes[kind] = _log_mode(int(tree.sizes[block]), rate)
                rate_of[kind] = messages.rates[int(tree.rate_of[block])]
        n_kinds = len(messages.norms)
        best, total_first = np.zeros(n_kinds, np.int64), np.zeros(n_kinds, dtype=bool)
        cost, blocks = np.ones(n_kinds), np.ones(n_kinds)
        log_kept = np.zeros(n_kinds)  # log probability, at the end of a path that begins here
        for kind, parts in enumerate(messages.parts):
            accepted = max(messages.norms[kind], 1e-300)
            log_kept[kind] = math.log(accepted)
            if kind in modes:
                log_kept[kind] -= modes[kind]
                if rate_of[kind]:
                    by_total = math.exp(log_kept[kind]) * math.tanh(rate_of[kind] / 2)
                    total_first[kind] = by_total > accepted
                    accepted = max(accepted, by_total)
                cost[kind] = 1 / accepted
            elif parts:
                best[kind] = max(parts, key=lambda part: log_kept[part[0]])[0]
                log_kept[kind] += log_kept[best[kind]]
                cost[kind] = sum(n * cost[part] for part, n in parts) / accepted
                blocks[kind] = sum(n * blocks[part] for part, n in parts)
        self.total_first = total_first[kind_of[: tree.blocks]]
        self.on_path = np.zeros(len(tree.parents), dtype=bool)
        children = np.flatnonzero(tree.parents >= 0)
        children = children[kind_of[children] == best[kind_of[tree.parents[children]]]]
        self.on_path[children[np.unique(tree.parents[children], return_index=True)[1]]] = True
        self.accepted = np.maximum(np.array(messages.norms), 1e-6)[kind_of]
        expected = cost / blocks
        held = np.flatnonzero(tree.held)
        for kind in np.unique(kind_of[held]).tolist():
            log_accepted = messages.log_parts_at_zero(kind)
            log_accepted += -modes[kind] if kind in modes else log_kept[best[kind]]
            self.accepted[held[kind_of[held] == kind]] = math.exp(max(log_accepted, -600.0))
            each = 1.0 if kind in modes else cost[kind] * messages.norms[kind] / blocks[kind]
            expected[kind] = each * math.exp(min(-log_accepted, 600.0))
        roots = np.unique(kind_of[tree.parents < 0])
        self.expected_proposals = float(expected[roots].max(initial=1.0))


def _log_mode(variables: int, rate: float) -> float:
    """Compute the largest log probability of a sum of geometric variables."""
    mode = math.floor((variables - 1) / math.expm1(rate))
    return float(scipy.stats.nbinom.logpmf(mode, variables, -math.expm1(-rate)))


class _Totals:
    """Draws of X and Y of all blocks of a reduced tree."""

    # The children of node v are `children[begin[v]:begin[v] + count[v]]`. The last of them is the
    # one on the path. The blocks of node v are `blocks[first[v]:first[v] + n_blocks[v]]`, and those
    # of its children are parts of this range in the order of the children.

    def __init__(self, tree: ReducedTree, forecast: _Forecast) -> None:
        self.tree, self.forecast, n_nodes = tree, forecast, len(tree.parents)
        children = np.flatnonzero(tree.parents >= 0)
        order = np.lexsort((forecast.on_path[children], tree.parents[children]))
        self.children = children[order]
        self.count = np.bincount(tree.parents[children], minlength=n_nodes)
        self.begin = np.cumsum(self.count) - self.count
        self.n_blocks = np.zeros(n_nodes, dtype=np.int64)
        self.n_blocks[: tree.blocks] = 1
        levels = tree.by_depth
        for nodes in levels[:0:-1]:
            np.add.at(self.n_blocks, tree.parents[nodes], self.n_blocks[nodes])
        self.first = np.zeros(n_nodes, dtype=np.int64)
        roots = levels[0]
        self.first[roots] = np.cumsum(self.n_blocks[roots]) - self.n_blocks[roots]
        before = np.cumsum(self.n_blocks[self.children]) - self.n_blocks[self.children]
        for nodes in levels[:-1]:
            sets = nodes[self.count[nodes] > 0]
            which, at = concatenate_ranges(self.begin[sets], self.count[sets])
            within = before[at] - before[self.begin[sets]][which]
            self.first[self.children[at]] = self.first[sets][which] + within
        self.blocks = np.empty(tree.blocks, dtype=np.int64)
        self.blocks[self.first[: tree.blocks]] = np.arange(tree.blocks)

    def draw(self, bits: BitSource, n_draws: int) -> tuple[IntArray, IntArray]:
        """Draw X and Y, each as int64 of shape (n_draws, blocks)."""
        tree = self.tree
        x = np.zeros((n_draws, tree.blocks), dtype=np.int64)
        y = np.zeros_like(x)
        for held in (False, True):
            roots = np.flatnonzero((tree.parents < 0) & (tree.held == held))
            draws, roots = np.repeat(np.arange(n_draws), len(roots)), np.tile(roots, n_draws)
            proposals = _Proposals(self, bits)
            drawn = proposals.fixed(roots) if held else proposals.free(roots)
            which, at = concatenate_ranges(self.first[roots], self.n_blocks[roots])
            x[draws[which], self.blocks[at]] = drawn.x
            y[draws[which], self.blocks[at]] = drawn.y
        return x, y


class _Drawn(NamedTuple):
    """The X and Y of the blocks of several nodes, in the order of the nodes, and their totals."""

    x: IntArray
    y: IntArray
    totals: IntArray


class _Proposals:
    def __init__(self, plan: _Totals, bits: BitSource) -> None:
        self.plan, self.tree, self.bits = plan, plan.tree, bits

    def free(self, nodes: IntArray) -> _Drawn:
        """Draw nodes without a fixed total."""
        counts = self.plan.n_blocks[nodes]
        starts, totals = np.cumsum(counts) - counts, np.zeros(len(nodes), dtype=np.int64)
        x = np.zeros(int(counts.sum()), dtype=np.int64)
        y = np.zeros_like(x)
        is_block = nodes < self.tree.blocks
        if is_block.any():
            drawn = self._free_blocks(nodes[is_block])
            x[starts[is_block]], y[starts[is_block]], totals[is_block] = drawn
        left = np.flatnonzero(~is_block)
        while len(left):
            which = left[self._repeat(nodes[left])]
            drawn = self._free_children(nodes[which], 0)
            accepted = self._keep(nodes[which], drawn.totals)
            done = self._copy(drawn, counts[which], accepted, which, starts, x, y)
            totals[which[done]] = drawn.totals[done]
            left = np.setdiff1d(left, which[done], assume_unique=True)
        return _Drawn(x, y, totals)

    def _repeat(self, nodes: IntArray) -> IntArray:
        """Return the index of each node, several times if few proposals are accepted."""
        wanted = np.ceil(0.7 / self.plan.forecast.accepted[nodes]).astype(np.int64)
        allowed = BLOCKS_AT_ONCE // max(int(self.plan.n_blocks[nodes].sum()), 1)
        return np.repeat(np.arange(len(nodes)), np.clip(wanted, 1, max(allowed, 1)))

    @staticmethod
    def _copy(
        drawn: _Drawn,
        counts: IntArray,
        accepted: BoolArray,
        which: IntArray,
        starts: IntArray,
        x: IntArray,
        y: IntArray,
    ) -> IntArray:
        """Copy the first accepted proposal of each node, and return the indices of the copies."""
        candidates = np.flatnonzero(accepted)
        done: IntArray = candidates[np.unique(which[candidates], return_index=True)[1]]
        _, source = concatenate_ranges((np.cumsum(counts) - counts)[done], counts[done])
        _, target = concatenate_ranges(starts[which[done]], counts[done])
        x[target], y[target] = drawn.x[source], drawn.y[source]
        return done

    def _free_children(self, nodes: IntArray, left_out: int) -> _Drawn:
        """Draw all children, or all but the last, and return the totals of the nodes."""
        counts = self.plan.count[nodes] - left_out
        _, at = concatenate_ranges(self.plan.begin[nodes], counts)
        drawn = self.free(self.plan.children[at])
        sums, ends = np.append(0, np.cumsum(drawn.totals)), np.cumsum(counts)
        return drawn._replace(totals=sums[ends] - sums[ends - counts])

    def fixed(self, roots: IntArray) -> _Drawn:
        """Draw everything below roots whose totals are 0."""
        counts = self.plan.n_blocks[roots]
        starts = np.cumsum(counts) - counts
        x = np.zeros(int(counts.sum()), dtype=np.int64)
        y, left = np.zeros_like(x), np.arange(len(roots))
        while len(left):
            which = left[self._repeat(roots[left])]
            drawn, accepted = self._propose_fixed(roots[which])
            done = self._copy(drawn, counts[which], accepted, which, starts, x, y)
            left = np.setdiff1d(left, which[done], assume_unique=True)
        return _Drawn(x, y, np.zeros(len(roots), dtype=np.int64))

    def _propose_fixed(self, roots: IntArray) -> tuple[_Drawn, BoolArray]:
        plan, accepted = self.plan, np.ones(len(roots), dtype=bool)
        counts = plan.n_blocks[roots]
        shift = np.cumsum(counts) - counts - plan.first[roots]  # from blocks to entries of x and y
        x = np.zeros(int(counts.sum()), dtype=np.int64)
        y, totals = np.zeros_like(x), np.zeros(len(roots), dtype=np.int64)
        nodes, on_way = roots.copy(), np.arange(len(roots))
        while len(on_way):
            is_block = nodes[on_way] < self.tree.blocks
            ended, on_way = on_way[is_block], on_way[~is_block]
            at = shift[ended] + plan.first[nodes[ended]]
            x[at], y[at], accepted[ended] = self._end(nodes[ended], totals[ended])
            here = nodes[on_way]
            drawn = self._free_children(here, 1)
            nodes[on_way] = plan.children[plan.begin[here] + plan.count[here] - 1]
            others = plan.n_blocks[here] - plan.n_blocks[nodes[on_way]]
            _, at = concatenate_ranges(shift[on_way] + plan.first[here], others)
            x[at], y[at] = drawn.x, drawn.y
            totals[on_way] -= drawn.totals
            kept = self._keep(nodes[on_way], totals[on_way])
            accepted[on_way[~kept]] = False
            on_way = on_way[kept]
        return _Drawn(x, y, totals), accepted

    def _free_blocks(self, blocks: IntArray) -> _Drawn:
        tree = self.tree
        x, y = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
        single = tree.sizes[blocks] == 1
        for rate, alike in _by_value(tree.rate_of[blocks], single):
            geometric = cached_geometric(tree.rates[rate])
            x[alike] = geometric.draw(self.bits, len(alike))
            y[alike] = geometric.draw(self.bits, len(alike))
        by_total = self.plan.forecast.total_first[blocks] & ~single
        for first, chosen in ((False, ~single & ~by_total), (True, by_total)):
            for rate, alike in _by_value(tree.cell_rate_of[blocks], chosen):
                sums = negative_binomials(tree.rates[rate])
                indices = sums.indices(tree.sizes[blocks[alike]])
                while len(alike):
                    # several proposals for each of the last blocks
                    times = max(1, min(MAX_PROPOSALS_AT_ONCE, PROPOSALS_AT_ONCE // len(alike)))
                    kind, block = np.tile(indices, times), np.tile(blocks[alike], times)
                    new_y = sums.draw(self.bits, kind)
                    if first:
                        new_x = new_y + self._own_term(block)
                        kept = sums.keep(self.bits, kind, new_x)
                    else:
                        new_x = sums.draw(self.bits, kind)
                        kept = self._keep(block, new_x - new_y)
                    found = kept.reshape(times, len(alike))
                    done = found.any(axis=0)
                    at = found.argmax(axis=0)[done], np.flatnonzero(done)
                    x[alike[done]] = new_x.reshape(found.shape)[at]
                    y[alike[done]] = new_y.reshape(found.shape)[at]
                    alike, indices = alike[~done], indices[~done]
        return _Drawn(x, y, x - y)

    def _own_term(self, blocks: IntArray) -> IntArray:
        """Draw a total S with a probability proportional to exp(-epsilon |S|)."""
        totals = np.zeros(len(blocks), dtype=np.int64)
        for rate, alike in _by_value(self.tree.rate_of[blocks], np.ones(len(blocks), dtype=bool)):
            geometric = cached_geometric(self.tree.rates[rate])
            totals[alike] = geometric.draw_difference(self.bits, len(alike))
        return totals

    def _end(self, blocks: IntArray, totals: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Draw Y of blocks with given totals, and accept it as at the end of a path."""
        tree = self.tree
        x, y = np.maximum(totals, 0), np.maximum(-totals, 0)  # of single cells
        accepted = np.ones(len(blocks), dtype=bool)
        for rate, alike in _by_value(tree.cell_rate_of[blocks], tree.sizes[blocks] > 1):
            sums = negative_binomials(tree.rates[rate])
            indices = sums.indices(tree.sizes[blocks[alike]])
            y[alike] = sums.draw(self.bits, indices)
            x[alike] = y[alike] + totals[alike]
            accepted[alike] = sums.keep(self.bits, indices, x[alike])
        return x, y, accepted

    def _keep(self, nodes: IntArray, totals: IntArray) -> BoolArray:
        """Accept each total with the probability exp(-epsilon |S|) of its node."""
        kept = np.ones(len(nodes), dtype=bool)
        for rate, alike in _by_value(self.tree.rate_of[nodes], totals != 0):
            if self.tree.rates[rate]:
                # a geometric variable is at least k with the probability exp(-epsilon k)
                steps = cached_geometric(self.tree.rates[rate]).draw(self.bits, len(alike))
                kept[alike] = steps >= np.abs(totals[alike])
        return kept


def _by_value(values: IntArray, chosen: BoolArray) -> list[tuple[int, IntArray]]:
    """List the distinct values of the chosen items, each with the indices of its items."""
    items = np.flatnonzero(chosen)
    return [(value, items[values[items] == value]) for value in np.unique(values[items]).tolist()]
