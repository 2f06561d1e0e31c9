"""Every system behind one interface: what it releases, what it guarantees, what it holds.

Budgets of the systems with noise are for one person who changes cell while all regions' totals stay
as they are: epsilon (pure) or rho (zCDP). Permutation swapping holds more, under which nobody can
change alone; its budget is the swap rate, and its guarantee has a unit of its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from isdp import exact, subspace, swapping, topdown
from isdp.accounting.conversions import ROUNDING, epsilon_for
from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_in_range, check_probability
from isdp.compare.areas import LEVELS, Areas
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.distributions import Part, sum_variance
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace

PER_MOVE = 2  # l1 distance, and squared l2 distance, that one person who changes cell makes
DELTA = 1e-10  # at which the Gaussian of SDP is calibrated; its rho does not depend on it
REGIONS = "the total of each region"
SMALLEST = Invariants.total(2)  # the noise of SDP costs as much, and is as wide, under any others
EXACT_GAUSSIAN = "exact Gaussian"
LEAST_BUDGET, MOST_BUDGET = 1e-14, 1000  # beyond, some systems' laws leave floating point


class System(ABC):
    """One system.

    Attributes
    ----------
    name : str
        What a reader calls it.
    paper : str
        "ISDP", "SDP", "CDP", "TDA" or "SWAP".
    parameter : {"epsilon", "rho", "rate"}
        What its budget is.
    nonnegative, whole : bool
        Whether all counts that it releases are from 0 up, and whole.
    unbiased : bool
        Whether each count is released with an error of mean zero.
    needs_counts : bool
        Whether its errors depend on the counts.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    parameter: ClassVar[str]
    nonnegative: ClassVar[bool] = False
    whole: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True
    needs_counts: ClassVar[bool] = False

    @abstractmethod
    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> np.ndarray:
        """Release the table once, in floating point from a pseudo-random generator.

        Parameters
        ----------
        budget : float
            epsilon or rho for one person who changes cell, or the swap rate.

        Returns
        -------
        array, shape (areas, cells)
            int64, or float64 where the system's counts are not whole.
        """

    @abstractmethod
    def guarantee(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """Give what is guaranteed, as a value; takes the arguments of `release`."""

    def held(self) -> str:
        """Say what is released as it is."""
        return REGIONS


class Noise(System):
    """Noise in all cells of a region at once, that adds up to zero there."""

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> np.ndarray:
        """As `System.release`."""
        released = areas.counts.astype(np.int64 if self.whole else float)
        for rows in areas.blocks.values():
            counts = areas.counts[rows]
            noise = self.noise(rng, counts.ravel(), budget)
            released[rows] += noise.reshape(counts.shape)
        return released

    @abstractmethod
    def noise(self, rng: np.random.Generator, counts: np.ndarray, budget: float) -> np.ndarray:
        """Draw the noise of one region's cells; shape (cells,)."""


class PlainNoise(Noise):
    """Noise whose law does not depend on the counts, so that any totals may be held."""

    @abstractmethod
    def law(self, invariants: Invariants, budget: float):
        """Set the noise up under any invariants.

        Returns
        -------
        object
            ``sample(rng, draws)`` gives noise of shape (draws, cells).

        Raises
        ------
        InputError
            If no exact sampler is practical.
        """

    @abstractmethod
    def promise(self, budget: float) -> PrivacyGuarantee:
        """Give the guarantee, which is the same under all invariants but for what is held."""

    def guarantee(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """As `System.guarantee`."""
        return replace(self.promise(budget), held=REGIONS)

    def noise(self, rng: np.random.Generator, counts: np.ndarray, budget: float) -> np.ndarray:
        """As `Noise.noise`."""
        return self.law(Invariants.total(counts.size), budget).sample(rng, 1)[0]

    def spread(self, budget: float) -> float | None:
        """Give s^2 where the covariance is s^2 Pi_N, or at most that; None where it is neither."""
        return None

    exactly: ClassVar[bool] = True  # or at most

    def cell_variance(self, cells: int, budget: float) -> float:
        """Variance of each of so many cells with one total; of a cell in no total for 0.

        Raises
        ------
        InputError
            If it is not known.
        """
        spread = self.spread(budget)
        if spread is None:
            raise InputError(f"compare: {self.name}: no law of a cell is known")
        return spread * (1 - 1 / cells) if cells else spread


class IntegerNoise(PlainNoise):
    """Exact integer noise of a mechanism of the library (ISDP)."""

    paper = "ISDP"

    @staticmethod
    @abstractmethod
    def mechanism(budget: float) -> GeneralizedLaplace | GeneralizedGaussian:
        """Give the mechanism that costs one person who changes cell the budget."""

    def law(self, invariants: Invariants, budget: float) -> exact.ExactSampler:
        """As `PlainNoise.law`."""
        return exact.select_sampler(self.mechanism(budget), invariants)

    def promise(self, budget: float) -> PrivacyGuarantee:
        """As `PlainNoise.promise` (ISDP, Theorem 10)."""
        return self.mechanism(budget).guarantee


class IntegerLaplace(IntegerNoise):
    """Exact integer noise, weight exp(-epsilon ||u||_1 / 2) (ISDP, Definition 9)."""

    name = "integer noise"
    parameter = "epsilon"

    @staticmethod
    def mechanism(budget: float) -> GeneralizedLaplace:
        """As `IntegerNoise.mechanism`."""
        return GeneralizedLaplace(budget / PER_MOVE)

    def cell_variance(self, cells: int, budget: float) -> float:
        """As `PlainNoise.cell_variance`, from the exact law."""
        epsilon = self.mechanism(budget).epsilon
        if cells:
            return exact.total_distribution(cells, epsilon).sd ** 2
        return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


class IntegerGaussian(IntegerNoise):
    """Exact integer noise, weight exp(-||u||_2^2 / (2 sigma^2)), sigma^2 = 1 / rho."""

    name = "integer Gaussian noise"
    parameter = "rho"
    exactly = False

    @staticmethod
    def mechanism(budget: float) -> GeneralizedGaussian:
        """As `IntegerNoise.mechanism`: a squared l2 distance of 2 costs 2 / (2 sigma^2)."""
        return GeneralizedGaussian(math.sqrt(1 / budget))

    def spread(self, budget: float) -> float:
        """As `PlainNoise.spread`: at most sigma^2.

        By Poisson's formula E exp(t'u) is at most exp(sigma^2 |Pi_N t|^2 / 2), on any lattice.
        """
        return self.mechanism(budget).sigma ** 2

    def cell_variance(self, cells: int, budget: float) -> float:
        """As `PlainNoise.cell_variance`, from the exact law."""
        return sum_variance(self.mechanism(budget).energy, [Part(cells, 1)])


class ProjectedLaplaceNoise(PlainNoise):
    """Laplace noise less its mean (SDP, projection framework)."""

    name = "projected Laplace noise"
    paper = "SDP"
    parameter = "epsilon"
    whole = False

    def law(self, invariants: Invariants, budget: float) -> subspace.ProjectedLaplace:
        """As `PlainNoise.law`."""
        return subspace.ProjectedLaplace(
            subspace.Query.histogram(invariants.cells), invariants, budget
        )

    def promise(self, budget: float) -> PrivacyGuarantee:
        """As `PlainNoise.promise` (SDP, Corollary 3.8)."""
        return self.law(SMALLEST, budget).guarantee

    def spread(self, budget: float) -> float:
        """As `PlainNoise.spread`."""
        return 2 * self.law(SMALLEST, budget).scale ** 2


class KNormNoise(PlainNoise):
    """K-norm noise: the continuous twin of the integer law (SDP, Section 3.4)."""

    name = "K-norm noise"
    paper = "SDP"
    parameter = "epsilon"
    whole = False

    def noise(self, rng: np.random.Generator, counts: np.ndarray, budget: float) -> np.ndarray:
        """As `Noise.noise`.

        The hull of all regions' moves is that of their union, whose norm is the sum of the
        regions' norms: the density is a product over the regions.
        """
        return subspace.draw_root_polytope_noise(rng, counts.size, PER_MOVE / budget, 1)[0]

    def law(self, invariants: Invariants, budget: float) -> subspace.KNorm:
        """As `PlainNoise.law`; here moves between regions count as well, as in the paper."""
        try:
            return subspace.KNorm(subspace.Query.histogram(invariants.cells), invariants, budget)
        except InputError:
            raise InputError(
                "it has an exact sampler under disjoint totals that hold every cell, or in few "
                "dimensions; here neither"
            ) from None

    def promise(self, budget: float) -> PrivacyGuarantee:
        """As `PlainNoise.promise`, of tables with equal totals, k moves apart at l1 distance 2k.

        Drawn region by region, a record replaced by one of another region costs up to twice as
        much, as two regions' noise tells of it.
        """
        return PrivacyGuarantee(
            "pure",
            budget / PER_MOVE,
            "l1",
            PER_MOVE,
            "SDP, Section 3.4; Hardt and Talwar 2010",
        )

    def cell_variance(self, cells: int, budget: float) -> float:
        """As `PlainNoise.cell_variance`: that of the image of independent Laplace noise."""
        if not cells:
            raise InputError(f"{self.name}: some cells are in no total")
        if cells == 1:
            return 0.0
        law = self.law(Invariants.total(cells), budget)
        return law.error / cells


class ProjectedGaussianNoise(PlainNoise):
    """Normal noise of variance 1 / rho less its mean (SDP, projection framework)."""

    name = "projected Gaussian noise"
    paper = "SDP"
    parameter = "rho"
    whole = False

    def law(self, invariants: Invariants, budget: float) -> subspace.ProjectedGaussian:
        """As `PlainNoise.law`; by rounding a little more noise than the budget asks, never less."""
        epsilon = epsilon_for(EXACT_GAUSSIAN, budget, DELTA) * (1 - 2 * ROUNDING)
        return subspace.ProjectedGaussian(
            subspace.Query.histogram(invariants.cells), invariants, epsilon, DELTA
        )

    def promise(self, budget: float) -> PrivacyGuarantee:
        """As `PlainNoise.promise` (Bun and Steinke 2016)."""
        return self.law(SMALLEST, budget).zcdp_guarantee

    def spread(self, budget: float) -> float:
        """As `PlainNoise.spread`."""
        return self.law(SMALLEST, budget).sd ** 2


@lru_cache(maxsize=8)  # a small table's regions, run after run
def _bounded_noise(counts: tuple[int, ...], budget: float) -> exact.ExactSampler:
    law = GeneralizedLaplace(budget / (2 * PER_MOVE))
    return exact.select_sampler(law, Invariants.total(len(counts)), -np.array(counts))


class ConditionedNoise(Noise):
    """Integer noise given that no count falls below zero (CDP, Theorem 2.1).

    The weight is exp(-epsilon ||u||_1 / 4): conditioning on the data at most doubles the loss, so
    that half of the budget goes to the noise.
    """

    name = "conditioned noise, no count below zero"
    paper = "CDP"
    parameter = "epsilon"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def noise(self, rng: np.random.Generator, counts: np.ndarray, budget: float) -> np.ndarray:
        """As `Noise.noise`."""
        return _bounded_noise(tuple(counts.tolist()), budget).sample(rng, 1)[0]

    def guarantee(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """As `System.guarantee`: the bound, twice the noise's own epsilon."""
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
        """As `System.held`."""
        return f"{REGIONS}; no count is below zero"


@dataclass(frozen=True)
class TopDown(System):
    """The Census Bureau's algorithm (TDA), with the totals of the regions held.

    Parameters
    ----------
    plan_of : function
        ``plan_of(budget)`` gives the plan of a run whose levels all, region and area together
        spend that budget.
    parameter : {"epsilon", "rho"}
    """

    plan_of: Callable[[float], topdown.Plan]
    name: str
    parameter: str
    paper = "TDA"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> np.ndarray:
        """As `System.release`."""
        return topdown.run(rng, areas.counts, areas.hierarchy, self.plan_of(budget)).tables[
            LEVELS[-1]
        ]

    def guarantee(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """As `System.guarantee`: of the levels that are run, and no others."""
        return self.plan_of(budget).budget.guarantee(REGIONS)


class Swapping(System):
    """Permutation swapping of the records behind the table, areas within regions (SWAP)."""

    name = "permutation swapping"
    paper = "SWAP"
    parameter = "rate"
    nonnegative = True
    unbiased = False
    needs_counts = True

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> np.ndarray:
        """As `System.release`; takes memory for every record of a region."""
        released = areas.counts.copy()
        for rows in areas.blocks.values():
            released[rows] = swapping.swap_table(rng, areas.counts[rows][None], budget)[0]
        return released

    def guarantee(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """As `System.guarantee`, by the published bound for the largest region."""
        largest = max(int(areas.counts[rows].sum()) for rows in areas.blocks.values())
        return swapping.guarantee(budget, largest)

    def held(self) -> str:
        """As `System.held`."""
        return "the total of each area, and all cells of each region"


def check_budget(system: System, budget: float) -> float:
    """Return a budget as a float.

    Raises
    ------
    InputError
        If it is no number from 1e-14 to 1000, or a rate is not below 1.
    """
    name = f"compare: {system.name}: the {system.parameter}"
    if system.parameter == "rate":
        check_probability(name, budget)
    return float(check_in_range(name, budget, LEAST_BUDGET, MOST_BUDGET))
