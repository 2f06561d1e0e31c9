"""The Census Bureau's TopDown algorithm: measure, estimate, round, and go down a level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isdp.accounting import Guarantee
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.seeds import stream
from isdp.topdown.budget import TOTAL, Budget, Schema, workload
from isdp.topdown.estimate import Problem, normal_equations, solve
from isdp.topdown.noise import draw_noise
from isdp.topdown.projections import onto_simplices
from isdp.topdown.rounding import round_tables

PASSES = ("one", "isolate_total")
Streams = Callable[[str, str], np.random.Generator]


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Parameters
    ----------
    schema : Schema
    budget : Budget
        For every level of the hierarchy.
    held : tuple of str
        Levels whose regions keep their true totals. The levels above them keep theirs as well.
    nonnegative : bool
        False lets counts fall below zero, and nothing is dropped that is zero at the parent.
    passes : {"one", "isolate_total"}
        All queries at once, or first the regions' totals from the query "total" alone, which the
        other queries then have to meet.
    structural_zeros : tuple of int
        Cells that nobody can be in, whatever the data are.

    Raises
    ------
    InputError
        If `passes` is unknown, or a structural zero is no cell.
    """

    schema: Schema
    budget: Budget
    held: tuple[str, ...] = ()
    nonnegative: bool = True
    passes: str = "one"
    structural_zeros: tuple[int, ...] = ()

    def __post_init__(self):
        unknown = set(self.structural_zeros) - set(range(self.schema.cells))
        if unknown:
            raise InputError(f"topdown: structural zeros {sorted(unknown)} are no cells")
        if self.passes not in PASSES:
            raise InputError(f"topdown: passes {self.passes!r} is none of {', '.join(PASSES)}")

    @property
    def possible(self) -> np.ndarray:
        """Cells that are no structural zeros, bool (cells,)."""
        possible = np.ones(self.schema.cells, dtype=bool)
        possible[list(self.structural_zeros)] = False
        return possible


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
    guarantee : Guarantee
        Of the measurements, and so of everything.
    nodes : list of dict
        One a parent: level (of the children), parent, children, cells (kept), dropped (cells that
        are zero at the parent), variables, cost (persons) and off_whole of the rounding.
    """

    tables: dict[str, np.ndarray]
    measurements: dict[str, np.ndarray]
    guarantee: Guarantee
    nodes: list[dict]


def node_streams(rng: np.random.Generator) -> Streams:
    """Give each region a stream of its own, so that what one draws never shifts another's.

    Parameters
    ----------
    rng : numpy.random.Generator
        One number is drawn from it.

    Returns
    -------
    function from level and region to numpy.random.Generator
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
    rng : numpy.random.Generator
    table : int array, shape (leaves, cells)
        Confidential counts, from 0 up, a row for each leaf of the hierarchy.
    hierarchy : Hierarchy
    plan : Plan
    noise : function
        As `isdp.topdown.noise.draw_noise`; for confidential data `draw_noise_for_release`.

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
    _check_zeros(true[0][0], plan)
    held = held_levels(hierarchy, plan)
    descent = _Descent(plan, hierarchy, node_streams(rng), noise)
    answers = [descent.measure(depth, counts) for depth, counts in enumerate(true)]
    released, nodes = [descent.root(answers[0], true[0].sum(axis=1))], [descent.note]
    for depth in range(1, len(hierarchy.levels)):
        below = np.empty_like(true[depth])
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            totals = true[depth][children].sum(axis=1) if depth in held else None
            above = released[-1][parent]
            below[children] = descent.down(depth, parent, above, answers[depth][children], totals)
            nodes.append(descent.note)
        released.append(below)
    words = ", ".join(f"the total of each {hierarchy.levels[depth]}" for depth in held if depth)
    return Release(
        tables=dict(zip(hierarchy.levels, released, strict=True)),
        measurements=dict(zip(hierarchy.levels, answers, strict=True)),
        guarantee=plan.budget.guarantee(words),
        nodes=nodes,
    )


def _check_zeros(whole, plan: Plan) -> None:
    for cell in plan.structural_zeros:
        if whole[cell]:
            raise InputError(
                f"topdown: cell {cell} is a structural zero, but there are people in it; correct "
                f"the table or the list of structural zeros"
            )


def held_levels(hierarchy: Hierarchy, plan: Plan) -> range:
    """Depths whose totals are held: the root, the levels named and all above one that is."""
    return range(max([0, *(hierarchy.number(level) for level in plan.held)]) + 1)


class _Descent:
    """One parent's children at a time; `note` tells of the last one."""

    def __init__(self, plan: Plan, hierarchy: Hierarchy, streams: Streams, noise):
        self.plan, self.hierarchy, self.streams, self.noise = plan, hierarchy, streams, noise
        self.work = {level: workload(plan.schema, plan.budget, level) for level in hierarchy.levels}
        self.note: dict = {}

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
        return self._solve(0, "", answers, np.flatnonzero(self.plan.possible), None, totals)

    def down(self, depth, parent, above, answers, totals) -> np.ndarray:
        """Split a parent's table among its children."""
        name = self.hierarchy.units[depth - 1][parent]
        if len(answers) == 1:  # the only child is its parent
            self._note(depth, name, 1, np.flatnonzero(above), 0, 0.0, 0.0)
            return above[None, :]
        if totals is None and self.plan.passes == "isolate_total":
            totals = self._totals(depth, name, answers, above.sum())
        kept = np.flatnonzero(above if self.plan.nonnegative else self.plan.possible)
        return self._solve(depth, name, answers, kept, above, totals)

    def _tie_breaker(self, depth, name) -> np.random.Generator:
        return self.streams(f"{self.hierarchy.levels[depth]} of", name)

    def _totals(self, depth, name, answers, total) -> np.ndarray:
        """First pass: the children's totals from the query "total" alone, whole numbers."""
        level = self.hierarchy.levels[depth]
        if TOTAL not in self.work[level].queries:
            raise InputError(f"topdown: level {level!r} has no query {TOTAL!r} to isolate")
        noisy = answers[:, self.work[level].of({TOTAL})]
        sums = np.array([total])
        if self.plan.nonnegative:
            best = onto_simplices(noisy, sums)
        else:
            best = noisy + (total - noisy.sum()) / len(noisy)
        rng = self.streams(f"totals of {level} of", name)
        return round_tables(rng, best, cell_sums=sums).table[:, 0]

    def _solve(self, depth, name, answers, kept, above, totals) -> np.ndarray:
        work = self.work[self.hierarchy.levels[depth]]
        tables = np.zeros((len(answers), self.plan.schema.cells), dtype=np.int64)
        cell_sums = None if above is None else above[kept]
        some = np.ones(len(answers), dtype=bool)
        if totals is not None and self.plan.nonnegative:
            some = totals > 0
        if not len(kept) or not some.any():
            self._note(depth, name, len(answers), kept, 0, 0.0, 0.0)
            return tables
        # the query "total" says nothing once the totals are held
        used = ~work.of({TOTAL} if totals is not None else {})
        matrix, pull = normal_equations(
            work.rows[used], work.weights[used], answers[some][:, used], kept
        )
        sums = None if totals is None else totals[some]
        real = solve(Problem(matrix, pull, cell_sums, sums), self.plan.nonnegative)
        rounded = round_tables(self._tie_breaker(depth, name), real, cell_sums, sums)
        tables[np.ix_(some, kept)] = rounded.table
        notes = rounded.variables, rounded.cost, rounded.off_whole
        self._note(depth, name, len(answers), kept, *notes)
        return tables

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
