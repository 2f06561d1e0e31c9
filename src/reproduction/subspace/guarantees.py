"""Guarantees of the noise: the Gaussian constant, pure losses, and privacy profiles."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace import ExtendedLaplace, ProjectedLaplace, Query, basis_sensitivity, null_space
from isdp.subspace.mechanisms.k_norm import draw_root_polytope_noise
from isdp.subspace.privacy.gaussian_calibration import (
    certified_delta,
    log_delta,
    paper_constant,
    sigma,
)
from reproduction.subspace.theory.privacy_loss import (
    integrated_profile,
    log_density,
    simulated_profile,
)
from reproduction.subspace.workloads import build_bases, build_workload

DRAWS_PER_BLOCK = 10_000  # draws per block
NOISE_SCALE = 2.0  # of noise with epsilon = 1 for one replaced record, under a total


def tabulate_constant(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """Compare the constant of Lemma 3.4 with the exact condition, on a grid."""
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

    Raises InputError if there is no such delta between 10^-300 and 0.9.
    """

    def excess(log10):
        log_target = log10 * math.log(10)
        paper = (1 + np.sqrt(1 - log_target)) / epsilon
        return log_delta(epsilon, paper) - log_target

    grid = np.linspace(math.log10(0.9), -300, 3001)
    above = excess(grid) > 0
    if above[0] or not above.any():
        raise InputError(f"subspace: no crossing found for epsilon = {epsilon:g}")
    first = int(above.argmax())
    return float(scipy.optimize.brentq(excess, grid[first], grid[first - 1], xtol=1e-12))


def tabulate_failing(epsilons: Sequence[float]) -> pd.DataFrame:
    """Find the delta below which the paper's constant fails, for each epsilon."""
    rows = []
    for epsilon in epsilons:
        try:
            rows.append((epsilon, log10_failing_delta(epsilon)))
        except InputError:  # no such delta found
            rows.append((epsilon, np.nan))
    return pd.DataFrame(rows, columns=["epsilon", "log10_delta"])


def tabulate_pure_losses(workloads: Mapping[str, Mapping], epsilon: float) -> pd.DataFrame:
    """Compute the exact pure loss of the Laplace mechanisms on each workload."""
    rows = []
    for name, entry in workloads.items():
        query, held = build_workload(entry)
        loss = ProjectedLaplace(query, held, epsilon).pure_loss()
        rows.append((name, "projected Laplace", loss))
        for kind, basis in build_bases(entry, query, held).items():
            scale = ExtendedLaplace(query, held, epsilon, basis).scale
            rows.append(
                (name, f"extended Laplace, {kind}", basis_sensitivity(query, basis) / scale)
            )
    table = pd.DataFrame(rows, columns=["workload", "mechanism", "loss"])
    return table.assign(share=table["loss"] / epsilon)


def attained_loss(cells: int, epsilon: float, distances: Sequence[float]) -> pd.DataFrame:
    """Compute the loss of projected Laplace noise of scale b under a total.

    The releases are the points t b (e_1 - e_2), where t is the distance.
    """
    held = Invariants.total(cells)
    law = ProjectedLaplace(Query.histogram(cells), held, epsilon)
    shift = np.eye(cells)[0] - np.eye(cells)[1]
    points = np.multiply.outer(law.scale * np.asarray(distances, dtype=float), shift)
    loss = log_density(points - shift, held, law.scale) - log_density(points, held, law.scale)
    return pd.DataFrame(
        {"cells": cells, "distance": distances, "loss": loss, "share": loss / epsilon}
    )


def compute_profiles(
    rng: np.random.Generator, cells: Sequence[int], epsilons: Sequence[float], draws: int
) -> pd.DataFrame:
    """Compute the profiles of Laplace noise and K-norm noise under a total, both at epsilon 1.

    Profiles of two cells are by quadrature, the others by simulation. At epsilon 0, delta is the
    total variation distance.
    """
    tables = []
    for n in cells:
        for noise, (variance, density, draw) in _noises(n).items():
            if n == 2:
                along = np.array([1, -1]) / np.sqrt(2)
                found = integrated_profile(along, np.sqrt(2), density, epsilons, NOISE_SCALE)
            else:
                sizes = [
                    min(DRAWS_PER_BLOCK, draws - start)
                    for start in range(0, draws, DRAWS_PER_BLOCK)
                ]
                blocks = (draw(rng, size) for size in sizes)
                shift = np.eye(n)[0] - np.eye(n)[1]
                found = simulated_profile(blocks, shift, density, epsilons)
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


def _noises(cells: int) -> dict:
    """Return the variance of a cell, log density and sampler of each noise under a total.

    The density of K-norm noise is normalised for two cells only.
    """
    held, b = Invariants.total(cells), NOISE_SCALE
    return {
        "projected": (
            2 * b**2 * (1 - 1 / cells),
            lambda points: log_density(points, held, b),
            lambda rng, size: null_space(held).project(rng.laplace(scale=b, size=(size, cells))),
        ),
        "K-norm": (
            b**2 * (cells - 1) * (2 * cells - 1) / (cells + 1) / cells,
            lambda points: -np.abs(points).sum(axis=-1) / b - np.log(b * np.sqrt(2)),
            lambda rng, size: draw_root_polytope_noise(rng, cells, b, size),
        ),
    }
