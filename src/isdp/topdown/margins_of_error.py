"""Margins of error of released counts, by simulation from the published tables."""

import math

import numpy as np

from isdp.arrays import IntArray
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
) -> dict[str, IntArray]:
    """Simulate the algorithm on its own output and compute quantiles of the absolute errors.

    The released table replaces the confidential table, so the simulation spends no privacy budget.
    If small counts differ between the two tables, the level of confidence is approximate. If
    negative counts are allowed, the errors do not depend on the table.

    The result has an int64 array of shape (units, cells) for each level. Its entries are the
    half-widths of the margins of the counts, in persons.

    Parameters
    ----------
    runs : int
        Number of simulated runs, at least 10.
    level : float
        Minimum probability that the error of another run is within the margin.
    """
    # each of n + 1 exchangeable errors is the k-th smallest with equal probability
    place = math.ceil(level * (runs + 1) - 1e-9)
    if not 0 < level < 1 or runs < 10 or place > runs:
        raise InputError(
            f"margins of error: {runs} runs are too few for level {level}. Use a level between 0 "
            f"and 1, and at least 10 runs and level / (1 - level) runs."
        )
    last = hierarchy.levels[-1]
    table = release.tables[last] if plan.nonnegative else np.zeros_like(release.tables[last])
    truth = dict(zip(hierarchy.levels, hierarchy.aggregate(table), strict=True))
    errors: dict[str, list[IntArray]] = {name: [] for name in truth}
    for _ in range(runs):
        again = run(rng, table, hierarchy, plan, noise=draw_noise)
        for name, counts in again.tables.items():
            errors[name].append(np.abs(counts - truth[name]))
    return {name: np.sort(each, axis=0)[place - 1] for name, each in errors.items()}
