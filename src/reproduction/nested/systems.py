"""Noise with a term for each measured total, TopDown with the same queries, and a projection.

A split gives each pair of a level of regions and a level of cells its share of the budget rho. The
noise has the variance 1 / (share rho) in the term of this pair, and TopDown measures the totals of
the pair with this variance. Both therefore have the privacy loss rho per person.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from isdp import Invariants
from isdp.constraints.hierarchy import Hierarchy
from isdp.mechanisms import CrossingGaussian, NestedGaussian, SetTree
from isdp.topdown import Budget, Plan
from isdp.topdown.descent import Descent, node_streams
from isdp.topdown.measurement_noise import draw_noise
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
    """Build the noise as a crossing family, which contains every split."""
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

    It is that of real-valued noise, and the integer noise has no larger error. All answers to a
    query in one region have one variance, because all groups have one size.
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


def project(rng: np.random.Generator, tree: Hierarchy, noisy: np.ndarray) -> dict[str, np.ndarray]:
    """Project a noisy county table on non-negative tables, level by level as TopDown does.

    The tables of a parent's children are the nearest ones in l2 that add up to the parent and have
    the noisy totals of the children. They are rounded as in TopDown.

    Parameters
    ----------
    noisy : int64 array, shape (counties, cells)

    Returns
    -------
    dict of str to int64 array, shape (units, cells)
        The tables of each level.
    """
    # the descent reads the noisy tables as measurements of the cells and of the totals
    queries = {level: {"total": Fraction(1, 2), "detail": Fraction(1, 2)} for level in LEVELS}
    budget = Budget("zCDP", 1, dict.fromkeys(LEVELS, Fraction(1, 3)), queries)
    plan = Plan(SCHEMA, budget, HELD_LEVELS, passes="isolate_total")
    descent = Descent(plan, tree, node_streams(rng), draw_noise)
    sums = [np.zeros((len(units), noisy.shape[1]), dtype=np.int64) for units in tree.units]
    for level, units in zip(sums, tree.leaf_units, strict=True):
        np.add.at(level, units, noisy)
    answers = [
        np.ascontiguousarray((work.rows @ table.T).T)
        for work, table in zip(descent.workloads, sums, strict=True)
    ]
    found = [descent.root(answers[0], sums[0].sum(axis=1))[0]]
    for depth in range(1, len(sums)):
        below = np.empty_like(sums[depth])
        held = sums[depth].sum(axis=1) if tree.levels[depth] in HELD_LEVELS else None
        for parent, children in enumerate(tree.children(depth - 1)):
            totals = None if held is None else held[children]
            above, measured = found[-1][parent], answers[depth][children]
            below[children] = descent.down(depth, parent, above, measured, totals)[0]
        found.append(below)
    return dict(zip(tree.levels, found, strict=True))
