"""Divergences between two distributions on the same finite set of outputs.

A definition of differential privacy bounds one of these divergences between the output
distributions of two datasets. The arguments `p` and `q` are the probabilities of the outputs, as
arrays of shape (outputs,). Logarithms are natural.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from isdp.checks import check_in_range, check_non_negative, check_positive
from isdp.errors import InputError

MAX_LOG_ORDER = 12.0  # maximum of |ln(alpha - 1)| for the order alpha
GRID_ORDERS = 241


def multiplicative(p: ArrayLike, q: ArrayLike) -> float:
    """Return the maximum of |ln(P(S) / Q(S))| over events S, as in pure differential privacy.

    The slides *Can Swapping be Differentially Private?* call it MULT. It is infinite if an output
    has probability 0 under one distribution only.
    """
    p, q = _check(p, q)
    if ((p > 0) != (q > 0)).any():
        return math.inf
    both = p > 0
    return float(abs(np.log(p[both]) - np.log(q[both])).max())


def approximate(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """Return the smallest epsilon for which `p` and `q` satisfy (epsilon, delta)-privacy.

    It is the maximum of ln((P(S) - delta) / Q(S)) and ln((Q(S) - delta) / P(S)) over events S, and
    at least 0. The maximising event contains the outputs whose ratio P/Q exceeds a threshold. Delta
    is 0 or more and below 1.
    """
    p, q = _check(p, q)
    check_non_negative("divergences: delta", delta, below=1)
    return max(_one_sided(p, q, delta), _one_sided(q, p, delta), 0.0)


def _one_sided(p: NDArray[np.float64], q: NDArray[np.float64], delta: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(p + q > 0, -p / q, 0.0))  # descending ratios
        over, under = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        ratios = np.where(over > 0, np.log(over) - np.log(under), -math.inf)
    return float(ratios.max())


def renyi(p: ArrayLike, q: ArrayLike, order: float) -> float:
    """Return the Renyi divergence D_alpha(P || Q) = ln(sum P^alpha Q^(1 - alpha)) / (alpha - 1).

    The order alpha is at least 1. At 1 the divergence is the Kullback-Leibler divergence.
    """
    p, q = _check(p, q)
    check_in_range("divergences: the order", order, 1, math.inf)
    if ((p > 0) & (q == 0)).any():
        return math.inf
    positive = p > 0
    log_p, log_q = np.log(p[positive]), np.log(q[positive])
    if order == 1:
        return float((p[positive] * (log_p - log_q)).sum())
    return float(logsumexp(order * log_p + (1 - order) * log_q) / (order - 1))


def normalised_renyi(p: ArrayLike, q: ArrayLike) -> float:
    """Return the maximum of sqrt(D_alpha / alpha) over orders alpha > 1 and both directions.

    The slides *Can Swapping be Differentially Private?* call it D_nor. A mechanism satisfies
    rho-zCDP if D_nor <= sqrt(rho) for neighbouring datasets (Bun and Steinke 2016). The search uses
    a grid of orders up to 1 + e^12 and refines the best order, so the result is a lower bound. It
    is infinite if an output has probability 0 under one distribution only.
    """
    p, q = _check(p, q)
    if ((p > 0) != (q > 0)).any():
        return math.inf
    return math.sqrt(max(_maximise_over_orders(p, q), _maximise_over_orders(q, p), 0.0))


def _maximise_over_orders(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
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
    """Return `normalised_renyi` of two normal distributions: |shift| / (sigma sqrt 2)."""
    return abs(shift) / (check_positive("divergences: sigma", sigma) * math.sqrt(2))


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Return the maximum of |P(S) - Q(S)| over events S, between 0 and 1."""
    p, q = _check(p, q)
    return float(abs(p - q).sum() / 2)


def _check(p: ArrayLike, q: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    if p.ndim != 1 or p.shape != q.shape or p.size == 0:
        raise InputError(
            f"divergences: p and q have shapes {p.shape} and {q.shape}. Give one probability per "
            f"output in each"
        )
    for name, distribution in (("p", p), ("q", q)):
        if not ((distribution >= 0).all() and abs(distribution.sum() - 1) < 1e-9):
            raise InputError(f"divergences: {name} must have no negative entry and sum to 1")
    return p, q
