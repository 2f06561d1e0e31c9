"""The table of a comparison: areas in regions, and cells with axes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isdp.arrays import IntArray
from isdp.checks import check_integer_array
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown import Schema

LEVELS = ("all", "region", "area")


@dataclass(frozen=True, eq=False)
class Areas:
    """The counts of areas, which are grouped into regions with held totals.

    Parameters
    ----------
    counts : int64 array, shape (areas, cells)
        Counts of 0 or more.
    regions : sequence of str, shape (areas,)
        The region of each area.
    schema : Schema
        The axes of the cells.
    names : sequence of str, optional
        Distinct names of the areas. The default names are their numbers.

    Raises
    ------
    InputError
        If the shapes differ, or a count is not an integer of 0 or more.
    """

    counts: IntArray
    regions: Sequence[str]
    schema: Schema
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        shape = len(self.regions), self.schema.cells
        counts = check_integer_array("Areas: counts", self.counts, shape, 0)
        given = range(len(counts)) if self.names is None else self.names
        names = tuple(str(name) for name in given)
        if len(set(names)) != len(counts) or not names:
            raise InputError("Areas: names: give one or more areas, each with a different name")
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "regions", tuple(str(region) for region in self.regions))
        object.__setattr__(self, "names", names)

    @cached_property
    def blocks(self) -> dict[str, np.ndarray]:
        """The indices of the areas of each region. Regions keep the order of their first areas."""
        found: dict[str, list[int]] = {}
        for number, region in enumerate(self.regions):
            found.setdefault(region, []).append(number)
        return {region: np.array(rows) for region, rows in found.items()}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy for TopDown, with the levels `LEVELS`."""
        _, region, area = LEVELS
        columns: dict[str, Sequence[Hashable]] = {region: self.regions, area: self.names or ()}
        return Hierarchy.from_columns(columns, root=LEVELS[0])
