"""Exact draws of generalized Laplace noise on any lattice, by rejection.

For l2, exp(-epsilon r) is the mean of exp(-r^2 / (2 sigma^2)) over sigma = |N(0, 1)| / epsilon (the
Laplace law as a scale mixture of Gaussians: Andrews and Mallows 1974). Noise is therefore Gaussian
noise of a random sigma, whose density is proportional to exp(-(epsilon sigma)^2 / 2) times the sum
of exp(-||u||^2 / (2 sigma^2)) over the lattice. Klein's sampler bounds that sum by prod_i m(s_i, 0)
(`isdp.exact.klein`): sigma is drawn with the bound in place of the sum, and Klein's rejection
makes up for the difference.

For l1, some d cells determine the others. They are drawn as independent double geometric variables
and kept with probability exp(-epsilon times the l1 norm of the others), never where one of the
others is no whole number. The acceptance is sum_u exp(-epsilon ||u||_1) tanh(epsilon / 2)^d
whichever d cells these are. It is raised by stages: cells that lie apart form blocks, and what one
block alone determines is accepted or rejected, and the block drawn anew, before blocks are put
together. Independent parts of the lattice are drawn apart.

Everything is decided on integers; floating-point numbers decide only which. The generator is a
pseudo-random one: these samplers are for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.kernels import draw_mixture
from isdp.exact.klein import (
    MOST_TRIES,
    empty_draws,
    exp_or_inf,
    gram_schmidt,
    log_masses,
    log_sum_floor,
    patience,
    refuse_tries,
    refuse_wide,
    settle,
)
from isdp.lattice.elimination import settle as settle_cells
from isdp.mechanisms.laplace import LONGEST_JUMP_IN_SCALES, GeneralizedLaplace

PILOT_DRAWS = 200
PILOT_SEED = 1
PILOT_TRIES = 4  # in multiples of the limit
ORDERS_TRIED = 12
BINS_A_UNIT = 100  # of epsilon sigma


class RejectionSampler:
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    mechanism : GeneralizedLaplace
        With either norm.
    most_tries : float
        Refuse if a draw is expected to take more tries.

    Attributes
    ----------
    expected_tries : float
        For l2, an upper bound on the expected starts of Klein's sampler a draw. For l1, an estimate
        of the expected blocks of cells proposed a draw, from a pilot run of up to 200 draws with a
        seed of its own; at least the number of blocks.
    acceptance : float
        Draws over tries in the last call of `sample`; nan before.

    Raises
    ------
    InputError
        For another mechanism, more expected tries than `most_tries`, or noise beyond the integers
        that a double holds.

    Notes
    -----
    For l2 the tries stay near one in any dimension unless the noise is about as large as the
    lattice's spacing. For l1 they grow exponentially with the cells that several blocks determine
    together, the more so the smaller epsilon is, up to a limit that no longer depends on it.

    Examples
    --------
    >>> sampler = RejectionSampler(Invariants.total(3), GeneralizedLaplace(0.5))
    >>> noise = sampler.sample(np.random.default_rng(1), draws=5)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((5, 3), 0)
    """

    def __init__(
        self,
        invariants: Invariants,
        mechanism: GeneralizedLaplace,
        most_tries: float = MOST_TRIES,
    ):
        if not isinstance(mechanism, GeneralizedLaplace):
            raise InputError(
                f"rejection: the mechanism must be a GeneralizedLaplace, got "
                f"{type(mechanism).__name__}; GaussianSampler takes a GeneralizedGaussian"
            )
        self.invariants, self.mechanism, self.most_tries = invariants, mechanism, most_tries
        self.acceptance = math.nan
        way = _Staged if mechanism.norm == "l1" else _Mixture
        self._way = way(invariants, float(mechanism.epsilon), most_tries)
        self.expected_tries = self._way.expected_tries

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise.

        Parameters
        ----------
        rng : numpy.random.Generator
        draws : int

        Returns
        -------
        int64 array, shape (draws, cells)
            Independent; every draw meets the invariants exactly.

        Raises
        ------
        InputError
            If `draws` is no count, or one draw takes 100 times `most_tries`.
        """
        kept = empty_draws(draws, self.invariants.cells)
        tries = self._way.fill(rng, kept, patience(self.most_tries))
        self.acceptance = settle(kept, tries, self.invariants)
        return kept


class _Mixture:
    """The l2 norm: Gaussian noise of a random sigma.

    Sigma comes from bins of equal width. Its density is at most exp(-(epsilon g)^2 / 2) at a bin's
    left end g times prod_i m(s_i, 0) at the right end, as m grows with s; a try that survives is
    thinned to the density itself. The last bin ends at (sqrt(d + 1) + 12) / epsilon. Because
    m(s, 0) / s falls with s, epsilon sigma is stochastically smaller than a chi variable with d + 1
    degrees of freedom, so that a chance below exp(-72) is left out; the same holds of the lattice's
    sum in the place of the product, by Poisson's formula.
    """

    def __init__(self, invariants: Invariants, epsilon: float, most_tries: float):
        self.epsilon = epsilon
        self.frame = gram_schmidt(invariants)
        d = len(self.frame.lengths)
        top = math.sqrt(d + 1) + 12
        if not 1e-150 < epsilon < 1e150:
            raise InputError(f"rejection: epsilon {epsilon:g} is beyond what doubles can square")
        refuse_wide(self.frame, top / epsilon)
        ends = np.linspace(0.0, top / epsilon, math.ceil(BINS_A_UNIT * top) + 1)
        self.left, right = ends[:-1], ends[1:]
        self.log_products = log_masses(right[:, None] / self.frame.lengths, 0.0).sum(axis=1)
        log_bound = self.log_products - (epsilon * self.left) ** 2 / 2
        weights = np.exp(log_bound - log_bound.max())
        self.cumulative = np.cumsum(weights) / weights.sum()
        floor = np.zeros(len(right))
        floor[1:] = log_sum_floor(self.frame.lengths, self.left[1:])
        log_least = floor - (epsilon * right) ** 2 / 2
        self.expected_tries = exp_or_inf(
            float(np.logaddexp.reduce(log_bound) - np.logaddexp.reduce(log_least))
        )
        refuse_tries(self.expected_tries, most_tries, "l2 generalized Laplace", d)

    def fill(self, rng, kept, longest) -> int:
        bins = (self.left, self.left[1], self.log_products, self.cumulative)
        return draw_mixture(rng, *self.frame, self.epsilon, bins, longest, kept)


class _Dependent(NamedTuple):
    """A cell determined by free ones: its value is ``coefficients @ u[cells] / divisor``."""

    cell: int
    cells: tuple[int, ...]
    coefficients: tuple[int, ...]
    divisor: int


class _Block(NamedTuple):
    """Free cells that are drawn together, and the cells that they alone determine."""

    cells: list[int]
    dependents: list[_Dependent]


class _Part(NamedTuple):
    """An independent part of the lattice: blocks, and the cells that several determine."""

    blocks: list[_Block]
    dependents: list[_Dependent]


class _Staged:
    """The l1 norm: staged rejection on the integers."""

    def __init__(self, invariants: Invariants, epsilon: float, most_tries: float):
        self.epsilon = epsilon
        self.plan = _flatten(_best_parts(invariants))
        self._refuse_overflow()
        self.expected_tries = self._pilot(invariants.cells, most_tries)
        d = len(self.plan[0])
        refuse_tries(self.expected_tries, most_tries, "l1 generalized Laplace", d)

    def _refuse_overflow(self) -> None:
        free, coefficients = self.plan[0], self.plan[-1][2]
        weight = len(free) + int(np.abs(coefficients).sum())
        largest = LONGEST_JUMP_IN_SCALES / self.epsilon * weight
        if not largest < 2**62:
            raise InputError(
                f"rejection: noise up to {largest:.3g} does not fit into 62 bits; use a larger "
                f"epsilon"
            )

    def _pilot(self, cells: int, most_tries: float) -> float:
        """Estimate the tries a draw; where no draw comes out, give the budget spent."""
        kept = np.zeros((1, cells), dtype=np.int64)
        budget = int(min(PILOT_TRIES * most_tries, 2.0**62))
        rng, spent, drawn = np.random.default_rng(PILOT_SEED), 0, 0
        while drawn < PILOT_DRAWS and spent < budget:
            tries = _draw_staged(rng, self.epsilon, self.plan, budget - spent, kept)
            if tries < 0:
                spent = budget
                break
            spent, drawn = spent + tries, drawn + 1
        return spent / max(drawn, 1)

    def fill(self, rng, kept, longest) -> int:
        return _draw_staged(rng, self.epsilon, self.plan, longest, kept)


def _best_parts(invariants: Invariants) -> list[_Part]:
    """Split the lattice by the free cells, of a few choices, that let most be settled in blocks."""
    choices = (
        _split(invariants.cells, _dependents(invariants, order)) for order in _orders(invariants)
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


def _orders(invariants: Invariants) -> Iterator[np.ndarray]:
    """Orders of the cells in which to look for dependent ones; the same every time."""
    n = invariants.cells
    yield np.arange(n)
    yield np.arange(n)[::-1]
    degree = np.bincount(invariants.sparse.indices, minlength=n)
    yield np.argsort(degree, kind="stable")
    yield np.argsort(-degree, kind="stable")
    rng = np.random.default_rng(PILOT_SEED)
    for _ in range(ORDERS_TRIED - 4):
        yield rng.permutation(n)


def _dependents(invariants: Invariants, order: np.ndarray) -> list[_Dependent]:
    """Solve A u = 0 exactly for the first independent cells in `order`."""
    cells, free, weights, denominator = settle_cells(invariants.matrix, order)
    solved = []
    for cell, row in zip(cells.tolist(), weights, strict=True):
        met = np.flatnonzero(row)
        common = math.gcd(denominator, *row[met])
        coefficients = tuple((row[met] // common).tolist())
        solved.append(
            _Dependent(cell, tuple(free[met].tolist()), coefficients, denominator // common)
        )
    return solved


def _split(cells: int, dependents: list[_Dependent]) -> list[_Part]:
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


def _flatten(parts: list[_Part]) -> tuple:
    """Turn the parts into arrays for the compiled loops, which unpack them in this order."""
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
            "rejection: the invariants determine cells by coefficients beyond 2^31; simplify them"
        )
    starts = np.cumsum([0, *(len(d.cells) for d in dependents)])
    return (
        np.array(free, dtype=np.int64),
        np.array(part_blocks, dtype=np.int64),
        np.array(block_cells, dtype=np.int64),
        np.array(block_dependents, dtype=np.int64).reshape(-1, 2),
        np.array(part_dependents, dtype=np.int64).reshape(-1, 2),
        (
            starts.astype(np.int64),
            np.array([cell for d in dependents for cell in d.cells], dtype=np.int64),
            np.array([x for d in dependents for x in d.coefficients], dtype=np.int64),
            np.array([d.divisor for d in dependents], dtype=np.int64),
            np.array([d.cell for d in dependents], dtype=np.int64),
        ),
    )


@njit(cache=True)
def _fits(rng, epsilon, first, last, dependents, noise):
    """Set the dependent cells from `first` to `last` and say whether they are accepted."""
    starts, cells, coefficients, divisors, own = dependents
    size = 0
    for d in range(first, last):
        value = 0
        for entry in range(starts[d], starts[d + 1]):
            value += coefficients[entry] * noise[cells[entry]]
        if value % divisors[d] != 0:
            return False
        value //= divisors[d]
        noise[own[d]] = value
        size += abs(value)
    return size == 0 or rng.random() < math.exp(-epsilon * size)


@njit(cache=True)
def _draw_staged(rng, epsilon, plan, longest, kept):
    """Fill `kept` with draws and return the tries, or -1 if one draw took more than `longest`."""
    free, part_blocks, block_cells, block_dependents, part_dependents, dependents = plan
    scale = 1.0 / epsilon
    total = 0
    for draw in range(len(kept)):
        noise = kept[draw]
        tries = 0
        for part in range(len(part_blocks) - 1):
            whole = False
            while not whole:
                for block in range(part_blocks[part], part_blocks[part + 1]):
                    settled = False
                    while not settled:
                        if tries == longest:
                            return -1
                        tries += 1
                        for f in range(block_cells[block], block_cells[block + 1]):
                            up = int(rng.standard_exponential() * scale)
                            noise[free[f]] = up - int(rng.standard_exponential() * scale)
                        first, last = block_dependents[block]
                        settled = _fits(rng, epsilon, first, last, dependents, noise)
                first, last = part_dependents[part]
                whole = _fits(rng, epsilon, first, last, dependents, noise)
        total += tries
    return total
