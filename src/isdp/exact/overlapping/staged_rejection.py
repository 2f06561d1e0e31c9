"""Exact draws of generalized Laplace noise under the l1 norm on any lattice, by staged rejection.

Some d cells determine the others. They are drawn as independent double geometric variables
and kept with probability exp(-epsilon times the l1 norm of the others), never where one of the
others is no whole number. The acceptance is sum_u exp(-epsilon ||u||_1) tanh(epsilon / 2)^d
whichever d cells these are. It is raised by stages: cells that lie apart form blocks, and what one
block alone determines is accepted or rejected, and the block drawn anew, before blocks are put
together. Independent parts of the lattice are drawn apart.

Free cells are differences of exact geometric counts, and a coin of chance exp(-epsilon s), s a
whole number, is a geometric count that reaches s. So a draw uses up geometric counts alone, all of
one law, and is otherwise arithmetic on integers.
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
from isdp.lattice.elimination import solve_determined as solve_determined
from isdp.mechanisms.base import Mechanism, Target, check_energy

PILOT_DRAWS = 200
PILOT_SEED = 1
PILOT_PROPOSAL_FACTOR = 4  # in multiples of the limit
GEOMETRICS_AT_ONCE = 1 << 16
ORDERS_TRIED = 12


class _DeterminedCell(NamedTuple):
    """A cell determined by free ones: its value is ``coefficients @ u[cells] / divisor``."""

    cell: int
    cells: tuple[int, ...]
    coefficients: tuple[int, ...]
    divisor: int


class _Block(NamedTuple):
    """Free cells that are drawn together, and the cells that they alone determine."""

    cells: list[int]
    dependents: list[_DeterminedCell]


class _Part(NamedTuple):
    """An independent part of the lattice: blocks, and the cells that several determine."""

    blocks: list[_Block]
    dependents: list[_DeterminedCell]


class StagedRejectionSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_1).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    target : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.
    max_proposals : float
        Refuse if a draw is expected to take more tries.

    Attributes
    ----------
    expected_proposals : float
        Estimate of the expected blocks of cells proposed a draw, from a pilot run of up to 200
        draws with a seed of its own; at least the number of blocks. It decides whether to draw, not
        what.

    Raises
    ------
    InputError
        For another law, more than 2000 cells, more expected tries than `max_proposals`, or noise
        that could leave 64-bit integers.

    Notes
    -----
    Tries grow exponentially with the cells that several blocks determine together, the more so the
    smaller epsilon is, up to a limit that no longer depends on it.

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
        self.cached_geometric = cached_geometric(epsilon)
        weight = len(self._plan.free) + int(abs(self._plan.dependents.coefficients).sum())
        self._largest = 2**62 // max(weight, 1)  # a count up to it stays within 64 bits
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
        """Estimate the tries a draw, the same each time; where no draw comes out, those spent."""
        noise = np.zeros((PILOT_DRAWS, self.invariants.cells), dtype=np.int64)
        random_bits = BitSource(np.random.default_rng(PILOT_SEED).bytes)
        budget = PILOT_PROPOSAL_FACTOR * max_proposals
        with progress("estimating tries", 1) as at:
            for place in self._draws(random_bits, noise):
                drawn, tries = int(place.draw), int(place.tries)
                at(max(drawn / PILOT_DRAWS, tries / budget))
                if tries >= budget:
                    break
        return tries / max(drawn, 1)

    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells).

        Raises
        ------
        InputError
            If a count leaves what 64 bits can hold: once in e^64 counts, at most.
        """
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        with progress("drawing noise", n_draws) as at:
            for place in self._draws(random_bits, noise):
                at(place.draw)
        return noise

    def _draws(self, random_bits: BitSource, noise: np.ndarray) -> Iterator[_Position]:
        """Fill `noise`; yield the place that is reached each time that counts are used up."""
        most = 2 * int(np.diff(self._plan.block_cells).max(initial=0)) + 1
        place, counts = _Position(0, 0, 0, 0), np.zeros(0, dtype=np.int64)
        while place.draw < len(noise):
            fresh = self.cached_geometric.draw(random_bits, max(GEOMETRICS_AT_ONCE, most))
            if fresh.max() > self._largest:
                raise InputError("release: a count came up that 64 bits do not hold; draw again")
            counts = np.concatenate([counts, fresh])
            used, *reached = _continue_draws(self._plan, counts, *place, noise)
            place, counts = _Position(*reached), counts[used:]
            yield place


class _Position(NamedTuple):
    """The draw, its part and its block that come next, and the tries so far."""

    draw: int
    part: int
    block: int
    tries: int


def _best_parts(invariants: Invariants) -> list[_Part]:
    """Split the lattice by the free cells, of a few choices, that let most be settled in blocks."""
    choices = (
        _split(invariants.cells, _dependents(invariants, order))
        for order in tracked("planning stages", _orders(invariants))
    )
    return max(choices, key=_settled_within_blocks)


def _settled_within_blocks(parts: list[_Part]) -> float:
    """Logarithm of the tries that blocks save: a sum of k cells is near zero once in sqrt(pi k)."""
    return sum(
        0.5 * math.log(math.pi * len(dependent.cells)) + math.log(dependent.divisor)
        for part in parts
        for block in part.blocks
        for dependent in block.dependents
    )


def _orders(invariants: Invariants) -> list[np.ndarray]:
    """Orders of the cells in which to look for dependent ones; the same every time."""
    cells = np.arange(invariants.cells)
    degree = np.bincount(invariants.sparse.indices, minlength=len(cells))
    by_degree = [np.argsort(sign * degree, kind="stable") for sign in (1, -1)]
    rng = np.random.default_rng(PILOT_SEED)
    others = [rng.permutation(len(cells)) for _ in range(ORDERS_TRIED - 4)]
    return [cells, cells[::-1], *by_degree, *others]


def _dependents(invariants: Invariants, order: np.ndarray) -> list[_DeterminedCell]:
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


def _split(cells: int, dependents: list[_DeterminedCell]) -> list[_Part]:
    """Put the free cells into independent parts and these into blocks."""
    fixed = {dependent.cell for dependent in dependents}
    dependents = sorted((d for d in dependents if d.cells), key=lambda d: len(d.cells))
    block_of: dict[int, int] = {}
    blocks: list[_Block] = []
    for dependent in dependents:
        if not any(cell in block_of for cell in dependent.cells):
            block_of.update(dict.fromkeys(dependent.cells, len(blocks)))
            blocks.append(_Block(list(dependent.cells), []))
    alone = [cell for cell in range(cells) if cell not in fixed and cell not in block_of]
    if alone:
        block_of.update(dict.fromkeys(alone, len(blocks)))
        blocks.append(_Block(alone, []))
    shared = []
    for dependent in dependents:
        met = sorted({block_of[cell] for cell in dependent.cells})
        if len(met) == 1:
            blocks[met[0]].dependents.append(dependent)
        else:
            shared.append((met, dependent))
    links = [(met[0], other) for met, _ in shared for other in met]
    part_of = _components(len(blocks), links)
    parts = [_Part([], []) for _ in range(max(part_of, default=-1) + 1)]
    for block, part in zip(blocks, part_of, strict=True):
        parts[part].blocks.append(block)
    for met, dependent in shared:
        parts[part_of[met[0]]].dependents.append(dependent)
    return parts


def _components(nodes: int, links: list[tuple[int, int]]) -> list[int]:
    """Give the number of the connected component of each node."""
    pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    return connected_components(graph, directed=False)[1].tolist() if nodes else []


class _DeterminedCells(NamedTuple):
    """All dependent cells as int64 arrays, for the compiled loops.

    Entries ``starts[d]`` to ``starts[d + 1]`` of `cells` and `coefficients` belong to the d-th
    dependent cell, which is ``own[d]``; see `_DeterminedCell`.
    """

    starts: np.ndarray
    cells: np.ndarray
    coefficients: np.ndarray
    divisors: np.ndarray
    own: np.ndarray


class _Plan(NamedTuple):
    """The parts as int64 arrays, for the compiled loops.

    Blocks ``part_blocks[p]`` to ``part_blocks[p + 1]`` make up part p; ``block_cells`` delimits
    the blocks within `free`; `block_dependents` and `part_dependents`, shape (..., 2), hold the
    first and one past the last dependent cell of each block and part.
    """

    free: np.ndarray
    part_blocks: np.ndarray
    block_cells: np.ndarray
    block_dependents: np.ndarray
    part_dependents: np.ndarray
    dependents: _DeterminedCells


def _flatten(parts: list[_Part]) -> _Plan:
    """Turn the parts into arrays for the compiled loops."""
    free, dependents = [], []
    part_blocks, block_cells, block_dependents, part_dependents = [0], [0], [], []
    for part in parts:
        for block in part.blocks:
            free += block.cells
            block_cells.append(len(free))
            first = len(dependents)
            dependents += block.dependents
            block_dependents.append((first, len(dependents)))
        part_blocks.append(len(block_cells) - 1)
        first = len(dependents)
        dependents += part.dependents
        part_dependents.append((first, len(dependents)))
    if any(abs(x) > 2**31 for d in dependents for x in (*d.coefficients, d.divisor)):
        raise InputError(
            "staged rejection: the invariants determine cells by coefficients beyond 2^31; "
            "simplify them"
        )
    starts = np.cumsum([0, *(len(d.cells) for d in dependents)])
    return _Plan(
        np.array(free, dtype=np.int64),
        np.array(part_blocks, dtype=np.int64),
        np.array(block_cells, dtype=np.int64),
        np.array(block_dependents, dtype=np.int64).reshape(-1, 2),
        np.array(part_dependents, dtype=np.int64).reshape(-1, 2),
        _DeterminedCells(
            starts.astype(np.int64),
            np.array([cell for d in dependents for cell in d.cells], dtype=np.int64),
            np.array([x for d in dependents for x in d.coefficients], dtype=np.int64),
            np.array([d.divisor for d in dependents], dtype=np.int64),
            np.array([d.cell for d in dependents], dtype=np.int64),
        ),
    )


@njit(cache=True)
def _continue_draws(plan, counts, draw, part, block, tries, noise):
    """Go on with the draws as far as `counts` reach; return how many were used, and the place."""
    part_blocks, block_cells, free = plan.part_blocks, plan.block_cells, plan.free
    used = 0
    while draw < len(noise):
        row = noise[draw]
        while part < len(part_blocks) - 1:
            while block < part_blocks[part + 1]:
                if used + 2 * (block_cells[block + 1] - block_cells[block]) + 1 > len(counts):
                    return used, draw, part, block, tries
                for f in range(block_cells[block], block_cells[block + 1]):
                    row[free[f]] = counts[used] - counts[used + 1]
                    used += 2
                first, last = plan.block_dependents[block]
                if _accept_determined(first, last, plan.dependents, counts[used], row):
                    block += 1
                used += 1
                tries += 1
            if used == len(counts):
                return used, draw, part, block, tries
            first, last = plan.part_dependents[part]
            if _accept_determined(first, last, plan.dependents, counts[used], row):
                part += 1
            else:
                block = part_blocks[part]
            used += 1
        draw, part, block = draw + 1, 0, 0
    return used, draw, part, block, tries


@njit(cache=True)
def _accept_determined(first, last, dependents, left, noise):
    """Set the dependent cells; say if they are whole and their l1 norm is at most `left`."""
    for d in range(first, last):
        value = 0
        for entry in range(dependents.starts[d], dependents.starts[d + 1]):
            value += dependents.coefficients[entry] * noise[dependents.cells[entry]]
        if value % dependents.divisors[d] != 0:
            return False
        value //= dependents.divisors[d]
        noise[dependents.own[d]] = value
        left -= abs(value)
        if left < 0:
            return False
    return True
