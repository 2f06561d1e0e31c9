"""Privacy guarantees: the constant of Gaussian noise, pure losses and privacy profiles."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.constraints.invariants import Invariants
from isdp.subspace import ExtendedLaplace, ProjectedLaplace, Query, basis_sensitivity
from isdp.subspace.privacy.gaussian_calibration import (
    certified_delta,
    log_delta,
    paper_constant,
    sigma,
)
from reproduction.subspace.theory.privacy_loss import k_norm_profile, log_density, projected_profile
from reproduction.subspace.workloads import build_bases, build_workload

NOISE_SCALE = 2.0  # scale b of noise with epsilon 1 for one replaced record, under a total


def tabulate_constant(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """Compare the constant of Lemma 3.4 with the smallest sufficient constant, on a grid."""
    grid = list(product(epsilons, deltas))
    table = pd.DataFrame(grid, columns=["epsilon", "delta"])
    table["paper"] = [paper_constant(epsilon, delta) for epsilon, delta in grid]
    table["exact"] = [sigma(epsilon, delta) for epsilon, delta in grid]
    table["true_delta"] = [
        certified_delta(epsilon, constant)[1]
        for (epsilon, _), constant in zip(grid, table["paper"], strict=True)
    ]
    table["excess"] = table["true_delta"] / table["delta"]
    table["waste"] = (table["paper"] / table["exact"]) ** 2
    table["holds"] = table["true_delta"] <= table["delta"]
    table["small_epsilon"] = (table["epsilon"] < 1) & (table["delta"] >= 1e-10)
    return table


def log10_failing_delta(epsilon: float) -> float:
    """Compute log10 of the delta below which the paper's constant gives too little noise.

    The result is NaN if there is no such delta between 10^-300 and 0.9.
    """

    def excess(log10):
        log_target = log10 * math.log(10)
        paper = (1 + np.sqrt(1 - log_target)) / epsilon
        return log_delta(epsilon, paper) - log_target

    grid = np.linspace(math.log10(0.9), -300, 3001)
    above = excess(grid) > 0
    if above[0] or not above.any():
        return math.nan
    first = int(above.argmax())
    return float(scipy.optimize.brentq(excess, grid[first], grid[first - 1], xtol=1e-12))


def tabulate_failing(epsilons: Sequence[float]) -> pd.DataFrame:
    """Find the delta below which the constant of Lemma 3.4 fails, for each epsilon."""
    found = [log10_failing_delta(epsilon) for epsilon in epsilons]
    return pd.DataFrame({"epsilon": epsilons, "log10_delta": found})


def tabulate_pure_losses(workloads: Mapping[str, Mapping], epsilon: float) -> pd.DataFrame:
    """Compute the exact pure loss of the Laplace mechanisms on each workload."""
    rows = []
    for name, entry in workloads.items():
        query, held = build_workload(entry)
        loss = ProjectedLaplace(query, held, epsilon).pure_loss()
        rows.append((name, "projected Laplace", loss))
        for basis_name, basis in build_bases(entry, query, held).items():
            loss = (
                basis_sensitivity(query, basis) / ExtendedLaplace(query, held, epsilon, basis).scale
            )
            rows.append((name, f"extended Laplace, {basis_name}", loss))
    table = pd.DataFrame(rows, columns=["workload", "mechanism", "loss"])
    return table.assign(share=table["loss"] / epsilon)


def attained_loss(cells: int, epsilon: float, distances: Sequence[float]) -> pd.DataFrame:
    """Compute the loss of projected Laplace noise of scale b at single points, under a total.

    The points are t b (e_1 - e_2), where t is the distance from the truth.
    """
    held = Invariants.total(cells)
    scale = ProjectedLaplace(Query.histogram(cells), held, epsilon).scale
    shift = np.eye(cells)[0] - np.eye(cells)[1]
    points = np.multiply.outer(scale * np.asarray(distances, dtype=float), shift)
    loss = log_density(points - shift, held, scale) - log_density(points, held, scale)
    return pd.DataFrame(
        {"cells": cells, "distance": distances, "loss": loss, "share": loss / epsilon}
    )


def compute_profiles(
    rng: np.random.Generator, cells: Sequence[int], epsilons: Sequence[float], draws: int
) -> pd.DataFrame:
    """Compute the profiles of projected Laplace noise and K-norm noise under a total.

    Both have epsilon 1. Profiles of K-norm noise, and of two cells, are exact. Profiles of
    projected noise on more cells are estimated from `draws` points. At epsilon 0, delta is the
    total variation distance.
    """
    tables = []
    for n in cells:
        profiles = {
            "projected": (
                2 * NOISE_SCALE**2 * (1 - 1 / n),
                projected_profile(rng, n, NOISE_SCALE, epsilons, draws),
            ),
            "K-norm": (
                NOISE_SCALE**2 * (n - 1) * (2 * n - 1) / (n + 1) / n,
                k_norm_profile(n, NOISE_SCALE, epsilons),
            ),
        }
        for noise, (variance, found) in profiles.items():
            columns = {
                "cells": n,
                "noise": noise,
                "variance": variance,
                "epsilon": found.epsilons,
                "delta": found.deltas,
                "delta_se": found.errors,
                "divergence": found.divergence,
                "divergence_se": found.divergence_error,
            }
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)
