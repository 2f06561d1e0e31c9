"""What the noise guarantees exactly: the Gaussian constant, pure losses, and profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace import (
    ExtendedLaplace,
    ProjectedLaplace,
    Query,
    basis_sensitivity,
    null_space,
    quotient_sensitivity,
)
from isdp.subspace.calibration import (
    certified_delta,
    failing_delta,
    paper_constant,
    sigma,
)
from isdp.subspace.knorm import root_polytope_noise
from isdp.subspace.loss import Profile, integrated_profile, log_density, simulated_profile
from reproduction.subspace.workloads import bases_of, build

BLOCK = 10_000  # draws at a time


def constant_table(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """Hold the constant of Lemma 3.4 against the exact condition, on a grid.

    Returns
    -------
    DataFrame
        epsilon, delta, paper (the constant c), exact (the least c), true_delta (what the paper's
        c gives, rounded up), excess (true_delta by delta: above 1 where the lemma fails), waste
        (variance by the least), holds (certified), small_epsilon (epsilon below 1 and delta at
        least 1e-10, the range that Algorithm 1 names and the lemma keeps to).
    """
    rows = []
    for epsilon in epsilons:
        for delta in deltas:
            paper, least = paper_constant(epsilon, delta), sigma(epsilon, delta)
            true = certified_delta(epsilon, paper)
            rows.append(
                {
                    "epsilon": epsilon,
                    "delta": delta,
                    "paper": paper,
                    "exact": least,
                    "true_delta": true[1],
                    "excess": true[1] / delta,
                    "waste": (paper / least) ** 2,
                    "holds": true[1] <= delta,
                    "small_epsilon": epsilon < 1 and delta >= 1e-10,
                }
            )
    return pd.DataFrame(rows)


def failing_table(epsilons: Sequence[float]) -> pd.DataFrame:
    """Find the delta below which the paper's constant fails, for each epsilon.

    Returns
    -------
    DataFrame with columns epsilon and log10_delta, blank where none was found
    """
    rows = []
    for epsilon in epsilons:
        try:
            rows.append({"epsilon": epsilon, "log10_delta": failing_delta(epsilon)})
        except InputError:
            rows.append({"epsilon": epsilon, "log10_delta": np.nan})
    return pd.DataFrame(rows)


def pure_loss_table(workloads: Mapping[str, Mapping], epsilon: float) -> pd.DataFrame:
    """Exact pure loss of the Laplace mechanisms by the epsilon that they claim.

    Returns
    -------
    DataFrame
        workload, mechanism, loss, share (loss by epsilon: at most 1, and 1 where the corollary
        is tight).
    """
    rows = []
    for name, entry in workloads.items():
        query, held = build(entry)
        laws = {"projected Laplace": ProjectedLaplace(query, held, epsilon).pure_loss()}
        for kind, basis in bases_of(entry, query, held).items():
            law = ExtendedLaplace(query, held, epsilon, basis)
            laws[f"extended Laplace, {kind}"] = basis_sensitivity(query, basis) / law.scale
        rows += [
            {"workload": name, "mechanism": law, "loss": loss, "share": loss / epsilon}
            for law, loss in laws.items()
        ]
    return pd.DataFrame(rows)


def attained_loss(cells: int, epsilon: float, distances: Sequence[float]) -> pd.DataFrame:
    """Loss of projected Laplace noise under a total at points t b (e_1 - e_2), t the distance.

    Returns
    -------
    DataFrame with columns cells, distance, loss and share (by epsilon)
    """
    held = Invariants.total(cells)
    law = ProjectedLaplace(Query.histogram(cells), held, epsilon)
    shift = np.zeros(cells)
    shift[:2] = 1, -1
    points = np.multiply.outer(law.scale * np.asarray(distances, dtype=float), shift)
    loss = log_density(points - shift, held, law.scale) - log_density(points, held, law.scale)
    return pd.DataFrame(
        {"cells": cells, "distance": distances, "loss": loss, "share": loss / epsilon}
    )


def profile_table(
    rng: np.random.Generator, cells: Sequence[int], epsilons: Sequence[float], draws: int
) -> pd.DataFrame:
    """Profiles under a total at epsilon 1 a replaced record: projected Laplace, and K-norm.

    Two cells by quadrature, more by simulation.

    Parameters
    ----------
    rng : numpy.random.Generator
    cells : sequence of int
    epsilons : sequence of float
        From 0 (where delta is the total variation distance) to 1.
    draws : int

    Returns
    -------
    DataFrame
        cells, noise, variance (of a cell), epsilon, delta, delta_se, divergence, divergence_se.
    """
    tables = []
    for n in cells:
        for noise, variance in (("projected", 8 * (1 - 1 / n)), ("K-norm", _knorm_variance(n))):
            found = _profile(rng, n, noise, np.asarray(epsilons, dtype=float), draws)
            tables.append(
                pd.DataFrame(
                    {
                        "cells": n,
                        "noise": noise,
                        "variance": variance,
                        "epsilon": found.epsilons,
                        "delta": found.deltas,
                        "delta_se": found.errors,
                        "divergence": found.divergence,
                        "divergence_se": found.divergence_error,
                    }
                )
            )
    return pd.concat(tables, ignore_index=True)


def _knorm_variance(cells: int) -> float:
    return 4 * (cells - 1) * (2 * cells - 1) / (cells + 1) / cells


def _profile(rng, cells: int, noise: str, epsilons: np.ndarray, draws: int) -> Profile:
    held, scale = Invariants.total(cells), 2.0

    def projected(points):
        return log_density(points, held, scale)

    def conditioned(points):
        return -np.abs(points).sum(axis=-1) / scale - np.log(scale * np.sqrt(2))  # normalised at 2

    density = projected if noise == "projected" else conditioned
    if cells == 2:
        along = np.array([1, -1]) / np.sqrt(2)
        return integrated_profile(along, np.sqrt(2), density, epsilons, scale)
    shift = np.zeros(cells)
    shift[:2] = 1, -1

    def block(size):
        if noise == "K-norm":
            return root_polytope_noise(rng, cells, scale, size)
        return null_space(held).project(rng.laplace(scale=scale, size=(size, cells)))

    sizes = [min(BLOCK, draws - start) for start in range(0, draws, BLOCK)]
    return simulated_profile(map(block, sizes), shift, density, epsilons)


def free_improvement(query: Query, held: Invariants) -> float:
    """Variance of projected Laplace noise at its exact scale, by that at the paper's."""
    paper = ProjectedLaplace(query, held, 1.0)
    return (quotient_sensitivity(query, held) / paper.sensitivity) ** 2
