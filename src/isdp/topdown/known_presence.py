"""Known presence of groups of people in the smallest regions, and estimated group totals.

Groups are the categories along some axes, such as types of group quarters, or sex by age. In a
region, a group may be known to be present with a minimum count, or known to be absent. The "Minimal
Schema" of the slides *The TopDown algorithm and invariants* (TDA) estimates the group totals of all
levels with exact totals in one problem. Tables with these totals then always exist for the regions
below. Below these levels, a group total is split among the regions that may have the group, subject
only to the sums of the minimum counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.checks import check_integer_array
from isdp.constraints.hierarchy import Hierarchy
from isdp.constraints.presence import Presence
from isdp.errors import InputError
from isdp.topdown.budget import TOTAL, Budget, Schema
from isdp.topdown.controlled_rounding import round_tables
from isdp.topdown.presence_estimate import RegionTree, estimate_all_levels
from isdp.topdown.projections import project_onto_simplices


@dataclass(frozen=True, eq=False)
class KnownPresence:
    """Groups of people that are known to be present in or absent from the smallest regions.

    Parameters
    ----------
    axes : tuple of str
        Axes of the schema. The categories along these axes are the groups, in row-major order.
    min_counts : int array, shape (leaves, groups)
        Minimum numbers of people, which are 0 or more.
    allowed : bool array, shape (leaves, groups)
        False if the group is known to be absent.

    Raises
    ------
    InputError
        If the shapes differ, or a group is both present and absent.
    """

    axes: tuple[str, ...]
    min_counts: IntArray
    allowed: BoolArray

    def __post_init__(self) -> None:
        name = "presence: min_counts (leaves, groups)"
        min_counts = check_integer_array(name, self.min_counts, (None, None), 0)
        allowed = np.asarray(self.allowed, dtype=bool)
        if min_counts.shape != allowed.shape:
            raise InputError("presence: allowed: give an array of the shape of min_counts")
        if min_counts[~allowed].any():
            raise InputError(
                "presence: min_counts: a minimum count is positive for an absent group. Use 0."
            )
        object.__setattr__(self, "min_counts", min_counts)
        object.__setattr__(self, "allowed", allowed)

    def group_of_cells(self, schema: Schema) -> IntArray:
        """Return the number of the group of each cell as an int64 array of shape (cells,)."""
        places = np.unravel_index(np.arange(schema.cells), schema.shape)
        kept = [schema.axes.index(axis) for axis in self.axes]
        shape = [schema.shape[axis] for axis in kept]
        return np.ravel_multi_index(tuple(places[axis] for axis in kept), tuple(shape))

    def at_level(self, hierarchy: Hierarchy, depth: int) -> tuple[IntArray, BoolArray]:
        """Return the minimum counts and allowed groups of a level, of shape (regions, groups)."""
        member, size = hierarchy.leaf_units[depth], len(hierarchy.units[depth])
        min_counts = np.zeros((size, self.min_counts.shape[1]), dtype=np.int64)
        np.add.at(min_counts, member, self.min_counts)
        allowed = np.zeros(min_counts.shape, dtype=bool)
        np.logical_or.at(allowed, member, self.allowed)
        return min_counts, allowed

    def check(self, table: IntArray, schema: Schema) -> None:
        """Raise `InputError` if a table of shape (leaves, cells) contradicts the known presence."""
        people: IntArray = np.zeros_like(self.min_counts)
        group_of_cell = self.group_of_cells(schema)
        for group in range(people.shape[1]):
            people[:, group] = table[:, group_of_cell == group].sum(axis=1)
        wrong = (people < self.min_counts) | ((people > 0) & ~self.allowed)
        if wrong.any():
            leaf, group = (int(i) for i in np.argwhere(wrong)[0])
            raise InputError(
                f"presence: row {leaf} of the table contradicts the known presence of group "
                f"{group}. Correct the table or the list of groups."
            )


def measured_group_totals(
    known: KnownPresence, schema: Schema, budget: Budget, level: str, answers: IntArray
) -> tuple[FloatArray, float]:
    """Estimate group totals from all answers of a level that determine them, without constraints.

    The noisy answers of shape (regions, answers) are in the order of
    `isdp.topdown.budget.workload`. The answers of each query that includes the axes of the groups
    are summed to group totals. The sums are averaged with weights equal to their inverse variances.
    The answer to the query "total" then shifts all groups of a region equally, in proportion to the
    precision of the answer.

    Returns
    -------
    totals : float64 array, shape (regions, groups)
    weight : float
        Inverse variance of each group total before the query "total" is used.
    """
    wanted = [schema.axes.index(axis) for axis in known.axes]
    weighted: FloatArray = np.zeros((len(answers), known.min_counts.shape[1]))
    weight, first, noisy_total = 0.0, 0, None
    for query in budget.measured_queries(level):
        kept, size = schema.kept_axes(query), schema.answers(query)
        part = answers[:, first : first + size].astype(float)
        first += size
        if query == TOTAL:
            noisy_total = part[:, 0]
        if not set(wanted) <= set(kept):
            continue
        cube = part.reshape(-1, *(schema.shape[axis] for axis in kept))
        others = tuple(1 + place for place, axis in enumerate(kept) if axis not in wanted)
        left = [axis for axis in kept if axis in wanted]
        order = [0, *(1 + left.index(axis) for axis in wanted)]
        totals = cube.sum(axis=others).transpose(order).reshape(len(part), -1)
        precision = totals.shape[1] / (size * budget.variance(level, query))
        weighted, weight = weighted + precision * totals, weight + precision
    found = weighted / weight
    if noisy_total is not None:
        gain = 1 / weight / (found.shape[1] / weight + budget.variance(level, TOTAL))
        found = found + gain * (noisy_total - found.sum(axis=1))[:, None]
    return found, weight


def estimate_held_group_totals(
    rng: np.random.Generator,
    known: KnownPresence,
    hierarchy: Hierarchy,
    measured: Sequence[tuple[FloatArray, float]],
    totals: IntArray,
) -> list[IntArray]:
    """Estimate the group totals of all levels with exact totals in one problem.

    The result has an int64 array of shape (regions, groups) for each level.

    Parameters
    ----------
    measured : sequence of (totals, weight)
        Results of `measured_group_totals` for each level, from the root to the last level with
        exact totals.
    totals : int array, shape (regions,)
        Totals of the regions of the last level with exact totals.
    """
    depth = len(measured) - 1
    min_counts, allowed = known.at_level(hierarchy, depth)
    presence = Presence(np.asarray(totals), allowed, min_counts)
    tree = RegionTree(hierarchy.parents[1 : depth + 1], [weight for _, weight in measured])
    last = estimate_all_levels(rng, [noisy for noisy, _ in measured], tree, presence)
    return [np.rint(level).astype(np.int64) for level in tree.sums(last)]


def split_group_totals(
    rng: np.random.Generator,
    noisy: FloatArray,
    min_counts: IntArray,
    allowed: BoolArray,
    parent: IntArray,
) -> IntArray:
    """Split the group totals of a parent among children whose own totals are not exact.

    The totals of the parent have shape (groups,). The other arrays and the result have shape
    (children, groups).
    """
    sums = parent - min_counts.sum(axis=0)
    real = project_onto_simplices(np.where(allowed, noisy - min_counts, -np.inf), sums)
    return min_counts + round_tables(rng, real, cell_sums=sums).table
