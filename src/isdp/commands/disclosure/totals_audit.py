"""The counts that the exact totals bound closely, without any noisy count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import vstack

from isdp.arrays import BoolArray, IntArray
from isdp.commands.shared.invariants_file import HeldTotals, group_names
from isdp.commands.shared.table import Table
from isdp.constraints.intervals import UNBOUNDED, CellIntervals, cell_intervals
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.io.wording import counted

MAX_WIDTH = 5  # maximum width of a narrow interval, in persons
MAX_SHARE = 10  # an interval is also narrow if its upper end is this multiple of its width
MAX_LISTED = 10


class TotalsAudit(NamedTuple):
    """The interval of each count, and the cells whose intervals are narrow.

    Attributes
    ----------
    intervals : CellIntervals
    determined, narrow : bool array, shape (cells,)
        A narrow interval is at most 5 persons wide, or 10 % of its upper end. A determined cell has
        an interval of width 0, which is also narrow.
    """

    intervals: CellIntervals
    determined: BoolArray
    narrow: BoolArray

    def frame(self, table: Table) -> pd.DataFrame:
        """Return the columns name, lower, upper and exact. `upper` is missing if it is infinite."""
        low, high, exact = self.intervals.lower, self.intervals.upper, self.intervals.exact
        upper = pd.array(high, dtype="Int64")
        upper[high == UNBOUNDED] = pd.NA
        names = [table.name(row) for row in range(len(table))]
        return pd.DataFrame({"cell": names, "lower": low, "upper": upper, "exact": exact})

    def record(self, table: Table) -> dict[str, object]:
        """Return the numbers of these cells, and the narrowest intervals by the names of cells."""
        low, high = self.intervals.lower, self.intervals.upper
        # the widest intervals come last, and equal widths keep the order of the table
        rows = np.flatnonzero(self.narrow)
        rows = rows[np.argsort((high - low)[rows], kind="stable")]
        outer = int((~self.intervals.exact).sum())
        return {
            "determined_by_totals": int(self.determined.sum()),
            "narrow": len(rows),
            "narrow_means": f"at most {MAX_WIDTH} persons or {100 // MAX_SHARE} % of the upper end",
            "listed": [f"{table.name(r)}: {low[r]:,} to {high[r]:,}" for r in rows[:MAX_LISTED]],
            "intervals_are": "exact in integers"
            if not outer
            else f"outer bounds for {counted(outer, 'cell')}, and otherwise exact in integers",
        }


def audit_totals(invariants: Invariants, totals: Sequence[int] | IntArray) -> TotalsAudit:
    """Find the interval of each count, given the exact totals and that no count is negative.

    Parameters
    ----------
    totals : int array, shape (constraints,)
        The published totals.

    Raises
    ------
    InputError
        If no table of counts has these totals.
    """
    found = cell_intervals(invariants, totals)
    bounded = found.upper < UNBOUNDED
    width = found.upper - found.lower
    narrow = bounded & ((width <= MAX_WIDTH) | (width <= found.upper // MAX_SHARE))
    return TotalsAudit(found, bounded & (width == 0), narrow)


def audit_named_totals(
    table: Table, held: Sequence[HeldTotals], named: Mapping[str, int], path: str | Path
) -> TotalsAudit:
    """Audit the totals of a file, which have the names of `totals.csv` of a release.

    Raises
    ------
    InputError
        If a held total is missing, a name is unknown, or no table of counts has these totals.
    """
    names = np.concatenate([group_names(table, one) for one in held])
    for name in names:
        if name not in named:
            raise InputError(f"{path}: the total {name!r} is missing. Give all held totals.")
    unknown = [name for name in named if name not in set(names)]
    if unknown:
        raise InputError(f"{path}: {unknown[0]!r} is not a held total. Remove its row.")
    matrix = vstack([one.incidence() for one in held], format="csr")
    try:
        return audit_totals(Invariants(matrix), [named[name] for name in names])
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
