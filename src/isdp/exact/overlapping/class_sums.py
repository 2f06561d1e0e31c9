"""Exact draws of the sums of cell classes. A class is a set of cells with equal columns of A.

The noise of a class of m cells is the difference of uniform compositions of two variables, x and y.
The variables x and y are negative binomial, which means that each is a sum of m geometric
variables. The sum of the class is s = x - y. The sums of the classes have a product distribution
given A s = 0, and no truncation is needed. A draw for 100 classes takes the same time for 10^7
cells as for 10^4 cells.

A draw has two stages. Rows of A that have no class in common, such as the totals of states, form
blocks. In each block, all classes but one are drawn, which determines the sum of the last class.
The block is accepted with a probability proportional to that of the last sum, and is otherwise
drawn again. In the final stage, the totals that cross blocks, such as a national total by sex,
determine the sums of one or a few blocks. The draw is accepted with a probability proportional to
that of the determined sums.

For K equal blocks and q independent totals that cross them, a draw takes about K^(q/2) proposals.
For 51 states, a draw takes 7 proposals with two classes, and 364 with four classes.

All decisions use exact arithmetic (`isdp.exact.bits`).
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from isdp.arrays import BoolArray, IntArray
from isdp.checks import refuse_overflow
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.negative_binomial import negative_binomials
from isdp.exact.bits.source import BitSource
from isdp.exact.sampler import MAX_PROPOSALS, refuse_proposals
from isdp.io.progress import progress
from isdp.lattice.elimination import pivot_columns, solve_determined
from isdp.lattice.smith import smith_normal_form
from isdp.mechanisms.generalized_laplace import bound_gamma

MAX_SUMS = 1e8  # maximum expected number of proposed sums per draw; it takes minutes
PROPOSED_SUMS_AT_ONCE = 1 << 20
MAX_WEIGHT = 2**31
MAX_CLASSES = 100_000


class ClassBlocks(NamedTuple):
    """Blocks with the same number of cell classes, which are drawn one by one.

    Attributes
    ----------
    classes : int64 array, shape (blocks, classes)
    held : bool
        True if the sums of a block add up to zero, which determines the last sum.
    """

    classes: IntArray
    held: bool


class FinalStage(NamedTuple):
    """The classes of the final stage, of which some are drawn and the others are determined.

    Let ``open = s[before] @ across`` be the contributions of earlier classes to the totals across
    blocks. Then ``s[determined] = (s[free], open) @ weights / denominator``.

    Attributes
    ----------
    free, determined, before : int64 arrays
        The classes that are drawn in this stage, determined in it, and drawn before it.
    across : int64 array, shape (before, totals across blocks)
    weights : int64 array, shape (free + totals across blocks, determined)
    """

    free: IntArray
    determined: IntArray
    before: IntArray
    across: IntArray
    weights: IntArray
    denominator: int


class CellClassSums:
    """Draws of the sums of cell classes under invariants on classes.

    P(s) is proportional to the product over the classes t of q_t(s_t) on the integer vectors s with
    A s = 0. Here q_t is the distribution of a sum of ``sizes[t]`` independent variables with P(k)
    proportional to exp(-epsilon |k|).

    Parameters
    ----------
    invariants : Invariants
        Any integers. The columns are classes instead of cells.
    sizes : int array, shape (classes,)
        The number of cells of each class.
    max_sums : float
        The maximum expected number of proposed sums per draw.

    Attributes
    ----------
    expected_proposals : float
        An estimate of the expected number of proposals per draw, which assumes that sums are
        normally distributed. The estimate is used only for the selection of a sampler.

    Raises
    ------
    InputError
        If a draw takes too many proposals, or sums could overflow 64-bit integers.
    """

    def __init__(
        self,
        invariants: Invariants,
        sizes: IntArray,
        epsilon: Fraction,
        max_sums: float = MAX_SUMS,
    ):
        self.sizes = sizes
        if len(self.sizes) > MAX_CLASSES:
            raise InputError(
                f"invariants: at most {MAX_CLASSES} cell classes are supported, got "
                f"{len(self.sizes)}. Use fewer totals."
            )
        self.epsilon = epsilon
        self._geometric = cached_geometric(epsilon)
        self._variance = 2 * self.sizes * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        held, across = _disjoint_rows(invariants, self.sizes)
        self.final, last = self._close(held, across)
        self.separate = _grouped([block for i, block in enumerate(held) if i not in last])
        self.expected_proposals = self._estimate()
        draw = f"invariants: a draw of the sums of {len(sizes)} cell classes"
        maximum = min(MAX_PROPOSALS, max_sums / len(sizes))
        remedy = "Use fewer overlapping totals, or a Markov chain (isdp.mcmc.draw_chains)."
        refuse_proposals(draw, self.expected_proposals, maximum, remedy)
        # classes of one cell use `_geometric` instead
        self._counts = negative_binomials(epsilon)
        self._indices = self._counts.indices(self.sizes)

    def _close(self, held: list[ClassBlocks], across: IntArray) -> tuple[FinalStage, set[int]]:
        """Choose blocks of large variance that determine all crossing totals."""
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
        # classes of large variance are determined, and the open sums, which come last, are not
        widest = inside_of[np.argsort(-self.sizes[inside_of], kind="stable")]
        matrix = np.hstack([rows[:, widest], open_sums]).astype(np.int64)
        determined, free, weights, denominator = solve_determined(matrix)
        if max(denominator, abs(weights).max(initial=0)) > MAX_WEIGHT:
            raise InputError(
                f"invariants: class sums determine others with weights above {MAX_WEIGHT}. Use "
                f"invariants with smaller entries."
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
        # larger sums of a class have a probability below 1e-20
        max_sum = min(bound_gamma(int(self.sizes.max()), float(self.epsilon)), 2.0**53)
        bound = float(largest) * float(np.abs(weights).max(initial=1)) * max_sum
        refuse_overflow("epsilon", "weighted sums of noise", bound, 62, "Use a larger epsilon.")
        return final, set(last)

    def _widest_first(self, held: list[ClassBlocks], across: IntArray) -> list[int]:
        """Sort blocks by the number of crossing totals that they determine, then by variance."""

        def width(i: int) -> tuple[int, float]:
            classes = held[i].classes
            met = int(across[:, classes].any(axis=1).sum())
            return min(met, len(classes)), float(np.log(self._variance[classes]).sum())

        return sorted(range(len(held)), key=width, reverse=True)

    def _estimate(self) -> float:
        """Estimate the number of proposals per draw from the variances of the sums."""
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
        # The acceptance probability of y in `_keep_sums` is about 1 / sqrt(2). For a class of one
        # cell, this factor corrects the normal approximation.
        log_probability -= 0.5 * math.log(2) * len(scale)
        if final.denominator > 1:  # determined sums are rarely all integers
            divisors = smith_normal_form(final.weights).divisors
            common = [math.gcd(divisor, final.denominator) for divisor in divisors]
            log_probability -= sum(math.log(final.denominator // divisor) for divisor in common)
        drawn = np.delete(np.arange(len(variance)), final.determined)
        log_zero = -0.5 * np.log1p(2 * math.pi * variance[drawn]).sum()
        return math.exp(min(-max(log_probability, log_zero), 700.0))

    def draw(self, bits: BitSource, n_draws: int) -> tuple[IntArray, IntArray]:
        """Draw independent sums.

        Returns
        -------
        sums, smaller : int64 arrays, shape (n_draws, classes)
            The noise of a class of several cells is x - y. Here x and y are independent uniform
            compositions of ``sums + smaller`` and of ``smaller`` into its cells. The noise of a
            class of one cell is its entry of ``sums``.
        """
        classes = len(self.sizes)
        sums, smaller = (np.empty((n_draws, classes), dtype=np.int64) for _ in range(2))
        done = proposed = 0
        with progress("drawing sums", n_draws * self.expected_proposals) as report:
            while done < n_draws:
                wanted = int(1.2 * (n_draws - done) * self.expected_proposals) + 4
                n_proposals = max(min(wanted, PROPOSED_SUMS_AT_ONCE // max(classes, 1)), 1)
                kept = [array[: n_draws - done] for array in self._propose(bits, n_proposals)]
                sums[done : done + len(kept[0])], smaller[done : done + len(kept[0])] = kept
                done, proposed = done + len(kept[0]), proposed + n_proposals
                report(min(proposed, n_draws * self.expected_proposals))
        return sums, smaller

    def _propose(self, bits: BitSource, n_proposals: int) -> tuple[IntArray, IntArray]:
        """Return the sums and the smaller variables of the accepted proposals."""
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

    def _draw_group(
        self, bits: BitSource, group: ClassBlocks, sums: IntArray, smaller: IntArray
    ) -> None:
        """Draw the blocks of a group for each proposal.

        Each block is drawn again until it is accepted.
        """
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
                kept, last_smaller = self._keep_sums(bits, classes[:, -1], last)
                found = np.column_stack([found, last])
                found_smaller = np.column_stack([found_smaller, last_smaller])
            entries = row[kept][:, None], classes[kept]
            sums[entries], smaller[entries] = found[kept], found_smaller[kept]
            row, block = row[~kept], block[~kept]

    def _draw_sums(self, bits: BitSource, classes: IntArray) -> tuple[IntArray, IntArray]:
        """Draw x - y and y for each class, with y = 0 for a class of one cell."""
        sums, smaller = np.zeros((2, len(classes)), dtype=np.int64)
        single = self.sizes[classes] == 1
        sums[single] = self._geometric.draw_difference(bits, int(single.sum()))
        indices = self._indices[classes[~single]]
        smaller[~single] = self._counts.draw(bits, indices)
        sums[~single] = self._counts.draw(bits, indices) - smaller[~single]
        return sums, smaller

    def _keep_sums(
        self, bits: BitSource, classes: IntArray, sums: IntArray
    ) -> tuple[BoolArray, IntArray]:
        """Accept each sum s = x - y with a probability proportional to that of s, and draw its y.

        Given s, the probability of y is proportional to P(y) P(y + s). The sampler draws y from P
        and accepts it with a probability proportional to P(y + s).
        """
        kept, smaller = np.zeros(len(classes), dtype=bool), np.zeros(len(classes), dtype=np.int64)
        single = self.sizes[classes] == 1
        steps = self._geometric.draw(bits, int(single.sum()))
        kept[single] = steps >= np.abs(sums[single])
        indices = self._indices[classes[~single]]
        smaller[~single] = self._counts.draw(bits, indices)
        kept[~single] = self._counts.keep(bits, indices, sums[~single] + smaller[~single])
        return kept, smaller


def _disjoint_rows(invariants: Invariants, sizes: IntArray) -> tuple[list[ClassBlocks], IntArray]:
    """Find rows that have no class in common.

    The result has one block for each of these rows, and one for each class in none of them. The
    result also has the other rows, without those that follow from the blocks and from each other.
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


def _moves(blocks: list[ClassBlocks], across: IntArray) -> IntArray:
    """Return the changes of `across` if a unit moves in a block, or is added to a free class."""
    moves = np.zeros((len(across), 0), dtype=np.int64)
    found = [moves]
    for block in blocks:
        classes = block.classes[0]
        if block.held:
            found.append(across[:, classes[:-1]] - across[:, classes[-1:]])
        else:
            found.append(across[:, classes])
    return np.hstack(found)


def _rank_within(held: list[ClassBlocks], across: IntArray, inside: BoolArray) -> int:
    blocks = [block for block in held if inside[block.classes[0, 0]]]
    return len(pivot_columns(np.unique(_moves(blocks, across), axis=1)))


def _grouped(blocks: list[ClassBlocks]) -> list[ClassBlocks]:
    """Group blocks with the same number of classes."""
    groups: dict[tuple[int, bool], list[IntArray]] = {}
    for block in blocks:
        groups.setdefault((block.classes.shape[1], block.held), []).append(block.classes)
    return [ClassBlocks(np.vstack(classes), held) for (_, held), classes in groups.items()]
