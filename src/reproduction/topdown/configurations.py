"""Budgets of the runs: the slides', the papers', and those that the Census Bureau published.

The shares of the production run of 8 June 2021 are facts from the Bureau's published code
(DAS_2020_Redistricting_Production_Code: its global scale 339/542, the shares of levels and queries
in strategy ProductionCandidate20210527US_mult8_add02_dsepJune3).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pandas as pd

from isdp.topdown import Budget, Plan, Schema
from reproduction.data.histogram import AXES, SHAPE

SCHEMA = Schema(AXES, SHAPE)
WITHOUT_RACE = Schema(AXES[1:], SHAPE[1:])  # four cells a county, hardly any of them empty
LEVELS = ("nation", "state", "county")
HELD = ("state",)  # each state's population is published as it is
GLOBAL_SCALE = Fraction(339, 542)
OF_LEVELS = {"nation": 104, "state": 1440, "county": 447, "elsewhere": 687 + 1256 + 165}
# households' and group quarters' queries are not run here and count as spent elsewhere
OF_QUERIES = {
    "nation": {
        "elsewhere": 26 + 26,
        "race": 52,
        "hispanic": 26,
        "adult": 26,
        "race*hispanic": 130,
        "race*adult": 130,
        "hispanic*adult": 26,
        "detail": 442 + 3213,
    },
    "state": {
        "elsewhere": 6 + 6,
        "total": 3773,
        "race": 6,
        "hispanic": 6,
        "adult": 6,
        "race*hispanic": 12,
        "race*adult": 12,
        "hispanic*adult": 6,
        "detail": 34 + 230,
    },
    "county": {
        "elsewhere": 10 + 10,
        "total": 3126,
        "race": 10,
        "hispanic": 10,
        "adult": 10,
        "race*hispanic": 28,
        "race*adult": 28,
        "hispanic*adult": 10,
        "detail": 101 + 754,
    },
}
# the levels below, which only the national runs and their benchmark take
OF_SMALLER = {
    "tract": {
        "elsewhere": 5 + 5,
        "total": 1567,
        "race": 8,
        "hispanic": 5,
        "adult": 5,
        "race*hispanic": 1933,
        "race*adult": 20,
        "hispanic*adult": 5,
        "detail": 67 + 482,
    },
    "block group": {
        "elsewhere": 3 + 3,
        "total": 1705,
        "race": 3,
        "hispanic": 3,
        "adult": 3,
        "race*hispanic": 1055,
        "race*adult": 9,
        "hispanic*adult": 3,
        "detail": 24 + 1288,
    },
    "block": {
        "elsewhere": 5 + 5,
        "total": 5,
        "race": 9,
        "hispanic": 5,
        "adult": 5,
        "race*hispanic": 21,
        "race*adult": 21,
        "hispanic*adult": 5,
        "detail": 71 + 3945,
    },
}
# detail of the production run, split in the three-way table and the one with group quarters
THREE_WAY = {"nation": 442, "state": 34, "county": 101}
GROUP_QUARTERS = 8  # levels of the axis that our histogram lacks


def production(detail_with_group_quarters: bool = False) -> Budget:
    """Budget of the run behind the demonstration data of vintage 20210608.

    Parameters
    ----------
    detail_with_group_quarters : bool
        Take the detailed query at an eighth of its precision, as if the noise of the eight kinds
        of quarters were summed. The Bureau's own run lies between the two.
    """
    queries = {}
    for level, shares in OF_QUERIES.items():
        shares = dict(shares)
        if detail_with_group_quarters:
            finest = shares["detail"] - THREE_WAY[level]
            shares["detail"] = THREE_WAY[level] + Fraction(finest, GROUP_QUARTERS)
            shares["elsewhere"] += finest - Fraction(finest, GROUP_QUARTERS)
        queries[level] = _of_one(shares)
    return Budget("zCDP", 1 / GLOBAL_SCALE**2, _of_one(OF_LEVELS), queries)


def six_levels() -> Plan:
    """Production run's budget at all six levels, blocks in one pass as in that run."""
    levels = {"nation": 104, "state": 1440, "county": 447}
    levels |= {"tract": 687, "block group": 1256, "block": 165}
    queries = {level: _of_one(shares) for level, shares in (OF_QUERIES | OF_SMALLER).items()}
    budget = Budget("zCDP", 1 / GLOBAL_SCALE**2, _of_one(levels), queries)
    return Plan(SCHEMA, budget, HELD, passes="isolate_total", one_pass_at=("block",))


def identity(epsilon) -> Budget:
    """Ask for all cells at three levels, a sixth of the budget each, as the slides have six."""
    levels = dict.fromkeys(LEVELS, Fraction(1, 6)) | {"elsewhere": Fraction(1, 2)}
    return Budget("pure", epsilon, levels, {level: {"detail": 1} for level in LEVELS})


def slides() -> Budget:
    """Four by pure differential privacy; the county's shares are SDP's, the others ours."""
    above = {"hispanic*adult": "1/5", "race": "3/10", "detail": "1/2"}
    county = {"total": "3/10", "hispanic*adult": "1/10", "race": "1/10", "detail": "1/2"}
    levels = {"nation": "1/5", "state": "1/5", "county": "4/25", "elsewhere": "11/25"}
    return Budget("pure", 4, levels, {"nation": above, "state": above, "county": county})


def plans() -> dict[str, Plan]:
    """Every configuration by its name, those of the comparison first."""
    budgets = {
        "identity 1": identity(1),
        "identity 4": identity(4),
        "slides": slides(),
        "production": production(),
        "production, detail with group quarters": production(True),
    }
    found = {
        name: Plan(SCHEMA, budget, HELD, passes=_passes(name)) for name, budget in budgets.items()
    }
    for name in ("identity 1", "identity 4", "slides", "production"):
        free = Plan(SCHEMA, budgets[name], HELD, nonnegative=False, passes=_passes(name))
        found[f"{name}, negatives allowed"] = free
    found["slides, total first"] = Plan(SCHEMA, slides(), HELD, passes="isolate_total")
    found["identity 4, four cells"] = Plan(WITHOUT_RACE, budgets["identity 4"], HELD)
    for name in ("identity 1", "identity 4"):
        found[f"{name}, nothing held"] = Plan(SCHEMA, budgets[name])
    return found


def configuration_table(runs: Mapping[str, int]) -> pd.DataFrame:
    """Tell what the configurations' names stand for, and how often each is run.

    Parameters
    ----------
    runs : mapping from configuration to number of runs

    Returns
    -------
    DataFrame
        Columns system, runs, budget (epsilon or rho of the whole, for one person who changes
        cell), levels (shares of the budget in per cent), levels_below_county (their number),
        county_queries (shares of the county's part; what lacks to 100 % is not run here), cells
        (of a county), passes ("one": all queries at once), held (whose totals are) and negatives
        (whether negative counts are allowed).
    """
    known, rows = plans(), []
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


def _passes(name: str) -> str:
    return "isolate_total" if name.startswith("production") else "one"


def _of_one(parts: dict) -> dict[str, Fraction]:
    whole = sum(parts.values())
    return {name: Fraction(part) / whole for name, part in parts.items()}
