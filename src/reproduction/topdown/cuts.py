"""Cutting planes where subsets are too many to list (TDA, "Cutting plane").

The slides' 28 kinds of group quarters have 2^28 subsets. The published tables have 7 kinds, so that
the regions are synthetic (ours).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from isdp.constraints.presence import Presence
from isdp.seeds import stream
from isdp.topdown.kinds import Nearest, nearest_kinds
from isdp.topdown.noise import draw_noise

KINDS = 28
MOST_A_REGION = 4
USUAL_SIZE = 60  # people of a region in group quarters, its median beyond the least numbers


def synthetic_regions(rng: np.random.Generator, regions: int) -> tuple[np.ndarray, Presence]:
    """Draw regions with one to four of 28 kinds each, of sizes that vary much.

    Returns
    -------
    people : int64 array, shape (regions, 28)
    presence : Presence
        With each region's total known.
    """
    people = np.zeros((regions, KINDS), dtype=np.int64)
    for row in people:
        kinds = rng.choice(KINDS, rng.integers(1, MOST_A_REGION + 1), replace=False)
        size = int(USUAL_SIZE * np.exp(1.5 * rng.standard_normal()))
        row[kinds] = 1 + rng.multinomial(size, rng.dirichlet(np.ones(len(kinds))))
    return people, Presence(people.sum(axis=1), people > 0)


def cut_once(seed: int, regions: int, epsilon: float, number: int):
    """Release one synthetic state's totals by kind.

    Returns
    -------
    people : int64 array, shape (regions, 28)
    presence : Presence
    noisy : int64 array, shape (28,)
    found : Nearest
    """
    people, presence = synthetic_regions(stream(seed, "topdown cuts", "regions", number), regions)
    rng = stream(seed, "topdown cuts", f"noise {epsilon}", number)
    noisy = people.sum(axis=0) + draw_noise(rng, "pure", [epsilon], [KINDS])
    found: Nearest = nearest_kinds(rng, noisy, presence)
    return people, presence, noisy, found


def cuts_table(seed: int, regions: int, epsilons, runs: int) -> pd.DataFrame:
    """How many of the 2^28 bounds a release needs.

    Returns
    -------
    DataFrame, a row an epsilon
        Columns epsilon, releases, subsets (bounds there are), cuts_mean and cuts_most (found on
        the way to the nearest totals), variables (people of each kind in each region, which the
        bounds stand for; largest), error_noisy and error (mean l1 error of the noisy totals and of
        the released ones, persons) and broken (released totals that no regions can have).
    """
    rows = []
    for epsilon in epsilons:
        found = [cut_once(seed, regions, epsilon, number) for number in range(runs)]
        cuts = [len(each.cuts) for *_, each in found]
        true = [people.sum(axis=0) for people, *_ in found]
        noise = [np.abs(noisy - at).sum() for (_, _, noisy, _), at in zip(found, true, strict=True)]
        left = [np.abs(each.totals - at).sum() for (*_, each), at in zip(found, true, strict=True)]
        broken = sum(presence.broken(each.totals) is not None for _, presence, _, each in found)
        rows.append(
            {
                "epsilon": epsilon,
                "releases": runs,
                "subsets": 2**KINDS - 1,
                "cuts_mean": float(np.mean(cuts)),
                "cuts_most": max(cuts),
                "variables": max(int(presence.present.sum()) for _, presence, *_ in found),
                "error_noisy": float(np.mean(noise)),
                "error": float(np.mean(left)),
                "broken": broken,
            }
        )
    return pd.DataFrame(rows)
