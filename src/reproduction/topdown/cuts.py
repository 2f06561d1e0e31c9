"""Cutting planes where subsets are too many to list (TDA, "Cutting plane").

The slides' 28 kinds of group quarters have 2^28 subsets. The published tables have 7 kinds, so that
the regions are synthetic (ours).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from isdp.constraints.presence import Presence
from isdp.seeds import stream
from isdp.topdown.kinds import nearest_kinds
from isdp.topdown.noise import draw_noise

KINDS = 28
MOST_A_REGION = 4
USUAL_SIZE = 60  # people of a region in group quarters, its median beyond the least numbers


def synthetic_regions(rng: np.random.Generator, regions: int) -> tuple[np.ndarray, Presence]:
    """Draw regions with one to four of 28 kinds each, of sizes that vary much: people, presence."""
    people = np.zeros((regions, KINDS), dtype=np.int64)
    for row in people:
        kinds = rng.choice(KINDS, rng.integers(1, MOST_A_REGION + 1), replace=False)
        size = int(USUAL_SIZE * np.exp(1.5 * rng.standard_normal()))
        row[kinds] = 1 + rng.multinomial(size, rng.dirichlet(np.ones(len(kinds))))
    return people, Presence(people.sum(axis=1), people > 0)


def cut_once(seed: int, regions: int, epsilon: float, number: int):
    """Release one synthetic state's totals by kind: people, presence, noisy totals and release."""
    people, presence = synthetic_regions(stream(seed, "topdown cuts", "regions", number), regions)
    rng = stream(seed, "topdown cuts", f"noise {epsilon}", number)
    noisy = people.sum(axis=0) + draw_noise(rng, "pure", [epsilon], [KINDS])
    return people, presence, noisy, nearest_kinds(rng, noisy, presence)


def cuts_table(seed: int, regions: int, epsilons, runs: int) -> pd.DataFrame:
    """Count the bounds that a release needs, of the 2^28 that there are; the table topdown_cuts."""
    rows = []
    for epsilon, number in product(epsilons, range(runs)):
        people, presence, noisy, found = cut_once(seed, regions, epsilon, number)
        true = people.sum(axis=0)
        rows.append(
            {
                "epsilon": epsilon,
                "cuts": len(found.cuts),
                "variables": presence.present.sum(),
                "error_noisy": np.abs(noisy - true).sum(),
                "error": np.abs(found.totals - true).sum(),
                "broken": presence.broken(found.totals) is not None,
            }
        )
    table = pd.DataFrame(rows).groupby("epsilon", sort=False, as_index=False)
    found = table.agg(
        releases=("cuts", "size"),
        cuts_mean=("cuts", "mean"),
        cuts_most=("cuts", "max"),
        variables=("variables", "max"),
        error_noisy=("error_noisy", "mean"),
        error=("error", "mean"),
        broken=("broken", "sum"),
    )
    found.insert(2, "subsets", 2**KINDS - 1)
    return found
