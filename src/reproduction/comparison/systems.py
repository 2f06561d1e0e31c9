"""Systems of the comparison and their budgets. Each job runs one family of systems."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from isdp import PrivacyGuarantee, draw_noise
from isdp.accounting import as_fraction
from isdp.compare import (
    ConditionedNoise,
    IntegerGaussian,
    IntegerLaplace,
    KNormNoise,
    ProjectedGaussianNoise,
    ProjectedLaplaceNoise,
    Swapping,
    System,
    TopDown,
)
from isdp.compare.areas import LEVELS, Areas
from isdp.compare.systems import REGION_TOTALS
from isdp.topdown import Budget, Plan
from reproduction.nested.systems import (
    CROSSING,
    NESTED,
    SPLITS,
    build_noise,
    hold_totals,
    published_rho,
)
from reproduction.topdown.configurations import LEVELS as CENSUS_LEVELS
from reproduction.topdown.configurations import SCHEMA, production_budget, slides_budget

PUBLISHED = "published"  # The setting `rhos` gives the published budget by this name.
LEVEL_NAMES = dict(zip(CENSUS_LEVELS, LEVELS, strict=True))


def plan_at(known: Budget, passes: Literal["one", "isolate_total"], spent: float) -> Plan:
    """Plan a TopDown run with the shares of a known budget.

    The three levels of the plan together have the privacy loss `spent` for one person.
    """
    total = as_fraction(spent) * known.total / known.spent
    levels = {LEVEL_NAMES.get(level, level): share for level, share in known.levels.items()}
    queries = {LEVEL_NAMES[level]: shares for level, shares in known.queries.items()}
    budget = Budget(known.flavour, total, levels, queries)
    return Plan(SCHEMA, budget, (LEVELS[1],), passes=passes)


@dataclass(frozen=True)
class NoiseOfTotals(System):
    """Integer noise with a term for each total of a split (`reproduction.nested`)."""

    name: str
    paper = "ours"
    parameter = "rho"

    def release(self, rng: np.random.Generator, areas: Areas, budget: float) -> np.ndarray:
        """See `System.release`."""
        noise = build_noise(areas.regions, SPLITS[self.name], as_fraction(budget))
        drawn = draw_noise(noise, hold_totals(areas.regions), rng=rng)
        return areas.counts + drawn.reshape(areas.counts.shape)

    def guarantee_of(self, areas: Areas, budget: float) -> PrivacyGuarantee:
        """See `System.guarantee_of`."""
        noise = build_noise(areas.regions, SPLITS[self.name], as_fraction(budget))
        return replace(noise.guarantee_of(hold_totals(areas.regions)), held=REGION_TOTALS)


def list_systems() -> dict[str, list[System]]:
    """List the systems of each family."""
    return {
        "noise": [
            IntegerLaplace(),
            IntegerGaussian(),
            ProjectedLaplaceNoise(),
            KNormNoise(),
            ProjectedGaussianNoise(),
        ],
        "nested": [NoiseOfTotals(NESTED), NoiseOfTotals(CROSSING)],
        "conditioned": [ConditionedNoise()],
        "topdown": [
            TopDown(partial(plan_at, slides_budget(), "one"), "TopDown, one pass", "epsilon"),
            TopDown(
                partial(plan_at, production_budget(), "isolate_total"), "TopDown, production", "rho"
            ),
        ],
        "swapping": [Swapping()],
    }


def list_budgets(system: System, settings: Mapping) -> list[float]:
    """List the configured budgets of a system in ascending order."""
    given = settings[f"{system.parameter}s"]
    return sorted(float(published_rho()) if each == PUBLISHED else float(each) for each in given)
