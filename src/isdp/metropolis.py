"""Metropolis-Hastings on the lattice of feasible noise: one compiled core, two knobs.

ISDP, Algorithm 1 walks on the lattice by jumps V e, where e has independent double geometric
entries. The knobs are the lattice's basis and how a jump is accepted: "joint", the whole jump at
once, or "coordinate", one basis vector at a time. Every jump is an integer combination of basis
vectors, so no state can leave the lattice.

The generator is a pseudo-random one and weights are compared in floating point: these samplers
are for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from isdp.errors import InputError
from isdp.invariants import INT64_MAX, Invariants
from isdp.lattice import KernelLattice, kernel_lattice
from isdp.mechanisms import DoubleGeometric, Mechanism

ACCEPTANCES = ("joint", "coordinate")
LONGEST_JUMP_IN_SCALES = 37  # -log(2^-53): a 53-bit uniform gives nothing beyond


class State(NamedTuple):
    """Where a chain is: the noise, int64 (cells,), and its integer size, sum of |u_i|^power."""

    noise: np.ndarray
    size: int


class Info(NamedTuple):
    """What happened: jumps proposed that were not zero, those accepted, and updates made.

    A joint sweep proposes one jump, a coordinate sweep one for each basis vector. `updates`
    counts basis vectors visited, whatever was proposed for them.
    """

    proposed: int
    accepted: int
    updates: int

    def __add__(self, other: Info) -> Info:
        return Info(*(x + y for x, y in zip(self, other, strict=True)))

    @property
    def acceptance_rate(self) -> float:
        """Share of the jumps proposed that were accepted; nan when there was none."""
        return self.accepted / self.proposed if self.proposed else math.nan


@dataclass(frozen=True, eq=False)
class LatticeWalk:
    """A random walk on the lattice whose stationary law is the mechanism's.

    Parameters
    ----------
    lattice : KernelLattice
        Its basis is the walk's set of jumps.
    mechanism : Mechanism
        The target law.
    proposal : float
        Parameter a of the double geometric coefficient of each basis vector.
    acceptance : {"joint", "coordinate"}

    Raises
    ------
    InputError
        If the proposal lies outside (0, 1), the acceptance is unknown, or the noise could
        leave 64-bit integers.
    """

    lattice: KernelLattice
    mechanism: Mechanism
    proposal: float
    acceptance: str = "coordinate"

    def __post_init__(self):
        DoubleGeometric(self.proposal)
        if self.acceptance not in ACCEPTANCES:
            raise InputError(
                f"metropolis: acceptance {self.acceptance!r} is not one of {', '.join(ACCEPTANCES)}"
            )
        self._refuse_overflow(self.mechanism.radius(self.lattice.dimension))

    def _refuse_overflow(self, radius: float) -> None:
        cells, power = self.lattice.invariants.cells, self.mechanism.energy.power
        columns = abs(self.lattice.columns)
        weight = int(columns.sum(axis=1).max()) if columns.nnz else 0
        jump = LONGEST_JUMP_IN_SCALES / -math.log(self.proposal) * weight
        if cells * (radius + jump) ** power > INT64_MAX:
            raise InputError(
                f"metropolis: noise of norm up to {radius:.3g} and jumps up to {jump:.3g} in "
                f"{cells} cells would break the bound cells * (noise + jump)^{power} < 2^63 of "
                f"64-bit integers; use a larger epsilon or a smaller proposal parameter"
            )

    @property
    def kernel(self) -> tuple:
        """What the compiled loops take of the walk; they unpack it in this order."""
        columns = self.lattice.columns
        return (
            columns.indptr,
            columns.indices,
            columns.data,
            self.proposal,
            self.acceptance == "joint",
            *self.mechanism.energy,
        )

    def init(self, noise=None) -> State:
        """Start at the given noise vector, or at zero.

        Raises
        ------
        InputError
            If the vector is not feasible noise.
        """
        cells = self.lattice.invariants.cells
        if noise is None:
            noise = np.zeros(cells, dtype=np.int64)
        noise = np.array(noise)
        if noise.shape != (cells,):
            raise InputError(
                f"metropolis: a start needs shape ({cells},), got {noise.shape}; "
                f"give one vector of noise"
            )
        self._refuse_overflow(float(np.abs(noise).max(initial=0)))
        self.lattice.invariants.check(noise)
        power = self.mechanism.energy.power
        return State(noise.astype(np.int64), sum(abs(int(x)) ** power for x in noise))

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, Info]:
        """One sweep from `state`, which is left as it is."""
        _, after, info = self.run(rng, state, draws=1)
        return after, info

    def run(
        self, rng: np.random.Generator, state: State, draws: int, thin: int = 1
    ) -> tuple[np.ndarray, State, Info]:
        """Run the chain on and keep every `thin`-th state.

        Parameters
        ----------
        rng : numpy.random.Generator
        state : State
            Where to start; it is left as it is, and is not among the draws.
        draws : int
            States to keep.
        thin : int
            Sweeps between kept states.

        Returns
        -------
        draws : int64 array, shape (draws, cells)
        state : State
            The last state.
        info : Info
        """
        noise = state.noise.copy()
        walked = np.zeros(self.lattice.dimension, dtype=np.int64)
        kept = np.empty((draws, len(noise)), dtype=np.int64)
        size, proposed, accepted = _run_chain(
            rng,
            noise,
            walked,
            state.size,
            self.kernel,
            thin,
            kept,
        )
        info = Info(proposed, accepted, draws * thin * self.lattice.dimension)
        return kept, State(noise, size), info


def run_chains(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    draws: int,
    chains: int = 4,
    burn_in: int = 1000,
    thin: int = 1,
    start=None,
) -> tuple[np.ndarray, Info]:
    """Run independent chains, each with a stream of its own spawned from `rng`.

    Parameters
    ----------
    rng : numpy.random.Generator
    walk : LatticeWalk
    draws, chains, burn_in, thin : int
        Kept states a chain, chains, sweeps dropped first, sweeps between kept states.
    start : int array, shape (chains, cells), optional
        Where each chain starts; zero by default.

    Returns
    -------
    draws : int64 array, shape (chain, draw, cell)
        Checked: every draw meets the invariants exactly.
    info : Info
        Of the kept part, all chains together.

    Raises
    ------
    InputError
        If a count is not positive or a start is not feasible.
    """
    for name, value, least in (
        ("draws", draws, 1),
        ("chains", chains, 1),
        ("burn_in", burn_in, 0),
        ("thin", thin, 1),
    ):
        if isinstance(value, bool) or int(value) != value or value < least:
            raise InputError(
                f"metropolis: {name} must be a whole number from {least} up, got {value!r}"
            )
    if start is not None and len(start) != chains:
        raise InputError(f"metropolis: {len(start)} starts for {chains} chains; give one each")
    kept = np.empty((chains, draws, walk.lattice.invariants.cells), dtype=np.int64)
    total = Info(0, 0, 0)
    for chain, stream in enumerate(rng.spawn(chains)):
        state = walk.init(None if start is None else start[chain])
        if burn_in:
            _, state, _ = walk.run(stream, state, draws=1, thin=burn_in)
        kept[chain], _, info = walk.run(stream, state, draws=draws, thin=thin)
        total += info
    walk.lattice.invariants.check(kept)
    return kept, total


def sample(
    rng: np.random.Generator,
    invariants: Invariants,
    mechanism: Mechanism,
    *,
    draws: int,
    chains: int = 4,
    burn_in: int = 1000,
    thin: int = 1,
    basis: str = "smith",
    acceptance: str = "coordinate",
    proposal: float | None = None,
    start=None,
) -> np.ndarray:
    """Draw noise by Markov chain Monte Carlo, for experiments.

    Parameters
    ----------
    rng : numpy.random.Generator
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    mechanism : Mechanism
        The target law.
    draws, chains, burn_in, thin, start
        As in `run_chains`.
    basis : {"smith", "lll"}
        The jumps; see `isdp.lattice.kernel_lattice`.
    acceptance : {"joint", "coordinate"}
        "smith" with "joint" is the paper's Algorithm 1.
    proposal : float, optional
        Double geometric parameter of a jump's coefficients; by default jumps are as large as
        the noise in one cell.

    Returns
    -------
    int64 array, shape (chain, draw, cell)

    Raises
    ------
    InputError
        For settings out of range.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace, Invariants
    >>> rng = np.random.default_rng(1)
    >>> noise = sample(rng, Invariants.total(5), GeneralizedLaplace(0.5), draws=10)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((4, 10, 5), 0)
    """
    lattice = kernel_lattice(invariants, basis)
    if proposal is None:
        scale = mechanism.cell_scale(lattice.dimension, invariants.cells)
        proposal = math.exp(-1 / max(scale, 0.2))
    walk = LatticeWalk(lattice, mechanism, proposal, acceptance)
    return run_chains(
        rng, walk, draws=draws, chains=chains, burn_in=burn_in, thin=thin, start=start
    )[0]


@njit(cache=True)
def _double_geometric(rng, p_zero, log_a):
    """Draw from the double geometric law by inverting one uniform."""
    r = rng.random()
    if r < p_zero:
        return 0
    r = (r - p_zero) / (1.0 - p_zero)
    if r < 0.5:
        return 1 + int(math.log(1.0 - 2.0 * r) / log_a)
    return -1 - int(math.log(2.0 - 2.0 * r) / log_a)


@njit(cache=True)
def _growth(old, new, power):
    """Change of |u_i|^power when a cell goes from `old` to `new`, in integers."""
    if power == 1:
        return abs(new) - abs(old)
    return new * new - old * old


@njit(cache=True)
def _vector_growth(noise, start, stop, indices, data, k, power):
    """Growth of the size when `k` times one basis vector is added."""
    growth = 0
    for entry in range(start, stop):
        old = noise[indices[entry]]
        growth += _growth(old, old + k * data[entry], power)
    return growth


@njit(cache=True)
def _jump_growth(noise, jump, power):
    """Growth of the size when a whole jump is added."""
    growth = 0
    for i in range(len(noise)):
        if jump[i] != 0:
            growth += _growth(noise[i], noise[i] + jump[i], power)
    return growth


@njit(cache=True)
def _rise(size, growth, root, rate):
    """Rise of the energy, minus the log-weight, when the size grows by `growth`."""
    return rate * (math.sqrt(size + growth) - math.sqrt(size) if root else float(growth))


@njit(cache=True)
def _accept(rng, size, growth, root, rate):
    """Metropolis' rule for a symmetric jump that makes the size grow by `growth`."""
    return growth <= 0 or rng.random() < math.exp(-_rise(size, growth, root, rate))


@njit(cache=True)
def _run_chain(rng, noise, walked, size, kernel, thin, kept):
    """Run `len(kept) * thin` sweeps, changing `noise`; the states kept go into `kept`.

    `walked` follows the chain in the basis: noise changes by C times the change of `walked`.
    """
    indptr, indices, data, proposal, joint, power, root, rate = kernel
    dimension = len(indptr) - 1
    log_a = math.log(proposal)
    p_zero = (1.0 - proposal) / (1.0 + proposal)
    jump = np.zeros(len(noise), dtype=np.int64)
    steps = np.zeros(dimension, dtype=np.int64)
    proposed = 0
    accepted = 0
    for draw in range(len(kept)):
        for _ in range(thin):
            if joint:
                jump[:] = 0
            for j in range(dimension):
                k = _double_geometric(rng, p_zero, log_a)
                if joint:
                    steps[j] = k
                    for entry in range(indptr[j], indptr[j + 1]):
                        jump[indices[entry]] += k * data[entry]
                    continue
                if k == 0:
                    continue
                growth = _vector_growth(noise, indptr[j], indptr[j + 1], indices, data, k, power)
                proposed += 1
                if _accept(rng, size, growth, root, rate):
                    accepted += 1
                    size += growth
                    walked[j] += k
                    for entry in range(indptr[j], indptr[j + 1]):
                        noise[indices[entry]] += k * data[entry]
            if joint and steps.any():
                growth = _jump_growth(noise, jump, power)
                proposed += 1
                if _accept(rng, size, growth, root, rate):
                    accepted += 1
                    size += growth
                    walked += steps
                    noise += jump
        kept[draw, :] = noise
    return size, proposed, accepted
