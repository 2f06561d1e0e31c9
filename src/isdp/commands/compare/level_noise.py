"""Noise with a term for each total of some levels, as a system of the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from isdp import exact
from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.arrays import FloatArray
from isdp.commands.compare.question import CELLS, Question
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.noise_levels import NoiseLevels, SetMechanism, TableLevels
from isdp.compare.systems import PlainNoise
from isdp.constraints.invariants import Invariants
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.exact.nested.weighted_sums import sum_variances
from isdp.mechanisms.crossing import CrossingGaussian


@dataclass(frozen=True, eq=False)
class LevelNoise(PlainNoise):
    """Noise with levels on the table of a question.

    Parameters
    ----------
    parameter : {"epsilon", "rho"}
        Laplace noise has epsilon, and Gaussian noise has rho. The budget is per person.
    """

    question: Question
    levels: NoiseLevels
    parameter: Literal["epsilon", "rho"]
    name = "noise with levels"
    paper = "ours"

    def mechanism(self, budget: float) -> SetMechanism:
        """Return the mechanism whose loss per person is the budget."""
        levels = TableLevels(self.levels, self.question.table)
        flavour: Literal["pure", "zCDP"] = "pure" if self.parameter == "epsilon" else "zCDP"
        return levels.mechanism(self.question.free.invariants, flavour, Fraction(repr(budget)))

    def sampler(self, invariants: Invariants, budget: float) -> exact.ExactSampler:
        """See `PlainNoise.sampler`."""
        return exact.select_sampler(self.mechanism(budget), invariants)

    def noise_guarantee(self, budget: float) -> PrivacyGuarantee:
        """See `PlainNoise.noise_guarantee`."""
        return self.mechanism(budget).guarantee_of(self.question.free.invariants)

    def variance_bounds(self, budget: float, query: HeldTotals) -> FloatArray | None:
        """Bound the variance of each answer of a query, or return None for Laplace noise."""
        if self.parameter == "epsilon":
            return None
        mechanism, held = self.mechanism(budget), self.question.free.invariants
        if query.name != CELLS:
            return sum_variances(mechanism, held, query.incidence())
        if isinstance(mechanism, CrossingGaussian):
            regions, columns = mechanism.regions.cells, mechanism.groups.cells
            first = mechanism.query_variances(np.eye(columns)[0], held)[:regions]
            return np.repeat(first, columns)  # all columns have equal variances
        return NestedAccuracy(mechanism, held).variance_bounds()[: self.question.cells]
