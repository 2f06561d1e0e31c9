"""The figure that compares the draws of several samplers with exact draws."""

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from isdp.diagnostics.kolmogorov import CELLS, NORM
from isdp.plots.style import BOX, DRAW, WIDTH, finish, message_figure, panels, styled

STATISTICS = {NORM: "norm of the noise", CELLS: "worst cell"}


@styled
def plot_distribution_distances(
    agreement: pd.DataFrame, title: str, descriptions: dict[str, str], samplers: dict[str, str]
) -> Figure:
    """Plot the Kolmogorov distance of several samplers from exact draws, and its bound.

    There is one row for each distribution and sampler, and one panel for each statistic. A bar
    extends to the bound, which two samples of one distribution exceed with a probability of at most
    1e-6.

    Parameters
    ----------
    agreement : DataFrame
        The result of `isdp.diagnostics.kolmogorov.agreement_rows`, with the column `law`. Without
        exact draws, the statistics are empty.
    descriptions : dict
        Description of each distribution by its name in the column `law`.
    samplers : dict
        Label of each sampler by its name.
    """
    agreement = agreement[agreement["statistic"].isin(STATISTICS)]
    if agreement.empty:
        return message_figure(
            title, "There are no exact draws: no exact sampler is practical here."
        )
    pairs = agreement[["law", "sampler"]].drop_duplicates()
    places = {pair: place for place, pair in enumerate(pairs.itertuples(index=False, name=None))}
    size = WIDTH, max(2.6, 1.9 + 0.36 * len(places))
    figure, (axes,) = panels(1, len(STATISTICS), size, sharex=True, sharey=True)
    handles: list[Artist] = []
    for axis, (statistic, words) in zip(axes, STATISTICS.items(), strict=True):
        part = agreement[agreement["statistic"] == statistic]
        y = [places[pair] for pair in zip(part["law"], part["sampler"], strict=True)]
        axis.barh(y, part["bound"], color=BOX, height=0.6)
        handles = axis.plot(part["distance"], y, "o", color=DRAW, ms=6, label="measured distance")
        axis.set_xlabel(f"Kolmogorov distance: {words}")
        axis.grid(False, axis="y")
    labels = [f"{samplers[sampler]}\n{descriptions[law]}" for law, sampler in places]
    axes[0].set_yticks(list(places.values()), labels, fontsize=8)
    axes[0].set_ylim(len(places) - 0.4, -0.6)
    axes[0].set_xlim(left=0)
    handles.append(Patch(color=BOX, label="sampling error (exceeded once in a million samples)"))
    if absent := [words for law, words in descriptions.items() if law not in set(pairs["law"])]:
        title += f"\nno exact sampler is practical for {', '.join(absent)}"
    return finish(figure, title, handles)
