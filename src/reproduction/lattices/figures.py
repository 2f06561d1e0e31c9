"""Plot the figures of the lattice experiments (ISDP, Figures 1 and 4 to 7).

ISDP is *Integer Subspace Differential Privacy*.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.boxes import plot_cell_boxes
from isdp.plots.distributions import plot_distribution_distances
from reproduction.lattices.bound_figures import plot_bound, plot_distance
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
    unit: str,
) -> dict[str, Figure]:
    """Plot the figures of one experiment: `noise`, `exact`, `laws`, `bound` and `distance`.

    The paper's figures (`noise` and `bound`) show the distributions of the paper, which are
    generalized Laplace. The others show all distributions of the experiment.

    `read` maps names to tables. The tables boxes and exact_boxes are from
    `reproduction.lattices.noise.describe_noise`. The table agreement is from
    `reproduction.exactness.experiment.compare_distributions`, and curves and distances from the
    coupled chains. `runs` is the number of pairs of coupled chains for each lag, and
    `unit` the name of a cell.
    """
    words = {law: describe_mechanism(entry) for law, entry in laws.items()}
    printed = {law: entry for law, entry in laws.items() if "norm" in entry} or laws
    title = f"{experiment.capitalize()} experiment"
    noise = f"{title}: noise of each {unit},"
    exact = f"{exact_draws:,} exact draws" if len(read["exact_boxes"]) else "no exact draws"
    note = "\nepsilon is ours"
    return {
        "noise": plot_cell_boxes(
            read["boxes"],
            f"{noise} {draws:,} realisations{note}",
            {law: words[law] for law in printed},
            unit,
        ),
        "exact": plot_cell_boxes(read["exact_boxes"], f"{noise} {exact}{note}", words, unit),
        "laws": plot_distribution_distances(
            read["agreement"],
            f"{title}: distance of each sampler from exact draws",
            words,
            SAMPLERS,
        ),
        "bound": plot_bound(experiment, printed, read["curves"], runs=runs),
        "distance": plot_distance(experiment, laws, read["curves"], read["distances"], runs=runs),
    }
