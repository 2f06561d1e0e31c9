"""The TopDown algorithm of the Census Bureau, which measures, estimates and rounds each level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isdp.accounting import PrivacyGuarantee
from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.streams import stream
from isdp.topdown.budget import TOTAL, Flavour, Workload, workload
from isdp.topdown.controlled_rounding import Rounded, round_tables
from isdp.topdown.known_presence import (
    KnownPresence,
    estimate_held_group_totals,
    measured_group_totals,
    split_group_totals,
)
from isdp.topdown.least_squares import LeastSquaresProblem, normal_equations, solve
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.projections import project_onto_simplices
from isdp.topdown.run_plan import Plan

Streams = Callable[[str, str], np.random.Generator]
NoiseSampler = Callable[[np.random.Generator, Flavour, Sequence[Fraction], Sequence[int]], IntArray]


@dataclass(frozen=True, eq=False)
class Release:
    """Result of a TopDown run.

    Attributes
    ----------
    tables : dict from level to int64 array, shape (units, cells)
        The tables of each level sum to those of the level above, cell by cell.
    measurements : dict from level to int64 array, shape (units, answers)
        Noisy answers, in the order of `isdp.topdown.budget.workload`. The measurements may be
        published. The tables are computed from the measurements, the exact totals and the names of
        the regions.
    guarantee : PrivacyGuarantee
        Guarantee of the measurements, and therefore of all results.
    nodes : list of dict
        One dict for each parent. The keys level and children are the level and the number of the
        children. The keys cells and dropped are the numbers of cells that are positive and zero at
        the parent. Further keys are the name of the parent, and the variables, cost (persons) and
        off_whole of `isdp.topdown.controlled_rounding.Rounded`.
    """

    tables: dict[str, IntArray]
    measurements: dict[str, IntArray]
    guarantee: PrivacyGuarantee
    nodes: list[dict[str, Any]]


def node_streams(rng: np.random.Generator) -> Streams:
    """Return a function that gives each region its own random stream.

    The draws of one region do not depend on those of another. `node_streams` draws one number from
    `rng`.
    """
    root = int(rng.integers(2**63))
    return lambda level, unit: stream(root, level, unit)


def run(
    rng: np.random.Generator,
    table: ArrayLike,
    hierarchy: Hierarchy,
    plan: Plan,
    noise: NoiseSampler = draw_noise,
) -> Release:
    """Run TopDown on a table at all levels of a hierarchy (TDA, "TopDown Algorithm").

    Raise `InputError` if the table, the hierarchy and the plan do not fit each other.

    Parameters
    ----------
    table : int array, shape (leaves, cells)
        Confidential counts of 0 or more, with a row for each leaf of the hierarchy.
    noise : function
        The default is for experiments. Use `draw_noise_for_release` for confidential data.
    """
    if np.ndim(table) == 2 and np.shape(table)[1] != plan.schema.cells:
        raise InputError(
            f"topdown: table: the table has {np.shape(table)[1]} cells, but the axes have "
            f"{plan.schema.cells}. Give one column per cell."
        )
    true = hierarchy.aggregate(table)
    check_zeros(true[0][0], plan)
    if plan.known is not None:
        plan.known.check(np.asarray(table), plan.schema)
    held = held_levels(hierarchy, plan)
    descent = Descent(plan, hierarchy, node_streams(rng), noise)
    answers = [descent.measure(depth, counts) for depth, counts in enumerate(true)]
    held_totals = [true[depth].sum(axis=1) for depth in held]
    if plan.known is not None:
        held_totals = _held_group_totals(descent, plan.known, answers, held_totals[-1])
    root, node = descent.root(answers[0], held_totals[0])
    released, nodes = [root], [node]
    for depth in range(1, len(hierarchy.levels)):
        below = np.empty_like(true[depth])
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            above, measured = released[-1][parent], answers[depth][children]
            totals = held_totals[depth][children] if depth in held else None
            if totals is None and plan.known is not None:
                totals = _split_group_totals(
                    descent, plan.known, depth, parent, children, above, measured
                )
            below[children], node = descent.down(depth, parent, above, measured, totals)
            nodes.append(node)
        released.append(below)
    published = [f"the total of each {hierarchy.levels[depth]}" for depth in held if depth]
    words = ", ".join(published + ["which groups are present"] * (plan.known is not None))
    return Release(
        tables=dict(zip(hierarchy.levels, released, strict=True)),
        measurements=dict(zip(hierarchy.levels, answers, strict=True)),
        guarantee=plan.budget.guarantee_of(words),
        nodes=nodes,
    )


# the draws of a seed depend on the names of the random streams, so the names must not change
def _held_group_totals(
    descent: Descent, known: KnownPresence, answers: Sequence[IntArray], totals: IntArray
) -> list[IntArray]:
    """Estimate the group totals (regions, groups) of each level whose totals are exact."""
    plan, hierarchy = descent.plan, descent.hierarchy
    levels = [hierarchy.levels[depth] for depth in held_levels(hierarchy, plan)]
    measured = [
        measured_group_totals(known, plan.schema, plan.budget, level, answers[depth])
        for depth, level in enumerate(levels)
    ]
    rng = descent.streams("kinds of", levels[-1])
    return estimate_held_group_totals(rng, known, hierarchy, measured, totals)


def _split_group_totals(
    descent: Descent,
    known: KnownPresence,
    depth: int,
    parent: int,
    children: IntArray,
    above: IntArray,
    answers: IntArray,
) -> IntArray:
    plan, level = descent.plan, descent.hierarchy.levels[depth]
    sums = np.zeros(known.min_counts.shape[1], dtype=np.int64)
    np.add.at(sums, known.group_of_cells(plan.schema), above)
    noisy, _ = measured_group_totals(known, plan.schema, plan.budget, level, answers)
    min_counts, allowed = descent.known_at_level(known, depth)
    rng = descent.streams(f"kinds of {level} of", descent.hierarchy.units[depth - 1][parent])
    return split_group_totals(rng, noisy, min_counts[children], allowed[children], sums)


def check_zeros(counts: IntArray, plan: Plan) -> None:
    """Raise `InputError` if the total count of a structural zero is positive."""
    for cell in plan.structural_zeros:
        if counts[cell]:
            raise InputError(
                f"topdown: table: cell {cell} is a structural zero, but has people in it. Correct "
                f"the table or the list of structural zeros."
            )


def held_levels(hierarchy: Hierarchy, plan: Plan) -> range:
    """Return the depths with exact totals, from the root down to the last level of `plan.held`."""
    return range(max([0, *(hierarchy.number(level) for level in plan.held)]) + 1)


@dataclass(frozen=True, eq=False)
class Family:
    """The children of one parent, and the data from which their tables are estimated.

    Attributes
    ----------
    workload : Workload
        The queries of the level of the children. Answers without a cell of `cells` may be left out.
    answers : int64 array, shape (children, answers)
    cells : int64 array
        Indices of the cells that may be positive.
    cell_sums : int64 array, shape (len(cells),), or None
        Counts of the parent.
    totals : int64 array, shape (children,) or (children, groups), or None
        Exact totals of the children, or their exact totals by group.
    """

    depth: int
    parent: str
    workload: Workload
    answers: IntArray
    cells: IntArray
    cell_sums: IntArray | None
    totals: IntArray | None


class Descent:
    """The steps of a TopDown run, from one level to the next."""

    def __init__(self, plan: Plan, hierarchy: Hierarchy, streams: Streams, noise: NoiseSampler):
        self.plan, self.hierarchy, self.streams, self.noise = plan, hierarchy, streams, noise
        self.workloads = [workload(plan.schema, plan.budget, level) for level in hierarchy.levels]
        self._known: dict[int, tuple[IntArray, BoolArray]] = {}

    def known_at_level(self, known: KnownPresence, depth: int) -> tuple[IntArray, BoolArray]:
        """Return the minimum counts and the allowed groups of the regions of a level."""
        if depth not in self._known:
            self._known[depth] = known.at_level(self.hierarchy, depth)
        return self._known[depth]

    def measure(self, depth: int, true: IntArray) -> IntArray:
        """Compute the noisy answers of the regions of a level, with one stream per region."""
        level, work = self.hierarchy.levels[depth], self.workloads[depth]
        flavour = self.plan.budget.flavour
        answers = np.ascontiguousarray((work.rows @ true.T).T)
        for row, name in zip(answers, self.hierarchy.units[depth], strict=True):
            row += self.noise(self.streams(level, name), flavour, work.losses, work.counts)
        return answers

    def root(self, answers: IntArray, totals: IntArray) -> tuple[IntArray, dict[str, Any]]:
        """Estimate the table (1, cells) of the root, given the number of people."""
        cells = np.flatnonzero(self.plan.possible)
        return self._solve(Family(0, "", self.workloads[0], answers, cells, None, totals))

    def down(
        self, depth: int, parent: int, above: IntArray, answers: IntArray, totals: IntArray | None
    ) -> tuple[IntArray, dict[str, Any]]:
        """Split the table of a parent among its children, and return the tables and a node."""
        only_child = len(answers) == 1
        cells = np.flatnonzero(above if self.plan.nonnegative or only_child else self.plan.possible)
        name, work = self.hierarchy.units[depth - 1][parent], self.workloads[depth]
        family = Family(depth, name, work, answers, cells, above[cells], totals)
        if only_child:
            return above[None, :], self._node(family, Rounded(above[None, :], 0.0, 0, 0.0))
        return self._solve(family)

    def _solve(self, family: Family) -> tuple[IntArray, dict[str, Any]]:
        rounded = self.split(family)
        tables = np.zeros((len(family.answers), self.plan.schema.cells), dtype=np.int64)
        tables[:, family.cells] = rounded.table
        return tables, self._node(family, rounded)

    def _node(self, family: Family, rounded: Rounded) -> dict[str, Any]:
        return {
            "level": self.hierarchy.levels[family.depth],
            "parent": family.parent,
            "children": len(family.answers),
            "cells": len(family.cells),
            "dropped": self.plan.schema.cells - len(family.cells),
            "variables": rounded.variables,
            "cost": rounded.cost,
            "off_whole": rounded.off_whole,
        }

    def split(self, family: Family) -> Rounded:
        """Estimate and round the tables (children, len(cells)) of the children."""
        plan, cells, totals = self.plan, family.cells, family.totals
        level, children = self.hierarchy.levels[family.depth], len(family.answers)
        if totals is None and plan.isolates_total(level):
            totals = self._isolated_totals(family)
        tables = np.zeros((children, len(cells)), dtype=np.int64)
        some = np.ones(children, dtype=bool)
        if totals is not None and plan.nonnegative:
            some = totals.reshape(children, -1).sum(axis=1) > 0
        if not len(cells) or not some.any():
            return Rounded(tables, 0.0, 0, 0.0)
        used = ~family.workload.answers_to(self._determined_queries(family.workload, totals))
        matrix, linear_term = normal_equations(
            family.workload.rows[used],
            family.workload.weights[used],
            family.answers[some][:, used],
            cells,
        )
        sums = None if totals is None else totals[some]
        groups = None
        if plan.known is not None and sums is not None and sums.ndim == 2:
            groups = plan.known.group_of_cells(plan.schema)[cells]
        problem = LeastSquaresProblem(matrix, linear_term, family.cell_sums, sums, groups)
        real = solve(problem, plan.nonnegative)
        rng = self.streams(f"{level} of", family.parent)
        # one number for each cell of the schema, so that `cells` does not change the ties
        ties = rng.random((children, plan.schema.cells))[np.ix_(some, cells)]
        rounded = _round_groups(rng, real, problem, ties)
        tables[some] = rounded.table
        return Rounded(tables, rounded.cost, rounded.variables, rounded.off_whole)

    def _isolated_totals(self, family: Family) -> IntArray:
        """Estimate the totals of the children from the query "total" alone, and round them."""
        level = self.hierarchy.levels[family.depth]
        if TOTAL not in family.workload.queries or family.cell_sums is None:
            raise InputError(
                f'topdown: passes: "isolate_total" needs the query {TOTAL!r} at level {level!r}. '
                f"Give this query a share."
            )
        total = family.cell_sums.sum()
        noisy = family.answers[:, family.workload.answers_to({TOTAL})]
        sums = np.array([total])
        if self.plan.nonnegative:
            best = project_onto_simplices(noisy, sums)
        else:
            best = noisy + (total - noisy.sum()) / len(noisy)
        rng = self.streams(f"totals of {level} of", family.parent)
        return round_tables(rng, best, cell_sums=sums).table[:, 0]

    def _determined_queries(self, work: Workload, totals: IntArray | None) -> set[str]:
        """Return the queries whose answers add no information to the totals."""
        if totals is None:
            return set()
        if self.plan.known is None or totals.ndim == 1:
            return {TOTAL}
        schema = self.plan.schema
        known = {schema.axes.index(axis) for axis in self.plan.known.axes}
        kept = {query: set(schema.kept_axes(query)) for query in work.queries}
        # the detailed query is kept, because the problem needs an objective
        return {q for q, axes in kept.items() if axes <= known and len(axes) < len(schema.axes)}


def _round_groups(
    rng: np.random.Generator, real: FloatArray, problem: LeastSquaresProblem, ties: FloatArray
) -> Rounded:
    """Round the cells of each group separately, because no sum spans two groups."""
    if problem.child_sums is None:
        return round_tables(rng, real, problem.cell_sums, None, ties)
    table = np.zeros(real.shape, dtype=np.int64)
    found = []
    for cells, sums in zip(problem.parts, problem.group_sums.T, strict=True):
        if len(cells):
            columns = None if problem.cell_sums is None else problem.cell_sums[cells]
            found.append(round_tables(rng, real[:, cells], columns, sums, ties[:, cells]))
            table[:, cells] = found[-1].table
    return Rounded(
        table,
        sum(each.cost for each in found),
        sum(each.variables for each in found),
        max(each.off_whole for each in found),
    )
