"""The figure of the standard deviation of the noise as a function of epsilon, rho or sigma."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import DARK, DAS, DRAW, FAINT, finish, panels, styled

LINES = ("-", "--", ":")  # styles of the largest, the median and the smallest noise
MIN_SD = 0.1  # noise of a smaller standard deviation leaves almost all counts unchanged
MAX_TICKS = 9
MAX_LABEL = 46  # characters
COLORS = {"cell": DRAW, "level": DARK[2], "sum": DAS}


@styled
def plot_error_curves(curve: pd.DataFrame, setting: str, chosen: float) -> Figure:
    """Plot standard deviations against epsilon, rho or sigma, on logarithmic axes.

    The curve is the result of `isdp.commands.plan.PlannedTable.curve`. A vertical line marks the
    chosen setting. The axis ends at a standard deviation of `MIN_SD`.
    """
    figure, ((axis,),) = panels(1, 1, (9.0, 4.6))
    axis.axvline(chosen, color=FAINT, lw=1)
    for scope, part in curve.groupby("what", sort=False):
        for style, (name, line) in zip(LINES, part.groupby("name", sort=False), strict=False):
            label = name if len(name) <= MAX_LABEL else name[: MAX_LABEL - 3] + "..."
            similar = line["similar"].iloc[0]
            label += f" and {similar:,} more" if similar else ""
            methods = " or ".join(dict.fromkeys(line["sd_is"]))
            axis.errorbar(
                line[setting],
                line["sd"],
                yerr=line["sd_error"],
                ls=style,
                color=COLORS[scope],
                marker="o",
                ms=3,
                label=f"{label} ({methods})",
            )
    axis.set(xscale="log", yscale="log")
    axis.minorticks_off()
    settings = curve[setting].drop_duplicates().tolist()
    axis.set_xticks(settings, [f"{value:.3g}" for value in settings])
    largest = max(curve["sd"].max(), 2 * MIN_SD)
    axis.set_ylim(max(MIN_SD, 0.7 * curve["sd"].min()), 1.5 * largest)
    ticks = [digit * 10.0**power for power in range(-1, 16) for digit in (1, 2, 5)]
    low, high = axis.get_ylim()
    within = [tick for tick in ticks if low <= tick <= high]
    if len(within) > MAX_TICKS:
        within = [tick for tick in within if np.log10(tick).is_integer()]
    axis.set_yticks(within, [f"{tick:,.10g}" for tick in within])
    axis.set_xlabel(f"{setting} (the vertical line marks your choice, {chosen:g})")
    axis.set_ylabel("standard deviation of the noise (persons)")
    axis.set_title(f"How large is the noise at another {setting}?", loc="left")
    axis.legend(frameon=False, fontsize=8)
    return finish(figure)
