"""L-lag coupling of chains that redraw two rows at once.

Both chains take the same rows, and each step is coupled in one of two ways, chosen by where the
chains stand before it; whatever is chosen, each chain's redraw has the one law.

By inversion: both take the same uniforms. Columns that differ between the chains in opposite ways
are paired, so that a pair's sum has nearly the same law in both, and those that differ most are
drawn last. Differences shrink to a few ones and stay there.

By likeness: the second chain's values are the first's plus a shift, with the largest chance that
the two laws allow. With a shift of zero all differences go from the first row of a step to the
second. One sweep of such steps gathers them in one row, which then has none, as the columns add up
to the same: the chains have met, if no step has failed. One that fails parts the chains widely, so
that a sweep begins in this way only where its steps are likely to succeed, or where differences
have long stayed what they are.

Two chains that stand together stay so.

At epsilon 0.25, sweeps to meet after a lag of 10, in two to ten runs each (median, longest): 3
and 9 for 51 x 20 places of 1000 cells; with one cell a place 14 and 44 at 10 x 10, 22 and 40 at
12 x 12, 91 and 147 at 14 x 14. At 20 x 20 some 70 of 400 places stay apart by one, and three of
five runs did not meet in 400 sweeps: inversion makes new differences, where the sum of two
columns has another variance in the other chain, as fast as they die, where the two rows that
differ are matched; and to gather them all at once succeeded in one of 150 sweeps.
"""

from __future__ import annotations

import math
import time

import numpy as np

from isdp.checks import whole
from isdp.io.progress import tracked
from isdp.mcmc.coupling import MeetingTimes
from isdp.mcmc.pair_kernels import alikeness, log_chance
from isdp.mcmc.paired_rows import Columns, PairedRows, draw, move

LIKELY = 0.5  # chance that a sweep gathers all differences, from which on it is tried
PATIENCE = 0.7  # times which a smaller chance will do, with each sweep that passes
CLOSE = 0.02  # chance to fail, below which a step is coupled by likeness in any case


def coupled_sweep(
    rng: np.random.Generator,
    chain: PairedRows,
    first: np.ndarray,
    second: np.ndarray,
    likely: float = LIKELY,
) -> bool:
    """Move both states, int64 (places,), by one sweep in place.

    Returns
    -------
    bool
        Whether it was tried to gather all differences, as the chance was at least `likely`.
    """
    steps = chain.steps(rng)
    tried = gathering = chance_to_gather(chain, steps, second - first) >= likely
    for places, signs in steps:
        met = coupled_step(rng, chain, (first, second), places, signs, gathering)
        gathering = gathering and met
    return tried


def coupled_step(
    rng: np.random.Generator,
    chain: PairedRows,
    states: tuple[np.ndarray, np.ndarray],
    places: np.ndarray,
    signs: np.ndarray,
    gathering: bool,
) -> bool:
    """Redraw the rows of a step in both states, in place.

    Returns
    -------
    bool
        Whether the second's values are now the first's plus the shift, if it was tried.
    """
    (first, second), order = states, np.arange(places.shape[1])
    remainders = chain.remainders(rng, first, places)
    one = chain.columns(first, places, signs, remainders)
    if (first[places] == second[places]).all():
        chain.redraw(rng.random(len(order) + 1), first, places, signs, one, order)
        second[places] = first[places]
        return True
    # it must not depend on the remainders, not even by rounding: those of both are uniform
    shift = (_all_to_the_last if gathering else _half_to_each)(chain, places, signs, second - first)
    other = chain.columns(second, places, signs, (remainders + shift) % one.step)
    if gathering or _chance_to_fail(_apart(one, other, shift)) < CLOSE:
        return _redraw_alike(rng, chain, states, (places, signs), (one, other), shift)
    uniforms, order = rng.random(len(order) + 1), pairing(one, other)
    chain.redraw(uniforms, first, places, signs, one, order)
    chain.redraw(uniforms, second, places, signs, other, order)
    return False


def pairing(one: Columns, other: Columns) -> np.ndarray:
    """Order of the columns: those that differ most, in opposite ways, side by side at the start.

    Of those that differ by the same, one whose variance rises most stands by one whose falls most.
    """
    apart = np.round(one.values - other.values, 6)
    falling = np.lexsort((other.variance - one.variance, -apart))
    half = len(falling) // 2
    pairs = np.stack([falling[:half], falling[::-1][:half]], axis=1)  # the most different first
    return np.concatenate([pairs.ravel(), falling[half : len(falling) - half]])


def near_shift(ahead: np.ndarray) -> np.ndarray:
    """Integers near to numbers, and with their sum, which is whole: int64 (columns,).

    Halves are taken towards zero.
    """
    shift = np.sign(ahead) * np.ceil(np.abs(ahead) - 0.5 - 1e-6)
    excess = round(shift.sum() - ahead.sum())
    towards = -np.sign(excess)
    shift[np.argsort(towards * (shift - ahead), kind="stable")[: abs(excess)]] += towards
    return shift.astype(np.int64)


def _all_to_the_last(
    chain: PairedRows, places: np.ndarray, signs: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """Shift at which the first row differs in its last column alone, if it must: in a group."""
    shift = np.zeros(places.shape[1], dtype=np.int64)
    shift[-1] = apart[places[0]].sum()
    return shift


def _half_to_each(
    chain: PairedRows, places: np.ndarray, signs: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """Shift at which each row differs by its share of both, by the places' numbers of cells."""
    weights, signed = 1 / chain.sizes[places], signs[:, None] * apart[places]
    total = weights.sum(axis=0)
    ahead = signed[0] - (signed * weights).sum(axis=0) / total
    missing = signed[0].sum() - ahead.sum()
    return near_shift(ahead + missing / total / (1 / total).sum())


def chance_to_gather(chain: PairedRows, steps: list, apart: np.ndarray) -> float:
    """Roughly the chance that steps of likeness gather all differences, int64 (places,)."""
    apart, log_chance_of_all = apart.copy(), 0.0
    for places, signs in steps:
        signed = signs[:, None] * apart[places]
        if not signed.any():
            continue
        shift = _all_to_the_last(chain, places, signs, apart)
        weights = chain.distance[places]
        total = weights.sum(axis=0)
        moved = signed[0] - (signed * weights).sum(axis=0) / total - shift
        distance = moved**2 @ total - moved.sum() ** 2 / (1 / total).sum()  # given their sum
        log_chance_of_all += math.log1p(-min(_chance_to_fail(distance), 1 - 1e-9))
        apart[places] += signs[:, None] * (shift - signed[0])
    return math.exp(log_chance_of_all)


def _chance_to_fail(apart: float) -> float:
    """Total variation of normal laws whose means are the root of this many deviations apart."""
    return math.erf(math.sqrt(max(apart, 0.0) / 8))


def _apart(one: Columns, other: Columns, shift: np.ndarray) -> float:
    """Squared distance, in standard deviations, of normal laws as alike as the columns' are."""
    ahead = (one.least + shift - other.least) // one.step
    alike = alikeness(one.pmf, one.length, other.pmf, other.length, ahead)
    return -8 * math.log(alike) if alike > 0 else math.inf


def _redraw_alike(
    rng: np.random.Generator,
    chain: PairedRows,
    states: tuple[np.ndarray, np.ndarray],
    step: tuple[np.ndarray, np.ndarray],
    columns: tuple[Columns, Columns],
    shift: np.ndarray,
) -> bool:
    """Redraw the rows of a step in both states; return whether they differ by the shift.

    This is a maximal coupling by rejection (Johnson 1998; Jacob, O'Leary and Atchade 2020).
    """
    (places, signs), (one, other), order = step, columns, np.arange(len(shift))
    sides = [
        chain.side(state, places, side, order) for state, side in zip(states, columns, strict=True)
    ]

    def gain(values: np.ndarray) -> float:
        """How much likelier the second's values are by its law than by the first's, in logs."""
        ours = log_chance((values - shift - one.zero) // one.step, sides[0], order)
        theirs = log_chance((values - other.zero) // one.step, sides[1], order)
        return theirs - ours

    values = one.zero + one.step * draw(rng.random(len(order) + 1), sides[0], order)
    move(states[0], places, signs, values)
    values = values + shift
    alike = -rng.standard_exponential() <= gain(values)
    while not alike:
        values = other.zero + one.step * draw(rng.random(len(order) + 1), sides[1], order)
        if -rng.standard_exponential() > -gain(values):
            break
    move(states[1], places, signs, values)
    return alike


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
        tau[run] = _meeting_time(stream, chain, lag, cap)
        if all_or_none and tau[run] < 0:
            break
    seconds = time.perf_counter() - began
    redraws = np.full(runs, lag * len(chain.steps(np.random.default_rng(0))), dtype=np.int64)
    censored = tau < 0
    return MeetingTimes(lag, np.where(censored, cap, tau), censored, seconds, redraws)


def _meeting_time(rng: np.random.Generator, chain: PairedRows, lag: int, cap: int) -> int:
    """Time at which one pair of chains has met; -1 if not by the cap."""
    second = np.zeros(chain.places, dtype=np.int64)
    first, likely = chain.run(rng, second, lag), LIKELY
    for t in range(lag + 1, cap + 1):
        tried = coupled_sweep(rng, chain, first, second, likely)
        if (first == second).all():
            return t
        likely = LIKELY if tried else likely * PATIENCE
    return -1
