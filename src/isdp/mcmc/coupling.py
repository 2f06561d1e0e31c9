"""Coupling of two chains with a lag, which bounds the distance of a chain to its target.

The source is *Integer Subspace Differential Privacy* (ISDP), Algorithms 2 and 3, after Biswas,
Jacob and Vanetti (2019). Both chains run the walk of `isdp.mcmc.metropolis`, and the first chain is
`lag` sweeps ahead. The proposals of the two chains have a maximal coupling for each basis vector.
The chains share the uniform variable of each acceptance.
"""

from __future__ import annotations

import bisect
import math
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

CONFIDENCE_LEVEL = 0.99
MIN_JUMPS = 10  # minimum number of jumps that the first chain accepts within the lag


class CoupledState(NamedTuple):
    """States of two coupled chains.

    `difference` has shape (dimension,). It contains the coordinates of the second chain in the
    basis of the walk minus those of the first chain.
    """

    first: ChainState
    second: ChainState
    difference: NDArray[np.int64]

    @property
    def identical(self) -> bool:
        """True if the chains have met."""
        return not self.difference.any()


class MeetingTimes(NamedTuple):
    """Meeting times of independent coupled chains.

    Attributes
    ----------
    lag : int
        The number of sweeps by which the first chain is ahead.
    tau : int64 array, shape (runs,)
        The first t > lag at which the first chain at time t equals the second at time t - lag. For
        a censored run, tau is the maximum time.
    censored : bool array, shape (runs,)
        Runs that ended before the chains met.
    jumps : int64 array, shape (runs,)
        The number of jumps that the first chain accepted within the lag. If the invariants
        determine all cells, this number is the lag.
    """

    lag: int
    tau: NDArray[np.int64]
    censored: NDArray[np.bool_]
    jumps: NDArray[np.int64]

    @property
    def uninformative(self) -> NDArray[np.bool_]:
        """Runs that give no bound, because they are censored or met before the first jump."""
        return np.asarray(np.logical_or(self.censored, self.jumps == 0))


def start(
    walk: LatticeWalk, first: ArrayLike | None = None, second: ArrayLike | None = None
) -> CoupledState:
    """Start two chains at given noise vectors, by default at zero.

    Raise `InputError` if a vector does not belong to the lattice.
    """
    _refuse_uncoupled(walk)
    one, two = walk.init(first), walk.init(second)
    return CoupledState(one, two, walk.lattice.coordinates(two.noise - one.noise))


def step(
    rng: np.random.Generator, walk: LatticeWalk, state: CoupledState
) -> tuple[CoupledState, bool]:
    """Run one coupled sweep of both chains from `state`, which is not changed.

    Return the states after the sweep, and whether they are equal. Equal chains remain equal.
    """
    first, second = state.first.noise.copy(), state.second.noise.copy()
    difference = state.difference.copy()
    sizes = np.array([state.first.size, state.second.size])
    coupled_sweeps(rng, first, second, difference, sizes, walk.kernel, _scratch(walk), 1)
    ends = ChainState(first, int(sizes[0])), ChainState(second, int(sizes[1]))
    after = CoupledState(*ends, difference)
    return after, after.identical


def meeting_times(
    rng: np.random.Generator, walk: LatticeWalk, *, lag: int, runs: int = 200, cap: int = 10**6
) -> MeetingTimes:
    """Run independent pairs of chains from zero until they meet (ISDP, Algorithm 3).

    Parameters
    ----------
    rng : numpy.random.Generator
        Each run uses a generator spawned from it.
    lag : int
        The number of sweeps by which the first chain is ahead, at least 1.
    cap : int
        Maximum time of a run, above the lag. A run that reaches it is censored.

    Raises
    ------
    InputError
        If a number is out of range, the walk has inequalities, or its lattice has no basis.
    """
    lag, runs = check_integer("coupling", "lag", lag, 1), check_integer("coupling", "runs", runs, 1)
    cap = check_integer("coupling", "cap", cap, lag + 1)
    _refuse_uncoupled(walk)
    origin = walk.init()
    kernel, slack_changes, scratch = walk.kernel, walk.slack_changes, _scratch(walk)
    tau, jumps = np.empty((2, runs), dtype=np.int64)
    for run, stream in enumerate(rng.spawn(runs)):
        noise = origin.noise.copy()
        tau[run], jumps[run] = meet(stream, noise, kernel, slack_changes, scratch, lag, cap)
    if walk.lattice.dimension == 0:
        jumps[:] = lag
    censored = tau < 0
    return MeetingTimes(lag, np.where(censored, cap, tau), censored, jumps)


def choose_lag(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    near_one: float = 1.1,
    runs: int = 50,
    cap: int = 10**6,
) -> tuple[int, pd.DataFrame]:
    """Double the lag from 1 until the bound at time 0 is at most `near_one`.

    The bound at time 0 is at least 1, and a much larger bound is not informative (Biswas et al.,
    Section 2; ISDP, Appendix D.2). In addition, the first chain of every run must accept ten jumps
    within the lag. Otherwise the chains could be equal because neither has moved from zero. The
    search also ends if runs are censored or a longer lag would reach the cap.

    Parameters
    ----------
    near_one : float
        Maximum bound at time 0, above 1.
    runs, cap : int
        See `meeting_times`.

    Returns
    -------
    lag : int
        The last lag of the search.
    trail : DataFrame with the columns lag, bound_at_0, jumps and censored
        One row for each lag of the search. The bound is infinite if runs are censored. `jumps` is
        the minimum over the runs of the number of jumps that the first chain accepted within the
        lag.
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
    """Return max(0, ceil((tau - lag - t) / lag)) as an int64 array of shape (runs, times).

    The term of a censored run is too small, because its tau is the cap.
    """
    rest = times.tau[:, None] - times.lag - np.asarray(t, dtype=np.int64)[None, :]
    terms: NDArray[np.int64] = np.maximum(0, -(-rest // times.lag))
    return terms


def tv_bound(times: MeetingTimes, t: ArrayLike) -> pd.DataFrame:
    """Bound the total variation distance between the distribution at time t and the target.

    The bound is E[max(0, ceil((tau - lag - t) / lag))] (Biswas et al., Theorem 2.5), estimated by
    the mean over the runs. If a run is censored, `bound` and `high` are infinite, because the
    chains can meet at any time after the cap.

    Parameters
    ----------
    t : int array_like
        Times of 0 or more.

    Returns
    -------
    DataFrame with the columns lag, t, bound, low, high, at_least and censored
        `low` and `high` are the ends of an approximate 99 % Monte Carlo interval. If few runs have
        not met, `high` uses the binomial upper limit on their proportion. `at_least` is the mean if
        the cap is used as the tau of each censored run. `at_least` is missing if the term of a
        censored run is 0. `censored` is the number of uninformative runs, as in `MeetingTimes`.
    """
    t = np.atleast_1d(np.asarray(t))
    if t.dtype.kind not in "iu" or (t < 0).any():
        raise InputError("coupling: t must contain integers of 0 or more")
    terms = bound_terms(times, t)
    runs, not_met = len(terms), (terms > 0).sum(axis=0)
    mean, tail = terms.mean(axis=0), (1 - CONFIDENCE_LEVEL) / 2
    half_width = np.inf
    if runs > 1:
        half_width = -special.ndtri(tail) * terms.std(axis=0, ddof=1) / math.sqrt(runs)
    proportion = np.where(
        not_met < runs, special.betainccinv(not_met + 1, np.maximum(runs - not_met, 1), tail), 1
    )
    late = times.tau[times.tau >= np.quantile(times.tau, 0.9)]
    late_term = 1 + (late - late.min()).mean() / times.lag
    mean_term = np.maximum(late_term, np.divide(terms.sum(axis=0), np.maximum(not_met, 1)))
    unknown = bool(times.censored.any())
    return pd.DataFrame(
        {
            "lag": times.lag,
            "t": t.astype(np.int64),
            "bound": np.inf if unknown else mean,
            "low": np.maximum(0, mean - half_width),
            "high": np.inf if unknown else np.maximum(mean + half_width, proportion * mean_term),
            "at_least": np.where((terms == 0)[times.censored].any(axis=0), np.nan, mean),
            "censored": int(times.uninformative.sum()),
        }
    )


def time_to_bound(times: MeetingTimes, level: float = 0.01) -> int | None:
    """Return the first time with a bound below `level`, or None if a run is uninformative."""
    if not level > 0:
        raise InputError(f"coupling: level must be above 0, got {level!r}")
    if times.uninformative.any():
        return None
    last = int(times.tau.max()) - times.lag
    # the bound does not increase with t
    return bisect.bisect_left(
        range(last + 1), True, key=lambda t: bool(bound_terms(times, [t]).mean() < level)
    )


def _refuse_uncoupled(walk: LatticeWalk) -> None:
    if walk.lattice.kind not in BASES:
        raise InputError(
            f"coupling: the {walk.lattice.kind} vectors are not a basis. Use a walk on a lattice "
            f"with the basis {' or '.join(BASES)}"
        )
    if walk.within is not None:
        raise InputError(
            "coupling: walks with inequalities cannot be coupled. Compare chains by "
            "isdp.diagnostics.convergence"
        )


def _scratch(walk: LatticeWalk) -> Scratch:
    cells, dimension = walk.lattice.columns.shape
    return Scratch(
        np.zeros((2, cells), dtype=np.int64),
        np.zeros((2, dimension), dtype=np.int64),
        powers_of(walk.proposal),
    )


@lru_cache(maxsize=16)
def powers_of(a: float) -> NDArray[np.float64]:
    """Return 1, a, a^2, ... down to the resolution of a 53-bit uniform variable, and 0."""
    count = int(MAX_JUMP_IN_SCALES / -math.log(a)) + 2
    return np.append(a ** np.arange(count, dtype=float), 0.0)
