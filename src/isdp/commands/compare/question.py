"""The input of a comparison: cells, held totals, and the queries whose errors are compared."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.arrays import IntArray
from isdp.commands.shared.code_list import add_regions
from isdp.commands.shared.degrees_of_freedom import (
    DegreesOfFreedom,
    find_degrees_of_freedom,
    implies,
)
from isdp.commands.shared.invariants_file import HeldTotals, read_invariants
from isdp.commands.shared.margins import usual_sums
from isdp.commands.shared.table import Table, describe_cells, read_counts, read_table
from isdp.commands.shared.warnings import warnings_of_names
from isdp.commands.topdown.run import Problem, arrange
from isdp.compare.areas import LEVELS, Areas
from isdp.errors import InputError
from isdp.io.csv_files import quoted_names
from isdp.io.tables import ROW_PER_CELL, read_columns
from isdp.io.wording import counted
from isdp.topdown import Schema

LOG = logging.getLogger(__name__)
NEEDS_COUNTS = "this system needs counts, which are missing; give a --stand-in"
NO_COUNTS, STAND_IN, CONFIDENTIAL = "no counts", "stand-in", "confidential"
CELLS, AREAS = "cells", "totals of areas"
ONE_CELL = Schema(("cell",), (1,))


class Nested(NamedTuple):
    """The areas of a table, which are nested in regions.

    Attributes
    ----------
    region, area : str
        Names of the columns.
    rows : int64 array, shape (areas, cells)
        The row of the table for each cell of each area.
    problem : Problem
        The input of `isdp topdown`. Row numbers of the table, from 1, replace its counts.
    """

    region: str
    area: str
    rows: IntArray
    problem: Problem

    def areas(self, counts: IntArray) -> Areas:
        """Return the table of the areas for counts in the order of the rows."""
        tree = self.problem.hierarchy
        _, regions, names = tree.units
        of_areas = [regions[number] for number in tree.parents[-1]]
        return Areas(counts[self.rows], of_areas, self.problem.schema, names)


@dataclass(frozen=True, eq=False)
class Question:
    """The cells, the held totals, and the queries whose errors are compared.

    Attributes
    ----------
    table : Table
        Its counts are all 0.
    queries : list of HeldTotals
        Each query asks for disjoint sums of cells. The first query asks for each cell.
    source : {"no counts", "stand-in", "confidential"}
        The source of `counts`.
    from_file : str
        Name of the file with the counts, or "".
    nested : Nested or None
        The areas within regions, if the table has them.
    why_not_nested : str
        The reason why `nested` is None, or "".
    """

    table: Table
    held: list[HeldTotals]
    free: DegreesOfFreedom
    queries: list[HeldTotals]
    counts: IntArray | None
    source: str
    from_file: str
    nested: Nested | None
    why_not_nested: str

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.table)

    @cached_property
    def disjoint(self) -> bool:
        """True if each cell has exactly one total."""
        return self.free.blocks is not None and bool((self.free.blocks >= 0).all())

    def determines(self, query: HeldTotals) -> bool:
        """Return True if one set of held totals determines all answers of a query."""
        return any(implies(one.labels, query.labels) for one in self.held)

    @cached_property
    def why_not_regions(self) -> str:
        """The reason why the held totals are not exactly those of the regions, or ""."""
        if self.nested is None:
            return self.why_not_nested
        region = self.table.groups([self.nested.region])
        blocks = self.free.blocks
        if blocks is not None and implies(blocks, region) and implies(region, blocks):
            return ""
        return f"this system holds only totals by {self.nested.region}, and other totals are held"

    @cached_property
    def why_not_swapped(self) -> str:
        """The reason why swapping areas within regions changes a held total, or ""."""
        if self.nested is None:
            return self.why_not_nested
        region, area, *_ = self.nested
        axes = list(self.nested.problem.schema.axes)
        kept = [self.table.groups([region, area]), self.table.groups([region, *axes])]
        for one in self.held:
            if not any(implies(groups, one.labels) for groups in kept):
                return f"this system does not keep {one.name}"
        return ""

    def by_blocks(self) -> tuple[Areas, IntArray]:
        """Return areas of one cell each, whose regions are the groups of the disjoint totals.

        The second array has the row of the table for each cell.
        """
        blocks = () if self.free.blocks is None else self.free.blocks.tolist()
        areas = Areas(self._known_counts()[:, None], blocks, ONE_CELL)
        return areas, np.arange(self.cells)[:, None]

    def by_areas(self) -> tuple[Areas, IntArray]:
        """Return the areas in regions, and the row of the table for each cell."""
        if self.nested is None:
            raise InputError(self.why_not_nested)
        return self.nested.areas(self._known_counts()), self.nested.rows

    def _known_counts(self) -> IntArray:
        if self.counts is None:
            raise InputError(NEEDS_COUNTS)
        return self.counts


def read_question(
    cells_path: str | Path,
    invariants_path: str | Path,
    *,
    sums_path: str | Path | None = None,
    stand_in: str | Path | None = None,
    region: str | None = None,
    area: str | None = None,
    count: str = "count",
    names: Sequence[str] | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
) -> Question:
    """Read the files of a question.

    Parameters
    ----------
    cells_path : path
        A CSV file with one row per cell. If the file has a column of counts and there is no
        stand-in, the counts are used, and all results are confidential.
    invariants_path : path
        The file of invariants, as in `isdp.commands.shared.invariants_file.read_invariants`.
    sums_path : path, optional
        A file in the format of `invariants_path` with the sums whose errors are compared. By
        default they are the totals of the areas, and the totals by each column of 2 to 100 values.
    stand_in : path, optional
        A public table of the same cells, whose counts replace the confidential counts.
    region, area : str, optional
        The columns of regions and areas. The defaults are the only column with held totals, and the
        only column nested in it.
    names : sequence of str, optional
        The columns that name a cell. The default is all columns except the counts.
    hierarchies : mapping of str to path, optional
        Code lists of columns, as in `isdp.commands.shared.code_list.add_regions`.

    Raises
    ------
    InputError
        If a file is invalid, or the totals determine every cell.
    """
    path = Path(cells_path)
    names = None if names is None else list(names)
    columns = add_regions(read_columns(path, ROW_PER_CELL), hierarchies or {}, path, count)
    texts = columns.pop(count, None)
    if not columns:
        raise InputError(f"{path}: no column except {count!r} describes the rows. Add one.")
    table = describe_cells(path, columns, names, count)
    for warning in warnings_of_names(table):
        LOG.warning("%s", warning)
    counts, source, from_file = None, NO_COUNTS, ""
    if stand_in is not None:
        counts, source, from_file = (
            _stand_in(stand_in, table, count, hierarchies),
            STAND_IN,
            Path(stand_in).name,
        )
    elif texts is not None:
        counts, source, from_file = read_counts(texts, table), CONFIDENTIAL, path.name
    held = read_invariants(invariants_path, table)
    free = find_degrees_of_freedom(held)
    if free.degrees == 0:
        raise InputError(f"{invariants_path}: these totals determine every cell. Hold fewer.")
    nested, why_not = _nested(table, held, region, area)
    named = None if sums_path is None else read_invariants(sums_path, table)
    sums = _usual_sums(table, nested) if named is None else named
    cells = HeldTotals(CELLS, np.arange(len(table), dtype=np.int32))
    return Question(table, held, free, [cells, *sums], counts, source, from_file, nested, why_not)


def _stand_in(
    path: str | Path, table: Table, count: str, hierarchies: Mapping[str, str | Path] | None
) -> IntArray:
    other = read_table(path, count, table.names, hierarchies=hierarchies)
    own, its = (
        pd.MultiIndex.from_arrays([each.columns[name].rows() for name in table.names])
        for each in (table, other)
    )
    missing = np.flatnonzero(its.get_indexer(own) < 0)
    if len(missing):
        raise InputError(
            f"{path}: {counted(len(missing), 'cell')} of {table.path} not found, such as "
            f"{table.name(missing[0])!r}. Give a stand-in with the same cells."
        )
    extra = np.flatnonzero(own.get_indexer(its) < 0)
    if len(extra):
        raise InputError(
            f"{path}: {other.name(extra[0])!r} is not a cell of {table.path}. Give a stand-in with "
            f"the same cells."
        )
    counts: IntArray = other.counts[its.get_indexer(own)]
    return counts


def _usual_sums(table: Table, nested: Nested | None) -> list[HeldTotals]:
    usual = usual_sums(table)
    if nested is None:
        return usual
    areas = HeldTotals(AREAS, table.groups([nested.region, nested.area]))
    return [areas, *(one for one in usual if one.columns != (nested.area,))]


def _nested(
    table: Table, held: list[HeldTotals], region: str | None, area: str | None
) -> tuple[Nested | None, str]:
    for option, name in (("--region", region), ("--area", area)):
        if name is not None and name not in table.names:
            raise InputError(
                f"{option}: {table.path} has no column {name!r} that names cells. Use one of "
                f"{quoted_names(table.names)}."
            )
    if region is not None and region == area:
        raise InputError(f"--region, --area: both name {area!r}. Name two columns.")
    if region is None:
        alone = sorted({one.columns[0] for one in held if len(one.columns) == 1} - {area})
        if len(alone) != 1:
            return None, (
                "this system needs the column of the regions whose totals are held; "
                + (f"is it {' or '.join(alone)}? " if alone else "no column's totals are held; ")
                + "--region names it"
            )
        (region,) = alone
    if area is None:
        inside = [
            name
            for name in table.names
            if name != region
            and implies(table.groups([name]), table.groups([region]))
            and not implies(table.groups([region]), table.groups([name]))
        ]
        if len(inside) != 1:
            return None, (
                f"this system needs the column of the areas within each {region}; "
                + (f"is it {' or '.join(inside)}? " if inside else "")
                + "--area names it"
            )
        (area,) = inside
    numbered = replace(table, counts=np.arange(1, len(table) + 1))
    try:
        problem = arrange(numbered, (region, area))
    except InputError as misfit:
        return None, str(misfit)
    rows = problem.counts - 1
    if (rows < 0).any():
        return None, (
            f"this system needs one row per cell of each {area}; "
            f"{int((rows < 0).sum()):,} are missing in {table.path}"
        )
    tree = replace(problem.hierarchy, levels=LEVELS)  # these names replace the names of the columns
    return Nested(region, area, rows, replace(problem, hierarchy=tree)), ""
