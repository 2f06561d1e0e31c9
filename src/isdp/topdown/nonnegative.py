"""Nearest non-negative tables to a noisy table, level by level from the root to the leaves.

The algorithm is the part of TopDown after the measurements. The noisy table replaces the
measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from isdp.arrays import IntArray
from isdp.checks import check_choice
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown.budget import DETAIL, TOTAL, Budget, Schema
from isdp.topdown.descent import Descent, held_levels, node_streams
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.run_plan import Plan


def nonnegative_tables(
    rng: np.random.Generator, noisy: IntArray, hierarchy: Hierarchy, held: Sequence[str] = ()
) -> dict[str, IntArray]:
    """Project a noisy table onto non-negative integer tables that add up at every level.

    The totals of the child regions are estimated first, and then their cells. The estimates are
    nearest in l2 to the noisy numbers, among numbers of 0 or more that add up to the numbers of the
    parent. They are rounded without changing a sum. The result is biased: empty cells become larger
    and other cells smaller on average.

    Parameters
    ----------
    rng : Generator
        The generator breaks ties of the rounding.
    noisy : int64 array, shape (leaves, cells)
        Counts that may be negative, with one row for each leaf of the hierarchy.
    held : sequence of str
        Levels whose totals do not change. The totals of all levels above these levels do not change
        either, and the total of the whole table never changes.

    Returns
    -------
    dict of str to int64 array, shape (regions of the level, cells)
        The tables of each level.

    Raises
    ------
    InputError
        If the table does not fit the hierarchy, a level is unknown, or a held total is negative.
    """
    noisy = np.asarray(noisy)
    leaves = len(hierarchy.leaf_units[0])
    if noisy.ndim != 2 or len(noisy) != leaves or noisy.dtype.kind not in "iu":
        raise InputError(
            f"topdown: noisy: the table must have integers of shape ({leaves}, cells), got "
            f"{noisy.dtype} of shape {noisy.shape}"
        )
    for level in held:
        check_choice("topdown: held: the level", level, hierarchy.levels)
    levels = hierarchy.levels
    queries = {level: {TOTAL: Fraction(1, 2), DETAIL: Fraction(1, 2)} for level in levels}
    shares = dict.fromkeys(levels, Fraction(1, len(levels)))
    plan = Plan(
        Schema(("cell",), (noisy.shape[1],)),
        Budget("zCDP", Fraction(1), shares, queries),
        tuple(held),
        passes="isolate_total",
    )
    tables = []
    for units, members in zip(hierarchy.units, hierarchy.leaf_units, strict=True):
        tables.append(np.zeros((len(units), noisy.shape[1]), dtype=np.int64))
        np.add.at(tables[-1], members, noisy)
    exact = held_levels(hierarchy, plan)
    if any((tables[depth].sum(axis=1) < 0).any() for depth in exact):
        raise InputError("topdown: noisy: the total of a region is negative. Hold other totals.")
    # the descent reads the tables as measurements
    descent = Descent(plan, hierarchy, node_streams(rng), draw_noise)
    answers = [
        np.ascontiguousarray((work.rows @ table.T).T)
        for work, table in zip(descent.workloads, tables, strict=True)
    ]
    found = [descent.root(answers[0], tables[0].sum(axis=1))[0]]
    for depth in range(1, len(levels)):
        below = np.empty_like(tables[depth])
        totals = tables[depth].sum(axis=1) if depth in exact else None
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            of_children = None if totals is None else totals[children]
            above, measured = found[-1][parent], answers[depth][children]
            below[children] = descent.down(depth, parent, above, measured, of_children)[0]
        found.append(below)
    return dict(zip(levels, found, strict=True))
