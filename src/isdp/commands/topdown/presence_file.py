"""Kinds of people known to be present in a region, and contradictions with held totals."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from isdp.commands.shared.table import JOINT
from isdp.constraints import Invariants
from isdp.constraints.contradictions import irreducible_conflict
from isdp.constraints.hierarchy import Hierarchy
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError
from isdp.io.csv_files import check_cells, read_cells
from isdp.topdown.budget import Schema
from isdp.topdown.known_presence import KnownPresence

MIN_COLUMN = "least"  # column of the smallest numbers; it may be left out
MAX_DIGITS = 12
FROM_ZERO = "counts from 0 up"
MAX_CONFLICT_CELLS = 5000  # of a region in which contradictions are searched


def read_present(
    path,
    levels: tuple[str, ...],
    schema: Schema,
    categories: tuple[tuple[str, ...], ...],
    hierarchy: Hierarchy,
    impossible: tuple[int, ...],
    absent_otherwise: bool,
) -> KnownPresence:
    """Read the kinds that are present in the smallest regions.

    Parameters
    ----------
    path : path
        A csv: the column of the smallest level, one or several axes of the table, and perhaps
        ``least`` (1 where there is no such column). Columns of other levels are checked.
    categories : tuple of tuple of str
        Categories of each axis.
    impossible : tuple of int
        Structural zeros.
    absent_otherwise : bool
        Whether kinds that are not listed for a region are absent there; otherwise unknown.

    Raises
    ------
    InputError
        If the file is invalid, a name is not in the table, a line is repeated, or a present kind
        has only structural zeros. The message names the line.
    """
    place = Path(path).name
    lines = read_cells(path)
    axes = tuple(name for name in schema.axes if name in lines.columns)
    others = [name for name in lines.columns if name not in (*axes, *levels, MIN_COLUMN)]
    if levels[-1] not in lines.columns or not axes or others:
        raise InputError(
            f"{place}: wanted the column {levels[-1]!r}, one or several of "
            f"{', '.join(schema.axes)}, and perhaps {MIN_COLUMN!r}; got {', '.join(lines.columns)}"
        )
    least_of = np.ones(len(lines), dtype=np.int64)
    if MIN_COLUMN in lines.columns:
        check_cells(
            lines[MIN_COLUMN],
            f"[0-9]{{1,{MAX_DIGITS}}}",
            "is not a smallest number",
            lambda line: f"{place}: line {line}",
            "Give a whole number of 1 or more.",
        )
        least_of = lines[MIN_COLUMN].astype("int64").to_numpy()
    region = _numbers(lines[levels[-1]], hierarchy.units[-1], place, levels[-1])
    for depth, level in enumerate(levels[:-1], start=1):
        if level in lines.columns:
            above = _numbers(lines[level], hierarchy.units[depth], place, level)
            wrong = np.flatnonzero(hierarchy.leaf_units[depth][region] != above)
            if len(wrong):
                line, name = lines.index[wrong[0]], lines[levels[-1]].iloc[wrong[0]]
                raise InputError(f"{place}: line {line}: {name!r} lies in another {level}")
    names = [categories[schema.axes.index(axis)] for axis in axes]
    kind = np.ravel_multi_index(
        [_numbers(lines[axis], names[i], place, axis) for i, axis in enumerate(axes)],
        [len(each) for each in names],
    )
    kinds = int(np.prod([len(each) for each in names]))
    least = np.zeros((len(hierarchy.units[-1]), kinds), dtype=np.int64)
    for line, where, what, number in zip(lines.index, region, kind, least_of, strict=True):
        if least[where, what] or not number:
            words = "repeats another line" if number else "asks for 0 people; leave it out"
            raise InputError(f"{place}: line {line} {words}")
        least[where, what] = number
    known = KnownPresence(
        axes, least, (least > 0) if absent_otherwise else np.ones(least.shape, bool)
    )
    possible = np.ones(schema.cells, dtype=bool)
    possible[list(impossible)] = False
    impossible_kinds = np.bincount(known.group_of_cells(schema)[possible], minlength=kinds) == 0
    listed = np.flatnonzero(impossible_kinds[kind])
    if len(listed):
        what = JOINT.join(str(lines[axis].iloc[listed[0]]) for axis in axes)
        raise InputError(
            f"{place}: line {lines.index[listed[0]]}: {what} must be present, but all of "
            f"its cells are structural zeros; drop one of the two"
        )
    return KnownPresence(axes, least, known.allowed & ~impossible_kinds)


def _numbers(column, names, place: str, what: str) -> np.ndarray:
    number = {name: i for i, name in enumerate(names)}
    for line, name in column.items():
        if name not in number:
            raise InputError(f"{place}: line {line}: the table has no {what} {name!r}")
    return np.array([number[name] for name in column], dtype=np.int64)


def refuse_contradictions(
    known: KnownPresence, hierarchy: Hierarchy, depth: int, totals, names
) -> None:
    """Refuse known presences that contradict the held totals, which are public.

    Parameters
    ----------
    depth : int
        The last level whose totals are held.
    totals : int array
        Totals of the regions of that level.
    names : sequence of str
        Names of the kinds.

    Raises
    ------
    InputError
        If there is a contradiction. The message lists an irreducible set of constraints.
    """
    least, allowed = known.at_level(hierarchy, depth)
    wrong = (totals < least.sum(axis=1)) | ((totals > 0) & ~allowed.any(axis=1))
    if not wrong.any():
        return
    unit = int(np.flatnonzero(wrong)[0])
    leaves = np.flatnonzero(hierarchy.leaf_units[depth] == unit)
    place = f"{hierarchy.levels[depth]} {hierarchy.units[depth][unit]}" if depth else "all"
    if len(leaves) * len(names) > MAX_CONFLICT_CELLS:
        raise InputError(
            f"--present: the total of {place} contradicts the presence in its {len(leaves)} "
            f"regions. Correct one of them"
        )
    polytope = _constraints(known, hierarchy, leaves, totals[unit], place, names)
    found = [name for name in irreducible_conflict(polytope) if not name.startswith(FROM_ZERO)]
    raise InputError(
        f"--present: these constraints contradict each other. Correct one of them: "
        f"{'; '.join(found)}"
    )


def _constraints(known: KnownPresence, hierarchy, leaves, total, place: str, names) -> Polytope:
    """Return the total of a region, and the known presences in it, as constraints."""
    equal, sides, equal_names = [np.ones(len(leaves) * len(names), dtype=np.int64)], [total], []
    equal_names.append(f"the total of {place}")
    above, least, above_names = [], [], []
    region = hierarchy.units[-1]
    for cell, (leaf, kind) in enumerate(product(leaves, range(len(names)))):
        row = np.zeros(len(equal[0]), dtype=np.int64)
        row[cell] = 1
        what = f"{names[kind]} in {region[leaf]}"
        if not known.allowed[leaf, kind]:
            equal.append(row)
            sides.append(0)
            equal_names.append(f"the absence of {what}")
            continue
        number = known.min_counts[leaf, kind]
        above.append(row)
        least.append(number)
        above_names.append(f"the minimum of {what}" if number else f"{FROM_ZERO}: {what}")
    rows = np.array(above, dtype=np.int64).reshape(-1, len(equal[0]))
    return Polytope(
        Invariants(np.array(equal), equal_names),
        np.array(sides),
        Invariants(rows, above_names),
        np.array(least, dtype=np.int64),
    )


def refuse_another_table(known: KnownPresence, schema: Schema, hierarchy, counts, names) -> None:
    """Refuse a table that lacks a present kind, or has people of an absent kind."""
    kind = known.group_of_cells(schema)
    people = np.stack([counts[:, kind == k].sum(axis=1) for k in range(len(names))], axis=1)
    for wrong, words in (
        (people < known.min_counts, "fewer people than --present says"),
        ((people > 0) & ~known.allowed, "people where --present lists none"),
    ):
        if wrong.any():
            leaf, number = (int(i) for i in np.argwhere(wrong)[0])
            region = hierarchy.units[-1][leaf]
            raise InputError(
                f"topdown: the table has {words}: {names[number]} in {region}; correct one of them"
            )


def kind_names(known: KnownPresence, schema: Schema, categories) -> list[str]:
    """Name each kind by its categories, such as "sex=f, age=child"."""
    along = [categories[schema.axes.index(axis)] for axis in known.axes]
    return [
        JOINT.join(f"{axis}={one}" for axis, one in zip(known.axes, some, strict=True))
        for some in product(*along)
    ]
