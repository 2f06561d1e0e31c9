"""A table without negative counts in addition to the unbiased noisy table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from isdp.arrays import IntArray
from isdp.commands.shared.degrees_of_freedom import implies
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.noise_levels import ROOT_LEVEL, NoiseLevels, regular_rows
from isdp.commands.shared.table import JOINT, Table
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown.nonnegative import nonnegative_tables

NONNEGATIVE = "nonnegative"
BIASED = (  # the extension of the files is filled in
    "nonnegative.{0} is computed from noisy.{0} alone, and has the same guarantee. Its counts are "
    "not negative. They are biased: empty cells are larger and other cells smaller on average. The "
    "margins of error are those of noisy.{0}, whose counts are unbiased."
)


def find_held_levels(
    table: Table, levels: NoiseLevels, held: Sequence[HeldTotals]
) -> tuple[str, ...]:
    """Find the levels whose totals are held, before the noise is drawn.

    Raises
    ------
    InputError
        If a held total is not that of a region, or the regions do not have the same cells.
    """
    regular_rows(table, levels.levels, "--nonnegative")
    groups = {ROOT_LEVEL: np.zeros(len(table), dtype=np.int32)}
    groups |= {
        level: table.groups(levels.levels[: number + 1])
        for number, level in enumerate(levels.levels)
    }
    found = []
    for one in held:
        equal = [
            level
            for level, group in groups.items()
            if implies(one.labels, group) and implies(group, one.labels)
        ]
        if not equal:
            raise InputError(
                f"--nonnegative: {one.name}: only totals of the levels stay exact in a table "
                f"without negative counts. Hold other totals, or leave out --nonnegative."
            )
        found.append(equal[0])
    return tuple(found)


def nonnegative_counts(
    table: Table, levels: NoiseLevels, held: Sequence[str], noisy: IntArray
) -> IntArray:
    """Return the nearest counts of 0 or more with the held totals, in the order of the table."""
    width = regular_rows(table, levels.levels, "--nonnegative")
    first = np.arange(0, len(table), width)
    columns: dict[str, Sequence[Hashable]] = {}
    names = [""] * len(first)
    for level in levels.levels:
        texts = table.columns[level].texts[table.columns[level].codes[first]]
        names = [f"{above}{JOINT}{text}" for above, text in zip(names, texts.tolist(), strict=True)]
        columns[level] = names
    tree = Hierarchy.from_columns(columns, root=ROOT_LEVEL)
    # the projection reads only the noisy table, so its ties need no secure randomness
    tables = nonnegative_tables(np.random.default_rng(), noisy.reshape(-1, width), tree, held)
    return tables[levels.levels[-1]][tree.leaf_units[-1]].ravel()
