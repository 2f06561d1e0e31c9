"""The tree of a nested energy under held totals, in the smallest equivalent form.

A held node has the total 0. It is cut from its parent, and becomes a root. A node with a single
remaining child has the same total as this child, and both are merged. Cells with the same parent
and equal rates form a block. Each root and the nodes below it are independent of the other roots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from isdp.arrays import BoolArray, IntArray
from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.mechanisms.base import NestedEnergy
from isdp.mechanisms.nested import RateSums
from isdp.mechanisms.set_tree import group_by_depth, node_depths


@dataclass(frozen=True, eq=False)
class ReducedTree:
    """A tree of blocks of cells and of sets.

    Nodes are numbered so that the blocks come first, and children before their parents. A set has
    two or more children.

    Attributes
    ----------
    parents : int64 array, shape (nodes,)
        The parent of each node; -1 for a root.
    rates : list of Fraction
        The rates of totals, and then 0 and the rates of cells.
    rate_of : int64 array, shape (nodes,)
        Index of the rate of each node's total.
    held : bool array, shape (nodes,)
        The roots whose total is 0.
    cell_rate_of : int64 array, shape (blocks,)
        Index of the rate of each cell of a block. The rate is 0 if the block has one cell.
    order : int64 array
        The cells sorted by block. Cells that are always 0 are left out.
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.
    node_of : int64 array, shape (nodes of the original tree,)
        The node with the same total as each set, and the block of each cell; -1 if the total is 0.
    """

    parents: IntArray
    rates: list[Fraction]
    rate_of: IntArray
    held: BoolArray
    cell_rate_of: IntArray
    order: IntArray
    starts: IntArray
    node_of: IntArray

    @property
    def sizes(self) -> IntArray:
        """The number of cells of each block."""
        return np.diff(self.starts)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.cell_rate_of)

    @cached_property
    def depths(self) -> IntArray:
        """The number of sets that contain each node, as an array of shape (nodes,)."""
        return node_depths(self.parents, len(self.parents) + 1)

    @cached_property
    def by_depth(self) -> list[IntArray]:
        """The indices of the nodes of each depth, from the roots down."""
        return group_by_depth(self.depths)

    def place_totals(self, totals: IntArray, cells: int) -> IntArray:
        """Return noise of shape (draws, cells) with the totals of the blocks of one cell."""
        noise = np.zeros((len(totals), cells), dtype=np.int64)
        single = self.sizes == 1
        noise[:, self.order[self.starts[:-1][single]]] = totals[:, single]
        return noise

    def larger_blocks(self) -> Iterator[tuple[Fraction, IntArray, IntArray]]:
        """Yield the blocks of two or more cells by rate: the rate, the blocks, and their cells."""
        several = self.sizes > 1
        for rate in np.unique(self.cell_rate_of[several]).tolist():
            chosen = several & (self.cell_rate_of == rate)
            cells = self.order[np.repeat(chosen, self.sizes)]
            yield self.rates[rate], np.flatnonzero(chosen), cells


def reduce_tree(method: str, energy: NestedEnergy, invariants: Invariants) -> ReducedTree:
    """Reduce the tree of an energy under held totals.

    Raises
    ------
    InputError
        If a cell has no term, so that the energy may not determine a distribution.
    MisfitError
        If the invariants are not totals that are nested with the sets of the tree.
    """
    tree = energy.tree
    if invariants.cells != tree.cells:
        raise InputError(
            f"invariants: they have {invariants.cells} cells, and the tree has {tree.cells}. Use "
            f"the same cells in both"
        )
    a = invariants.sparse
    more = np.full(a.shape[0], -1, dtype=np.int64)
    parents, sizes = np.append(tree.parents, more), np.append(tree.sizes, more)
    held = np.zeros(len(parents), dtype=bool)
    smallest_first = np.argsort(np.diff(a.indptr), kind="stable")
    nodes = _hold(a.indptr, a.indices, a.data, smallest_first, parents, sizes, tree.nodes, held)
    if nodes < 0:
        raise MisfitError(f"{method}: the invariants must be totals nested with the sets of cells")
    rate_of = np.append(energy.rate_of, more)[:nodes]
    return _reduce(energy, parents[:nodes], held[:nodes], rate_of)


def _reduce(
    energy: NestedEnergy, parents: IntArray, held: BoolArray, rate_of: IntArray
) -> ReducedTree:
    cells, n_nodes = energy.tree.cells, energy.tree.nodes
    # blocks: cells of one parent with equal rates; a cell without a parent is a block
    keys = parents[:cells] * (len(energy.rates) + 1) + rate_of[:cells] + 1
    alone = np.flatnonzero(parents[:cells] < 0)
    keys[alone] = len(parents) * (len(energy.rates) + 1) + alone
    keys[held[:cells]] = -1
    order = np.argsort(keys, kind="stable")
    order = order[np.count_nonzero(held[:cells]) :]
    new = np.diff(keys[order], prepend=-1) != 0
    starts = np.append(np.flatnonzero(new), len(order))
    first, sizes = order[new], np.diff(starts)
    n_blocks, shift = len(first), len(first) - cells
    block_of = np.full(cells, -1, dtype=np.int64)
    block_of[order] = np.cumsum(new) - 1
    # nodes are now the blocks and the sets
    above = np.append(parents[first], parents[cells:])
    above = np.where(above >= 0, above + shift, -1)
    is_held = np.append(np.zeros(n_blocks, dtype=bool), held[cells:])
    own = np.append(np.where(sizes == 1, rate_of[first], -1), rate_of[cells:])
    sets = np.maximum(above[n_blocks:] - n_blocks, -1)
    depths = node_depths(sets, len(sets) + 1)
    deepest_first = np.append(np.arange(n_blocks), n_blocks + np.argsort(-depths, kind="stable"))
    alias, kept_parent = _merge_single_children(
        deepest_first, above, is_held, np.append(sizes, np.zeros(len(above) - n_blocks, np.int64))
    )
    kept = deepest_first[alias[deepest_first] == deepest_first]
    number = np.full(len(above) + 1, -1, dtype=np.int64)  # the last entry is for -1
    number[kept] = np.arange(len(kept))
    sums = RateSums(energy.rates, len(kept))
    sums.add(own[kept])
    merged = np.flatnonzero((alias >= 0) & (alias != np.arange(len(alias))))
    merged = merged[np.argsort(alias[merged], kind="stable")]
    into = number[alias[merged]]
    merged, into = merged[into >= 0], into[into >= 0]
    while len(merged):
        once = np.diff(into, prepend=-1) != 0  # one merged node for each kept node
        added = np.full(len(kept), -1, dtype=np.int64)
        added[into[once]] = own[merged[once]]
        sums.add(added)
        merged, into = merged[~once], into[~once]
    node_of = number[np.append(alias, -1)]  # the last entry is for -1
    blocks = kept[kept < n_blocks]
    # rates of cells follow the rates of totals in one list
    values, cell_rates = list(sums.values), [Fraction(0), *energy.rates]
    cell_rate_of = np.where(sizes[blocks] > 1, rate_of[first[blocks]] + 1, 0) + len(values)
    order = order[np.repeat(number[:n_blocks] >= 0, sizes)]
    reduced = ReducedTree(
        parents=number[kept_parent[kept]],
        rates=values + cell_rates,
        rate_of=sums.ranks,
        held=is_held[kept],
        cell_rate_of=cell_rate_of,
        order=order,
        starts=np.append(0, np.cumsum(sizes[blocks])),
        node_of=np.append(node_of[block_of], node_of[n_blocks : n_nodes + shift]),
    )
    _refuse_cells_without_term(reduced)
    return reduced


def _refuse_cells_without_term(tree: ReducedTree) -> None:
    zero = np.array([rate == 0 for rate in tree.rates])
    several = tree.sizes > 1
    missing = zero[np.where(several, tree.cell_rate_of, tree.rate_of[: tree.blocks])]
    if missing.any():
        raise InputError(
            f"mechanism: cell {int(tree.order[tree.starts[np.argmax(missing)]])} has no term in "
            f"the energy, so that its noise may have no distribution. Give each cell a scale, "
            f"unless it is alone in a set with a scale"
        )


def concatenate_ranges(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Concatenate ranges: return the index of the range of each element, and the elements."""
    which = np.repeat(np.arange(len(starts)), counts)
    before = np.cumsum(counts) - counts
    return which, np.arange(len(which)) + (starts - before)[which]


@njit
def _hold(
    indptr: IntArray,
    indices: IntArray,
    data: IntArray,
    rows: IntArray,
    parents: IntArray,
    sizes: IntArray,
    nodes: int,
    held: BoolArray,
) -> int:
    """Mark the held nodes, and return the number of nodes, or -1 if a row is not nested.

    A row that contains several nodes with the same parent, and no other cells, becomes a new node.
    """
    inside = np.zeros(len(parents), dtype=np.int64)  # cells of the row in complete children
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        for entry in range(start, stop):
            if data[entry] != data[start]:
                return -1
            node = indices[entry]
            while parents[node] >= 0:
                inside[parents[node]] += sizes[node]
                if inside[parents[node]] < sizes[parents[node]]:
                    break
                node = parents[node]
        tops = np.empty(stop - start, dtype=np.int64)  # the largest node within the row
        for entry in range(start, stop):
            node = indices[entry]
            while parents[node] >= 0 and inside[parents[node]] == sizes[parents[node]]:
                node = parents[node]
            tops[entry - start] = node
            if parents[node] != parents[tops[0]]:
                return -1
        for entry in range(start, stop):
            node = parents[indices[entry]]
            while node >= 0 and inside[node] > 0:
                inside[node] = 0
                node = parents[node]
        if start == stop:
            continue
        if (tops == tops[0]).all():
            held[tops[0]] = True
            continue
        parents[nodes], sizes[nodes], held[nodes] = parents[tops[0]], stop - start, True
        for node in tops:
            parents[node] = nodes
        nodes += 1
    return nodes


@njit
def _merge_single_children(
    deepest_first: IntArray, parents: IntArray, held: BoolArray, sizes: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the node that represents each node, or -1 if its total is 0, and the new parents."""
    count, only = np.zeros(len(parents), dtype=np.int64), np.zeros(len(parents), dtype=np.int64)
    alias, new_parents = np.full(len(parents), -1), np.full(len(parents), -1)
    for node in deepest_first:
        if sizes[node] == 0 and count[node] == 0:
            continue
        if sizes[node] == 0 and count[node] == 1:
            alias[node] = only[node]
            held[only[node]] |= held[node]
        else:
            alias[node] = node
        representative = alias[node]
        if held[representative]:
            if sizes[representative] == 1:
                alias[representative] = -1
            new_parents[representative] = -1
            continue
        parent = parents[node]
        new_parents[representative] = parent
        if parent >= 0:
            count[parent] += 1
            only[parent] = representative
    for node in range(len(alias)):
        if alias[node] >= 0:
            alias[node] = alias[alias[node]]
    return alias, new_parents
