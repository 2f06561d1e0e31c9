"""Exact draws of the sums of cell classes, that is, of cells with equal columns of A.

The noise of a class of m cells is the difference of two uniform compositions, of x and y. Both are
negative binomial variables, sums of m geometric variables, and the sum of the class is s = x - y.
Given A s = 0 the sums of the classes have a product distribution. There is no truncation window. A
table of 10^7 cells in 100 classes takes as long as one of 10^4.

A draw has two stages. Rows of A that share no class, such as the totals of states, form blocks. In
each block all classes but one are drawn, and the last one follows. It is accepted with a
probability proportional to its own, and otherwise the block alone is drawn again. One or a few
blocks are left for the final stage. They absorb what the other blocks leave for the totals that
cross blocks, such as a national total by sex. The draw is accepted with a probability proportional
to that of their classes.

For K equal blocks a draw takes about K^(q/2) proposals, with q the number of independent totals
across blocks: 7 for 51 states by sex, 364 for four classes.

Every decision is in exact arithmetic (`isdp.exact.bits`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.negative_binomial import negative_binomials
from isdp.exact.bits.source import BitSource
from isdp.io.progress import progress
from isdp.lattice.elimination import pivot_columns, solve_determined

MAX_PROPOSALS = 1e6
MAX_SUMS = 1e8  # proposed for one draw, which take some minutes
PROPOSED_SUMS_AT_ONCE = 1 << 20
MAX_WEIGHT = 2**31
MAX_CLASSES = 100_000


class ClassBlocks(NamedTuple):
    """Blocks of equally many cell classes that are drawn one by one: int64 (blocks, classes).

    In blocks that are `held` the sums add up to zero, and the last class follows from the others.
    """

    classes: np.ndarray
    held: bool


class FinalStage(NamedTuple):
    """The classes of the final stage, drawn (`free`) and determined.

    ``s[determined] = weights @ (s[free], open) / denominator``, where ``open = across @ s[before]``
    are the contributions of the classes drawn before to the totals across blocks.

    Attributes
    ----------
    free, determined, before : int64 arrays
        Class numbers, which together are all classes.
    across : int64 array, shape (before, totals across blocks)
    weights : int64 array, shape (free + totals across blocks, determined)
    denominator : int
    """

    free: np.ndarray
    determined: np.ndarray
    before: np.ndarray
    across: np.ndarray
    weights: np.ndarray
    denominator: int


class CellClassSums:
    """Draws of the sums of cell classes under invariants on classes.

    P(s) is proportional to the product over the classes t of q_t(s_t) on the integer vectors s with
    A s = 0. Here q_t is the distribution of a sum of ``sizes[t]`` independent variables with P(k)
    proportional to exp(-epsilon |k|).

    Parameters
    ----------
    invariants : Invariants
        Any integers; the columns are classes in place of cells.
    sizes : int array, shape (classes,)
        Number of cells of each class.

    Attributes
    ----------
    separate : list of ClassBlocks
        The blocks that are drawn one by one.
    final : FinalStage
    expected_proposals : float
        Estimate of the proposals per draw, as if all sums were normal. It decides only whether the
        sampler is used.

    Raises
    ------
    InputError
        If a draw takes too many proposals, or sums could leave 64 bits.
    """

    def __init__(self, invariants: Invariants, sizes, epsilon: Fraction):
        self.sizes = np.asarray(sizes, dtype=np.int64)
        if len(self.sizes) > MAX_CLASSES:
            raise InputError(
                f"exact: the totals form {len(self.sizes)} cell classes, and at most "
                f"{MAX_CLASSES} are supported"
            )
        self.epsilon = epsilon
        self._geometric = cached_geometric(epsilon)
        self._variance = 2 * self.sizes * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        held, across = _disjoint_rows(invariants, self.sizes)
        self.final, last = self._close(held, across)
        self.separate = _grouped([block for i, block in enumerate(held) if i not in last])
        self.expected_proposals, rank = self._estimate(), len(across)
        self._refuse_proposals(rank, len(held))
        # classes of one cell need the geometric distribution alone
        self._counts = negative_binomials(epsilon)
        self._indices = self._counts.indices(self.sizes)

    # -- set-up -------------------------------------------------------------------------------

    def _close(self, held: list[ClassBlocks], across: np.ndarray) -> tuple[FinalStage, set[int]]:
        """Choose the blocks of the final stage: the widest that determine all crossing totals."""
        classes = len(self.sizes)
        last: list[int] = []
        inside, short = np.zeros(classes, dtype=bool), len(across)
        for i in self._widest_first(held, across):
            if not short:
                break
            wider = inside.copy()
            wider[held[i].classes] = True
            missing = len(across) - _rank_within(held, across, wider)
            if missing < short:
                inside, short = wider, missing
                last.append(i)
        inside_of = np.flatnonzero(inside)
        rows = np.zeros((len(last), classes), dtype=np.int64)
        for row, i in zip(rows, last, strict=True):
            row[held[i].classes] = held[i].held
        rows = np.vstack([rows[rows.any(axis=1)], across])
        open_sums = np.vstack(
            [np.zeros((len(rows) - len(across), len(across)), int), np.eye(len(across), dtype=int)]
        )
        # the widest classes are determined, and the open sums, which come last, never are
        widest = inside_of[np.argsort(-self.sizes[inside_of], kind="stable")]
        matrix = np.hstack([rows[:, widest], open_sums]).astype(np.int64)
        determined, free, weights, denominator = solve_determined(matrix)
        if max(denominator, abs(weights).max(initial=0)) > MAX_WEIGHT:
            raise InputError(
                f"exact: under these invariants class sums determine others with weights beyond "
                f"{MAX_WEIGHT}; simplify the invariants"
            )
        before = np.flatnonzero(~inside)
        final = FinalStage(
            widest[free[free < len(widest)]],
            widest[determined],
            before,
            across[:, before].T.copy(),
            weights.astype(np.int64).T.copy(),
            int(denominator),
        )
        largest = np.abs(final.across).sum(axis=0).max(initial=1) * len(final.weights)
        if float(largest) * float(np.abs(weights).max(initial=1)) * 2.0**53 > 2.0**62:
            self._refuse_reach(float(largest) * float(np.abs(weights).max(initial=1)))
        return final, set(last)

    def _refuse_reach(self, weight: float) -> None:
        """Refuse if weighted sums could leave 64 bits with a probability of 1e-20 or more."""
        cells = float(self.sizes.max())
        reach = (cells + 12 * math.sqrt(cells) + 60) / float(self.epsilon)
        if weight * reach > 2.0**62:
            raise InputError(
                f"exact: at epsilon {float(self.epsilon):g} sums under these invariants could "
                f"leave 64-bit integers; use a larger epsilon"
            )

    def _widest_first(self, held: list[ClassBlocks], across: np.ndarray) -> list[int]:
        """Order blocks by the number of crossing totals that they determine, then by width."""

        def width(i: int) -> tuple[int, float]:
            classes = held[i].classes
            met = np.count_nonzero(across[:, classes].any(axis=1))
            return min(met, len(classes)), float(np.log(self._variance[classes]).sum())

        return sorted(range(len(held)), key=width, reverse=True)

    def _estimate(self) -> float:
        """Estimate the proposals per draw as if sums were normal, or all sums zero."""
        final, variance = self.final, self._variance
        if not len(final.determined):
            return 1.0
        of_sums = np.zeros((len(final.across.T), len(final.across.T)))
        for group in self.separate:
            for classes in group.classes:
                rows = final.across[np.searchsorted(final.before, classes)].astype(float)
                v = variance[classes]
                of_sums += rows.T @ (v[:, None] * rows)
                if group.held:
                    mean = v @ rows
                    of_sums -= np.outer(mean, mean) / v.sum()
        weights = final.weights / final.denominator
        free = len(final.free)
        spread = weights[:free].T @ (variance[final.free][:, None] * weights[:free])
        spread += weights[free:].T @ of_sums @ weights[free:]
        scale = np.sqrt(variance[final.determined])
        log_probability = (
            -0.5 * np.linalg.slogdet(np.eye(len(scale)) + spread / np.outer(scale, scale))[1]
        )
        # a smaller variable is accepted about once in sqrt(2); the factor also covers single cells
        log_probability -= 0.5 * math.log(2) * len(scale)
        log_probability -= len(scale) * math.log(final.denominator)
        drawn = np.delete(np.arange(len(variance)), final.determined)
        log_zero = -0.5 * np.log1p(2 * math.pi * variance[drawn]).sum()
        return math.exp(min(-max(log_probability, log_zero), 700.0))

    def _refuse_proposals(self, across: int, blocks: int) -> None:
        numbers = self.expected_proposals * len(self.sizes)
        if self.expected_proposals > MAX_PROPOSALS or numbers > MAX_SUMS:
            raise InputError(
                f"exact: {blocks} blocks of cells with {across} independent totals across them "
                f"would take about {self.expected_proposals:.1g} proposals of {len(self.sizes)} "
                f"sums per draw, more than {MAX_PROPOSALS:.0e} proposals or {MAX_SUMS:.0e} sums; "
                f"use fewer totals across blocks, or a Markov chain (isdp.mcmc.draw_chains)"
            )

    # -- use ----------------------------------------------------------------------------------

    def draw(self, bits: BitSource, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent sums.

        Returns
        -------
        sums, smaller : int64 arrays, shape (n_draws, classes)
            A class of several cells has the noise x - y, where x and y are independent uniform
            compositions of ``sums + smaller`` and of ``smaller`` into its cells. A class of one
            cell has the noise ``sums``.
        """
        classes = len(self.sizes)
        sums, smaller = (np.empty((n_draws, classes), dtype=np.int64) for _ in range(2))
        done = made = 0
        with progress("drawing sums", n_draws * self.expected_proposals) as at:
            while done < n_draws:
                wanted = int(1.2 * (n_draws - done) * self.expected_proposals) + 4
                n_proposals = max(min(wanted, PROPOSED_SUMS_AT_ONCE // max(classes, 1)), 1)
                tried = self._propose(bits, n_proposals)
                kept = [array[: n_draws - done] for array in tried]
                sums[done : done + len(kept[0])], smaller[done : done + len(kept[0])] = kept
                done, made = done + len(kept[0]), made + n_proposals
                at(min(made, n_draws * self.expected_proposals))
        return sums, smaller

    def _propose(self, bits: BitSource, n_proposals: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums and the smaller variables of the accepted proposals, in their order."""
        sums, smaller = (np.zeros((n_proposals, len(self.sizes)), dtype=np.int64) for _ in range(2))
        for group in self.separate:
            self._draw_group(bits, group, sums, smaller)
        final = self.final
        for cell_class in final.free:
            sums[:, cell_class], smaller[:, cell_class] = self._draw_sums(
                bits, np.full(n_proposals, cell_class)
            )
        known = np.hstack([sums[:, final.free], sums[:, final.before] @ final.across])
        for cell_class, weights in zip(final.determined, final.weights.T, strict=True):
            value, rest = np.divmod(known @ weights, final.denominator)
            integer = np.flatnonzero(rest == 0)
            kept, found_smaller = self._keep_sums(
                bits, np.full(len(integer), cell_class), value[integer]
            )
            integer = integer[kept]
            sums, smaller, known = sums[integer], smaller[integer], known[integer]
            sums[:, cell_class], smaller[:, cell_class] = value[integer], found_smaller[kept]
        return sums, smaller

    def _draw_group(self, bits: BitSource, group: ClassBlocks, sums, smaller) -> None:
        """Draw the blocks of a group for every proposal, each until it is accepted."""
        blocks, width = group.classes.shape
        row = np.repeat(np.arange(len(sums)), blocks)
        block = np.tile(np.arange(blocks), len(sums))
        while len(row):
            classes = group.classes[block]
            drawn = classes[:, : width - 1] if group.held else classes
            found, found_smaller = self._draw_sums(bits, drawn.ravel())
            found, found_smaller = found.reshape(drawn.shape), found_smaller.reshape(drawn.shape)
            kept = np.ones(len(row), dtype=bool)
            if group.held:
                last = -found.sum(axis=1)
                kept, least = self._keep_sums(bits, classes[:, -1], last)
                found, found_smaller = (
                    np.column_stack([found, last]),
                    np.column_stack([found_smaller, least]),
                )
            at = row[kept][:, None], classes[kept]
            sums[at], smaller[at] = found[kept], found_smaller[kept]
            row, block = row[~kept], block[~kept]

    def _draw_sums(self, bits: BitSource, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw a sum for each of the given classes, and the smaller of its two variables."""
        sums, smaller = (
            np.empty(len(classes), dtype=np.int64),
            np.zeros(len(classes), dtype=np.int64),
        )
        single = self.sizes[classes] == 1
        sums[single] = self._geometric.draw_difference(bits, int(single.sum()))
        indices = self._indices[classes[~single]]
        smaller[~single] = self._counts.draw(bits, indices)
        sums[~single] = self._counts.draw(bits, indices) - smaller[~single]
        return sums, smaller

    def _keep_sums(self, bits: BitSource, classes, sums) -> tuple[np.ndarray, np.ndarray]:
        """Accept each sum with a probability proportional to its own; draw its smaller variable.

        Given the difference s = x - y, the smaller variable y has a probability proportional to
        P(y) P(y + s). It is drawn from P and accepted with one proportional to P(y + s).
        """
        kept, smaller = np.zeros(len(classes), dtype=bool), np.zeros(len(classes), dtype=np.int64)
        single = self.sizes[classes] == 1
        reach = self._geometric.draw(bits, int(single.sum()))
        kept[single] = reach >= np.abs(sums[single])
        indices = self._indices[classes[~single]]
        smaller[~single] = self._counts.draw(bits, indices)
        kept[~single] = self._counts.keep(bits, indices, sums[~single] + smaller[~single])
        return kept, smaller


def _disjoint_rows(
    invariants: Invariants, sizes: np.ndarray
) -> tuple[list[ClassBlocks], np.ndarray]:
    """Find rows without a common class, and what the other rows add to them.

    Returns
    -------
    blocks : list of ClassBlocks
        One for each such row, and one for each class in none of them.
    across : int64 array, shape (independent other rows, classes)
    """
    a = invariants.sparse
    free = np.ones(invariants.cells, dtype=bool)
    blocks, others = [], []
    for row in np.argsort(np.diff(a.indptr), kind="stable").tolist():
        classes, values = (
            part[a.indptr[row] : a.indptr[row + 1]].astype(np.int64) for part in (a.indices, a.data)
        )
        if len(classes) and free[classes].all() and (values == values[0]).all():
            free[classes] = False
            widest_last = classes[np.argsort(sizes[classes], kind="stable")]
            blocks.append(ClassBlocks(widest_last[None], held=True))
        elif len(classes):
            others.append(row)
    blocks.extend(
        ClassBlocks(np.array([[cell_class]]), held=False) for cell_class in np.flatnonzero(free)
    )
    across = a[sorted(others)].toarray()
    moved = np.unique(_moves(blocks, across), axis=1)
    return blocks, across[pivot_columns(moved.T)]


def _moves(blocks: list[ClassBlocks], across: np.ndarray) -> np.ndarray:
    """Find how a unit moved within a block, or added to a free class, changes `across`."""
    moves = np.zeros((len(across), 0), dtype=np.int64)
    found = [moves]
    for block in blocks:
        classes = block.classes[0]
        if block.held:
            found.append(across[:, classes[:-1]] - across[:, classes[-1:]])
        else:
            found.append(across[:, classes])
    return np.hstack(found)


def _rank_within(held: list[ClassBlocks], across: np.ndarray, inside: np.ndarray) -> int:
    blocks = [block for block in held if inside[block.classes[0, 0]]]
    return len(pivot_columns(np.unique(_moves(blocks, across), axis=1)))


def _grouped(blocks: list[ClassBlocks]) -> list[ClassBlocks]:
    """Group blocks with equally many classes."""
    groups: dict[tuple[int, bool], list[np.ndarray]] = {}
    for block in blocks:
        groups.setdefault((block.classes.shape[1], block.held), []).append(block.classes)
    return [ClassBlocks(np.vstack(classes), held) for (_, held), classes in groups.items()]
