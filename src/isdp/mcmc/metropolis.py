"""Metropolis-Hastings walks on the lattice of noise under invariants.

Algorithm 1 of *Integer Subspace Differential Privacy* (ISDP) proposes jumps C e. The columns of C
are a basis of the lattice, and e has independent discrete Laplace entries (double geometric in
ISDP). Every state therefore belongs to the lattice. The acceptance rule "joint" decides on the
whole jump, and "coordinate" on the step along each basis vector. The draws are for experiments,
because the walk uses pseudo-random numbers and floating point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from isdp.checks import (
    check_choice,
    check_integer,
    check_integer_array,
    check_probability,
    refuse_overflow,
)
from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError
from isdp.io.progress import announce, tracked
from isdp.lattice.null_lattice import Basis, KernelLattice, basis_seconds, kernel_lattice
from isdp.mcmc.compiled_chains import Vectors, Walk, run_chain
from isdp.mechanisms.base import WEIGHT_FORMS, Energy, Mechanism, check_energy
from isdp.mechanisms.generalized_laplace import MAX_JUMP_IN_SCALES

if TYPE_CHECKING:
    from isdp.mcmc.independence_sampler import IndependenceSampler

Acceptance = Literal["joint", "coordinate"]
ACCEPTANCE_RULES: tuple[Acceptance, ...] = ("joint", "coordinate")


class ChainState(NamedTuple):
    """State of a chain: the noise u of shape (cells,), and its size, the sum of |u_i|^power."""

    noise: NDArray[np.int64]
    size: int


class ChainInfo(NamedTuple):
    """Numbers of proposed and accepted nonzero jumps, and of updates.

    A joint sweep proposes one jump, and a coordinate sweep proposes one for each basis vector. Each
    basis vector of each sweep is one update, even if its step is zero.
    """

    proposed: int
    accepted: int
    updates: int

    @property
    def acceptance_rate(self) -> float:
        """The proportion of proposed jumps that were accepted, or nan without proposals."""
        return self.accepted / self.proposed if self.proposed else math.nan


def start_vector(noise: ArrayLike | None, cells: int) -> NDArray[np.int64]:
    """Check the start of a chain, by default zero, and return a copy."""
    given = np.zeros(cells, dtype=np.int64) if noise is None else noise
    return check_integer_array("metropolis: start", given, (cells,))


def state_at(noise: NDArray[np.int64], power: int) -> ChainState:
    """Return the state of a chain at a noise vector."""
    return ChainState(noise, sum(abs(int(x)) ** power for x in noise))


def vectors_of(compressed: csc_array | csr_array) -> Vectors:
    """Convert the columns of a CSC matrix or the rows of a CSR matrix for the compiled loops."""
    return Vectors(
        compressed.indptr.astype(np.uint64),
        compressed.indices.astype(np.uint64),
        compressed.data.astype(np.int64),
    )


@dataclass(frozen=True, eq=False)
class LatticeWalk:
    """Random walk on the lattice whose stationary distribution is that of a mechanism.

    Parameters
    ----------
    lattice : KernelLattice
        The jumps are combinations of its vectors.
    mechanism : Mechanism
        The target distribution.
    proposal : float
        Parameter a of the discrete Laplace coefficients of a jump, between 0 and 1.
    acceptance : {"joint", "coordinate"}
        Accept or refuse a jump as a whole, or separately for each vector.
    within : Polytope, optional
        A polytope on which the target distribution is conditioned. The equalities of the polytope
        must be those of the lattice.

    Raises
    ------
    InputError
        If the proposal is out of range, the acceptance rule is unknown, the polytope has other
        equalities, or the noise could exceed 64-bit integers.
    """

    lattice: KernelLattice
    mechanism: Mechanism
    proposal: float
    acceptance: Acceptance = "coordinate"
    within: Polytope | None = None

    def __post_init__(self) -> None:
        check_probability("metropolis: the proposal", self.proposal)
        check_choice("metropolis: acceptance", self.acceptance, ACCEPTANCE_RULES)
        if self.within is not None and self.within.equalities != self.lattice.invariants:
            raise InputError(
                "metropolis: the equalities of `within` are not those of the lattice. Build the "
                "lattice from within.equalities"
            )
        self._refuse_overflow(self.mechanism.radius(self.lattice.dimension))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.lattice.invariants.cells

    def check(self, noise: ArrayLike) -> None:
        """Raise `InputError` unless the walk allows every noise vector of an array (..., cells)."""
        if self.within is None:
            self.lattice.invariants.check(noise)
        else:
            self.within.check(noise)

    @cached_property
    def _energy(self) -> Energy:
        return check_energy("metropolis", self.mechanism, WEIGHT_FORMS)

    @cached_property
    def _longest_jump(self) -> float:
        columns = abs(self.lattice.columns)
        weight = int(columns.sum(axis=1).max()) if columns.nnz else 0
        return MAX_JUMP_IN_SCALES / -math.log(self.proposal) * weight

    def _refuse_overflow(self, radius: float) -> None:
        cells, power, jump = self.cells, self._energy.power, self._longest_jump
        noun = f"noise of norm {radius:.3g} with jumps of length {jump:.3g}"
        advice = "Use a larger epsilon or a smaller proposal."
        refuse_overflow("metropolis", noun, cells * (radius + jump) ** power, 63, advice)

    @cached_property
    def kernel(self) -> Walk:
        """The arguments of the compiled loops."""
        return Walk(
            vectors_of(self.lattice.columns),
            self.proposal,
            self.acceptance == "joint",
            self._energy.power,
            self._energy.root,
            float(self._energy.rate),
        )

    @cached_property
    def slack_changes(self) -> Vectors:
        """The columns of B C, which are the changes of the slack B u - b by each basis vector."""
        moves = csc_array((0, self.lattice.columns.shape[1]), dtype=np.int64)
        if self.within is not None:
            moves = csc_array(self.within.inequalities.sparse @ self.lattice.columns)
        moves.eliminate_zeros()
        return vectors_of(moves)

    def init(self, noise: ArrayLike | None = None) -> ChainState:
        """Return the state at a noise vector, by default zero.

        Raise `InputError` if the walk does not allow the vector, or its norm is too large.
        """
        start = start_vector(noise, self.cells)
        self._refuse_overflow(float(np.abs(start).max(initial=0)))
        self.check(start)
        return state_at(start, self._energy.power)

    def run(
        self,
        rng: np.random.Generator,
        state: ChainState,
        draws: int,
        thin: int | NDArray[np.int64] = 1,
    ) -> tuple[NDArray[np.int64], ChainState, ChainInfo]:
        """Continue the chain from a state, which is not changed and not part of the draws.

        The results are the draws, an int64 array of shape (draws, cells), the last state, and the
        numbers of jumps.

        Parameters
        ----------
        draws : int
            The number of states to keep.
        thin : int, or int array of shape (draws,)
            The number of sweeps before each kept state.
        """
        noise = state.noise.copy()
        walked = np.zeros(self.lattice.columns.shape[1], dtype=np.int64)
        slack = np.zeros(0, dtype=np.int64) if self.within is None else self.within.slack(noise)
        kept = np.empty((draws, len(noise)), dtype=np.int64)
        thins = np.full(draws, thin, dtype=np.int64)
        size, proposed, accepted = run_chain(
            rng, noise, walked, slack, state.size, self.kernel, self.slack_changes, thins, kept
        )
        info = ChainInfo(proposed, accepted, int(thins.sum()) * len(walked))
        return kept, ChainState(noise, size), info


def run_chains(
    rng: np.random.Generator,
    sampler: LatticeWalk | IndependenceSampler,
    *,
    n_draws: int,
    n_chains: int = 4,
    burn_in: int = 1000,
    thin: int = 1,
    start: Sequence[ArrayLike] | NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], ChainInfo]:
    """Run independent chains, each with a generator spawned from `rng`.

    Parameters
    ----------
    n_draws : int
        The number of kept states per chain.
    burn_in : int
        The number of sweeps of each chain that are dropped at the start.
    thin : int
        The number of sweeps per kept state.
    start : int array_like, shape (n_chains, cells), optional
        Start of each chain, by default zero.

    Returns
    -------
    draws : int64 array, shape (chain, draw, cell)
        The draws are checked exactly against the constraints of the sampler.
    info : ChainInfo
        Sums over all chains, without the burn-in.
    """
    n_draws = check_integer("metropolis", "n_draws", n_draws)
    n_chains = check_integer("metropolis", "n_chains", n_chains, 1)
    burn_in = check_integer("metropolis", "burn_in", burn_in)
    thin = check_integer("metropolis", "thin", thin, 1)
    if start is not None and len(start) != n_chains:
        raise InputError(
            f"metropolis: start has {len(start)} vectors and n_chains is {n_chains}. Give one "
            f"vector per chain"
        )
    kept = np.empty((n_chains, n_draws, sampler.cells), dtype=np.int64)
    total = ChainInfo(0, 0, 0)
    starts = [None] * n_chains if start is None else list(start)
    for chain, stream in enumerate(tracked("running chains", rng.spawn(n_chains))):
        state = sampler.init(starts[chain])
        if burn_in:
            _, state, _ = sampler.run(stream, state, draws=1, thin=burn_in)
        kept[chain], _, info = sampler.run(stream, state, draws=n_draws, thin=thin)
        total = ChainInfo(*map(add, total, info))
    sampler.check(kept)
    return kept, total


def draw_chains(
    mechanism: Mechanism,
    invariants: Invariants,
    *,
    n_draws: int,
    n_chains: int = 4,
    burn_in: int = 1000,
    thin: int = 1,
    basis: Basis = "smith",
    acceptance: Acceptance = "coordinate",
    proposal: float | None = None,
    start: Sequence[ArrayLike] | NDArray[np.int64] | None = None,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw noise u with A u = 0 by Markov chain Monte Carlo, for experiments.

    Algorithm 1 of ISDP uses the basis "smith" and the acceptance rule "joint".

    Parameters
    ----------
    mechanism : Mechanism
        The target distribution.
    n_draws, n_chains, burn_in, thin, start
        See `run_chains`.
    basis : {"smith", "lll", "exchange"}
        Vectors of the jumps, as in `isdp.lattice.kernel_lattice`.
    acceptance : {"joint", "coordinate"}
        Acceptance rule, as in `LatticeWalk`.
    proposal : float, optional
        Discrete Laplace parameter of the coefficients of a jump. By default, the coefficients have
        about the magnitude of the noise in one cell.

    Returns
    -------
    int64 array, shape (chain, draw, cell)

    Examples
    --------
    >>> from isdp import GeneralizedLaplace, Invariants
    >>> rng = np.random.default_rng(1)
    >>> noise = draw_chains(GeneralizedLaplace(0.5), Invariants.total(5), n_draws=10, rng=rng)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((4, 10, 5), 0)
    """
    announce("finding the lattice's basis", basis_seconds(invariants, basis))
    lattice = kernel_lattice(invariants, basis)
    if proposal is None:
        scale = mechanism.cell_scale(lattice.dimension, invariants.cells)
        proposal = math.exp(-1 / max(scale, 0.2))
    walk = LatticeWalk(lattice, mechanism, proposal, acceptance)
    return run_chains(
        rng, walk, n_draws=n_draws, n_chains=n_chains, burn_in=burn_in, thin=thin, start=start
    )[0]
