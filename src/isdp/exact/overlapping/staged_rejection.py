"""Exact draws of generalized Laplace noise under the l1 norm, by staged rejection.

Some d free cells of the lattice determine the others. They are drawn as independent discrete
Laplace variables and accepted with the probability exp(-epsilon times the l1 norm of the determined
cells), if these are all integers. The acceptance rate is
sum_u exp(-epsilon ||u||_1) tanh(epsilon / 2)^d for any choice of free cells. Stages raise it: free
cells that determine cells together form a block. What one block alone determines is accepted or
rejected, and the block drawn again, before blocks are combined. Independent parts of the lattice
are drawn one by one.

Free cells are differences of exact geometric variables. A Bernoulli variable of probability
exp(-epsilon s), for an integer s, is a geometric variable that reaches s. So a draw consumes
geometric variables of one distribution, and is otherwise integer arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isdp.compiled import njit
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.sampler import (
    MAX_PROPOSALS,
    RandomBitSampler,
    refuse_expected_proposals,
    refuse_lower_bounds,
    refuse_many_cells,
)
from isdp.io.progress import progress, tracked
from isdp.lattice.elimination import solve_determined
from isdp.mechanisms.base import Mechanism, Target, check_energy

PILOT_DRAWS = 200
PILOT_SEED = 1
PILOT_PROPOSAL_FACTOR = 4  # in multiples of the limit
GEOMETRICS_AT_ONCE = 1 << 16
ORDERS_TRIED = 12


class _DeterminedCell(NamedTuple):
    """A cell determined by free cells: ``u[cell] = coefficients @ u[cells] / divisor``."""

    cell: int
    cells: tuple[int, ...]
    coefficients: tuple[int, ...]
    divisor: int


class _Block(NamedTuple):
    """Free cells that are drawn together, and the cells that these alone determine."""

    cells: list[int]
    determined: list[_DeterminedCell]


class _Part(NamedTuple):
    """An independent part of the lattice: blocks, and the cells that several determine."""

    blocks: list[_Block]
    determined: list[_DeterminedCell]


class StagedRejectionSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_1).

    Parameters
    ----------
    invariants : Invariants
        Every draw u satisfies A u = 0.
    target : Mechanism
        Its weight is exp(-rate ||u||_1), as for `GeneralizedLaplace`.
    max_proposals : float
        Largest accepted number of expected proposals per draw.

    Attributes
    ----------
    expected_proposals : float
        Estimate of the expected number of proposed blocks per draw, from a pilot run of up to 200
        draws with a fixed seed. It is at least the number of blocks. It decides only whether the
        sampler is used.

    Raises
    ------
    InputError
        If the weight has another form, there are more than 2000 cells, draws take more than
        `max_proposals`, or noise could leave 64-bit integers.

    Notes
    -----
    The expected proposals grow exponentially with the number of cells that several blocks determine
    together. They grow as epsilon falls, up to a limit.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> sampler = StagedRejectionSampler(Invariants.total(3), GeneralizedLaplace(0.5))
    >>> noise = sampler.sample(np.random.default_rng(1), n_draws=5)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((5, 3), 0)
    """

    method = "staged rejection"
    reason = "the norm is l1"

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        lower=None,
        max_proposals: float = MAX_PROPOSALS,
    ):
        refuse_lower_bounds(self.method, lower)
        energy = check_energy(self.method, target, [(1, False)])
        refuse_many_cells(invariants.cells)
        self.invariants, self._plan = invariants, _flatten(_best_parts(invariants))
        epsilon = Fraction(energy.rate)
        self._geometric = cached_geometric(epsilon)
        weight = len(self._plan.free) + int(abs(self._plan.determined.coefficients).sum())
        self._largest = 2**62 // max(
            weight, 1
        )  # noise stays within 64 bits while geometric variables are at most this
        if epsilon * self._largest < 64:
            raise InputError(
                f"staged rejection: epsilon {float(epsilon):g} is so small that noise under these "
                f"invariants could leave 64-bit integers; use a larger epsilon"
            )
        self.expected_proposals = self._pilot(max_proposals)
        d = len(self._plan.free)
        refuse_expected_proposals(
            self.expected_proposals, max_proposals, "l1 generalized Laplace", d
        )

    def _pilot(self, max_proposals: float) -> float:
        """Estimate the proposals per draw with a fixed seed; the number spent if no draw ends."""
        noise = np.zeros((PILOT_DRAWS, self.invariants.cells), dtype=np.int64)
        bits = BitSource(np.random.default_rng(PILOT_SEED).bytes)
        budget = PILOT_PROPOSAL_FACTOR * max_proposals
        with progress("estimating proposals", 1) as at:
            for position in self._draws(bits, noise):
                drawn, n_proposals = int(position.draw), int(position.n_proposals)
                at(max(drawn / PILOT_DRAWS, n_proposals / budget))
                if n_proposals >= budget:
                    break
        return n_proposals / max(drawn, 1)

    def draw(self, bits: BitSource, n_draws: int) -> np.ndarray:
        """Draw independent noise vectors, int64 (n_draws, cells).

        Raises
        ------
        InputError
            If a geometric variable exceeds 64 bits, which has a probability below e^-64.
        """
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        with progress("drawing noise", n_draws) as at:
            for position in self._draws(bits, noise):
                at(position.draw)
        return noise

    def _draws(self, bits: BitSource, noise: np.ndarray) -> Iterator[_Position]:
        """Fill `noise`; yield the position each time that the geometric variables are used up."""
        most = 2 * int(np.diff(self._plan.block_cells).max(initial=0)) + 1
        position, geometrics = _Position(0, 0, 0, 0), np.zeros(0, dtype=np.int64)
        while position.draw < len(noise):
            fresh = self._geometric.draw(bits, max(GEOMETRICS_AT_ONCE, most))
            if fresh.max() > self._largest:
                raise InputError("release: a geometric variable exceeded 64 bits; draw again")
            geometrics = np.concatenate([geometrics, fresh])
            used, *reached = _continue_draws(self._plan, geometrics, *position, noise)
            position, geometrics = _Position(*reached), geometrics[used:]
            yield position


class _Position(NamedTuple):
    """The next draw, part and block, and the number of proposals so far."""

    draw: int
    part: int
    block: int
    n_proposals: int


def _best_parts(invariants: Invariants) -> list[_Part]:
    """Split the lattice by the best of a few choices of free cells."""
    choices = (
        _split(invariants.cells, _solve(invariants, order))
        for order in tracked("planning stages", _orders(invariants))
    )
    return max(choices, key=_log_saved_proposals)


def _log_saved_proposals(parts: list[_Part]) -> float:
    """Logarithm of the proposals that blocks save.

    A sum of k cells is near zero with a probability of about 1 / sqrt(pi k).
    """
    return sum(
        0.5 * math.log(math.pi * len(solved.cells)) + math.log(solved.divisor)
        for part in parts
        for block in part.blocks
        for solved in block.determined
    )


def _orders(invariants: Invariants) -> list[np.ndarray]:
    """Return a fixed list of orders of the cells; the first independent cells are determined."""
    cells = np.arange(invariants.cells)
    degree = np.bincount(invariants.sparse.indices, minlength=len(cells))
    by_degree = [np.argsort(sign * degree, kind="stable") for sign in (1, -1)]
    rng = np.random.default_rng(PILOT_SEED)
    others = [rng.permutation(len(cells)) for _ in range(ORDERS_TRIED - 4)]
    return [cells, cells[::-1], *by_degree, *others]


def _solve(invariants: Invariants, order: np.ndarray) -> list[_DeterminedCell]:
    """Solve A u = 0 exactly for the first independent cells in `order`."""
    cells, free, weights, denominator = solve_determined(invariants.matrix, order)
    solved = []
    for cell, row in zip(cells.tolist(), weights, strict=True):
        met = np.flatnonzero(row)
        common = math.gcd(denominator, *row[met])
        coefficients = tuple((row[met] // common).tolist())
        solved.append(
            _DeterminedCell(cell, tuple(free[met].tolist()), coefficients, denominator // common)
        )
    return solved


def _split(cells: int, determined: list[_DeterminedCell]) -> list[_Part]:
    """Divide the free cells into independent parts, and these into blocks."""
    fixed = {solved.cell for solved in determined}
    determined = sorted((d for d in determined if d.cells), key=lambda d: len(d.cells))
    block_of: dict[int, int] = {}
    blocks: list[_Block] = []
    for solved in determined:
        if not any(cell in block_of for cell in solved.cells):
            block_of.update(dict.fromkeys(solved.cells, len(blocks)))
            blocks.append(_Block(list(solved.cells), []))
    alone = [cell for cell in range(cells) if cell not in fixed and cell not in block_of]
    if alone:
        block_of.update(dict.fromkeys(alone, len(blocks)))
        blocks.append(_Block(alone, []))
    shared = []
    for solved in determined:
        met = sorted({block_of[cell] for cell in solved.cells})
        if len(met) == 1:
            blocks[met[0]].determined.append(solved)
        else:
            shared.append((met, solved))
    links = [(met[0], other) for met, _ in shared for other in met]
    part_of = _components(len(blocks), links)
    parts = [_Part([], []) for _ in range(max(part_of, default=-1) + 1)]
    for block, part in zip(blocks, part_of, strict=True):
        parts[part].blocks.append(block)
    for met, solved in shared:
        parts[part_of[met[0]]].determined.append(solved)
    return parts


def _components(nodes: int, links: list[tuple[int, int]]) -> list[int]:
    """Return the index of the connected component of each node."""
    pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    return connected_components(graph, directed=False)[1].tolist() if nodes else []


class _DeterminedCells(NamedTuple):
    """All determined cells as int64 arrays, for the compiled loops.

    The d-th determined cell ``own[d]`` has the entries ``starts[d]`` to ``starts[d + 1]`` of
    `cells` and `coefficients`, and the divisor ``divisors[d]``; see `_DeterminedCell`.
    """

    starts: np.ndarray
    cells: np.ndarray
    coefficients: np.ndarray
    divisors: np.ndarray
    own: np.ndarray


class _Plan(NamedTuple):
    """All parts as int64 arrays, for the compiled loops.

    Their layout, with part p, block b and free cell f numbered through all parts:
        part_blocks[p] to part_blocks[p + 1]    blocks of part p
        block_cells[b] to block_cells[b + 1]    positions in `free` of the cells of block b
        free[f]                                 cell number
        block_determined[b], part_determined[p] first and one past the last determined cell
    """

    free: np.ndarray
    part_blocks: np.ndarray
    block_cells: np.ndarray
    block_determined: np.ndarray
    part_determined: np.ndarray
    determined: _DeterminedCells


def _flatten(parts: list[_Part]) -> _Plan:
    """Convert the parts to arrays for the compiled loops."""
    free, determined = [], []
    part_blocks, block_cells, block_determined, part_determined = [0], [0], [], []
    for part in parts:
        for block in part.blocks:
            free += block.cells
            block_cells.append(len(free))
            first = len(determined)
            determined += block.determined
            block_determined.append((first, len(determined)))
        part_blocks.append(len(block_cells) - 1)
        first = len(determined)
        determined += part.determined
        part_determined.append((first, len(determined)))
    if any(abs(x) > 2**31 for d in determined for x in (*d.coefficients, d.divisor)):
        raise InputError(
            "staged rejection: the invariants determine cells by coefficients beyond 2^31; "
            "simplify them"
        )
    starts = np.cumsum([0, *(len(d.cells) for d in determined)])
    return _Plan(
        np.array(free, dtype=np.int64),
        np.array(part_blocks, dtype=np.int64),
        np.array(block_cells, dtype=np.int64),
        np.array(block_determined, dtype=np.int64).reshape(-1, 2),
        np.array(part_determined, dtype=np.int64).reshape(-1, 2),
        _DeterminedCells(
            starts.astype(np.int64),
            np.array([cell for d in determined for cell in d.cells], dtype=np.int64),
            np.array([x for d in determined for x in d.coefficients], dtype=np.int64),
            np.array([d.divisor for d in determined], dtype=np.int64),
            np.array([d.cell for d in determined], dtype=np.int64),
        ),
    )


@njit(cache=True)
def _continue_draws(plan, geometrics, draw, part, block, n_proposals, noise):
    """Continue the draws while `geometrics` last; return the number used and the position."""
    part_blocks, block_cells, free = plan.part_blocks, plan.block_cells, plan.free
    used = 0
    while draw < len(noise):
        row = noise[draw]
        while part < len(part_blocks) - 1:
            while block < part_blocks[part + 1]:
                if used + 2 * (block_cells[block + 1] - block_cells[block]) + 1 > len(geometrics):
                    return used, draw, part, block, n_proposals
                for f in range(block_cells[block], block_cells[block + 1]):
                    row[free[f]] = geometrics[used] - geometrics[used + 1]
                    used += 2
                first, last = plan.block_determined[block]
                if _accept_determined(first, last, plan.determined, geometrics[used], row):
                    block += 1
                used += 1
                n_proposals += 1
            if used == len(geometrics):
                return used, draw, part, block, n_proposals
            first, last = plan.part_determined[part]
            if _accept_determined(first, last, plan.determined, geometrics[used], row):
                part += 1
            else:
                block = part_blocks[part]
            used += 1
        draw, part, block = draw + 1, 0, 0
    return used, draw, part, block, n_proposals


@njit(cache=True)
def _accept_determined(first, last, determined, left, noise):
    """Set the determined cells; return whether they are integers of l1 norm at most `left`."""
    for d in range(first, last):
        value = 0
        for entry in range(determined.starts[d], determined.starts[d + 1]):
            value += determined.coefficients[entry] * noise[determined.cells[entry]]
        if value % determined.divisors[d] != 0:
            return False
        value //= determined.divisors[d]
        noise[determined.own[d]] = value
        left -= abs(value)
        if left < 0:
            return False
    return True
