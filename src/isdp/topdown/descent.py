"""The Census Bureau's TopDown algorithm: measure, estimate, round, and go down a level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isdp.accounting import PrivacyGuarantee
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.streams import stream
from isdp.topdown.budget import TOTAL, workload
from isdp.topdown.controlled_rounding import Rounded, round_tables
from isdp.topdown.known_presence import (
    estimate_held_group_totals,
    measured_group_totals,
    split_group_totals,
)
from isdp.topdown.least_squares import LeastSquaresProblem, normal_equations, solve
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.projections import project_onto_simplices
from isdp.topdown.run_plan import Plan

Streams = Callable[[str, str], np.random.Generator]


@dataclass(frozen=True, eq=False)
class Release:
    """What comes out of a run.

    Attributes
    ----------
    tables : dict from level to int64 array, shape (units, cells)
        Each level adds up to the one above, cell by cell.
    measurements : dict from level to int64 array, shape (units, answers)
        Noisy answers, in the order of `isdp.topdown.budget.workload`. They may be published: the
        tables are computed from them, the held totals and the names of the regions.
    guarantee : PrivacyGuarantee
        Of the measurements, and so of everything.
    nodes : list of dict
        One a parent: level (of the children), parent, children, cells (kept), dropped (cells that
        are zero at the parent), variables, cost (persons) and off_whole of the rounding.
    """

    tables: dict[str, np.ndarray]
    measurements: dict[str, np.ndarray]
    guarantee: PrivacyGuarantee
    nodes: list[dict]


def node_streams(rng: np.random.Generator) -> Streams:
    """Give each region a stream of its own, so that what one draws never shifts another's.

    Parameters
    ----------
    rng : numpy.random.Generator
        One number is drawn from it.
    """
    root = int(rng.integers(2**63))
    return lambda level, unit: stream(root, level, unit)


def run(
    rng: np.random.Generator,
    table,
    hierarchy: Hierarchy,
    plan: Plan,
    noise: Callable[..., np.ndarray] = draw_noise,
) -> Release:
    """Make a private version of a table at all levels of a hierarchy (TDA, "TopDown Algorithm").

    Parameters
    ----------
    table : int array, shape (leaves, cells)
        Confidential counts, from 0 up, a row for each leaf of the hierarchy.
    noise : function
        As `isdp.topdown.measurement_noise.draw_noise`; for confidential data
        `draw_noise_for_release`.

    Raises
    ------
    InputError
        If table, hierarchy and plan do not fit together.
    """
    if np.ndim(table) == 2 and np.shape(table)[1] != plan.schema.cells:
        raise InputError(
            f"topdown: the table has {np.shape(table)[1]} cells, but the axes make "
            f"{plan.schema.cells}"
        )
    true = hierarchy.aggregate(table)
    check_zeros(true[0][0], plan)
    if plan.known is not None:
        plan.known.check(table, plan.schema)
    held = held_levels(hierarchy, plan)
    descent = Descent(plan, hierarchy, node_streams(rng), noise)
    answers = [descent.measure(depth, counts) for depth, counts in enumerate(true)]
    kinds = _kinds_held(descent, answers, true[held[-1]].sum(axis=1)) if plan.known else None
    totals = true[0].sum(axis=1) if kinds is None else kinds[0]
    released, nodes = [descent.root(answers[0], totals)], [descent.note]
    for depth in range(1, len(hierarchy.levels)):
        below = np.empty_like(true[depth])
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            above, measured = released[-1][parent], answers[depth][children]
            totals = None
            if kinds is not None and depth in held:
                totals = kinds[depth][children]
            elif kinds is not None:
                totals = _kinds_below(descent, depth, parent, children, above, measured)
            elif depth in held:
                totals = true[depth][children].sum(axis=1)
            below[children] = descent.down(depth, parent, above, measured, totals)
            nodes.append(descent.note)
        released.append(below)
    published = [f"the total of each {hierarchy.levels[depth]}" for depth in held if depth]
    words = ", ".join(published + ["which kinds are present"] * (plan.known is not None))
    return Release(
        tables=dict(zip(hierarchy.levels, released, strict=True)),
        measurements=dict(zip(hierarchy.levels, answers, strict=True)),
        guarantee=plan.budget.guarantee(words),
        nodes=nodes,
    )


def _kinds_held(descent: Descent, answers, totals) -> list[np.ndarray]:
    """Totals by kind of all levels whose totals are held, from the root down."""
    plan, hierarchy = descent.plan, descent.hierarchy
    held = held_levels(hierarchy, plan)
    measured = [
        measured_group_totals(
            plan.known, plan.schema, plan.budget, hierarchy.levels[depth], answers[depth]
        )
        for depth in held
    ]
    rng = descent.streams("kinds of", hierarchy.levels[held[-1]])
    return estimate_held_group_totals(rng, plan.known, hierarchy, measured, totals)


def _kinds_below(descent: Descent, depth, parent, children, above, answers) -> np.ndarray:
    """Totals by kind of the children of one parent whose totals are not held."""
    plan, level = descent.plan, descent.hierarchy.levels[depth]
    kind = plan.known.group_of_cells(plan.schema)
    sums = np.zeros(plan.known.least.shape[1], dtype=np.int64)
    np.add.at(sums, kind, above)
    noisy, _ = measured_group_totals(plan.known, plan.schema, plan.budget, level, answers)
    least, allowed = descent.known_at(depth)
    rng = descent.streams(f"kinds of {level} of", descent.hierarchy.units[depth - 1][parent])
    return split_group_totals(rng, noisy, least[children], allowed[children], sums)


def check_zeros(whole, plan: Plan) -> None:
    """Refuse people in a structural zero; `whole` has the counts of all regions, (cells,)."""
    for cell in plan.structural_zeros:
        if whole[cell]:
            raise InputError(
                f"topdown: cell {cell} is a structural zero, but there are people in it; correct "
                f"the table or the list of structural zeros"
            )


def held_levels(hierarchy: Hierarchy, plan: Plan) -> range:
    """Depths whose totals are held: the root, the levels named and all above one that is."""
    return range(max([0, *(hierarchy.number(level) for level in plan.held)]) + 1)


class Descent:
    """One parent's children at a time; `note` tells of the last one.

    Parameters
    ----------
    noise : function
        As `isdp.topdown.measurement_noise.draw_noise`.
    """

    def __init__(self, plan: Plan, hierarchy: Hierarchy, streams: Streams, noise):
        self.plan, self.hierarchy, self.streams, self.noise = plan, hierarchy, streams, noise
        self.work = {level: workload(plan.schema, plan.budget, level) for level in hierarchy.levels}
        self.note: dict = {}
        self._known_at: dict = {}

    def known_at(self, depth) -> tuple[np.ndarray, np.ndarray]:
        """Least numbers and allowed kinds of a level's regions."""
        if depth not in self._known_at:
            self._known_at[depth] = self.plan.known.at(self.hierarchy, depth)
        return self._known_at[depth]

    def measure(self, depth, true) -> np.ndarray:
        """Noisy answers of a level's regions, each from the region's own stream."""
        level = self.hierarchy.levels[depth]
        work, flavour = self.work[level], self.plan.budget.flavour
        answers = np.ascontiguousarray((work.rows @ true.T).T)
        for row, name in zip(answers, self.hierarchy.units[depth], strict=True):
            row += self.noise(self.streams(level, name), flavour, work.losses, work.counts)
        return answers

    def root(self, answers, totals) -> np.ndarray:
        """Solve the root under the number of people."""
        return self._all_cells(0, "", answers, np.flatnonzero(self.plan.possible), None, totals)

    def down(self, depth, parent, above, answers, totals) -> np.ndarray:
        """Split a parent's table among its children."""
        name = self.hierarchy.units[depth - 1][parent]
        if len(answers) == 1:  # the only child is its parent
            self._note(depth, name, 1, np.flatnonzero(above), 0, 0.0, 0.0)
            return above[None, :]
        kept = np.flatnonzero(above if self.plan.nonnegative else self.plan.possible)
        return self._all_cells(depth, name, answers, kept, above, totals)

    def _all_cells(self, depth, name, answers, kept, above, totals) -> np.ndarray:
        tables = np.zeros((len(answers), self.plan.schema.cells), dtype=np.int64)
        cell_sums = None if above is None else above[kept]
        work = self.work[self.hierarchy.levels[depth]]
        tables[:, kept] = self.split(depth, name, work, answers, kept, cell_sums, totals)
        return tables

    def _tie_breaker(self, depth, name) -> np.random.Generator:
        return self.streams(f"{self.hierarchy.levels[depth]} of", name)

    def _totals(self, depth, name, work, answers, total) -> np.ndarray:
        """First pass: the children's totals from the query "total" alone, whole numbers."""
        level = self.hierarchy.levels[depth]
        if TOTAL not in work.queries:
            raise InputError(f"topdown: level {level!r} has no query {TOTAL!r} to isolate")
        noisy = answers[:, work.of({TOTAL})]
        sums = np.array([total])
        if self.plan.nonnegative:
            best = project_onto_simplices(noisy, sums)
        else:
            best = noisy + (total - noisy.sum()) / len(noisy)
        rng = self.streams(f"totals of {level} of", name)
        return round_tables(rng, best, cell_sums=sums).table[:, 0]

    def split(self, depth, name, work, answers, kept, cell_sums, totals) -> np.ndarray:
        """Find the tables of a parent's children, on the cells that are kept.

        Parameters
        ----------
        depth : int
            Of the children.
        name : str
            Of the parent.
        work : Workload
            Of the children's level, or those of its answers that concern the cells kept.
        answers : int array, shape (children, answers)
        kept : int array
            Numbers of the cells that are kept.
        cell_sums : int array, shape (kept,), or None
            The parent's counts.
        totals : int array, shape (children,) or (children, kinds), or None
            Totals that are held, or those by kind.

        Returns
        -------
        int64 array, shape (children, kept)
        """
        if totals is None and self.plan.isolates_total(self.hierarchy.levels[depth]):
            totals = self._totals(depth, name, work, answers, cell_sums.sum())
        tables = np.zeros((len(answers), len(kept)), dtype=np.int64)
        some = np.ones(len(answers), dtype=bool)
        if totals is not None and self.plan.nonnegative:
            some = totals.reshape(len(answers), -1).sum(axis=1) > 0
        if not len(kept) or not some.any():
            self._note(depth, name, len(answers), kept, 0, 0.0, 0.0)
            return tables
        # a query says nothing once its answers are held
        used = ~work.of(self._settled(work, totals))
        matrix, pull = normal_equations(
            work.rows[used], work.weights[used], answers[some][:, used], kept
        )
        sums = None if totals is None else totals[some]
        groups = None
        if sums is not None and sums.ndim == 2:
            groups = self.plan.known.group_of_cells(self.plan.schema)[kept]
        problem = LeastSquaresProblem(matrix, pull, cell_sums, sums, groups)
        real = solve(problem, self.plan.nonnegative)
        rng = self._tie_breaker(depth, name)
        # a number for each cell, kept or not: which others are kept decides no tie
        ties = rng.random((len(answers), self.plan.schema.cells))[np.ix_(some, kept)]
        rounded = _round_parts(rng, real, problem, ties)
        tables[some] = rounded.table
        notes = rounded.variables, rounded.cost, rounded.off_whole
        self._note(depth, name, len(answers), kept, *notes)
        return tables

    def _settled(self, work, totals) -> set[str]:
        """Name the queries whose answers follow from the totals that are held."""
        if totals is None:
            return set()
        if totals.ndim == 1:
            return {TOTAL}
        schema, axes = self.plan.schema, self.plan.known.axes
        known = {schema.axes.index(axis) for axis in axes}
        kept = {query: set(schema.kept(query)) for query in work.queries}
        # the cells themselves stay, lest nothing be left to minimise
        return {q for q, axes in kept.items() if axes <= known and len(axes) < len(schema.axes)}

    def _note(self, depth, name, children, kept, variables, cost, off_whole) -> None:
        self.note = {
            "level": self.hierarchy.levels[depth],
            "parent": name,
            "children": children,
            "cells": len(kept),
            "dropped": self.plan.schema.cells - len(kept),
            "variables": variables,
            "cost": cost,
            "off_whole": off_whole,
        }


def _round_parts(rng: np.random.Generator, real, problem: LeastSquaresProblem, ties) -> Rounded:
    """Round the cells of each group by themselves, as no sum joins two groups."""
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
