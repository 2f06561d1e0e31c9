"""The systems of the five papers, and the interface that they have in common.

The papers are *Integer Subspace Differential Privacy* (ISDP), *Subspace Differential Privacy*
(SDP), *Congenial Differential Privacy under Mandated Disclosure* (CDP), *The TopDown algorithm and
invariants* (TDA) and *Can Swapping be Differentially Private?* (SWAP). The budget of a system with
noise is epsilon (pure differential privacy) or rho (zCDP). It is the loss if one person changes
cell while the totals of all regions stay fixed. Permutation swapping keeps more totals fixed, under
which one person cannot change cell alone. The budget of swapping is the swap rate, and the privacy
unit is a record.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from isdp import exact, subspace, swapping, topdown
from isdp.accounting.conversions import ROUNDING, epsilon_for
from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.arrays import IntArray
from isdp.checks import check_in_range, check_probability
from isdp.compare.areas import LEVELS, Areas
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.distributions import Part, sum_variance
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace

PER_MOVE = 2  # l1 distance and squared l2 distance of one person who changes cell
DELTA = 1e-10  # to calibrate projected Gaussian noise, whose rho does not depend on delta
REGION_TOTALS = "the total of each region"
TWO_CELLS = Invariants.total(2)  # projected noise has the same scale under all invariants
MIN_BUDGET, MAX_BUDGET = 1e-14, 1000  # some distributions overflow outside this range


Parameter = Literal["epsilon", "rho", "rate"]


class NoiseSampler(Protocol):
    """A sampler of noise under invariants."""

    def sample(self, rng: np.random.Generator, n_draws: int, /) -> NDArray[Any]:
        """Draw noise of shape (n_draws, cells)."""


class System(ABC):
    """A system that releases a table.

    Attributes
    ----------
    name : str
        The name in tables and figures.
    paper : {"ISDP", "SDP", "CDP", "TDA", "SWAP"}
        The paper that the system comes from.
    parameter : {"epsilon", "rho", "rate"}
        The name of the budget.
    nonnegative : bool
        True if all released counts are 0 or more.
    whole : bool
        True if all released counts are integers.
    unbiased : bool
        True if the error of each count has mean zero.
    needs_counts : bool
        True if the errors depend on the counts.
    """

    name: str
    paper: ClassVar[str]
    parameter: Parameter
    nonnegative: ClassVar[bool] = False
    whole: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True
    needs_counts: ClassVar[bool] = False

    @abstractmethod
    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> NDArray[Any]:
        """Draw a released table, shape (areas, cells).

        The table is int64, or float64 for a system with real-valued counts. The budget is epsilon
        or rho for one person who changes cell, or the swap rate.
        """

    @abstractmethod
    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """Return the privacy guarantee of `release` with the same arguments."""

    def held(self) -> str:
        """Name the totals that are released without error."""
        return REGION_TOTALS


class Noise(System):
    """A system that adds noise to the cells of each region so that their total stays fixed."""

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> NDArray[Any]:
        """See `System.release`."""
        released = areas.counts.astype(np.int64 if self.whole else float)
        for rows in areas.blocks.values():
            counts = areas.counts[rows]
            noise = self.noise(rng, counts.ravel(), budget)
            released[rows] += noise.reshape(counts.shape)
        return released

    @abstractmethod
    def noise(self, rng: np.random.Generator, counts: IntArray, budget: float) -> NDArray[Any]:
        """Draw the noise of the cells of one region, as an array of shape (cells,)."""


class PlainNoise(Noise):
    """A system whose noise does not depend on the counts, and is defined for any invariants."""

    @abstractmethod
    def sampler(self, invariants: Invariants, budget: float) -> NoiseSampler:
        """Return the sampler of the noise under some invariants.

        Raise `InputError` if no exact sampler is practical.
        """

    @abstractmethod
    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """Return the guarantee without the names of the held totals."""

    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """See `System.guarantee_of`."""
        return replace(self.noise_guarantee(budget), held=REGION_TOTALS)

    def noise(self, rng: np.random.Generator, counts: IntArray, budget: float) -> NDArray[Any]:
        """See `Noise.noise`."""
        return self.sampler(Invariants.total(counts.size), budget).sample(rng, 1).ravel()

    def covariance_scale(self, budget: float) -> float | None:
        """Return s^2 if the covariance is at most s^2 Pi_N, and None if no such bound is known.

        Pi_N is the orthogonal projection onto the null space of the invariants.
        """
        return None

    scale_is_exact: ClassVar[bool] = True  # False if `covariance_scale` is an upper bound

    def cell_variance(self, cells: int, budget: float) -> float:
        """Return the noise variance of one cell of a total over `cells` cells.

        `cells` is 0 for a cell without a total. Raise `InputError` if the variance is not known.
        """
        scale = self.covariance_scale(budget)
        if scale is None:
            raise InputError(
                f"compare: {self.name}: the variance of a cell is not known. Estimate the variance "
                f"by simulation"
            )
        return scale * (1 - 1 / cells) if cells else scale


class IntegerNoise(PlainNoise):
    """A system with the exact integer noise of a mechanism of this library (ISDP)."""

    paper = "ISDP"

    @staticmethod
    @abstractmethod
    def mechanism(budget: float) -> GeneralizedLaplace | GeneralizedGaussian:
        """Return the mechanism whose privacy loss equals the budget if one person changes cell."""

    def sampler(self, invariants: Invariants, budget: float) -> exact.ExactSampler:
        """See `PlainNoise.sampler`."""
        return exact.select_sampler(self.mechanism(budget), invariants)

    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """See `PlainNoise.noise_guarantee` (ISDP, Theorem 10)."""
        return self.mechanism(budget).guarantee


class IntegerLaplace(IntegerNoise):
    """Exact integer noise u with probability proportional to exp(-epsilon ||u||_1 / 2).

    This is Definition 9 of ISDP with epsilon for one person who changes cell.
    """

    name = "integer noise"
    parameter = "epsilon"

    @staticmethod
    def mechanism(budget: float) -> GeneralizedLaplace:
        """See `IntegerNoise.mechanism`."""
        return GeneralizedLaplace(budget / PER_MOVE)

    def cell_variance(self, cells: int, budget: float) -> float:
        """See `PlainNoise.cell_variance`. The exact distribution is used."""
        epsilon = self.mechanism(budget).epsilon
        if cells:
            return exact.total_distribution(cells, epsilon).sd ** 2
        return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


class IntegerGaussian(IntegerNoise):
    """Exact integer noise u with probability proportional to exp(-rho ||u||_2^2 / 2)."""

    name = "integer Gaussian noise"
    parameter = "rho"
    scale_is_exact = False

    @staticmethod
    def mechanism(budget: float) -> GeneralizedGaussian:
        """See `IntegerNoise.mechanism`. The loss at a squared l2 distance of 2 is 1 / sigma^2."""
        return GeneralizedGaussian(math.sqrt(1 / budget))

    def covariance_scale(self, budget: float) -> float:
        """See `PlainNoise.covariance_scale`. The variance sigma^2 is an upper bound.

        By Poisson summation, E exp(t'u) is at most exp(sigma^2 |Pi_N t|^2 / 2) on any lattice.
        """
        return self.mechanism(budget).sigma ** 2

    def cell_variance(self, cells: int, budget: float) -> float:
        """See `PlainNoise.cell_variance`. The exact distribution is used."""
        return sum_variance(self.mechanism(budget).energy, [Part(cells, 1)])


class ProjectedLaplaceNoise(PlainNoise):
    """Laplace noise that is projected onto the null space of the invariants (SDP)."""

    name = "projected Laplace noise"
    paper = "SDP"
    parameter = "epsilon"
    whole = False

    def sampler(self, invariants: Invariants, budget: float) -> subspace.ProjectedLaplace:
        """See `PlainNoise.sampler`."""
        return subspace.ProjectedLaplace(
            subspace.Query.histogram(invariants.cells), invariants, budget
        )

    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """See `PlainNoise.noise_guarantee` (SDP, Corollary 3.8)."""
        return self.sampler(TWO_CELLS, budget).guarantee

    def covariance_scale(self, budget: float) -> float:
        """See `PlainNoise.covariance_scale`."""
        return 2 * self.sampler(TWO_CELLS, budget).scale ** 2


class KNormNoise(PlainNoise):
    """K-norm noise, the continuous counterpart of integer noise (SDP, Section 3.4)."""

    name = "K-norm noise"
    paper = "SDP"
    parameter = "epsilon"
    whole = False

    def noise(self, rng: np.random.Generator, counts: IntArray, budget: float) -> NDArray[Any]:
        """See `Noise.noise`.

        The norm over all regions is the sum of the norms of the regions, so that the density is a
        product over the regions.
        """
        return subspace.draw_root_polytope_noise(rng, counts.size, PER_MOVE / budget, 1).ravel()

    def sampler(self, invariants: Invariants, budget: float) -> subspace.KNorm:
        """See `PlainNoise.sampler`. Neighbouring tables may differ by a move between regions."""
        try:
            return subspace.KNorm(subspace.Query.histogram(invariants.cells), invariants, budget)
        except InputError:
            raise InputError(
                "K-norm noise has an exact sampler only under disjoint totals of all cells, or in "
                "few dimensions. Use other totals"
            ) from None

    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """See `PlainNoise.noise_guarantee`.

        Tables with equal totals that differ by k moves have the l1 distance 2k. The noise is drawn
        region by region. A record that moves to another region has up to twice the loss, because it
        changes the counts of two regions.
        """
        return PrivacyGuarantee(
            "pure",
            budget / PER_MOVE,
            "l1",
            PER_MOVE,
            "SDP, Section 3.4; Hardt and Talwar 2010",
        )

    def cell_variance(self, cells: int, budget: float) -> float:
        """See `PlainNoise.cell_variance`. The error of the sampler is summed over all cells."""
        if not cells:
            raise InputError(
                f"compare: {self.name}: some cells are in no total. Add them to a total"
            )
        if cells == 1:
            return 0.0
        return self.sampler(Invariants.total(cells), budget).error / cells


class ProjectedGaussianNoise(PlainNoise):
    """Normal noise of variance 1 / rho, projected onto the null space of the invariants (SDP)."""

    name = "projected Gaussian noise"
    paper = "SDP"
    parameter = "rho"
    whole = False

    def sampler(self, invariants: Invariants, budget: float) -> subspace.ProjectedGaussian:
        """See `PlainNoise.sampler`. Rounding makes the noise slightly larger, never smaller."""
        epsilon = epsilon_for("exact Gaussian", budget, DELTA) * (1 - 2 * ROUNDING)
        return subspace.ProjectedGaussian(
            subspace.Query.histogram(invariants.cells), invariants, epsilon, DELTA
        )

    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """See `PlainNoise.noise_guarantee` (Bun and Steinke 2016)."""
        return self.sampler(TWO_CELLS, budget).zcdp_guarantee

    def covariance_scale(self, budget: float) -> float:
        """See `PlainNoise.covariance_scale`."""
        return self.sampler(TWO_CELLS, budget).sd ** 2


@lru_cache(maxsize=8)  # repeated runs have the same regions
def _bounded_noise(counts: tuple[int, ...], budget: float) -> exact.ExactSampler:
    mechanism = GeneralizedLaplace(budget / (2 * PER_MOVE))
    return exact.select_sampler(mechanism, Invariants.total(len(counts)), -np.array(counts))


class ConditionedNoise(Noise):
    """Integer noise conditioned on nonnegative counts (CDP, Theorem 2.1).

    The probability is proportional to exp(-epsilon ||u||_1 / 4). Conditioning at most doubles the
    loss, so that the noise has half of the budget.
    """

    name = "conditioned noise, no count below zero"
    paper = "CDP"
    parameter = "epsilon"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def noise(self, rng: np.random.Generator, counts: IntArray, budget: float) -> NDArray[Any]:
        """See `Noise.noise`."""
        return _bounded_noise(tuple(counts.tolist()), budget).sample(rng, 1).ravel()

    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """See `System.guarantee_of`. The loss is at most twice the epsilon of the noise."""
        return PrivacyGuarantee(
            "pure",
            budget / PER_MOVE,
            "l1",
            PER_MOVE,
            "CDP, Theorem 2.1 with gamma = 1: twice the loss of the noise",
            relation="two tables with the same total of each region",
            held=self.held(),
        )

    def held(self) -> str:
        """See `System.held`."""
        return f"{REGION_TOTALS}; no count is below zero"


@dataclass(frozen=True)
class TopDown(System):
    """The TopDown algorithm of the Census Bureau (TDA), with held totals of the regions.

    Parameters
    ----------
    plan_of : function
        ``plan_of(budget)`` returns a plan for the levels all, region and area, whose losses sum to
        the budget.
    """

    plan_of: Callable[[float], topdown.Plan]
    name: str
    parameter: Parameter
    paper = "TDA"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> NDArray[Any]:
        """See `System.release`."""
        return topdown.run(rng, areas.counts, areas.hierarchy, self.plan_of(budget)).tables[
            LEVELS[-1]
        ]

    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """See `System.guarantee_of`."""
        return self.plan_of(budget).budget.guarantee_of(REGION_TOTALS)


class Swapping(System):
    """Permutation swapping of areas between the records of a region (SWAP)."""

    name = "permutation swapping"
    paper = "SWAP"
    parameter = "rate"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> NDArray[Any]:
        """See `System.release`. The memory is proportional to the number of records in a region."""
        released = areas.counts.copy()
        for rows in areas.blocks.values():
            released[rows] = swapping.swap_table(rng, areas.counts[rows][None], budget)[0]
        return released

    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """See `System.guarantee_of`. The loss is the published bound for the largest region."""
        largest = max(int(areas.counts[rows].sum()) for rows in areas.blocks.values())
        return swapping.guarantee_of(budget, largest)

    def held(self) -> str:
        """See `System.held`."""
        return "the total of each area, and all cells of each region"


def check_budget(system: System, budget: float) -> float:
    """Return a budget between 1e-14 and 1000 as a float, or raise `InputError`.

    A swap rate must be between 0 and 1.
    """
    name = f"compare: {system.name}: the {system.parameter}"
    if system.parameter == "rate":
        check_probability(name, budget)
    return float(check_in_range(name, budget, MIN_BUDGET, MAX_BUDGET))
