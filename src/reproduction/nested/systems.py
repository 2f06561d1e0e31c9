"""Noise with a term for each measured total, and TopDown with the same queries.

A split maps pairs of a level of regions and a level of cells to their shares of the budget rho. The
term of a pair has the variance 1 / (share rho) in the noise, and TopDown measures the totals of the
pair with this variance. Both therefore have the privacy loss rho per person.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from isdp import Invariants
from isdp.mechanisms import CrossingGaussian, NestedGaussian, SetTree
from isdp.topdown import Budget, Plan
from reproduction.data.histogram import CELLS
from reproduction.topdown.configurations import HELD_LEVELS, LEVELS, SCHEMA, production_budget

PLAIN, NESTED, CROSSING = "integer Gaussian noise", "nested noise", "crossing noise"
PROJECTED = "crossing noise, projected"
PRODUCTION, SAME_QUERIES = "TopDown, production", "TopDown, same queries"
DEMONSTRATION = "Bureau, 2021-06-08"
SYSTEMS = (PLAIN, NESTED, CROSSING, PROJECTED, SAME_QUERIES, PRODUCTION, DEMONSTRATION)
QUERIES = {"total": "total", "group": "hispanic*adult", "cell": "detail"}
COUNTY_PAIRS = (("county", "total"), ("county", "cell"))
Split = Mapping[tuple[str, str], Fraction]
SPLITS: dict[str, Split] = {
    PLAIN: {("county", "cell"): Fraction(1)},
    NESTED: {("county", "total"): Fraction(1, 10), ("county", "cell"): Fraction(9, 10)},
    CROSSING: {
        ("nation", "group"): Fraction(2, 100),
        ("nation", "cell"): Fraction(5, 100),
        ("state", "group"): Fraction(3, 100),
        ("state", "cell"): Fraction(15, 100),
        ("county", "total"): Fraction(17, 100),
        ("county", "group"): Fraction(3, 100),
        ("county", "cell"): Fraction(55, 100),
    },
}


def published_rho() -> Fraction:
    """Return the part of the budget of 8 June 2021 for the levels and queries of this study."""
    return production_budget().spent


def hold_totals(states: Sequence[str]) -> Invariants:
    """Hold the total of each state. `states` has the state of each county."""
    return Invariants.partition(np.repeat(np.asarray(states), len(CELLS)))


def build_noise(
    states: Sequence[str], split: Split, rho: Fraction
) -> NestedGaussian | CrossingGaussian:
    """Build the noise of all cells, in row-major order of counties and cells."""
    if not set(split) <= set(COUNTY_PAIRS):
        return build_crossing(states, split, rho)
    tree = SetTree.from_columns({"county": np.repeat(np.arange(len(states)), len(CELLS))})
    levels = dict(zip(COUNTY_PAIRS, ("county", "cell"), strict=True))
    return NestedGaussian(tree, {levels[pair]: 1 / (split[pair] * rho) for pair in split})


def build_crossing(states: Sequence[str], split: Split, rho: Fraction) -> CrossingGaussian:
    """Build the noise as crossing noise, which exists for every split."""
    regions = SetTree.from_columns({"state": states}, root="nation")
    groups = SetTree.from_columns({"group": [cell.split(":", 1)[1] for cell in CELLS]}, "total")
    smallest = regions.levels[-1]
    variances = {
        (smallest if level == "county" else level, group): 1 / (share * rho)
        for (level, group), share in split.items()
        if share
    }
    return CrossingGaussian(regions, groups, variances)


def expected_error(noise: CrossingGaussian, held: Invariants, level: str, query: str) -> float:
    """Compute the root mean square error (persons) of the answers to a query in closed form.

    The value is exact for real-valued noise, and integer noise has no larger error. All answers to
    a query in one region have equal variances, because all groups have equal sizes.
    """
    weights = SCHEMA.margins([query]).sparse.toarray()[0]
    variances = noise.query_variances(weights, held)
    return float(np.sqrt(variances[noise.regions.level_of == LEVELS.index(level)].mean()))


def plan_topdown(system: str, rho: Fraction) -> Plan:
    """Plan a TopDown run with the privacy loss rho per person."""
    if system == PRODUCTION:
        known = production_budget()
        budget = Budget("zCDP", rho * known.total / known.spent, known.levels, known.queries)
    else:
        split = SPLITS[CROSSING]
        levels = {
            level: sum((share for pair, share in split.items() if pair[0] == level), Fraction(0))
            for level in LEVELS
        }
        queries = {
            level: {
                QUERIES[g]: share / levels[at] for (at, g), share in split.items() if at == level
            }
            for level in LEVELS
        }
        budget = Budget("zCDP", rho, levels, queries)
    return Plan(SCHEMA, budget, HELD_LEVELS, passes="isolate_total")
