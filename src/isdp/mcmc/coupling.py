"""L-lag coupling of two chains: meeting times, and the bound on the distance to the target.

ISDP, Algorithms 2 and 3, after Biswas, Jacob and Vanetti (2019). Both chains run the walk of
`isdp.mcmc.metropolis`; their proposals are coupled maximally, basis vector by basis vector, and
they share the uniform of each acceptance. Each chain by itself moves as the single walk does.
"""

from __future__ import annotations

import bisect
import math
import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from isdp.checks import check_integer
from isdp.errors import InputError
from isdp.lattice.null_lattice import BASES
from isdp.mcmc.compiled_chains import Scratch, coupled_sweeps, meet
from isdp.mcmc.metropolis import ChainState, LatticeWalk
from isdp.mechanisms.generalized_laplace import MAX_JUMP_IN_SCALES

CONFIDENCE_LEVEL = 0.99  # level of the Monte Carlo band
MIN_JUMPS = 10  # that the leading chain accepts within the lag


class CoupledState(NamedTuple):
    """Two chains, the first `lag` sweeps ahead; noise (cells,) and coordinates (dimension,).

    `apart` holds the second chain's coordinates in the walk's basis minus the first's; the chains
    are identical where it is zero.
    """

    first: ChainState
    second: ChainState
    apart: NDArray[np.int64]

    @property
    def identical(self) -> bool:
        """True if the chains have met."""
        return not self.apart.any()


class MeetingTimes(NamedTuple):
    """Meeting times of independent coupled chains.

    Attributes
    ----------
    lag : int
        Sweeps by which the first chain is ahead.
    tau : int64 array, shape (runs,)
        First t > lag at which X_t = Y_{t - lag}; the cap where `censored`.
    censored : bool array, shape (runs,)
        Runs that the cap cut off before the chains met.
    seconds : float
        Time for all runs.
    jumps : int64 array, shape (runs,)
        Jumps that the leading chain accepted within the lag; the lag itself where there is no
        freedom to move.
    """

    lag: int
    tau: NDArray[np.int64]
    censored: NDArray[np.bool_]
    seconds: float
    jumps: NDArray[np.int64]

    @property
    def uninformative(self) -> NDArray[np.bool_]:
        """Runs that say nothing of convergence: cut off, or met because neither chain had moved."""
        uninformative: NDArray[np.bool_] = np.logical_or(self.censored, self.jumps == 0)
        return uninformative


def start(
    walk: LatticeWalk, first: ArrayLike | None = None, second: ArrayLike | None = None
) -> CoupledState:
    """Put two chains at given noise vectors, by default both at zero.

    Raises
    ------
    InputError
        If a vector is not feasible noise.
    """
    _refuse_uncoupled(walk)
    one, two = walk.init(first), walk.init(second)
    return CoupledState(one, two, walk.lattice.coordinates(two.noise - one.noise))


def step(
    rng: np.random.Generator, walk: LatticeWalk, state: CoupledState
) -> tuple[CoupledState, bool]:
    """Run one coupled sweep of both chains from `state`, which is not changed.

    Returns
    -------
    identical : bool
        True if the chains are equal after the sweep. Equal chains stay equal.
    """
    first, second, apart = state.first.noise.copy(), state.second.noise.copy(), state.apart.copy()
    sizes = np.array([state.first.size, state.second.size])
    coupled_sweeps(rng, first, second, apart, sizes, walk.kernel, _scratch(walk), 1)
    after = CoupledState(ChainState(first, int(sizes[0])), ChainState(second, int(sizes[1])), apart)
    return after, after.identical


def meeting_times(
    rng: np.random.Generator, walk: LatticeWalk, *, lag: int, runs: int = 200, cap: int = 10**6
) -> MeetingTimes:
    """Run independent pairs of chains from zero until they meet (ISDP, Algorithm 3).

    Parameters
    ----------
    rng : numpy.random.Generator
        Each run has a stream of its own spawned from it.
    lag : int
        Sweeps that the first chain is ahead, at least 1.
    cap : int
        Time after which a run is given up and counted as censored.

    Raises
    ------
    InputError
        If the lag or the number of runs is below 1, the cap not above the lag, or the walk
        confined by inequalities or without a basis.
    """
    lag, runs = check_integer("coupling", "lag", lag, 1), check_integer("coupling", "runs", runs, 1)
    cap = check_integer("coupling", "cap", cap, lag + 1)
    _refuse_uncoupled(walk)
    origin = walk.init()
    kernel, walls, scratch = walk.kernel, walk.walls, _scratch(walk)
    tau, jumps = np.empty((2, runs), dtype=np.int64)
    began = time.perf_counter()
    for run, stream in enumerate(rng.spawn(runs)):
        noise = origin.noise.copy()
        tau[run], jumps[run] = meet(stream, noise, kernel, walls, scratch, lag, cap)
    seconds = time.perf_counter() - began
    if walk.lattice.dimension == 0:
        jumps[:] = lag
    censored = tau < 0
    return MeetingTimes(lag, np.where(censored, cap, tau), censored, seconds, jumps)


def choose_lag(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    near_one: float = 1.1,
    runs: int = 50,
    cap: int = 10**6,
) -> tuple[int, pd.DataFrame]:
    """Raise the lag, doubling it from 1, until the bound at time 0 is near 1.

    The bound cannot fall below 1 there, and one far above 1 says nothing (Biswas et al., Section
    2; ISDP, Appendix D.2). One condition is added: within the lag every leading chain accepts
    ten jumps. Both chains start at zero, so where jumps are rarely accepted they coincide at a
    short lag because neither has moved, and a bound of 1 there rests on events too rare to be
    seen. The search also ends when runs are censored or a longer lag would leave no room below
    the cap.

    Returns
    -------
    trail : DataFrame with columns lag, bound_at_0, jumps and censored
        Every lag that was tried; the bound is infinite where runs are censored, and `jumps` is the
        smallest number of jumps that a leading chain accepted within the lag.
    """
    if not near_one > 1:
        raise InputError(f"coupling: near_one must be above 1, got {near_one!r}")
    cap = check_integer("coupling", "cap", cap, 2)
    trail, lag = [], 1
    while True:
        times = meeting_times(rng, walk, lag=lag, runs=runs, cap=cap)
        bound = float(tv_bound(times, [0])["bound"].iloc[0])
        jumps, censored = int(times.jumps.min()), int(times.censored.sum())
        trail.append({"lag": lag, "bound_at_0": bound, "jumps": jumps, "censored": censored})
        moved = jumps >= MIN_JUMPS or walk.lattice.dimension == 0
        if (bound <= near_one and moved) or censored or 4 * lag > cap:
            return lag, pd.DataFrame(trail)
        lag *= 2


def bound_terms(times: MeetingTimes, t: ArrayLike) -> NDArray[np.int64]:
    """Each run's max(0, ceil((tau - lag - t) / lag)); int64 array, shape (runs, times).

    A censored run counts as if it met at the cap, which is too little.
    """
    rest = times.tau[:, None] - times.lag - np.asarray(t, dtype=np.int64)[None, :]
    terms: NDArray[np.int64] = np.maximum(0, -(-rest // times.lag))
    return terms


def tv_bound(times: MeetingTimes, t: ArrayLike) -> pd.DataFrame:
    """Bound the total variation distance between the distribution at time t and the target.

    d_TV <= E[max(0, ceil((tau - lag - t) / lag))] (Biswas et al., Theorem 2.5), estimated by the
    mean over the runs. A censored run met at a time unknown, so that its share of the mean may be
    anything from what it would be at the cap: with one of them, `bound` and `high` are infinite.

    Parameters
    ----------
    t : int array_like
        Times, from 0 up.

    Returns
    -------
    DataFrame with columns lag, t, bound, low, high, at_least and censored
        `low` and `high` are the ends of a 99 % Monte Carlo band. Where few runs or none are
        still apart, `high` is what the exact binomial limit on their share allows, each weighing
        what the runs that last longest weigh on average. The band is approximate, and best where
        the lag is long against the meeting time. `at_least` is the mean with censored runs taken
        at the cap: it equals `bound` where there are none, and else is cut, missing from the time
        on at which such a run would count for nothing. `censored` counts the runs that say nothing
        of convergence: those, and the ones that met before either chain had moved.
    """
    t = np.atleast_1d(np.asarray(t))
    if t.dtype.kind not in "iu" or (t < 0).any():
        raise InputError("coupling: times must be whole numbers from 0 up")
    terms = bound_terms(times, t)
    runs, apart = len(terms), (terms > 0).sum(axis=0)
    mean, tail = terms.mean(axis=0), (1 - CONFIDENCE_LEVEL) / 2
    reach = np.inf
    if runs > 1:
        reach = -special.ndtri(tail) * terms.std(axis=0, ddof=1) / math.sqrt(runs)
    share = np.where(
        apart < runs, special.betainccinv(apart + 1, np.maximum(runs - apart, 1), tail), 1
    )
    late = times.tau[times.tau >= np.quantile(times.tau, 0.9)]
    weight = 1 + (late - late.min()).mean() / times.lag
    weights = np.maximum(weight, np.divide(terms.sum(axis=0), np.maximum(apart, 1)))
    unknown = bool(times.censored.any())
    return pd.DataFrame(
        {
            "lag": times.lag,
            "t": t.astype(np.int64),
            "bound": np.inf if unknown else mean,
            "low": np.maximum(0, mean - reach),
            "high": np.inf if unknown else np.maximum(mean + reach, share * weights),
            "at_least": np.where((terms == 0)[times.censored].any(axis=0), np.nan, mean),
            "censored": int(times.uninformative.sum()),
        }
    )


def time_to_bound(times: MeetingTimes, level: float = 0.01) -> int | None:
    """First time at which the estimated bound is below `level`; None where a run says nothing."""
    if not level > 0:
        raise InputError(f"coupling: the level must be above 0, got {level!r}")
    if times.uninformative.any():
        return None
    last = int(times.tau.max()) - times.lag
    # the bound never rises with t, so it can be bisected
    return bisect.bisect_left(
        range(last + 1), True, key=lambda t: bool(bound_terms(times, [t]).mean() < level)
    )


def _refuse_uncoupled(walk: LatticeWalk) -> None:
    if walk.lattice.kind not in BASES:
        raise InputError(
            f"coupling: pairs of chains are followed in the coordinates of a basis, and the "
            f"{walk.lattice.kind} vectors are not a basis; use one of {', '.join(BASES)}"
        )
    if walk.within is not None:
        raise InputError(
            "coupling: walks that are confined by inequalities are not coupled here; compare "
            "chains by isdp.diagnostics.convergence"
        )


def _scratch(walk: LatticeWalk) -> Scratch:
    cells, dimension = walk.lattice.columns.shape
    return Scratch(
        np.zeros((2, cells), dtype=np.int64),
        np.zeros((2, dimension), dtype=np.int64),
        _kept_powers(walk.proposal),
    )


def powers_of(a: float) -> NDArray[np.float64]:
    """1, a, a^2, ... down to the resolution of a 53-bit uniform variable, and 0."""
    count = int(MAX_JUMP_IN_SCALES / -math.log(a)) + 2
    return np.append(a ** np.arange(count, dtype=float), 0.0)


_kept_powers = lru_cache(maxsize=16)(powers_of)  # for kernels, which only read them
