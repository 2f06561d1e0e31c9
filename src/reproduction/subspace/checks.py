"""Numerical checks of propositions of *Subspace Differential Privacy* (SDP).

A false proposition gives a value that contradicts the column `wanted`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from isdp.constraints.independent_parts import independent_parts
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
)
from isdp.subspace.mechanisms.base import NullSpaceMechanism
from isdp.subspace.privacy.gaussian_calibration import delta as gaussian_delta
from reproduction.subspace.theory.distributed_noise import agent_noise, central_noise
from reproduction.subspace.theory.frameworks import conditioned_covariance, projected_covariance
from reproduction.subspace.theory.joint_invariants import together
from reproduction.subspace.theory.privacy_loss import log_density
from reproduction.subspace.wifi import Campus
from reproduction.subspace.workloads import build_mechanisms

WORKLOAD = {"query": "histogram", "size": 16, "held": "total"}
NESTED_MULTIPLIER = 23.632  # constant c of Lemma 3.4 at epsilon 0.192 and delta 1e-5
EPSILONS = (0.5, 0.7)  # epsilons of the two releases that are composed
N_CELLS = 102
CAMPUS = Campus(3, 4, 5)
MAX_ROUNDING = 1e-9  # maximum absolute rounding error of an invariant


class Check(NamedTuple):
    """One row of the table of checks."""

    where: str
    case: str
    measure: str
    value: float
    error: float = np.nan
    z: float = np.nan
    wanted: str = ""


def check_all(rng: np.random.Generator, epsilon: float, delta: float, draws: int) -> pd.DataFrame:
    """Check each proposition, with `draws` noise vectors from each mechanism."""
    generators = rng.spawn(3)
    checks = [
        *check_infeasibility(generators[0], draws),
        *check_nestedness(NESTED_MULTIPLIER, epsilon),
        check_composition(generators[1], 4, draws),
        *check_disclosure(),
        *check_unbiasedness(generators[2], build_mechanisms(WORKLOAD, epsilon, delta), draws),
        *check_conditioning(N_CELLS),
        *check_distributed("shared", CAMPUS.invariants, 2.0),
    ]
    return pd.DataFrame(checks)


def check_infeasibility(rng: np.random.Generator, draws: int) -> list[Check]:
    """Show that a mechanism with an invariant is not differentially private (Example 2.4).

    The values of a record are 1 to 4, and the number of odd values is an invariant. The datasets
    (1, 2, 4) and (4, 2, 4) differ in one record. The probability that a release shows one odd value
    is 1 for the first dataset and 0 for the second. Delta is therefore 1 at every epsilon. The
    value is the difference between the shares of draws with one odd value.
    """
    query, held = Query.histogram(4), Invariants([[1, 0, 1, 0]])
    one, other = np.array([1, 1, 0, 1]), np.array([0, 1, 0, 2])
    mechanisms = {
        "projected Gaussian": ProjectedGaussian(query, held, 1.0, 1e-5),
        "extended Gaussian": ExtendedGaussian(query, held, 1.0, 1e-5),
        "projected Laplace": ProjectedLaplace(query, held, 1.0),
        "extended Laplace": ExtendedLaplace(query, held, 1.0),
        "K-norm": KNorm(query, held, 1.0),
    }
    checks = []
    for name, mechanism in mechanisms.items():
        noise = mechanism.sample(rng, draws)
        odd = [held.sparse @ (table + noise).T for table in (one, other)]
        first, second = ((np.abs(number - 1) < MAX_ROUNDING * 100).mean() for number in odd)
        delta = float(first - second)
        checks.append(Check("Example 2.4", name, "delta at every epsilon", delta, wanted="= 1"))
    return checks


def check_nestedness(multiplier: float, epsilon: float) -> list[Check]:
    """Compare delta within nested subspaces of a 4 x 4 table (Proposition 2.7).

    The noise is a spherical Gaussian. Its standard deviation is sqrt(2) times the multiplier, which
    is the value for a histogram without invariants.
    """
    query = Query.histogram(16)
    spaces = {
        "nothing": Invariants(np.zeros((1, 16), dtype=int)),
        "the total": Invariants.total(16),
        "row totals": Invariants.margins((4, 4), ((0,),)),
        "row and column totals": Invariants.margins((4, 4)),
    }
    sensitivities = np.array([null_sensitivity(query, held) for held in spaces.values()])
    rises = np.diff(gaussian_delta(epsilon, np.sqrt(2) * multiplier / sensitivities))
    measure = "rise of delta from the larger space"
    return [
        Check("Proposition 2.7", f"{name} held", measure, rise, wanted="<= 0")
        for name, rise in zip([*spaces][1:], rises.tolist(), strict=True)
    ]


def check_composition(rng: np.random.Generator, cells: int, draws: int) -> Check:
    """Sum the privacy losses of two projected Laplace releases of one histogram (Proposition 2.9).

    Half of the points are draws. The other half are multiples of the difference of the datasets, up
    to 100 scales of the noise. The losses are largest there.
    """
    held = Invariants.total(cells)
    shift = np.eye(cells)[0] - np.eye(cells)[1]
    joint = np.zeros(2 * draws)
    for epsilon in EPSILONS:
        laplace = ProjectedLaplace(Query.histogram(cells), held, epsilon)
        scale = laplace.scale
        distant = np.multiply.outer(scale * rng.uniform(0, 100, draws), -shift)
        points = np.concatenate([laplace.sample(rng, draws), distant])
        joint += log_density(points, held, scale) - log_density(points - shift, held, scale)
    share = float(np.abs(joint).max()) / sum(EPSILONS)
    measure = "largest joint loss by the sum of epsilons"
    return Check("Proposition 2.9", f"{len(EPSILONS)} releases", measure, share, wanted="<= 1")


def check_disclosure() -> list[Check]:
    """Count the dimensions of the noise of two releases, separately and together.

    The first release holds two of the three pairwise sums of three cells. The second release holds
    the third sum. Together they disclose every cell.
    """
    first = Invariants.subsets([[0, 1], [1, 2]], 3)
    second = Invariants.subsets([[2, 0]], 3)
    spaces = {"two sums": first, "the third": second, "both releases": together(first, second)}
    measure = "dimensions left for noise, of 3"
    return [
        Check("near Proposition 2.9", f"{name} held", measure, null_space(held).dimension)
        for name, held in spaces.items()
    ]


def check_unbiasedness(
    rng: np.random.Generator, mechanisms: Mapping[str, NullSpaceMechanism], draws: int
) -> list[Check]:
    """Find the answer whose mean noise is farthest from zero in standard errors (Corollary 4.1).

    The standard errors come from the exact variances.
    """
    checks = []
    for name, mechanism in mechanisms.items():
        noise = mechanism.sample(rng, draws)
        sd = np.sqrt(mechanism.variances())
        free = sd > MAX_ROUNDING * sd.max()
        mean, error = noise.mean(axis=0)[free], sd[free] / np.sqrt(draws)
        z = mean / error
        worst = int(np.argmax(np.abs(z)))
        found = mean[worst], error[worst], z[worst]
        checks.append(Check("Corollary 4.1", name, "mean farthest from zero", *found))
    return checks


def check_conditioning(cells: int) -> list[Check]:
    """Compare the covariances of projected and of conditioned noise (Theorem 4.2).

    The covariances are equal for spherical noise only. Gaussian noise is added to a 4 x 4 table
    with both margins fixed. Laplace noise is added to `cells` counts under a total, where
    conditioning gives K-norm noise.
    """
    held = Invariants.margins((4, 4))
    query, total = Query.histogram(cells), Invariants.total(cells)
    spreads = {
        "round Gaussian": np.eye(16),
        "Gaussian of variances 1 to 16": np.diag(np.arange(1.0, 17)),
    }
    pairs = {
        noise: (conditioned_covariance(spread, held), projected_covariance(spread, held))
        for noise, spread in spreads.items()
    }
    pairs[f"Laplace on {cells} cells"] = (
        KNorm(query, total, 1.0).covariance(),
        ProjectedLaplace(query, total, 1.0).covariance(),
    )
    checks = []
    for noise, (conditioned, projected) in pairs.items():
        gap = float(np.abs(conditioned - projected).max())
        ratio = float(np.trace(conditioned) / np.trace(projected))
        for measure, value, wanted in (
            ("largest gap between the covariances", gap, "= 0"),
            ("error of conditioning by that of projecting", ratio, "= 1"),
        ):
            expected = wanted if noise == "round Gaussian" else ""
            checks.append(Check("Theorem 4.2", noise, measure, value, wanted=expected))
    return checks


def check_distributed(seed: str, invariants: Invariants, scale: float) -> list[Check]:
    """Compare the noise of agents, one for each cell, with the noise of a curator (Section 4)."""
    centre = central_noise(seed, invariants, scale)
    components = len(independent_parts(invariants))
    cells = np.arange(invariants.cells)
    own = np.concatenate([agent_noise(seed, invariants, [cell], scale) for cell in cells])
    recovered = cells + centre - central_noise(seed, invariants, scale)
    case = f"{len(cells)} agents in {components} components"
    difference, residual = np.abs(own - centre).max(), null_space(invariants).residual(centre)
    left = np.abs(recovered - cells).max()
    return [
        Check("Section 4", case, measure, value, wanted=wanted)
        for measure, value, wanted in (
            ("largest difference between an agent's noise and the centre's", difference, "= 0"),
            ("largest residual of the invariants", residual, "= 0"),
            ("error after an agent subtracts the noise with the seed", left, ""),
        )
    ]
