"""Plot the records that each constraint counts.

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from isdp.plots.style import DEEP, DRAW, finish, panels, styled


@styled
def plot_constraints(constraints: Mapping[str, Sequence[int]], n_records: int) -> Figure:
    """Plot the records that each constraint counts (ISDP, Figure 3).

    Three constraints are shown as a Venn diagram with the records in its regions. Any other number
    of constraints is shown as a grid of records by constraints. Records are numbered from 1.
    """
    records = range(1, n_records + 1)
    if len(constraints) == 3:
        return _three_sets(constraints, records)
    size = max(5, 1.5 + 0.28 * n_records), 1.2 + 0.35 * len(constraints)
    figure, ((axis,),) = panels(1, 1, size)
    for row, members in enumerate(constraints.values()):
        axis.plot(records, [row] * n_records, ".", color="#dddddd", ms=4)
        axis.plot(members, [row] * len(members), "o", color=DRAW, ms=6)
    axis.set_yticks(range(len(constraints)), list(constraints))
    axis.set_xticks(records, map(str, records), rotation=90 if n_records > 20 else 0)
    axis.set_xlabel("record")
    axis.set_title("Records that each constraint counts", loc="left")
    axis.invert_yaxis()
    axis.grid(False)
    return finish(figure)


def _three_sets(constraints: Mapping[str, Sequence[int]], records: Sequence[int]) -> Figure:
    angles = np.deg2rad([90, 210, 330])
    centres = 0.62 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    names, sets = list(constraints), [set(members) for members in constraints.values()]
    figure, ((axis,),) = panels(1, 1, (5.4, 5.2))
    title = f"Three constraints on {len(records)} records: the records in each region"
    for centre, name, colour in zip(centres, names, DEEP, strict=True):
        axis.add_patch(Circle(centre, 1, facecolor=colour, alpha=0.16, lw=0))
        axis.add_patch(Circle(centre, 1, fill=False, edgecolor=colour, lw=1.4))
        axis.text(*(2.9 * centre), name, ha="center", va="center", color=colour, weight="bold")
    regions: dict[tuple[bool, ...], list[int]] = {}
    for record in records:
        regions.setdefault(tuple(record in members for members in sets), []).append(record)
    for region, members in regions.items():
        inside, count = np.array(region), sum(region)
        where = centres[inside].sum(axis=0) * {1: 1.6, 2: 1.0}.get(count, 0.0)
        if count == 0:
            where = np.array([1.35, 1.35])
        lines = [", ".join(map(str, members[i : i + 3])) for i in range(0, len(members), 3)]
        axis.text(*where, "\n".join(lines), ha="center", va="center", fontsize=9)
    axis.set_xlim(-2.0, 2.0)
    axis.set_ylim(-1.75, 2.05)
    axis.set_aspect("equal")
    axis.set_axis_off()
    return finish(figure, f"{title}\nthe number of records in each region is ours")
