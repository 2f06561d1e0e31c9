"""Metropolised independent sampling of tables under constraints (CDP, Algorithm 1).

A proposal draws the free cells from a double geometric distribution and solves the others from the
equalities. It is accepted or rejected as a whole, by the rule of `isdp.mcmc.metropolis`. The draws
are for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.sparse import csr_array

from isdp.checks import INT64_MAX, check_positive
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError
from isdp.lattice.elimination import solve_for, unit_cells
from isdp.mcmc.compiled_chains import Proposals, Table, run_independence
from isdp.mcmc.metropolis import ChainInfo, ChainState, start_vector, state_at, vectors_of
from isdp.mechanisms.base import WEIGHT_FORMS, Energy, Mechanism, check_energy
from isdp.mechanisms.generalized_laplace import MAX_JUMP_IN_SCALES, check_proposal

NO_LOWER_BOUND = -(2**62)  # below anything that the overflow check lets a cell be
MAX_TABLE_VALUE = 64  # largest noise in the table of a proposal
GUIDE_TABLE_SIZE = 2048  # of the table; this many take half of a small cache
MAX_GAP = 1e300  # proposals; infinity times an exponential that is zero would be no number


@dataclass(frozen=True, eq=False)
class IndependenceSampler:
    """Independence chain for noise within a polytope.

    Parameters
    ----------
    within : Polytope
        The noise that is allowed, from `Polytope.around` a confidential table.
    mechanism : Mechanism
        The unconstrained noise distribution; the target is conditioned on the polytope.
    proposal_epsilon : float
        The free cells are proposed as double geometric noise with a = exp(-proposal_epsilon).
    solved : int array, shape (rank of the equalities,), optional
        Cells that are solved from the equalities; found if not given. All others are free.

    Raises
    ------
    InputError
        If the solved cells do not follow from the others, or would not be whole numbers.
    """

    within: Polytope
    mechanism: Mechanism
    proposal_epsilon: float
    solved: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_positive("independence: proposal_epsilon", self.proposal_epsilon)
        check_proposal("independence", math.exp(-self.proposal_epsilon))
        check_energy("independence", self.mechanism, WEIGHT_FORMS)
        solved = unit_cells(self.within.equalities) if self.solved is None else self.solved
        solved = np.sort(np.asarray(solved, dtype=np.int64))
        solved.setflags(write=False)
        object.__setattr__(self, "solved", solved)
        reach = MAX_JUMP_IN_SCALES / self.proposal_epsilon
        weight = 1 + float(np.abs(self.solution[1]).sum(axis=1).max(initial=0))
        offset = float(np.abs(self.solution[0]).max(initial=0))
        size = self.cells * (weight * reach + offset) ** self._energy.power
        if size > INT64_MAX // 4:
            raise InputError(
                f"independence: proposals of up to {reach:.3g} a free cell could leave 64-bit "
                f"integers; use a larger proposal_epsilon"
            )

    @cached_property
    def _energy(self) -> Energy:
        return check_energy("independence", self.mechanism, WEIGHT_FORMS)

    @cached_property
    def _solved(self) -> NDArray[np.int64]:
        return np.asarray(self.solved, dtype=np.int64)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.within.cells

    @cached_property
    def free(self) -> np.ndarray:
        """Cells that are proposed; int64."""
        return np.setdiff1d(np.arange(self.cells), self._solved)

    @cached_property
    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """Integers of the solved cells: u_solved = offset + matrix @ u_free."""
        return solve_for(self.within.equalities, self.within.totals, self._solved)

    def check(self, noise: ArrayLike) -> None:
        """Raise unless every noise vector (..., cells) lies within, in exact integers."""
        self.within.check(noise)

    def init(self, noise: ArrayLike | None = None) -> ChainState:
        """Start at the given noise vector, or at zero.

        Raises
        ------
        InputError
            If the vector does not lie within the polytope.
        """
        start = start_vector(noise, self.cells)
        self.check(start)
        return state_at(start, self._energy.power)

    def run(
        self, rng: np.random.Generator, state: ChainState, draws: int, thin: int = 1
    ) -> tuple[np.ndarray, ChainState, ChainInfo]:
        """Run the chain on and keep every `thin`-th state.

        Parameters
        ----------
        state : ChainState
            Where to start; it is left as it is, and is not among the draws.
        draws, thin : int
            States to keep, and proposals between them.

        Returns
        -------
        draws : int64 array, shape (draws, cells)
        state : ChainState
            The last state.
        info : ChainInfo
            Proposals made and accepted; a proposal that equals the state counts as accepted.
        """
        noise = state.noise.copy()
        kept = np.empty((draws, self.cells), dtype=np.int64)
        size, accepted = run_independence(
            rng, noise, state.size, self._proposals, self._energy, thin, kept
        )
        return kept, ChainState(noise, size), ChainInfo(draws * thin, accepted, draws * thin)

    @cached_property
    def _proposals(self) -> Proposals:
        """The sampler in the form that the compiled loop takes.

        Inequalities on one free cell become its lower bound; the others are checked at the end.
        Solved cells that follow from few others come first, as they may end a proposal early.
        """
        rows = self.within.inequalities.sparse
        single = (np.diff(rows.indptr) == 1) & (self.within.inequalities.matrix.sum(axis=1) == 1)
        floor = np.full(self.cells, NO_LOWER_BOUND, dtype=np.int64)
        for row in np.flatnonzero(single):
            cell = rows.indices[rows.indptr[row]]
            floor[cell] = max(floor[cell], self.within.lower_bounds[row])
        offset, matrix = self.solution
        first = np.argsort((matrix != 0).sum(axis=1), kind="stable")
        follow = np.zeros((len(self._solved), self.cells), dtype=np.int64)
        follow[:, self.free] = matrix[first]
        # a free cell is drawn for the first row that needs it, or at the end if none does
        needed = np.vstack([matrix[first] != 0, np.ones(len(self.free), dtype=bool)])
        stage = needed.argmax(axis=0)
        stages = np.cumsum([0, *np.bincount(stage, minlength=len(first) + 1)])
        return Proposals(
            self.free[np.argsort(stage, kind="stable")],
            self._solved[first],
            stages,
            offset[first],
            vectors_of(csr_array(follow)),
            floor,
            _gap(floor[self.free], self.proposal_epsilon),
            vectors_of(rows[~single]),
            self.within.lower_bounds[~single],
            float(self.proposal_epsilon),
            _table(self.proposal_epsilon),
        )


def _table(rate: float) -> Table:
    # P(X = k) = (1 - a) a^|k| / (1 + a), and P(X >= k) = a^k / (1 + a) for k > 0
    law = np.exp(-rate * np.abs(np.arange(-MAX_TABLE_VALUE, MAX_TABLE_VALUE + 1))) / (
        1 + math.exp(-rate)
    )
    law[1:-1] *= -math.expm1(-rate)
    cumulative = law.cumsum()
    cumulative[-1] = 1
    guide = np.searchsorted(
        cumulative, np.arange(GUIDE_TABLE_SIZE) / GUIDE_TABLE_SIZE, side="right"
    )
    return Table(cumulative, guide, 1 / rate)


def _gap(floor: np.ndarray, rate: float) -> float:
    """Scale of the waiting time for double geometric noise that is above all lower bounds."""
    # P(X >= k) for k > 0, P(X < k) for others: a^k / (1 + a) and a^(1 - k) / (1 + a)
    tail = np.exp(-rate * np.maximum(floor, 1 - floor)) / (1 + math.exp(-rate))
    chance = np.where(floor > 0, tail, 1 - tail).prod()
    with np.errstate(divide="ignore"):  # zero where all pass, infinite where none does
        return float(min(-1 / np.log1p(-chance), MAX_GAP))


def acceptance_interval(
    accepted: np.ndarray, proposed: int, level: float = 0.99
) -> tuple[float, float, float]:
    """Estimate the acceptance rate from independent chains, with an interval.

    Parameters
    ----------
    accepted : int array, shape (chains,)
        Accepted proposals of each chain.
    proposed : int
        Proposals of each chain.
    level : float
        Of the interval: Student's t over the chains. Where no chain accepted anything, it ends
        at the rate that would have shown something with probability `level`.
    """
    rates = np.asarray(accepted, dtype=float) / proposed
    rate = float(rates.mean())
    if not rates.any():
        return 0.0, 0.0, -math.log(1 - level) / (proposed * len(rates))
    half = (
        special.stdtrit(len(rates) - 1, 0.5 + level / 2) * rates.std(ddof=1) / math.sqrt(len(rates))
    )
    return rate, max(0.0, rate - float(half)), rate + float(half)
