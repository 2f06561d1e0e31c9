"""Figures of the lattice experiments (ISDP, Figures 1 and 3 to 7)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.bounds import tv_bounds
from isdp.plots.boxes import cell_boxes
from isdp.plots.constraints import constraints_diagram
from isdp.plots.laws import laws_overlaid
from reproduction.lattices.entry import build, describe

SAMPLERS = {
    "paper": "the paper's chain",
    "mcmc": "our quicker chain",
    "staged rejection": "exact, by staged rejection",
    "messages": "exact, by variable elimination",
}


def experiment_figures(
    experiment: str,
    laws: Mapping[str, Mapping],
    read: Mapping[str, pd.DataFrame],
    *,
    runs: int,
    realisations: int,
    exact_realisations: int,
) -> dict[str, Figure]:
    """Draw all figures of one experiment under its laws.

    Parameters
    ----------
    experiment : str
        Name of the experiment.
    laws : mapping from str to mapping
        Entries of its laws.
    read : mapping from str to DataFrame
        boxes and exact_boxes, from `reproduction.lattices.noise.noise_tables`; laws and agreement,
        from `reproduction.exactness.lattice_laws.compare_laws`; curves, trails and distances, as
        in `bound_figure`.
    runs : int
        Number of coupled chains for each lag.
    realisations, exact_realisations : int
        Number of draws of each law by chains, and exactly.

    Returns
    -------
    dict with the keys noise, exact (noise by exact draws), laws (both distributions) and bound
    """
    words = {law: describe(entry) for law, entry in laws.items()}
    title = f"{experiment.capitalize()} experiment"
    exactly = f"{exact_realisations} exact draws" if len(read["exact_boxes"]) else "no exact draws"
    norms, quantiles = (
        read["laws"][read["laws"]["series"] == series] for series in ("norm", "cells")
    )
    return {
        "noise": cell_boxes(
            read["boxes"], f"{title}: noise of each cell, {realisations} realisations", words
        ),
        "exact": cell_boxes(read["exact_boxes"], f"{title}: noise of each cell, {exactly}", words),
        "laws": laws_overlaid(
            norms,
            quantiles.astype({"cell": int}),
            read["agreement"],
            f"{title}: the distribution that the chains find, over exact draws",
            words,
            SAMPLERS,
        ),
        "bound": bound_figure(experiment, laws, read, runs=runs),
    }


def bound_figure(
    experiment: str, laws: Mapping[str, Mapping], read: Mapping[str, pd.DataFrame], *, runs: int
) -> Figure:
    """Draw the coupling bounds of some laws, and the actual distances below them.

    Parameters
    ----------
    experiment, laws, runs
        As in `experiment_figures`.
    read : mapping from str to DataFrame
        curves, trails and distances, of at least these laws.
    """
    own = {
        name: read[name][read[name]["law"].isin(list(laws))]
        for name in ("curves", "trails", "distances")
    }
    title = (
        f"{experiment.capitalize()} experiment: distance of the chain from its target, {runs} "
        f"coupled chains for each lag"
    )
    return tv_bounds(**own, title=title, laws={law: describe(entry) for law, entry in laws.items()})


def constraints_figure(entry: Mapping, pairs: pd.DataFrame) -> Figure:
    """Draw the records that each constraint counts.

    Parameters
    ----------
    entry : mapping
        Entry of the experiment in the config.
    pairs : DataFrame
        From `reproduction.lattices.entry.constraint_pairs`.
    """
    members = pairs["record"].astype(str).groupby(pairs["constraint"], sort=False)
    return constraints_diagram(members.agg(list).to_dict(), build(entry).cells)
