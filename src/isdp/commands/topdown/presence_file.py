"""The file of groups of people that are known to be present in regions.

A group of people has one category along each of some axes, such as sex=f and age=child.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.arrays import IntArray
from isdp.commands.shared.table import JOINT
from isdp.constraints import Invariants
from isdp.constraints.contradictions import irreducible_conflict
from isdp.constraints.hierarchy import Hierarchy
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError
from isdp.io.csv_files import check_cells, read_cells
from isdp.topdown.budget import Schema
from isdp.topdown.known_presence import KnownPresence

MIN_COLUMN = "least"  # the optional column of minimum numbers of people
MAX_DIGITS = 12
FROM_ZERO = "counts from 0 up"
MAX_CONFLICT_CELLS = 5000  # cells of the largest region in which conflicts are searched


def read_present(
    path: str | Path,
    levels: tuple[str, ...],
    schema: Schema,
    categories: tuple[tuple[str, ...], ...],
    hierarchy: Hierarchy,
    impossible: tuple[int, ...],
    absent_otherwise: bool,
) -> KnownPresence:
    """Read the groups that are present in the smallest regions.

    Parameters
    ----------
    path : path
        A CSV file with the column of the smallest level and one or more axes of the table. The
        optional column ``least`` has the minimum number of people, by default 1. Columns of other
        levels are checked against the table.
    impossible : tuple of int
        The structural zeros.
    absent_otherwise : bool
        If it is true, groups that are not listed for a region are absent there. If it is false,
        these groups may be present or absent.

    Raises
    ------
    InputError
        If the file is invalid or repeats a line, a name is not in the table, or all cells of a
        listed group are structural zeros. The message names the line.
    """
    file = Path(path).name
    lines = read_cells(path)
    axes = tuple(name for name in schema.axes if name in lines.columns)
    others = [name for name in lines.columns if name not in (*axes, *levels, MIN_COLUMN)]
    if levels[-1] not in lines.columns or not axes or others:
        raise InputError(
            f"{file}: the columns are {', '.join(lines.columns)}. Give {levels[-1]!r}, one or "
            f"several of {', '.join(schema.axes)}, and optionally {MIN_COLUMN!r}."
        )
    minimum = np.ones(len(lines), dtype=np.int64)
    if MIN_COLUMN in lines.columns:
        check_cells(
            lines[MIN_COLUMN],
            f"[0-9]{{1,{MAX_DIGITS}}}",
            "is not a minimum number of people",
            lambda line: f"{file}: line {line}",
            "Give a whole number of 1 or more.",
        )
        minimum = lines[MIN_COLUMN].astype("int64").to_numpy()
    region = _numbers(lines[levels[-1]], hierarchy.units[-1], file)
    for depth, level in enumerate(levels[:-1], start=1):
        if level in lines.columns:
            above = _numbers(lines[level], hierarchy.units[depth], file)
            wrong = np.flatnonzero(hierarchy.leaf_units[depth][region] != above)
            if len(wrong):
                line, name = lines.index[wrong[0]], lines[levels[-1]].iloc[wrong[0]]
                raise InputError(
                    f"{file}: line {line}, column {level}: {name!r} is in another {level}. Give "
                    f"the {level} of the table."
                )
    names = [categories[schema.axes.index(axis)] for axis in axes]
    shape = tuple(map(len, names))
    numbers = [_numbers(lines[axis], names[i], file) for i, axis in enumerate(axes)]
    group = np.ravel_multi_index(tuple(numbers), shape)
    min_counts = np.zeros((len(hierarchy.units[-1]), int(np.prod(shape))), dtype=np.int64)
    for line, leaf, number, people in zip(lines.index, region, group, minimum, strict=True):
        if min_counts[leaf, number]:
            raise InputError(f"{file}: line {line} repeats another line. Remove one of them.")
        if not people:
            raise InputError(f"{file}: line {line}: {MIN_COLUMN} is 0. Leave this line out.")
        min_counts[leaf, number] = people
    allowed = (min_counts > 0) if absent_otherwise else np.ones(min_counts.shape, bool)
    known = KnownPresence(axes, min_counts, allowed)
    possible = np.ones(schema.cells, dtype=bool)
    possible[list(impossible)] = False
    has_cells = np.bincount(known.group_of_cells(schema)[possible], minlength=len(allowed[0])) > 0
    empty = np.flatnonzero(~has_cells[group])
    if len(empty):
        name = JOINT.join(str(lines[axis].iloc[empty[0]]) for axis in axes)
        raise InputError(
            f"{file}: line {lines.index[empty[0]]}: all cells of {name} are structural zeros. "
            f"Leave out this line or the structural zeros."
        )
    return KnownPresence(axes, min_counts, allowed & has_cells)


def _numbers(column: pd.Series, names: Sequence[str], file: str) -> IntArray:
    number = {name: i for i, name in enumerate(names)}
    for line, name in column.items():
        if name not in number:
            raise InputError(
                f"{file}: line {line}, column {column.name}: {name!r} is not in the table. Write a "
                f"value of the table."
            )
    return np.array([number[name] for name in column], dtype=np.int64)


def refuse_contradictions(
    known: KnownPresence,
    hierarchy: Hierarchy,
    depth: int,
    totals: IntArray,
    names: Sequence[str],
) -> None:
    """Refuse known presences that contradict the held totals, which are public.

    `totals` are those of the regions of level `depth`, the last level whose totals are held. The
    message lists an irreducible set of constraints by the names of the groups.
    """
    min_counts, allowed = known.at_level(hierarchy, depth)
    wrong = (totals < min_counts.sum(axis=1)) | ((totals > 0) & ~allowed.any(axis=1))
    if not wrong.any():
        return
    unit = int(np.flatnonzero(wrong)[0])
    leaves = np.flatnonzero(hierarchy.leaf_units[depth] == unit)
    place = f"{hierarchy.levels[depth]} {hierarchy.units[depth][unit]}" if depth else "all"
    if len(leaves) * len(names) > MAX_CONFLICT_CELLS:
        raise InputError(
            f"--present: the total of {place} contradicts the groups listed in its {len(leaves)} "
            f"regions. Correct the file or the table."
        )
    polytope = _constraints(known, hierarchy, leaves, int(totals[unit]), place, names)
    found = [name for name in irreducible_conflict(polytope) if not name.startswith(FROM_ZERO)]
    raise InputError(
        f"--present: these constraints contradict each other. Correct one of them: "
        f"{'; '.join(found)}"
    )


def _constraints(
    known: KnownPresence,
    hierarchy: Hierarchy,
    leaves: IntArray,
    total: int,
    place: str,
    names: Sequence[str],
) -> Polytope:
    unit_rows = np.eye(len(leaves) * len(names), dtype=np.int64)
    equal, sides = [np.ones(len(unit_rows), dtype=np.int64)], [total]
    equal_names = [f"the total of {place}"]
    above, bounds, above_names = [], [], []
    for row, (leaf, group) in zip(unit_rows, product(leaves, range(len(names))), strict=True):
        name = f"{names[group]} in {hierarchy.units[-1][leaf]}"
        if not known.allowed[leaf, group]:
            equal.append(row)
            sides.append(0)
            equal_names.append(f"the absence of {name}")
            continue
        bound = int(known.min_counts[leaf, group])
        above.append(row)
        bounds.append(bound)
        above_names.append(f"the minimum of {name}" if bound else f"{FROM_ZERO}: {name}")
    rows = np.array(above, dtype=np.int64).reshape(-1, len(unit_rows))
    return Polytope(
        Invariants(np.array(equal), equal_names),
        np.array(sides),
        Invariants(rows, above_names),
        np.array(bounds, dtype=np.int64),
    )


def refuse_another_table(
    known: KnownPresence,
    schema: Schema,
    hierarchy: Hierarchy,
    counts: IntArray,
    names: Sequence[str],
) -> None:
    """Refuse a table with fewer people of a group than the minimum, or with an absent group."""
    group_of_cell = known.group_of_cells(schema)
    groups = range(len(names))
    people = np.stack([counts[:, group_of_cell == k].sum(axis=1) for k in groups], axis=1)
    for wrong, words in (
        (people < known.min_counts, "fewer people than --present says"),
        ((people > 0) & ~known.allowed, "people of a group that is absent"),
    ):
        if wrong.any():
            leaf, group = (int(i) for i in np.argwhere(wrong)[0])
            raise InputError(
                f"--present: the table has {words}: {names[group]} in {hierarchy.units[-1][leaf]}. "
                f"Correct the file or the table."
            )


def group_names(
    known: KnownPresence, schema: Schema, categories: tuple[tuple[str, ...], ...]
) -> list[str]:
    """Name each group by its categories, such as "sex=f, age=child"."""
    along = [categories[schema.axes.index(axis)] for axis in known.axes]
    return [
        JOINT.join(f"{axis}={one}" for axis, one in zip(known.axes, some, strict=True))
        for some in product(*along)
    ]
