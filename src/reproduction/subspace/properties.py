"""The paper's propositions as checks: each gives a number that would show it to fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.subspace import (
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    null_sensitivity,
    null_space,
    together,
)
from isdp.subspace.additive import Additive
from isdp.subspace.calibration import delta
from isdp.subspace.distributed import agent_noise, cell_components, central_noise
from isdp.subspace.frameworks import conditioned_covariance, projected_covariance
from isdp.subspace.loss import log_density

EXACT = 1e-9  # how far a float may lie from an invariant that it meets


def infeasibility_table(rng: np.random.Generator, draws: int) -> pd.DataFrame:
    """Show that a mechanism with a held invariant is not differentially private (Example 2.4).

    Data sets (1, 2, 4) and (4, 2, 4) of four types differ in one record and in the number of odd
    types, which is held. The event that the answers show one odd record has probability 1 in one
    and 0 in the other, so delta is 1 at every epsilon.

    Returns
    -------
    DataFrame
        mechanism, probability, neighbour_probability (shares of draws) and delta, the
        difference, a lower bound on the hockey-stick divergence at every epsilon once the second
        is 0.
    """
    query, held = Query.histogram(4), Invariants([[1, 0, 1, 0]])
    one, other = np.array([1, 1, 0, 1]), np.array([0, 1, 0, 2])
    rows = []
    for name, law in _laws(query, held).items():
        noise = law.sample(rng, draws)
        first, second = (
            float((np.abs(held.sparse @ (table + noise).T - 1) < EXACT * 100).mean())
            for table in (one, other)
        )
        rows.append(
            {
                "mechanism": name,
                "probability": first,
                "neighbour_probability": second,
                "delta": first - second,
            }
        )
    return pd.DataFrame(rows)


def _laws(query: Query, held: Invariants) -> dict[str, Additive]:
    return {
        "projected Gaussian": ProjectedGaussian(query, held, 1.0, 1e-5),
        "extended Gaussian": ExtendedGaussian(query, held, 1.0, 1e-5),
        "projected Laplace": ProjectedLaplace(query, held, 1.0),
        "extended Laplace": ExtendedLaplace(query, held, 1.0),
        "K-norm": KNorm(query, held, 1.0),
    }


def nestedness_table(multiplier: float, epsilon: float) -> pd.DataFrame:
    """Loss of one round Gaussian within nested subspaces of a 4 x 4 table (Proposition 2.7).

    Parameters
    ----------
    multiplier : float
        c: its standard deviation is sqrt(2) c, as for the whole histogram.
    epsilon : float

    Returns
    -------
    DataFrame
        held, dimension (of the subspace left, falling), length (longest difference within it in
        standard deviations, times c, squared), delta and rise (of delta over the row before:
        never positive).
    """
    query = Query.histogram(16)
    spaces = {
        "nothing": Invariants(np.zeros((1, 16), dtype=int)),
        "the total": Invariants.total(16),
        "row totals": Invariants.margins((4, 4), ((0,),)),
        "row and column totals": Invariants.margins((4, 4)),
    }
    rows = []
    for name, held in spaces.items():
        longest = null_sensitivity(query, held) / (np.sqrt(2) * multiplier)
        rows.append(
            {
                "held": name,
                "dimension": null_space(held).dimension,
                "length": (longest * multiplier) ** 2,
                "delta": float(delta(epsilon, 1 / longest)),
            }
        )
    table = pd.DataFrame(rows)
    table["rise"] = table["delta"].diff()
    return table


def composition_table(
    rng: np.random.Generator, cells: int, epsilons: Sequence[float], draws: int
) -> pd.DataFrame:
    """Add up the losses of projected Laplace releases of one histogram (Proposition 2.9).

    Half of the points are draws, half lie far out along the difference, where losses are largest.

    Returns
    -------
    DataFrame
        One row: releases, sum of epsilons, largest (joint loss seen), share.
    """
    held = Invariants.total(cells)
    shift = np.zeros(cells)
    shift[:2] = 1, -1
    joint = np.zeros(2 * draws)
    for epsilon in epsilons:
        law = ProjectedLaplace(Query.histogram(cells), held, epsilon)
        far = np.multiply.outer(law.scale * rng.uniform(0, 100, draws), -shift)
        points = np.concatenate([law.sample(rng, draws), far])
        joint += log_density(points, held, law.scale) - log_density(points - shift, held, law.scale)
    largest = float(np.abs(joint).max())
    total = float(sum(epsilons))
    return pd.DataFrame(
        [{"releases": len(epsilons), "sum": total, "largest": largest, "share": largest / total}]
    )


def disclosure_table() -> pd.DataFrame:
    """Show two releases that comply, each by itself, and together disclose every cell.

    One holds two of the three pairwise sums of three cells, the other the third.

    Returns
    -------
    DataFrame
        held, rank, free (dimensions that noise can hide in).
    """
    first = Invariants.subsets([[0, 1], [1, 2]], 3)
    second = Invariants.subsets([[2, 0]], 3)
    spaces = {"two sums": first, "the third": second, "both releases": together(first, second)}
    return pd.DataFrame(
        [
            {"held": name, "rank": null_space(held).rank, "free": null_space(held).dimension}
            for name, held in spaces.items()
        ]
    )


def unbiasedness_table(
    rng: np.random.Generator, laws: Mapping[str, Additive], draws: int
) -> pd.DataFrame:
    """Find the answer whose mean noise is farthest from zero in its errors (Corollary 4.1).

    Returns
    -------
    DataFrame
        mechanism, answers, and of that answer the mean, its standard error by the exact variance,
        and z, the one by the other.
    """
    rows = []
    for name, law in laws.items():
        noise = law.sample(rng, draws)
        sd = np.sqrt(law.variances())
        free = sd > EXACT * sd.max()
        mean, error = noise.mean(axis=0)[free], sd[free] / np.sqrt(draws)
        worst = int(np.argmax(np.abs(mean / error)))
        rows.append((name, len(sd), mean[worst], error[worst], mean[worst] / error[worst]))
    return pd.DataFrame(rows, columns=["mechanism", "answers", "mean", "error", "z"])


def conditioning_table(cells: int) -> pd.DataFrame:
    """Compare projecting with conditioning (Theorem 4.2): equal for the sphere, and not beyond.

    Gaussian noise on a 4 x 4 table with both margins; Laplace noise on `cells` under a total,
    where conditioning gives the K-norm law.

    Returns
    -------
    DataFrame
        noise, gap (largest difference between entries of the two covariances) and ratio (error
        of conditioning by that of projecting).
    """
    held = Invariants.margins((4, 4))
    rows = []
    spread = {
        "round Gaussian": np.eye(16),
        "Gaussian of variances 1 to 16": np.diag(np.arange(1.0, 17)),
    }
    for name, covariance in spread.items():
        projected = projected_covariance(covariance, held)
        conditioned = conditioned_covariance(covariance, held)
        rows.append(
            {
                "noise": name,
                "gap": float(np.abs(projected - conditioned).max()),
                "ratio": float(np.trace(conditioned) / np.trace(projected)),
            }
        )
    query, total = Query.histogram(cells), Invariants.total(cells)
    conditioned, projected = KNorm(query, total, 1.0), ProjectedLaplace(query, total, 1.0)
    gap = np.abs(conditioned.covariance() - projected.covariance()).max()
    ratio = conditioned.error / projected.error
    rows.append({"noise": f"Laplace on {cells} cells", "gap": float(gap), "ratio": ratio})
    return pd.DataFrame(rows)


def distributed_table(seed: str, invariants: Invariants, scale: float) -> pd.DataFrame:
    """Let agents, one a cell, add their own noise from a shared seed (Section 4).

    Returns
    -------
    DataFrame
        One row: agents, components, difference (largest, between an agent's noise and the
        centre's: 0), residual (of the invariants), recovered (largest error of whoever takes the
        noise away with the seed).
    """
    centre = central_noise(seed, invariants, scale)
    names = cell_components(invariants)
    own = np.concatenate(
        [agent_noise(seed, invariants, [cell], scale) for cell in range(invariants.cells)]
    )
    counts = np.arange(invariants.cells, dtype=float)
    recovered = counts + centre - central_noise(seed, invariants, scale)
    row = {
        "agents": invariants.cells,
        "components": len(np.unique(names)),
        "difference": float(np.abs(own - centre).max()),
        "residual": null_space(invariants).residual(centre),
        "recovered": float(np.abs(recovered - counts).max()),
    }
    return pd.DataFrame([row])
