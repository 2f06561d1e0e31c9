"""Budgets of the TopDown runs: the slides' (TDA), that of SDP, and the Census Bureau's.

The production settings of 8 June 2021 are those of the Bureau's published code, in the repository
DAS_2020_Redistricting_Production_Code. The global scale is 339/542. The shares of levels and
queries are in the strategy ProductionCandidate20210527US_mult8_add02_dsepJune3.

SDP is *Subspace Differential Privacy*, and TDA is *The TopDown algorithm and invariants* (slides).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pandas as pd

from isdp.topdown import Budget, Plan, Schema
from reproduction.data.histogram import AXES, SHAPE

SCHEMA = Schema(AXES, SHAPE)
SCHEMA_WITHOUT_RACE = Schema(AXES[1:], SHAPE[1:])  # Its four cells are rarely zero.
LEVELS = ("nation", "state", "county")
HELD_LEVELS = ("state",)  # The populations of the units of these levels are invariants.
GLOBAL_SCALE = Fraction(339, 542)
QUERIES = (
    *("total", "race", "hispanic", "adult"),
    *("race*hispanic", "race*adult", "hispanic*adult", "detail"),
)
# The shares of the queries in the budget of each level, in the production settings, as relative
# weights. The first number is for the queries of households and group quarters, which this study
# does not run. The next seven numbers are for `QUERIES` without "detail". The last two numbers
# together are for "detail": the three-way table, and the same table by type of group quarters. Only
# the study of the nation uses the levels below the county.
QUERY_PARTS = {
    "nation": (26 + 26, 0, 52, 26, 26, 130, 130, 26, 442, 3213),
    "state": (6 + 6, 3773, 6, 6, 6, 12, 12, 6, 34, 230),
    "county": (10 + 10, 3126, 10, 10, 10, 28, 28, 10, 101, 754),
    "tract": (5 + 5, 1567, 8, 5, 5, 1933, 20, 5, 67, 482),
    "block group": (3 + 3, 1705, 3, 3, 3, 1055, 9, 3, 24, 1288),
    "block": (5 + 5, 5, 9, 5, 5, 21, 21, 5, 71, 3945),
}
LEVEL_PARTS = dict(zip(QUERY_PARTS, (104, 1440, 447, 687, 1256, 165), strict=True))
N_QUARTERS_LEVELS = 8  # Our histogram lacks the axis of group quarters, which has eight types.


def production_budget(detail_with_group_quarters: bool = False, levels=LEVELS) -> Budget:
    """Return the budget of the demonstration data of vintage 20210608.

    The Bureau asked the detailed query for each of eight types of group quarters. Our cells have
    the noise of one of these types. If `detail_with_group_quarters` is true, they have the noise of
    the sum of all eight types, with an eighth of the precision.
    """
    queries = {}
    for level in levels:
        elsewhere, *asked, three_way, finest = QUERY_PARTS[level]
        kept = Fraction(finest, N_QUARTERS_LEVELS if detail_with_group_quarters else 1)
        parts = dict(zip(QUERIES, [*asked, three_way + kept], strict=True))
        queries[level] = _of_one({"elsewhere": elsewhere + finest - kept} | parts)
    parts = {level: LEVEL_PARTS[level] for level in levels}
    parts["elsewhere"] = sum(LEVEL_PARTS.values()) - sum(parts.values())
    return Budget("zCDP", 1 / GLOBAL_SCALE**2, _of_one(parts), queries)


def six_level_plan() -> Plan:
    """Return the plan with production settings at all six levels."""
    budget = production_budget(levels=LEVEL_PARTS)
    return Plan(SCHEMA, budget, HELD_LEVELS, passes="isolate_total", one_pass_at=("block",))


def identity_budget(epsilon) -> Budget:
    """Return a pure budget for all cells. Each of the three levels has a sixth of it (TDA)."""
    levels = dict.fromkeys(LEVELS, Fraction(1, 6)) | {"elsewhere": Fraction(1, 2)}
    return Budget("pure", epsilon, levels, {level: {"detail": 1} for level in LEVELS})


def slides_budget() -> Budget:
    """Return the pure budget epsilon = 4. Only the shares of the county queries are from SDP."""
    above = {"hispanic*adult": "1/5", "race": "3/10", "detail": "1/2"}
    county = {"total": "3/10", "hispanic*adult": "1/10", "race": "1/10", "detail": "1/2"}
    levels = {"nation": "1/5", "state": "1/5", "county": "4/25", "elsewhere": "11/25"}
    return Budget("pure", 4, levels, {"nation": above, "state": above, "county": county})


def list_plans() -> dict[str, Plan]:
    """List the plans of all configurations by name."""
    passes = "isolate_total"
    found = {
        "identity 1": Plan(SCHEMA, identity_budget(1), HELD_LEVELS),
        "identity 4": Plan(SCHEMA, identity_budget(4), HELD_LEVELS),
        "slides": Plan(SCHEMA, slides_budget(), HELD_LEVELS),
        "production": Plan(SCHEMA, production_budget(), HELD_LEVELS, passes=passes),
    }
    name = "production, detail with group quarters"
    found[name] = replace(found["production"], budget=production_budget(True))
    for name in ("identity 1", "identity 4", "slides", "production"):
        found[f"{name}, negatives allowed"] = replace(found[name], nonnegative=False)
    found["slides, total first"] = replace(found["slides"], passes=passes)
    found["identity 4, four cells"] = replace(found["identity 4"], schema=SCHEMA_WITHOUT_RACE)
    for name in ("identity 1", "identity 4"):
        found[f"{name}, nothing held"] = replace(found[name], held=())
    return found


def tabulate_configurations(runs: Mapping[str, int]) -> pd.DataFrame:
    """Describe each configuration and its number of runs (table topdown_configurations)."""
    known, rows = list_plans(), []
    for name, times in runs.items():
        plan = known[name]
        budget = plan.budget
        levels = [level for level in budget.levels if level != "elsewhere"]
        symbol = {"pure": "epsilon", "zCDP": "rho"}[budget.flavour]
        rows.append(
            {
                "system": name,
                "runs": times,
                "budget": f"{symbol} {float(budget.total):.4g}",
                "levels": _shares_in_words(budget.levels),
                "levels_below_county": len(levels) - 1 - levels.index("county"),
                "county_queries": _shares_in_words(budget.queries["county"]),
                "cells": plan.schema.cells,
                "passes": {"one": "one", "isolate_total": "totals first"}[plan.passes],
                "held": ", ".join(plan.held) or "nothing",
                "negatives": not plan.nonnegative,
            }
        )
    return pd.DataFrame(rows)


def _shares_in_words(shares: Mapping[str, Fraction]) -> str:
    words = {"detail": "all cells"}
    spent = {words.get(name, name): part for name, part in shares.items() if name != "elsewhere"}
    return ", ".join(f"{name} {float(100 * part):.3g} %" for name, part in spent.items())


def _of_one(parts: Mapping) -> dict[str, Fraction]:
    whole = sum(parts.values())
    return {name: Fraction(part) / whole for name, part in parts.items() if part}
