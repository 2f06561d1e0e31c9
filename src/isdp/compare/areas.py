"""A table that every system can release: areas in regions, and cells with axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown import Schema

LEVELS = ("all", "region", "area")


@dataclass(frozen=True, eq=False)
class Areas:
    """Counts of areas, whose regions' totals are held.

    Parameters
    ----------
    counts : int64 array, shape (areas, cells)
        From 0 up.
    regions : sequence of str, shape (areas,)
        The region that each area lies in.
    schema : Schema
        Axes of the cells.
    names : sequence of str, optional
        Of the areas, all different; their numbers by default.

    Raises
    ------
    InputError
        If the numbers do not fit together, or a count is none.
    """

    counts: np.ndarray
    regions: Sequence[str]
    schema: Schema
    names: Sequence[str] | None = None

    def __post_init__(self):
        counts = np.asarray(self.counts)
        if counts.ndim != 2 or counts.dtype.kind not in "iu" or not counts.size:
            raise InputError(
                f"compare: wanted whole counts with a row an area and a column a cell, got "
                f"{counts.dtype} of shape {counts.shape}"
            )
        if counts.min() < 0:
            raise InputError("compare: a count is negative; all systems start from counts of 0 up")
        if counts.shape != (len(self.regions), self.schema.cells):
            raise InputError(
                f"compare: counts of shape {counts.shape} for {len(self.regions)} areas and "
                f"{self.schema.cells} cells"
            )
        names = range(len(counts)) if self.names is None else self.names
        if len(set(names)) != len(counts):
            raise InputError(f"compare: {len(counts)} areas need as many different names")
        object.__setattr__(self, "counts", counts.astype(np.int64))
        object.__setattr__(self, "regions", tuple(str(region) for region in self.regions))
        object.__setattr__(self, "names", tuple(str(name) for name in names))

    @cached_property
    def blocks(self) -> dict[str, np.ndarray]:
        """Numbers of the areas of each region, in the order of their first areas."""
        found: dict[str, list[int]] = {}
        for number, region in enumerate(self.regions):
            found.setdefault(region, []).append(number)
        return {region: np.array(rows) for region, rows in found.items()}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """All, regions and areas, as TopDown goes through them."""
        _, region, area = LEVELS
        columns = {region: list(self.regions), area: list(self.names)}
        return Hierarchy.from_columns(columns, root=LEVELS[0])
