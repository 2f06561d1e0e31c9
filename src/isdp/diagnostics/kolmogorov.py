"""Comparison of two samples by Kolmogorov distances and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isdp.diagnostics.chains import convergence
from isdp.mechanisms.base import Mechanism

FALSE_ALARM_RATE = 1e-6  # probability that a distance exceeds its bound by chance
NORM, CELLS, FULL = "norm", "cells", "in full"


def kolmogorov_distance(one: ArrayLike, two: ArrayLike) -> float:
    """Return the maximum difference of the empirical distribution functions of two samples.

    Without sampling error, it is at most the total variation distance of the distributions.
    """
    one, two = sorted((np.sort(np.ravel(each)) for each in (one, two)), key=len)
    # the maximum is attained at a step of the smaller sample, on one of its sides
    differences = [
        np.searchsorted(one, one, side) / len(one) - np.searchsorted(two, one, side) / len(two)
        for side in ("left", "right")
    ]
    return float(np.abs(differences).max())


def kolmogorov_bound(first: float, second: float, comparisons: int = 1) -> float:
    """Bound the Kolmogorov distance of two samples of one distribution.

    The inequality of Dvoretzky, Kiefer, Wolfowitz and Massart bounds the distance of each sample
    from its distribution. The probability that one of the distances exceeds the bound is at most
    1e-6.

    Parameters
    ----------
    first, second : float
        Effective sample size of each sample. It is infinite for a known distribution.
    comparisons : int
        The number of distances that are compared.
    """
    bound = sum(
        math.sqrt(math.log(4 * comparisons / FALSE_ALARM_RATE) / (2 * n))
        for n in (first, second)
        if n < math.inf
    )
    return min(1.0, bound)


def agreement_rows(
    noise: np.ndarray, exact: np.ndarray, mechanism: Mechanism, labels: dict[str, str]
) -> pd.DataFrame:
    """Compare a sample with exact draws of its target distribution.

    Parameters
    ----------
    noise : int64 array, shape (chain, draw, cell)
        Draws of several Markov chains, or independent draws as one chain.
    exact : int64 array, shape (draw, cell)
    labels : dict
        Columns that identify the sample.

    Returns
    -------
    DataFrame with the labels and the columns draws, effective, statistic, distance and bound
        One row compares the norm. The other compares the cell with the largest ratio of distance
        to bound. `effective` is the effective sample size. `bound` is from `kolmogorov_bound`.
    """
    flat = noise.reshape(-1, noise.shape[-1])
    norms = mechanism.noise_norm(noise).astype(float)
    moving = np.flatnonzero((flat != flat[0]).any(axis=0) | (exact != exact[0]).any(axis=0))
    rows = []
    for statistic, values, others in (
        (NORM, norms[..., None], mechanism.noise_norm(exact)[:, None]),
        (CELLS, noise[..., moving], exact[:, moving]),
    ):
        count = values.shape[-1]
        effective = np.full(count, float(len(flat)))
        if len(noise) > 1 and count:
            sizes = convergence(values, ("ess_bulk", "ess_tail"))[["ess_bulk", "ess_tail"]]
            effective = np.fmin(effective, sizes.min(axis=1).to_numpy())
        sample = values.reshape(len(flat), count)
        distances = [kolmogorov_distance(sample[:, i], others[:, i]) for i in range(count)]
        bounds = [kolmogorov_bound(n, len(exact), count) for n in effective]
        worst = max(range(count), key=lambda i: distances[i] / bounds[i], default=None)
        rows.append(
            {
                **labels,
                "draws": len(flat),
                "effective": math.nan if worst is None else effective[worst],
                "statistic": statistic,
                "distance": 0.0 if worst is None else distances[worst],
                "bound": 0.0 if worst is None else bounds[worst],
            }
        )
    return pd.DataFrame(rows)


def quantile_table(named: dict[str, np.ndarray], cells: list[str]) -> pd.DataFrame:
    """Compute quantiles of every cell of several samples.

    The columns are q05, q25, q50, q75, q95, sampler, cell and name.
    """
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    parts = []
    for name, noise in named.items():
        quantiles = np.quantile(noise.reshape(-1, noise.shape[-1]), levels, axis=0)
        table = pd.DataFrame(quantiles.T, columns=[f"q{round(100 * q):02d}" for q in levels])
        parts.append(table.assign(sampler=name, cell=range(len(cells)), name=cells))
    return pd.concat(parts, ignore_index=True)


def norm_histogram(
    named: dict[str, np.ndarray], measure: Callable[[np.ndarray], np.ndarray], bins: int = 40
) -> pd.DataFrame:
    """Compute histograms of the norm of several samples with common bins.

    The columns are sampler, low, high and share, the proportion of the draws in the bin.
    """
    norms = {name: np.ravel(measure(noise)).astype(float) for name, noise in named.items()}
    largest = max(float(each.max()) for each in norms.values())
    width = max(1, math.ceil((largest + 1) / bins))
    if all((values % 2 == 0).all() for values in norms.values()):
        width += width % 2  # bins of odd width would contain unequal numbers of even norms
    edges = np.arange(0, largest + width + 1, width) - 0.5
    parts = []
    for name, values in norms.items():
        counts, _ = np.histogram(values, edges)
        share = counts / len(values)
        parts.append(
            pd.DataFrame({"sampler": name, "low": edges[:-1], "high": edges[1:], "share": share})
        )
    return pd.concat(parts, ignore_index=True)
