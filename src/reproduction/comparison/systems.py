"""Systems of the comparison, in families with one job each, and their budgets."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

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
from isdp.compare.areas import LEVELS
from isdp.topdown import Budget, Plan
from reproduction.topdown.configurations import LEVELS as CENSUS_LEVELS
from reproduction.topdown.configurations import SCHEMA, production_budget, slides_budget

PUBLISHED = "published"  # in the list of rhos: the published budget
LEVEL_NAMES = dict(zip(CENSUS_LEVELS, LEVELS, strict=True))


@dataclass(frozen=True)
class Spending:
    """Plan of TopDown for a given budget, with the shares of a known budget at three levels."""

    known: Budget
    passes: str  # "one" or "isolate_total"

    def __call__(self, spent: float) -> Plan:
        """Plan a run whose three levels together spend `spent`, for one person."""
        known = self.known
        total = as_fraction(spent) * known.total / known.spent
        levels = {LEVEL_NAMES.get(level, level): share for level, share in known.levels.items()}
        queries = {LEVEL_NAMES[level]: shares for level, shares in known.queries.items()}
        budget = Budget(known.flavour, total, levels, queries)
        return Plan(SCHEMA, budget, (LEVELS[1],), passes=self.passes)


def published_rho() -> Fraction:
    """Return the part of the published budget of 8 June 2021 for these levels and queries."""
    return production_budget().spent


def list_systems() -> dict[str, list[System]]:
    """List the systems of each family, in order of appearance."""
    return {
        "noise": [
            IntegerLaplace(),
            IntegerGaussian(),
            ProjectedLaplaceNoise(),
            KNormNoise(),
            ProjectedGaussianNoise(),
        ],
        "conditioned": [ConditionedNoise()],
        "topdown": [
            TopDown(Spending(slides_budget(), "one"), "TopDown, one pass", "epsilon"),
            TopDown(Spending(production_budget(), "isolate_total"), "TopDown, production", "rho"),
        ],
        "swapping": [Swapping()],
    }


def list_budgets(system: System, settings: Mapping) -> list[float]:
    """List the budgets of a system in ascending order; `settings` are those of the config."""
    given = settings[f"{system.parameter}s"]
    return sorted(float(published_rho()) if each == PUBLISHED else float(each) for each in given)
