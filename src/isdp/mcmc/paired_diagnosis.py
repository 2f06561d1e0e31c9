"""How long chains of paired rows take to forget where they began, found once a law and kept.

Pairs of coupled chains are run until they meet. It depends on the table's shape and on the law, on
no count and no seed of the user's, so that what was found serves all tables of the kind. It is
evidence: an estimate from so many runs, and no proof, as no contraction is proved but for two rows,
where one step is a draw of the law.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isdp.errors import InputError
from isdp.io.files import read_json, write_json
from isdp.mcmc.coupling import MeetingTimes, tv_bound
from isdp.mcmc.pair_kernels import DEPTH
from isdp.mcmc.paired_coupling import paired_meeting_times
from isdp.mcmc.paired_rows import FAR, PairedRows
from isdp.seeds import stream

FOLDER = Path("~/.cache/isdp/diagnoses")
VERSION = 2  # of the chain, its coupling and this procedure: raise it when one of them changes
MOST_RUNS, LEAST_RUNS, PILOTS = 200, 20, 10
WORK = 3e10  # numbers that all runs together may transform, some twenty minutes
LEAST_LAG = 10
SPARE = 2  # times the longest meeting is how long the released chain runs


class Diagnosis(NamedTuple):
    """What the coupled runs found.

    Attributes
    ----------
    runs : int
        N, independent pairs of chains, all of which met.
    lag : int
        Sweeps that one of a pair is ahead.
    longest : int
        Sweeps after which the last pair had met.
    sweeps : int
        Sweeps for a draw.
    bound : float
        Upper end of the 99 % band of the L-lag bound on the total variation distance between the
        chain's law after so many sweeps and its target; never below 10 / N.
    """

    runs: int
    lag: int
    longest: int
    sweeps: int
    bound: float


def work_of(chain: PairedRows) -> float:
    """Numbers that a sweep of one chain transforms, roughly."""
    variance = 2 * math.exp(-chain.rate) / math.expm1(-chain.rate) ** 2
    numbers = 0.0
    for places, _ in chain.steps(np.random.default_rng(0)):
        rows, columns = places.shape
        variances = variance / (1 / chain.sizes[places]).sum(axis=0)
        width = max(2 * FAR * math.sqrt(variances.max()), 2 * DEPTH / (rows * chain.rate))
        reach = 2 * FAR * math.sqrt(variances.sum()) + 2 * width
        numbers += columns * reach / chain.step_of(places)
    return numbers


def diagnose(chain: PairedRows, root: int = 0, work: float | None = None) -> Diagnosis:
    """Run coupled pairs until they meet, as many as the work allows, from 20 to 200.

    A few first runs, at a short lag, set the lag: as long as the longest of them took. If one of
    them takes more than a hundredth of the work and ten sweeps a row, or a later run more than 20
    lags, all is given up.

    Parameters
    ----------
    chain : PairedRows
    root : int
        Of the random streams.
    work : float, optional
        Numbers that may be transformed, at some 30 to 60 nanoseconds each; 3e10 by default.

    Raises
    ------
    InputError
        If a pair did not meet.
    """
    work, sweep = WORK if work is None else work, 2 * work_of(chain)
    cap = LEAST_LAG + max(int(work / (100 * sweep)), 10 * chain.shape[0])
    pilot = _met(chain, stream(root, "paired rows", "pilot"), LEAST_LAG, PILOTS, cap)
    lag = max(LEAST_LAG, int(pilot.tau.max()) - LEAST_LAG)
    usual = float(pilot.tau.mean()) + lag
    runs = int(min(MOST_RUNS, work / (sweep * usual)))
    if runs < LEAST_RUNS:
        raise _too_long(f"{LEAST_RUNS} pairs would take some {LEAST_RUNS * usual:.0f} sweeps")
    times = _met(chain, stream(root, "paired rows", "couplings"), lag, runs, 20 * lag)
    longest = int(times.tau.max()) - lag
    sweeps = SPARE * max(longest, lag)
    bound = max(float(tv_bound(times, [sweeps])["high"].iloc[0]), 10 / runs)
    return Diagnosis(runs, lag, longest, sweeps, bound)


def _met(
    chain: PairedRows, rng: np.random.Generator, lag: int, runs: int, cap: int
) -> MeetingTimes:
    times = paired_meeting_times(rng, chain, lag=lag, runs=runs, cap=cap, all_or_none=True)
    if times.censored.any():
        raise _too_long(f"a pair of chains did not meet within {cap} sweeps")
    return times


def _too_long(why: str) -> InputError:
    return InputError(
        f"paired rows: {why}, so that nothing tells how long a chain has to run; use a larger "
        f"epsilon or a smaller table"
    )


def diagnosis_of(chain: PairedRows, folder=None) -> Diagnosis:
    """Read the diagnosis of a chain, or make it and keep it.

    Parameters
    ----------
    chain : PairedRows
    folder : path, optional
        Where diagnoses are kept; by default ``~/.cache/isdp/diagnoses``. Where it cannot be
        written nothing is kept.

    Raises
    ------
    InputError
        As `diagnose`.
    """
    path = Path(folder or FOLDER).expanduser() / f"{_name(chain)}.json"
    try:
        return Diagnosis(**read_json(path))
    except (OSError, ValueError, TypeError):  # none there, or none that can be read
        pass
    found = diagnose(chain)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, found._asdict())
    except OSError:
        pass  # it is made again next time
    return found


def _name(chain: PairedRows) -> str:
    """Tell chains apart by their law alone, and by the procedure."""
    law = {
        "version": VERSION,
        "shape": list(chain.shape),
        "sizes": chain.sizes.tolist(),
        "rate": chain.rate.hex(),
        "settings": [MOST_RUNS, LEAST_RUNS, PILOTS, WORK, LEAST_LAG, SPARE],
    }
    return "paired_rows_" + hashlib.sha256(json.dumps(law).encode()).hexdigest()[:32]
