"""Plot the figures of the lattice experiments (ISDP, Figures 1 and 3 to 7).

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.boxes import plot_cell_boxes
from isdp.plots.distributions import plot_overlaid_distributions
from reproduction.lattices.bound_figures import plot_bound
from reproduction.lattices.entry import describe_mechanism

SAMPLERS = {
    "paper": "the paper's chain",
    "mcmc": "our faster chain",
    "sums of types": "exact, by sums of cell classes",
    "messages": "exact, by variable elimination",
}


def plot_experiment(
    experiment: str,
    laws: Mapping[str, Mapping],
    read: Mapping[str, pd.DataFrame],
    *,
    runs: int,
    draws: int,
    exact_draws: int,
) -> dict[str, Figure]:
    """Plot the figures of one experiment: `noise`, `exact`, `laws` and `bound`.

    `read` maps names to tables. The tables boxes and exact_boxes are from
    `reproduction.lattices.noise.describe_noise`. The tables `laws` and agreement are from
    `reproduction.exactness.experiment.compare_distributions`. `plot_bound` describes the other
    tables. `runs` is the number of pairs of coupled chains for each lag.
    """
    words = {law: describe_mechanism(entry) for law, entry in laws.items()}
    title = f"{experiment.capitalize()} experiment"
    noise = f"{title}: noise of each cell,"
    exact = f"{exact_draws} exact draws" if len(read["exact_boxes"]) else "no exact draws"
    series = dict(list(read["laws"].groupby("series")))
    return {
        "noise": plot_cell_boxes(read["boxes"], f"{noise} {draws} realisations", words),
        "exact": plot_cell_boxes(read["exact_boxes"], f"{noise} {exact}", words),
        "laws": plot_overlaid_distributions(
            series["norm"],
            series["cells"].astype({"cell": int}),
            read["agreement"],
            f"{title}: distributions of the chains and of exact draws",
            words,
            SAMPLERS,
        ),
        "bound": plot_bound(experiment, laws, read, runs=runs),
    }
