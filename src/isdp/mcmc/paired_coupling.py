"""L-lag coupling of chains that redraw two rows at once.

Both chains take the same rows and the same uniforms. Where the columns' sums differ between the
chains, columns that differ in opposite ways are paired, and the pairs that differ most are drawn
first: a pair's sum has nearly the same law in both chains, so that inverting one uniform gives the
same sum mostly, and then its split differs by no more than the columns do. Each chain's order of
columns depends on where both stand, and whatever it is, the redraw has the one law.

Two chains that stand together stay so: their laws and messages are the same numbers.
"""

from __future__ import annotations

import time

import numpy as np

from isdp.checks import whole
from isdp.io.progress import tracked
from isdp.mcmc.coupling import MeetingTimes
from isdp.mcmc.paired_rows import Columns, PairedRows


def coupled_sweep(
    rng: np.random.Generator, chain: PairedRows, first: np.ndarray, second: np.ndarray
) -> None:
    """Move both states, int64 (places,), by one sweep in place."""
    for places, signs in chain.steps(rng):
        uniforms = rng.random(places.shape[1] + 1)
        one = chain.columns(first, places, signs)
        other = chain.columns(second, places, signs)
        order = pairing(one, other)
        chain.redraw(uniforms, first, places, signs, one, order)
        chain.redraw(uniforms, second, places, signs, other, order)


def pairing(one: Columns, other: Columns) -> np.ndarray:
    """Order of the columns: those that differ most, in opposite ways, side by side at the end."""
    apart = (one.least + one.mean) - (other.least + other.mean)
    falling = np.argsort(-apart, kind="stable")
    columns = len(falling)
    order = np.empty(columns, dtype=np.int64)
    half = columns // 2
    pairs = np.stack([falling[:half], falling[::-1][:half]], axis=1)  # the most different first
    if columns % 2:
        order[-1] = falling[half]
    order[: 2 * half] = pairs[::-1].ravel()
    return order


def paired_meeting_times(
    rng: np.random.Generator,
    chain: PairedRows,
    *,
    lag: int,
    runs: int = 200,
    cap: int = 10**6,
    all_or_none: bool = False,
) -> MeetingTimes:
    """Run independent pairs of chains from zero until they meet, as `coupling.meeting_times`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Each run has a stream of its own spawned from it.
    chain : PairedRows
    lag : int
        Sweeps that the first chain is ahead, at least 1.
    runs : int
    cap : int
        Time after which a run is given up and counted as censored.
    all_or_none : bool
        Whether the runs after one that is given up are not made, and counted as censored too.

    Returns
    -------
    MeetingTimes
        `jumps` are the redraws of the leading chain within the lag, all of which are taken.

    Raises
    ------
    InputError
        If the lag or the number of runs is below 1, or the cap not above the lag.
    """
    lag, runs = whole("coupling", "lag", lag, 1), whole("coupling", "runs", runs, 1)
    cap = whole("coupling", "cap", cap, lag + 1)
    tau = np.full(runs, -1, dtype=np.int64)
    began = time.perf_counter()
    for run, stream in enumerate(tracked("running coupled chains", rng.spawn(runs))):
        second = np.zeros(chain.places, dtype=np.int64)
        first = chain.run(stream, second, lag)
        for t in range(lag + 1, cap + 1):
            coupled_sweep(stream, chain, first, second)
            if (first == second).all():
                tau[run] = t
                break
        if all_or_none and tau[run] < 0:
            break
    seconds = time.perf_counter() - began
    redraws = np.full(runs, lag * len(chain.steps(np.random.default_rng(0))), dtype=np.int64)
    censored = tau < 0
    return MeetingTimes(lag, np.where(censored, cap, tau), censored, seconds, redraws)
