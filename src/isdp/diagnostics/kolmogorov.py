"""Comparison of two samples by Kolmogorov distances and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from isdp.diagnostics.chains import convergence
from isdp.mechanisms.base import Mechanism

FALSE_ALARM_RATE = 1e-6  # probability that two samples of one distribution exceed the bound
POWER = 0.8  # probability that a detectable distance exceeds the bound
NORM, CELLS, FULL = "norm", "cells", "in full"


def kolmogorov_distance(one: ArrayLike, two: ArrayLike) -> float:
    """Return the maximum difference of the empirical distribution functions of two samples.

    Without sampling error, it is at most the total variation distance of the distributions.
    """
    one, two = sorted((np.sort(np.ravel(each)) for each in (one, two)), key=len)
    # the maximum is attained at a point of the smaller sample, to the left or to the right of it
    differences = [
        np.searchsorted(one, one, side) / len(one) - np.searchsorted(two, one, side) / len(two)
        for side in ("left", "right")
    ]
    return float(np.abs(differences).max())


def kolmogorov_bound(first: float, second: float, comparisons: int = 1) -> float:
    """Compute the critical distance of `kolmogorov_p_value` at a p-value of 1e-6.

    Two samples of one distribution exceed this distance with a probability of at most 1e-6.

    Parameters
    ----------
    first, second : float
        Sizes of the samples, or their effective sizes. The size is infinite for a known
        distribution.
    comparisons : int
        Number of comparisons that together have a false alarm with this probability.
    """
    if math.isinf(min(first, second)):
        return 0.0
    one_sample = math.sqrt(math.log(2 * comparisons / FALSE_ALARM_RATE) / 2)
    low = one_sample * math.sqrt(1 / first + 1 / second)

    def excess(distance: float) -> float:
        return _tail_probability(distance, first, second) * comparisons / FALSE_ALARM_RATE - 1

    return min(1.0, float(scipy.optimize.brentq(excess, 0.99 * low, 2 * low, xtol=1e-12)))


def kolmogorov_p_value(distance: float, first: float, second: float, comparisons: int = 1) -> float:
    """Bound the p-value of a distance between two samples of one distribution.

    The bound is proved for independent draws. With effective sample sizes of Markov chains it is an
    approximation. It is conservative for integers, which have ties. It is multiplied by the number
    of comparisons. The parameters are those of `kolmogorov_bound`.
    """
    if distance == 0:
        return 1.0
    return min(1.0, comparisons * _tail_probability(distance, first, second))


def _tail_probability(distance: float, first: float, second: float) -> float:
    """Bound the probability that the errors of two samples add up to `distance` or more.

    The error of a sample is the Kolmogorov distance from its distribution. For a sample of size m,
    the error is above a with a probability of at most 2 exp(-2 m a^2). This is the inequality of
    Dvoretzky, Kiefer and Wolfowitz with the constant of Massart (1990). Let A and B be the errors
    of independent samples of sizes m <= n. Integration of the bound for B over that for A gives

        P(A + B >= d) <= 2 exp(-2 m d^2) + 8 sqrt(pi) z sqrt(m n) / (m + n) exp(-z^2)

    with z^2 = 2 d^2 m n / (m + n).
    """
    smaller = min(first, second)
    if math.isinf(smaller):
        return 0.0
    ratio = smaller / max(first, second)
    z = distance * math.sqrt(2 * smaller / (1 + ratio))
    both = 8 * math.sqrt(math.pi * ratio) / (1 + ratio) * z * math.exp(-(z**2))
    return 2 * math.exp(-2 * smaller * distance**2) + both


def detectable_distance(first: float, second: float, comparisons: int = 1) -> float:
    """Compute the distance that exceeds `kolmogorov_bound` with a probability of at least 0.8.

    It is the Kolmogorov distance of the two distributions. At the value where their distribution
    functions differ most, the difference of the empirical distribution functions is approximately
    normal. Its standard deviation is at most sqrt(1/first + 1/second) / 2. The parameters are those
    of `kolmogorov_bound`.
    """
    deviation = math.sqrt(1 / first + 1 / second) / 2
    normal = scipy.stats.norm.ppf(POWER)
    return min(1.0, kolmogorov_bound(first, second, comparisons) + float(normal) * deviation)


def agreement_rows(
    noise: np.ndarray, exact: np.ndarray, mechanism: Mechanism, labels: dict[str, str]
) -> pd.DataFrame:
    """Compare a sample with exact draws of its target distribution.

    The sample has shape (chain, draw, cell). Independent draws are one chain. The exact draws have
    shape (draw, cell). `labels` are columns that identify the sample.

    The table has one row for the norm, and one for the cell with the largest distance relative to
    its bound. The columns are the labels, draws, effective, statistic, distance, bound
    (`kolmogorov_bound`), p_value (`kolmogorov_p_value`) and detectable (`detectable_distance`).
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
        row = {**labels, "draws": len(flat), "effective": math.nan, "statistic": statistic}
        row |= {"distance": 0.0, "bound": 0.0, "p_value": 1.0, "detectable": 0.0}
        if count:
            worst = max(range(count), key=lambda i: distances[i] / bounds[i])
            sizes = effective[worst], len(exact), count
            row |= {
                "effective": effective[worst],
                "distance": distances[worst],
                "bound": bounds[worst],
                "p_value": kolmogorov_p_value(distances[worst], *sizes),
                "detectable": detectable_distance(*sizes),
            }
        rows.append(row)
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
