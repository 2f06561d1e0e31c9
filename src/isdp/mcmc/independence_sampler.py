"""Metropolised independent sampling of noise under constraints.

The source is Gong and Meng (2020), *Congenial Differential Privacy under Mandated Disclosure*,
Algorithm 1. A proposal draws the free cells from a discrete Laplace distribution and computes the
other cells from the equalities. The Metropolis rule accepts or refuses the whole proposal. The
draws are for experiments only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.sparse import csr_array

from isdp.checks import check_positive, check_probability, refuse_overflow
from isdp.constraints.polytope import Polytope
from isdp.lattice.elimination import solve_for, unit_cells
from isdp.mcmc.compiled_chains import Proposals, Table, run_independence
from isdp.mcmc.metropolis import ChainInfo, ChainState, start_vector, state_at, vectors_of
from isdp.mechanisms.base import WEIGHT_FORMS, Energy, Mechanism, check_energy
from isdp.mechanisms.generalized_laplace import MAX_JUMP_IN_SCALES

NO_LOWER_BOUND = -(2**62)  # this bound is below all noise that the overflow check allows
MAX_TABLE_VALUE = 64  # maximum noise in the guide table of a proposal
GUIDE_TABLE_SIZE = 2048  # number of entries, which occupy half of a cache of 32 kilobytes
LEVEL = 0.99  # confidence level of an acceptance rate
MAX_REFUSAL_SCALE = 1e300  # an infinite scale times a zero exponential variable would be nan


@dataclass(frozen=True, eq=False)
class IndependenceSampler:
    """Markov chain with independent proposals for noise in a polytope.

    Parameters
    ----------
    within : Polytope
        Polytope of the noise, such as `Polytope.around` a confidential table.
    mechanism : Mechanism
        The target is the distribution of its noise conditioned on the polytope.
    proposal_epsilon : float
        Proposals of free cells are discrete Laplace noise with a = exp(-proposal_epsilon).
    solved : int array, shape (rank of the equalities,), optional
        Cells that are computed from the equalities. By default, the sampler chooses them.

    Raises
    ------
    InputError
        If the free cells do not determine the solved cells in integers, or the noise could exceed
        64-bit integers.
    """

    within: Polytope
    mechanism: Mechanism
    proposal_epsilon: float
    solved: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_positive("independence: proposal_epsilon", self.proposal_epsilon)
        check_probability("independence: exp(-proposal_epsilon)", math.exp(-self.proposal_epsilon))
        solved = unit_cells(self.within.equalities) if self.solved is None else self.solved
        solved = np.sort(np.asarray(solved, dtype=np.int64))
        solved.setflags(write=False)
        object.__setattr__(self, "solved", solved)
        max_noise = MAX_JUMP_IN_SCALES / self.proposal_epsilon
        weight = 1 + float(np.abs(self.solution[1]).sum(axis=1).max(initial=0))
        offset = float(np.abs(self.solution[0]).max(initial=0))
        size = self.cells * (weight * max_noise + offset) ** self._energy.power
        noun = f"proposals of noise up to {max_noise:.3g} in a free cell"
        refuse_overflow("independence", noun, size, 61, "Use a larger proposal_epsilon.")

    @cached_property
    def _energy(self) -> Energy:
        return check_energy("independence", self.mechanism, WEIGHT_FORMS)

    @cached_property
    def _solved(self) -> NDArray[np.int64]:
        return np.asarray(self.solved, dtype=np.int64)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.within.cells

    @cached_property
    def free(self) -> np.ndarray:
        """The cells that are proposed, as an int64 array."""
        return np.setdiff1d(np.arange(self.cells), self._solved)

    @cached_property
    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """Integer arrays (offset, matrix) with ``u[solved] = offset + matrix @ u[free]``."""
        return solve_for(self.within.equalities, self.within.totals, self._solved)

    def check(self, noise: ArrayLike) -> None:
        """Raise `InputError` unless every noise vector (..., cells) belongs to the polytope."""
        self.within.check(noise)

    def init(self, noise: ArrayLike | None = None) -> ChainState:
        """Return the state at a noise vector, by default zero, as `LatticeWalk.init` does."""
        start = start_vector(noise, self.cells)
        self.check(start)
        return state_at(start, self._energy.power)

    def run(
        self, rng: np.random.Generator, state: ChainState, draws: int, thin: int = 1
    ) -> tuple[np.ndarray, ChainState, ChainInfo]:
        """Continue the chain from a state, as `LatticeWalk.run` does.

        Each of the `thin` sweeps is one proposal. An accepted proposal may equal the state.
        """
        noise = state.noise.copy()
        kept = np.empty((draws, self.cells), dtype=np.int64)
        size, accepted = run_independence(
            rng, noise, state.size, self._proposals, self._energy, thin, kept
        )
        return kept, ChainState(noise, size), ChainInfo(draws * thin, accepted, draws * thin)

    @cached_property
    def _proposals(self) -> Proposals:
        """The arguments of the compiled loop.

        Inequalities on one cell become its lower bound. The other inequalities are checked at the
        end of a proposal. Solved cells that depend on few free cells come first, because they can
        end a proposal early.
        """
        rows = self.within.inequalities.sparse
        single = (np.diff(rows.indptr) == 1) & (self.within.inequalities.matrix.sum(axis=1) == 1)
        lower = np.full(self.cells, NO_LOWER_BOUND, dtype=np.int64)
        for row in np.flatnonzero(single):
            cell = rows.indices[rows.indptr[row]]
            lower[cell] = max(lower[cell], self.within.lower_bounds[row])
        offset, matrix = self.solution
        first = np.argsort((matrix != 0).sum(axis=1), kind="stable")
        follow = np.zeros((len(self._solved), self.cells), dtype=np.int64)
        follow[:, self.free] = matrix[first]
        # the stage of a free cell is the first solved cell that depends on it
        needed = np.vstack([matrix[first] != 0, np.ones(len(self.free), dtype=bool)])
        stage = needed.argmax(axis=0)
        stages = np.cumsum([0, *np.bincount(stage, minlength=len(first) + 1)])
        return Proposals(
            self.free[np.argsort(stage, kind="stable")],
            self._solved[first],
            stages,
            offset[first],
            vectors_of(csr_array(follow)),
            lower,
            _refusal_scale(lower[self.free], self.proposal_epsilon),
            vectors_of(rows[~single]),
            self.within.lower_bounds[~single],
            float(self.proposal_epsilon),
            _guide_table(self.proposal_epsilon),
        )


def _guide_table(rate: float) -> Table:
    values = np.arange(-MAX_TABLE_VALUE, MAX_TABLE_VALUE + 1)
    # P(X = k) = (1 - a) a^|k| / (1 + a), and P(X >= k) = a^k / (1 + a) for k > 0
    probabilities = np.exp(-rate * np.abs(values)) / (1 + math.exp(-rate))
    probabilities[1:-1] *= -math.expm1(-rate)
    cumulative = probabilities.cumsum()
    cumulative[-1] = 1
    starts = np.arange(GUIDE_TABLE_SIZE) / GUIDE_TABLE_SIZE
    return Table(cumulative, np.searchsorted(cumulative, starts, side="right"), 1 / rate)


def _refusal_scale(lower: np.ndarray, rate: float) -> float:
    """Return the `refusal_scale` of `Proposals`."""
    # P(X >= k) = a^k / (1 + a) for k > 0, and P(X < k) = a^(1 - k) / (1 + a) for k <= 0
    tail = np.exp(-rate * np.maximum(lower, 1 - lower)) / (1 + math.exp(-rate))
    probability = np.where(lower > 0, tail, 1 - tail).prod()
    with np.errstate(divide="ignore"):  # the scale is 0 for probability 1, and infinite for 0
        return float(min(-1 / np.log1p(-probability), MAX_REFUSAL_SCALE))


def acceptance_interval(accepted: np.ndarray, proposed: int) -> tuple[float, float, float]:
    """Estimate the acceptance rate and its 99 % interval (Student's t) from independent chains.

    The chains have `proposed` proposals each, and `accepted` has the number of accepted proposals
    of each chain. The results are the rate and the ends of the interval. If no proposal was
    accepted, the upper end is the rate at which at least one acceptance has the probability 0.99.
    """
    rates = np.asarray(accepted, dtype=float) / proposed
    rate = float(rates.mean())
    if not rates.any():
        return 0.0, 0.0, -math.log(1 - LEVEL) / (proposed * len(rates))
    quantile = special.stdtrit(len(rates) - 1, 0.5 + LEVEL / 2)
    half_width = float(quantile * rates.std(ddof=1) / math.sqrt(len(rates)))
    return rate, max(0.0, rate - half_width), rate + half_width
