"""Totals by type under bounds on all subsets of types, by cutting planes (TDA).

With 28 types of group quarters there are 2^28 bounds, of which few are relevant for any noisy
table. A minimal cut finds one broken bound at a time, which is then added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.sparse import coo_array

from isdp.constraints import Invariants, Polytope
from isdp.constraints.presence import MAX_FLOW, Presence
from isdp.errors import InputError
from isdp.postprocess.projection import nearest_l2

MAX_CUTS = 500
MAX_PARTS = 2**20  # parts of a person, the resolution of a cut


@dataclass(frozen=True, eq=False)
class NearestTotals:
    """The nearest totals that the leaves can have.

    `totals` (int64) are within 1 of the nearest real point `real` (float64), both of shape
    (kinds,). `cuts` are the subsets of types whose bounds were needed.
    """

    totals: np.ndarray
    real: np.ndarray
    cuts: list[tuple[int, ...]]


def nearest_group_totals(rng: np.random.Generator, noisy, presence: Presence) -> NearestTotals:
    """Project noisy totals by type (kinds,) onto the possible totals, and round them.

    The generator resolves ties of the rounding. Raises InputError if the totals are too large for
    the cuts' integers, or if the cuts do not end.
    """
    noisy = np.asarray(noisy, dtype=float)
    cuts: list[tuple[int, ...]] = []
    while len(cuts) <= MAX_CUTS:
        real = nearest_l2(noisy, _polytope(presence, cuts))
        broken = _broken(real, presence)
        if broken is None or broken in cuts:  # the violation is below one person
            return NearestTotals(_round(rng, real, presence), real, cuts)
        cuts.append(broken)
    raise InputError(f"topdown: more than {MAX_CUTS} cuts; check the noise and the totals")


def _polytope(presence: Presence, cuts: list[tuple[int, ...]]) -> Polytope:
    """Least numbers, the grand total, and the bounds found so far."""
    kinds = presence.groups
    rows = np.zeros((kinds + len(cuts), kinds), dtype=np.int64)
    rows[:kinds] = np.eye(kinds, dtype=np.int64)
    for number, cut in enumerate(cuts):
        rows[kinds + number, list(cut)] = -1
    least = [*presence.minimums.sum(axis=0), *(-presence.max_people(cut) for cut in cuts)]
    total = np.array([presence.totals.sum()])
    return Polytope(Invariants.total(kinds), total, Invariants(rows), np.array(least))


def _broken(real, presence: Presence) -> tuple[int, ...] | None:
    """Find a broken bound in parts of a person, because flows are integers."""
    total = int(presence.totals.sum())
    parts = min(MAX_PARTS, MAX_FLOW // max(total, 1))
    if parts < 2:
        raise InputError(
            "topdown: the totals are too large for cuts by 32-bit flows; release smaller regions"
        )
    least = presence.minimums.sum(axis=0) * parts
    wanted = np.maximum(np.rint(real * parts).astype(np.int64), least)
    excess = int(wanted.sum()) - total * parts
    order = np.argsort(least - wanted)  # the remainder goes to the types with the most slack
    for kind in order:
        moved = min(excess, int(wanted[kind] - least[kind])) if excess > 0 else excess
        wanted[kind] -= moved
        excess -= moved
    finer = Presence(presence.totals * parts, presence.present, presence.minimums * parts)
    return finer.violated_bound(wanted)


def _round(rng: np.random.Generator, real, presence: Presence) -> np.ndarray:
    """Round up or down with the least change so that the leaves can have the totals.

    It is a network programme over persons of each type in each leaf, with whole vertices.
    """
    least = presence.minimums.sum(axis=0)
    real = np.maximum(real, least)  # the projection meets bounds up to rounding errors only
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
    # random numbers below all relevant differences resolve ties
    cost = np.concatenate([np.zeros(people), 1 - 2 * part + 1e-7 * rng.random(kinds)])
    bounds = [(0, None)] * people + [(0, 1)] * kinds
    sides = np.concatenate([presence.surpluses, lower - least]).astype(float)
    found = scipy.optimize.linprog(cost, A_eq=matrix, b_eq=sides, bounds=bounds, method="highs-ds")
    if found.status != 0:
        raise InputError(
            f"topdown: cannot round the totals; check the noise ({found.message.strip()})"
        )
    totals = lower + np.rint(found.x[people:]).astype(np.int64)
    if presence.violated_bound(totals) is not None:
        raise InputError("topdown: the rounded totals break a bound; the solver was not exact")
    return totals
