"""Divergences of two distributions on finitely many outputs: the standards of protection.

The two distributions are arrays of probabilities over the same outputs. Logarithms are natural.
Privacy by one of these standards is a bound on it per unit of distance between two datasets.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from isdp.checks import check_in_range, check_non_negative, check_positive
from isdp.errors import InputError

MAX_LOG_ORDER = 12.0  # orders up to 1 + e^12
GRID_ORDERS = 241  # tried before the best is refined


def multiplicative(p: ArrayLike, q: ArrayLike) -> float:
    """Largest |ln(P(S) / Q(S))| over events S: pure differential privacy, MULT of the slides.

    Parameters
    ----------
    p, q : float arrays, shape (outputs,)
        Probabilities.

    Returns
    -------
    float
        Infinite if an output is possible under one distribution alone.
    """
    p, q = _check(p, q)
    if ((p > 0) != (q > 0)).any():
        return math.inf
    both = p > 0
    return float(abs(np.log(p[both]) - np.log(q[both])).max())


def approximate(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """Multiplicative distance with a slack delta: (epsilon, delta)-differential privacy.

    The maximum over events S of ln((P(S) - delta) / Q(S)), of the same with P and Q exchanged, and
    of 0. The maximising events hold the outputs whose ratio P/Q exceeds a threshold.

    Parameters
    ----------
    p, q : float arrays, shape (outputs,)
    delta : float
        From 0 up to below 1.
    """
    p, q = _check(p, q)
    check_non_negative("divergences: delta", delta, below=1)
    return max(_one_sided(p, q, delta), _one_sided(q, p, delta), 0.0)


def _one_sided(p: NDArray[np.float64], q: NDArray[np.float64], delta: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(p + q > 0, -p / q, 0.0))  # the largest ratios first
        over, under = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        ratios = np.where(over > 0, np.log(over) - np.log(under), -math.inf)
    return float(ratios.max())


def renyi(p: ArrayLike, q: ArrayLike, order: float) -> float:
    """Renyi divergence D_alpha(P || Q) = ln(sum P^alpha Q^(1 - alpha)) / (alpha - 1).

    Parameters
    ----------
    p, q : float arrays, shape (outputs,)
    order : float
        alpha, at least 1; 1 stands for the limit, the Kullback-Leibler divergence.
    """
    p, q = _check(p, q)
    check_in_range("divergences: the order", order, 1, math.inf)
    if ((p > 0) & (q == 0)).any():
        return math.inf
    some = p > 0
    log_p, log_q = np.log(p[some]), np.log(q[some])
    if order == 1:
        return float((p[some] * (log_p - log_q)).sum())
    return float(logsumexp(order * log_p + (1 - order) * log_q) / (order - 1))


def normalised_renyi(p: ArrayLike, q: ArrayLike) -> float:
    """Largest sqrt(D_alpha / alpha) over alpha > 1 and both orders of the distributions: D_nor.

    zCDP with rho is D_nor <= sqrt(rho) (Bun and Steinke 2016).

    Parameters
    ----------
    p, q : float arrays, shape (outputs,)

    Returns
    -------
    float
        The best of 241 orders up to 1 + e^12, refined; from below, as any search. Infinite if an
        output is possible under one distribution alone.
    """
    p, q = _check(p, q)
    if ((p > 0) != (q > 0)).any():
        return math.inf
    return math.sqrt(max(_largest_by_order(p, q), _largest_by_order(q, p), 0.0))


def _largest_by_order(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    def negative(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        return -renyi(p, q, order) / order

    grid = np.linspace(-MAX_LOG_ORDER, MAX_LOG_ORDER, GRID_ORDERS)
    values = [negative(x) for x in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID_ORDERS - 1)]
    found = scipy.optimize.minimize_scalar(negative, bounds=(low, high), method="bounded")
    return max(renyi(p, q, 1.0), -min(values), -float(found.fun))


def normalised_renyi_of_gaussians(shift: float, sigma: float) -> float:
    """D_nor of two normal distributions with one standard deviation: |shift| / (sigma sqrt 2)."""
    return abs(shift) / (check_positive("divergences: sigma", sigma) * math.sqrt(2))


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Largest |P(S) - Q(S)| over events S, between 0 and 1."""
    p, q = _check(p, q)
    return float(abs(p - q).sum() / 2)


def _check(p: ArrayLike, q: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    if p.ndim != 1 or p.shape != q.shape or p.size == 0:
        raise InputError(
            f"divergences: the distributions must have the same outputs, got {p.shape}, {q.shape}"
        )
    for law in (p, q):
        if not ((law >= 0).all() and abs(law.sum() - 1) < 1e-9):
            raise InputError("divergences: probabilities must not be negative, and sum to 1")
    return p, q
