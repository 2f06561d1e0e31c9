"""The figure of the standard deviation of the noise as a function of epsilon, rho or sigma."""

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import DARK, DAS, DRAW, FAINT, finish, panels, styled

LINES = ("-", "--", ":")  # styles of the largest, the median and the smallest noise
COLORS = {"cell": DRAW, "level": DARK[2], "sum": DAS}


@styled
def plot_error_curves(curve: pd.DataFrame, setting: str, chosen: float) -> Figure:
    """Plot standard deviations against epsilon, rho or sigma, on logarithmic axes.

    The curve is the result of `isdp.commands.plan.PlannedTable.curve`. A vertical line marks the
    chosen setting.
    """
    figure, ((axis,),) = panels(1, 1, (9.0, 4.6))
    axis.axvline(chosen, color=FAINT, lw=1)
    for scope, part in curve.groupby("what", sort=False):
        for style, (name, line) in zip(LINES, part.groupby("name", sort=False), strict=False):
            label = name if len(name) <= 40 else name[:37] + "..."
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
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_xlabel(f"{setting} (vertical line: {chosen:g})")
    axis.set_ylabel("standard deviation (persons)")
    axis.set_title("Noise to expect, without the counts", loc="left")
    axis.legend(frameon=False, fontsize=8)
    return finish(figure)
