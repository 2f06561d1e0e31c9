"""Sums of the noise over cells that stand in the same totals, drawn exactly.

Cells with equal columns of A are one type. The noise of a type's m cells is, up to its sum, two
compositions of two counts x and y, each the sum of m geometric counts, and its sum is s = x - y.
The sums of all types are independent of one another given A s = 0, whatever m and epsilon are: no
window cuts them, and a table of 10^7 cells with 100 types takes as long as one of 10^4.

A draw goes in two stages. Rows of A that share no type, such as the totals of states, make blocks:
in each of these all types but one are drawn, the last one follows, and it is kept with a chance in
proportion to its law, else the block alone is drawn anew. One or a few blocks are left for the end,
to make up for what the others leave open across blocks, such as a national total by sex; if they
can with a chance in proportion to the law of their types, the draw is kept.

With K blocks alike that is about K^(q/2) tries a draw, q the totals across blocks that do not
follow from others: 7 for 51 states by sex, 364 by four classes.

Every decision is by `isdp.exact.bits.geometric` and `isdp.exact.bits.negative_binomial`, in exact
arithmetic. From the operating system's random bytes the sums are fit for a release.
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
MAX_SUMS = 1e8  # drawn for one draw, some minutes
AT_ONCE = 1 << 20
MAX_WEIGHT = 2**31
MAX_CLASSES = 100_000


class ClassBlocks(NamedTuple):
    """ClassBlocks of equally many types, drawn apart: int64 (blocks, types).

    If they are `held` their sums add up to zero, and the last type is the one that follows.
    """

    types: np.ndarray
    held: bool


class FinalStage(NamedTuple):
    """The types at the end: ``s[settled] = weights @ (s[free], open) / denominator``.

    `open` are the sums ``across @ s[before]`` of the types drawn before.
    """

    free: np.ndarray
    settled: np.ndarray
    before: np.ndarray
    across: np.ndarray
    weights: np.ndarray
    denominator: int


class CellClassSums:
    """Draws of the sums of types under invariants on types.

    P(s) is proportional to the product over the types t of q_t(s_t), where q_t is the law of a sum
    of ``sizes[t]`` independent variables with P(k) proportional to exp(-epsilon |k|), on the
    integer vectors s with A s = 0.

    Parameters
    ----------
    invariants : Invariants
        On types in the place of cells; any integers.
    sizes : int array, shape (types,)
        Cells of each type.

    Attributes
    ----------
    local : list of ClassBlocks
        The blocks that are drawn apart.
    closing : FinalStage
        What is drawn and settled at the end.
    expected_proposals : float
        Estimate of the tries a draw, as if all sums were normal. It decides only whether to try.

    Raises
    ------
    InputError
        If a draw would take too many tries, with how many and why, or sums could leave 64 bits.
    """

    def __init__(self, invariants: Invariants, sizes, epsilon: Fraction):
        self.sizes = np.asarray(sizes, dtype=np.int64)
        if len(self.sizes) > MAX_CLASSES:
            raise InputError(
                f"exact: the totals overlap in {len(self.sizes)} ways, more than the {MAX_CLASSES} "
                f"that are drawn together"
            )
        self.epsilon = epsilon
        self.cached_geometric = cached_geometric(epsilon)
        self._variance = 2 * self.sizes * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        held, across = _disjoint_rows(invariants, self.sizes)
        self.closing, last = self._close(held, across)
        self.local = _grouped([block for i, block in enumerate(held) if i not in last])
        self.expected_proposals, rank = self._estimate(), len(across)
        self._refuse_tries(rank, len(held))
        # those of one cell are counts themselves, told by the geometric law alone
        self._counts = negative_binomials(epsilon)
        self._law = self._counts.indices(self.sizes)

    # -- set-up -------------------------------------------------------------------------------

    def _close(self, held: list[ClassBlocks], across: np.ndarray) -> tuple[FinalStage, set[int]]:
        """Choose the blocks that are left for the end, the widest that will do."""
        types = len(self.sizes)
        last: list[int] = []
        inside, short = np.zeros(types, dtype=bool), len(across)
        for i in self._widest_first(held, across):
            if not short:
                break
            wider = inside.copy()
            wider[held[i].types] = True
            missing = len(across) - _rank_within(held, across, wider)
            if missing < short:
                inside, short = wider, missing
                last.append(i)
        inside_of = np.flatnonzero(inside)
        rows = np.zeros((len(last), types), dtype=np.int64)
        for row, i in zip(rows, last, strict=True):
            row[held[i].types] = held[i].held
        rows = np.vstack([rows[rows.any(axis=1)], across])
        open_sums = np.vstack(
            [np.zeros((len(rows) - len(across), len(across)), int), np.eye(len(across), dtype=int)]
        )
        # the widest are settled, and the open sums, which stand last, never
        widest = inside_of[np.argsort(-self.sizes[inside_of], kind="stable")]
        matrix = np.hstack([rows[:, widest], open_sums]).astype(np.int64)
        settled, free, weights, denominator = solve_determined(matrix)
        if max(denominator, abs(weights).max(initial=0)) > MAX_WEIGHT:
            raise InputError(
                f"exact: under these invariants sums settle one another with weights beyond "
                f"{MAX_WEIGHT}; simplify the invariants"
            )
        before = np.flatnonzero(~inside)
        closing = FinalStage(
            widest[free[free < len(widest)]],
            widest[settled],
            before,
            across[:, before].T.copy(),
            weights.astype(np.int64).T.copy(),
            int(denominator),
        )
        largest = np.abs(closing.across).sum(axis=0).max(initial=1) * len(closing.weights)
        if float(largest) * float(np.abs(weights).max(initial=1)) * 2.0**53 > 2.0**62:
            self._refuse_reach(float(largest) * float(np.abs(weights).max(initial=1)))
        return closing, set(last)

    def _refuse_reach(self, weight: float) -> None:
        """Refuse if weighted sums could leave 64 bits, but for a chance below 1e-20."""
        cells = float(self.sizes.max())
        reach = (cells + 12 * math.sqrt(cells) + 60) / float(self.epsilon)
        if weight * reach > 2.0**62:
            raise InputError(
                f"exact: at epsilon {float(self.epsilon):g} sums under these invariants could "
                f"leave 64-bit integers; use a larger epsilon"
            )

    def _widest_first(self, held: list[ClassBlocks], across: np.ndarray) -> list[int]:
        """Order blocks by the open sums that they can make up for, then by their width."""

        def width(i: int) -> tuple[int, float]:
            types = held[i].types
            met = np.count_nonzero(across[:, types].any(axis=1))
            return min(met, len(types)), float(np.log(self._variance[types]).sum())

        return sorted(range(len(held)), key=width, reverse=True)

    def _estimate(self) -> float:
        """Estimate the tries a draw as if sums were normal, or by the chance that all are zero."""
        closing, variance = self.closing, self._variance
        if not len(closing.settled):
            return 1.0
        of_sums = np.zeros((len(closing.across.T), len(closing.across.T)))
        for group in self.local:
            for types in group.types:
                rows = closing.across[np.searchsorted(closing.before, types)].astype(float)
                v = variance[types]
                of_sums += rows.T @ (v[:, None] * rows)
                if group.held:
                    mean = v @ rows
                    of_sums -= np.outer(mean, mean) / v.sum()
        weights = closing.weights / closing.denominator
        free = len(closing.free)
        spread = weights[:free].T @ (variance[closing.free][:, None] * weights[:free])
        spread += weights[free:].T @ of_sums @ weights[free:]
        scale = np.sqrt(variance[closing.settled])
        log_chance = (
            -0.5 * np.linalg.slogdet(np.eye(len(scale)) + spread / np.outer(scale, scale))[1]
        )
        # for several counts the lesser one fits once in the root of 2, one count has a peaked law
        log_chance -= 0.5 * math.log(2) * len(scale)
        log_chance -= len(scale) * math.log(closing.denominator)
        drawn = np.delete(np.arange(len(variance)), closing.settled)
        log_zero = -0.5 * np.log1p(2 * math.pi * variance[drawn]).sum()
        return math.exp(min(-max(log_chance, log_zero), 700.0))

    def _refuse_tries(self, across: int, blocks: int) -> None:
        numbers = self.expected_proposals * len(self.sizes)
        if self.expected_proposals > MAX_PROPOSALS or numbers > MAX_SUMS:
            raise InputError(
                f"exact: {blocks} blocks of cells with {across} independent totals across them "
                f"would take about {self.expected_proposals:.1g} tries of {len(self.sizes)} sums "
                f"for a draw, more than {MAX_PROPOSALS:.0e} tries or {MAX_SUMS:.0e} sums; hold "
                f"fewer totals across blocks, or use a Markov chain (isdp.mcmc.sample)"
            )

    # -- use ----------------------------------------------------------------------------------

    def draw(self, random_bits: BitSource, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent sums.

        Returns
        -------
        sums, less : int64 arrays, shape (n_draws, types)
            A type of several cells has the noise x - y, where x and y are independent uniform
            compositions of ``sums + less`` and of ``less`` into its cells. That of a type of one
            cell is its sum.
        """
        types = len(self.sizes)
        sums, less = (np.empty((n_draws, types), dtype=np.int64) for _ in range(2))
        done = made = 0
        with progress("drawing sums", n_draws * self.expected_proposals) as at:
            while done < n_draws:
                wanted = int(1.2 * (n_draws - done) * self.expected_proposals) + 4
                tries = max(min(wanted, AT_ONCE // max(types, 1)), 1)
                tried = self._try(random_bits, tries)
                kept = [array[: n_draws - done] for array in tried]
                sums[done : done + len(kept[0])], less[done : done + len(kept[0])] = kept
                done, made = done + len(kept[0]), made + tries
                at(min(made, n_draws * self.expected_proposals))
        return sums, less

    def _try(self, random_bits: BitSource, tries: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the sums and lesser counts of the tries that are kept, in their order."""
        sums, less = (np.zeros((tries, len(self.sizes)), dtype=np.int64) for _ in range(2))
        for group in self.local:
            self._draw_group(random_bits, group, sums, less)
        closing = self.closing
        for kind in closing.free:
            sums[:, kind], less[:, kind] = self._draw_sums(random_bits, np.full(tries, kind))
        known = np.hstack([sums[:, closing.free], sums[:, closing.before] @ closing.across])
        for kind, weights in zip(closing.settled, closing.weights.T, strict=True):
            value, rest = np.divmod(known @ weights, closing.denominator)
            whole = np.flatnonzero(rest == 0)
            kept, lesser = self._keep_sums(random_bits, np.full(len(whole), kind), value[whole])
            whole = whole[kept]
            sums, less, known = sums[whole], less[whole], known[whole]
            sums[:, kind], less[:, kind] = value[whole], lesser[kept]
        return sums, less

    def _draw_group(self, random_bits: BitSource, group: ClassBlocks, sums, less) -> None:
        """Draw the blocks of a group for every try, each anew until it is kept."""
        blocks, width = group.types.shape
        row = np.repeat(np.arange(len(sums)), blocks)
        block = np.tile(np.arange(blocks), len(sums))
        while len(row):
            types = group.types[block]
            drawn = types[:, : width - 1] if group.held else types
            found, lesser = self._draw_sums(random_bits, drawn.ravel())
            found, lesser = found.reshape(drawn.shape), lesser.reshape(drawn.shape)
            kept = np.ones(len(row), dtype=bool)
            if group.held:
                last = -found.sum(axis=1)
                kept, least = self._keep_sums(random_bits, types[:, -1], last)
                found, lesser = np.column_stack([found, last]), np.column_stack([lesser, least])
            at = row[kept][:, None], types[kept]
            sums[at], less[at] = found[kept], lesser[kept]
            row, block = row[~kept], block[~kept]

    def _draw_sums(
        self, random_bits: BitSource, types: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw a sum for each type named, and the lesser of its counts."""
        sums, less = np.empty(len(types), dtype=np.int64), np.zeros(len(types), dtype=np.int64)
        single = self.sizes[types] == 1
        sums[single] = self.cached_geometric.draw_difference(random_bits, int(single.sum()))
        law = self._law[types[~single]]
        less[~single] = self._counts.draw(random_bits, law)
        sums[~single] = self._counts.draw(random_bits, law) - less[~single]
        return sums, less

    def _keep_sums(self, random_bits: BitSource, types, sums) -> tuple[np.ndarray, np.ndarray]:
        """Keep each sum with a chance in proportion to its law, with the lesser count that fits.

        Given the difference s of two counts the lesser one y has a chance in proportion to
        P(y) P(y + s): y is drawn from its own law and kept with one in proportion to P(y + s).
        """
        kept, less = np.zeros(len(types), dtype=bool), np.zeros(len(types), dtype=np.int64)
        single = self.sizes[types] == 1
        reach = self.cached_geometric.draw(random_bits, int(single.sum()))
        kept[single] = reach >= np.abs(sums[single])
        law = self._law[types[~single]]
        less[~single] = self._counts.draw(random_bits, law)
        kept[~single] = self._counts.keep(random_bits, law, sums[~single] + less[~single])
        return kept, less


def _disjoint_rows(
    invariants: Invariants, sizes: np.ndarray
) -> tuple[list[ClassBlocks], np.ndarray]:
    """Find rows without a type in common, and what the others ask for beyond them.

    Returns
    -------
    blocks : list of ClassBlocks
        One for each such row, and one for each type in none of them.
    across : int64 array, shape (independent other rows, types)
    """
    a = invariants.sparse
    free = np.ones(invariants.cells, dtype=bool)
    blocks, others = [], []
    for row in np.argsort(np.diff(a.indptr), kind="stable").tolist():
        types, values = (
            part[a.indptr[row] : a.indptr[row + 1]].astype(np.int64) for part in (a.indices, a.data)
        )
        if len(types) and free[types].all() and (values == values[0]).all():
            free[types] = False
            widest_last = types[np.argsort(sizes[types], kind="stable")]
            blocks.append(ClassBlocks(widest_last[None], held=True))
        elif len(types):
            others.append(row)
    blocks.extend(ClassBlocks(np.array([[kind]]), held=False) for kind in np.flatnonzero(free))
    across = a[sorted(others)].toarray()
    moved = np.unique(_moves(blocks, across), axis=1)
    return blocks, across[pivot_columns(moved.T)]


def _moves(blocks: list[ClassBlocks], across: np.ndarray) -> np.ndarray:
    """Tell what totals across gain from a unit moved within a block, or added to a free type."""
    moves = np.zeros((len(across), 0), dtype=np.int64)
    found = [moves]
    for block in blocks:
        types = block.types[0]
        if block.held:
            found.append(across[:, types[:-1]] - across[:, types[-1:]])
        else:
            found.append(across[:, types])
    return np.hstack(found)


def _rank_within(held: list[ClassBlocks], across: np.ndarray, inside: np.ndarray) -> int:
    blocks = [block for block in held if inside[block.types[0, 0]]]
    return len(pivot_columns(np.unique(_moves(blocks, across), axis=1)))


def _grouped(blocks: list[ClassBlocks]) -> list[ClassBlocks]:
    """Put blocks with equally many types together."""
    groups: dict[tuple[int, bool], list[np.ndarray]] = {}
    for block in blocks:
        groups.setdefault((block.types.shape[1], block.held), []).append(block.types)
    return [ClassBlocks(np.vstack(types), held) for (_, held), types in groups.items()]
