"""What is known of the smallest regions' kinds of people, and the totals by kind that follow.

Kinds are the categories along some axes: of quarters, or of sex by age. In a region a kind may be
known to be there, with a least number of people, or known not to be. The slides' minimal schema
estimates the totals by kind, down to the last level whose totals are held, at once, so that the
regions below can always be found; under it nothing but sums of the least numbers is implied, and a
kind's total is split among the regions that may have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isdp.constraints.hierarchy import Hierarchy
from isdp.constraints.presence import Presence
from isdp.errors import InputError
from isdp.topdown.budget import TOTAL, Budget, Schema
from isdp.topdown.controlled_rounding import round_tables
from isdp.topdown.presence_estimate import RegionTree, estimate_all_levels
from isdp.topdown.projections import project_onto_simplices


@dataclass(frozen=True, eq=False)
class KnownPresence:
    """Which kinds of people the smallest regions have.

    Parameters
    ----------
    axes : tuple of str
        Of the schema; their categories together are the kinds, in row-major order.
    least : int array, shape (leaves, kinds)
        People that there are at least, from 0 up.
    allowed : bool array, shape (leaves, kinds)
        Whether there may be anybody.

    Raises
    ------
    InputError
        If the shapes differ, or a kind is both there and ruled out.
    """

    axes: tuple[str, ...]
    least: np.ndarray
    allowed: np.ndarray

    def __post_init__(self):
        least, allowed = np.asarray(self.least), np.asarray(self.allowed, dtype=bool)
        if least.shape != allowed.shape or least.ndim != 2 or least.dtype.kind not in "iu":
            raise InputError("presence: least numbers and allowed kinds must be of one shape")
        if least.min(initial=0) < 0 or least[~allowed].any():
            raise InputError("presence: a least number is negative, or of a kind that is ruled out")
        object.__setattr__(self, "least", least.astype(np.int64))
        object.__setattr__(self, "allowed", allowed)

    def group_of_cells(self, schema: Schema) -> np.ndarray:
        """Tell each cell's kind by its number, int64 (cells,)."""
        places = np.unravel_index(np.arange(schema.cells), schema.shape)
        kept = [schema.axes.index(axis) for axis in self.axes]
        shape = [schema.shape[axis] for axis in kept]
        return np.ravel_multi_index([places[axis] for axis in kept], shape)

    def at(self, hierarchy: Hierarchy, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """Least numbers and allowed kinds of a level's regions."""
        member, size = hierarchy.leaf_units[depth], len(hierarchy.units[depth])
        least = np.zeros((size, self.least.shape[1]), dtype=np.int64)
        np.add.at(least, member, self.least)
        allowed = np.zeros(least.shape, dtype=bool)
        np.logical_or.at(allowed, member, self.allowed)
        return least, allowed

    def check(self, table, schema: Schema) -> None:
        """Raise `InputError` if a table of the leaves, int (leaves, cells), is not as is known."""
        people = np.zeros(self.least.shape, dtype=np.int64)
        kind = self.group_of_cells(schema)
        for number in range(people.shape[1]):
            people[:, number] = table[:, kind == number].sum(axis=1)
        wrong = (people < self.least) | ((people > 0) & ~self.allowed)
        if wrong.any():
            leaf, number = (int(i) for i in np.argwhere(wrong)[0])
            raise InputError(f"presence: row {leaf} of the table, kind {number}, is not as stated")


def measured_group_totals(
    known: KnownPresence, schema: Schema, budget: Budget, level: str, answers
):
    """Estimate totals by kind from all answers of a level that tell of them, without constraints.

    Every query that keeps the kinds' axes is summed to them and weighted by one over its variance;
    the query of totals then moves all kinds of a region alike, as far as its variance warrants.

    Parameters
    ----------
    answers : int array, shape (regions, answers)
        As in `isdp.topdown.budget.workload`.

    Returns
    -------
    kinds : float64 array, shape (regions, kinds)
    weight : float
        One over the variance of each, before the totals.
    """
    wanted = [schema.axes.index(axis) for axis in known.axes]
    pull, weight, first = 0.0, 0.0, 0
    noisy_total = None
    for query in budget.asked(level):
        kept, size = schema.kept(query), schema.answers(query)
        part = answers[:, first : first + size].astype(float)
        first += size
        if query == TOTAL:
            noisy_total = part[:, 0]
        if not set(wanted) <= set(kept):
            continue
        cube = part.reshape(len(part), *(schema.shape[axis] for axis in kept))
        others = tuple(1 + place for place, axis in enumerate(kept) if axis not in wanted)
        left = [axis for axis in kept if axis in wanted]
        order = [0, *(1 + left.index(axis) for axis in wanted)]
        kinds = cube.sum(axis=others).transpose(order).reshape(len(part), -1)
        precision = kinds.shape[1] / (size * budget.variance(level, query))
        pull, weight = pull + precision * kinds, weight + precision
    found = pull / weight
    if noisy_total is not None:
        gain = 1 / weight / (found.shape[1] / weight + budget.variance(level, TOTAL))
        found = found + gain * (noisy_total - found.sum(axis=1))[:, None]
    return found, weight


def estimate_held_group_totals(
    rng: np.random.Generator, known: KnownPresence, hierarchy: Hierarchy, measured: Sequence, totals
) -> list[np.ndarray]:
    """Totals by kind of all levels down to the last whose totals are held, at once.

    Parameters
    ----------
    measured : sequence of (kinds, weight)
        As from `measured_group_totals`, from the root down to that level.
    totals : int array
        True totals of that level's regions; they are held.

    Returns
    -------
    list of int64 array, each of shape (regions, kinds)
    """
    depth = len(measured) - 1
    least, allowed = known.at(hierarchy, depth)
    presence = Presence(np.asarray(totals), allowed, least)
    tree = RegionTree(hierarchy.parents[1 : depth + 1], [weight for _, weight in measured])
    last = estimate_all_levels(rng, [kinds for kinds, _ in measured], tree, presence)
    return [np.rint(level).astype(np.int64) for level in tree.sums(last)]


def split_group_totals(rng: np.random.Generator, noisy, least, allowed, parent) -> np.ndarray:
    """Split a parent's totals by kind among children whose own totals are not held.

    Parameters
    ----------
    noisy : float array, shape (children, kinds)
    least : int array, shape (children, kinds)
    allowed : bool array, shape (children, kinds)
    parent : int array, shape (kinds,)

    Returns
    -------
    int64 array, shape (children, kinds)
    """
    sums = parent - least.sum(axis=0)
    real = project_onto_simplices(np.where(allowed, noisy - least, -np.inf), sums)
    return least + round_tables(rng, real, cell_sums=sums).table
