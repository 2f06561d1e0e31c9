"""How far a released count may be from the true one, simulated from what is published."""

from __future__ import annotations

import math

import numpy as np

from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown.descent import Release, run
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.run_plan import Plan


def margins_of_error(
    rng: np.random.Generator,
    release: Release,
    hierarchy: Hierarchy,
    plan: Plan,
    *,
    runs: int = 50,
    level: float = 0.9,
) -> dict[str, np.ndarray]:
    """Run the algorithm again on its own output and see how far it strays.

    The released table takes the place of the confidential one, so nothing is spent. Where counts
    are small the true table is sparser than the released one is or the other way about, and the
    margins are then of the right size rather than of the exact level; where negative counts are
    allowed the errors do not depend on the table.

    Parameters
    ----------
    plan : Plan
        Those of the release.
    runs : int
        At least 10.
    level : float
        Chance that one further run's error lies within the margin, at least; between 0 and 1.

    Returns
    -------
    dict from level to int64 array, shape (units, cells)
        Persons to either side.
    """
    # of n + 1 errors alike, each is as likely to be the k-th smallest
    place = math.ceil(level * (runs + 1) - 1e-9)
    if not 0 < level < 1 or runs < 10 or place > runs:
        raise InputError(f"margins of error: {runs} runs at level {level} will not do")
    last = hierarchy.levels[-1]
    table = release.tables[last] if plan.nonnegative else np.zeros_like(release.tables[last])
    truth = dict(zip(hierarchy.levels, hierarchy.aggregate(table), strict=True))
    errors = {name: [] for name in truth}
    for _ in range(runs):
        again = run(rng, table, hierarchy, plan, noise=draw_noise)
        for name, counts in again.tables.items():
            errors[name].append(np.abs(counts - truth[name]))
    return {name: np.sort(each, axis=0)[place - 1] for name, each in errors.items()}
