"""Projection onto the totals by type that regions can have, by cutting planes (TDA).

The regions bound the total of each subset of types. With 28 types of group quarters there are 2^28
bounds, and a noisy table violates few of them. Each step adds one violated bound, which a minimal
cut finds.

TDA is *The TopDown algorithm and invariants* (slides).
"""

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.sparse import coo_array

from isdp.constraints import Invariants, Polytope
from isdp.constraints.presence import MAX_FLOW, Presence
from isdp.errors import InputError
from isdp.postprocess.projection import nearest_l2

MAX_CUTS = 500  # The maximum number of bounds that are added.
MAX_PARTS = 2**20  # The smallest unit of a flow is 1/MAX_PARTS of a person.


@dataclass(frozen=True, eq=False)
class NearestTotals:
    """The possible totals by type that are nearest to the noisy totals.

    `real` is the nearest real point, and `totals` differs from it by less than 1 person in each
    type. `cuts` lists the subsets of types whose bounds were added.
    """

    totals: np.ndarray
    real: np.ndarray
    cuts: list[tuple[int, ...]]


def nearest_group_totals(rng: np.random.Generator, noisy, presence: Presence) -> NearestTotals:
    """Project noisy totals by type onto the totals that regions can have, and round them.

    The random numbers decide ties of the rounding. Raises InputError if more than `MAX_CUTS` bounds
    are needed.
    """
    noisy = np.asarray(noisy, dtype=float)
    cuts: list[tuple[int, ...]] = []
    while len(cuts) <= MAX_CUTS:
        real = nearest_l2(noisy, _polytope(presence, cuts))
        broken = _broken(real, presence)
        if broken is None or broken in cuts:  # It is violated by less than a person.
            return NearestTotals(_round(rng, real, presence), real, cuts)
        cuts.append(broken)
    raise InputError(
        f"topdown: the noisy totals violate more than {MAX_CUTS} bounds. Check the noise."
    )


def _polytope(presence: Presence, cuts: list[tuple[int, ...]]) -> Polytope:
    kinds = presence.groups
    rows = np.zeros((kinds + len(cuts), kinds), dtype=np.int64)
    rows[:kinds] = np.eye(kinds, dtype=np.int64)
    for number, cut in enumerate(cuts):
        rows[kinds + number, list(cut)] = -1
    least = [*presence.minimums.sum(axis=0), *(-presence.max_people(cut) for cut in cuts)]
    total = np.array([presence.totals.sum()])
    return Polytope(Invariants.total(kinds), total, Invariants(rows), np.array(least))


def _broken(real, presence: Presence) -> tuple[int, ...] | None:
    """Find a violated bound. Flows are integers, so their unit is a fraction of a person."""
    total = int(presence.totals.sum())
    parts = min(MAX_PARTS, MAX_FLOW // max(total, 1))
    least = presence.minimums.sum(axis=0) * parts
    wanted = np.maximum(np.rint(real * parts).astype(np.int64), least)
    excess = int(wanted.sum()) - total * parts
    for kind in np.argsort(least - wanted):  # The largest slack comes first.
        moved = min(excess, int(wanted[kind] - least[kind])) if excess > 0 else excess
        wanted[kind] -= moved
        excess -= moved
    finer = Presence(presence.totals * parts, presence.present, presence.minimums * parts)
    return finer.violated_bound(wanted)


def _round(rng: np.random.Generator, real, presence: Presence) -> np.ndarray:
    """Round the totals up or down, with the smallest change, to totals that the regions can have.

    The variables of the linear program are the persons of each type in each region. It is a
    network programme, so all its vertices are integer.
    """
    least = presence.minimums.sum(axis=0)
    real = np.maximum(real, least)  # The projection may miss a bound by a rounding error.
    lower = np.floor(real + 1e-6).astype(np.int64)
    part = np.maximum(real - lower, 0)
    leaf, kind = np.nonzero(presence.present)
    leaves, kinds = presence.present.shape
    people = len(leaf)
    columns = np.arange(people)
    up = people + np.arange(kinds)
    rows = np.concatenate([leaf, leaves + kind, leaves + np.arange(kinds)])
    entries = np.concatenate([np.ones(2 * people), -np.ones(kinds)])
    matrix = coo_array(
        (entries, (rows, np.concatenate([columns, columns, up]))),
        shape=(leaves + kinds, people + kinds),
    ).tocsr()
    # The random numbers are smaller than all relevant differences. Therefore they only decide ties.
    cost = np.concatenate([np.zeros(people), 1 - 2 * part + 1e-7 * rng.random(kinds)])
    bounds = [(0, None)] * people + [(0, 1)] * kinds
    sides = np.concatenate([presence.surpluses, lower - least]).astype(float)
    found = scipy.optimize.linprog(cost, A_eq=matrix, b_eq=sides, bounds=bounds, method="highs-ds")
    if found.status != 0:
        raise InputError(
            f"topdown: the totals cannot be rounded. Check the noise. ({found.message.strip()})"
        )
    totals = lower + np.rint(found.x[people:]).astype(np.int64)
    if presence.violated_bound(totals) is not None:
        raise InputError(
            "topdown: the rounded totals violate a bound on the sum of a subset. Use another seed."
        )
    return totals
