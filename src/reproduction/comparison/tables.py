"""Tables of the errors, costs and guarantees of all systems, and the points of the figures."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from isdp.accounting import as_fraction, upper_decimal
from isdp.compare import Areas, System
from reproduction.comparison.experiment import BUREAU, SWAPPED, areas_of
from reproduction.comparison.spread import standard_error
from reproduction.comparison.systems import budgets_of, bureau_rho, systems
from reproduction.data.histogram import Histogram
from reproduction.topdown.configurations import production, slides
from reproduction.topdown.experiment import only_states
from reproduction.topdown.tables import over_runs

LABELS = ["parameter", "budget", "scope"]  # besides system and run
# queries whose errors are given by true size; of the others all answers together
BY_SIZE = ("total", "detail")
# the table and the column that the figure of errors shows of each query or share
DRAWN = {"detail": ("errors", "rmse"), "total": ("errors", "rmse"), "Hispanic": ("shares", "mae")}
PURE_TO_ZCDP = "Bun and Steinke 2016, Proposition 1.4: epsilon gives rho = epsilon^2 / 2"
NO_WAY_BACK = "no rho gives a pure epsilon; an epsilon at a delta is another kind of loss"
SWAPS = (
    "that holding every area's total and every region's cells costs nothing, and that nobody "
    "minds whose records are exchanged: no theorem turns a rate into the budget of one person"
)
FILE = (
    "that the file's differences are those of the algorithm alone: the tables of 2010 were "
    "themselves swapped, which shows in race and Hispanic origin"
)


def error_table(errors: pd.DataFrame) -> pd.DataFrame:
    """Average errors over runs by query and true size, with standard errors of bias and rmse."""
    kept = errors[(errors["size"] == "all") | errors["query"].isin(BY_SIZE)]
    values = ["answers", "bias", "mae", "rmse", "negative"]
    found = _means(kept, ["query", "size"], values, ["bias_spread", "square_spread"])
    of_square = found.pop("square_error")
    # the error of a root, to first order; a query that is never off has none
    return found.assign(rmse_error=of_square / (2 * found["rmse"]).where(found["rmse"] > 0, 1))


def share_table(shares: pd.DataFrame) -> pd.DataFrame:
    """Average errors of shares over runs, with standard errors of bias and mae."""
    values = ["areas", "undefined", "out_of_range", "bias", "mae", "off_by_1"]
    return _means(shares, ["share", "size"], values, ["bias_spread", "mae_spread"])


def impossible_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Average impossible counts and exact counts over runs."""
    values = ["negative", "fractional", "exact_areas", "exact_cells", "people_moved"]
    return _means(summary, [], values, [])


def _means(
    table: pd.DataFrame, by: list[str], values: list[str], spreads: list[str]
) -> pd.DataFrame:
    """Average over runs; of each column NAME_spread the standard error NAME_error."""
    keys, values = [*LABELS, *by], [*values, *spreads]
    found = over_runs(table, keys, values)[["system", *keys, "runs", *values]]
    for name in spreads:
        of_mean = name.replace("_spread", "_error")
        found[of_mean] = standard_error(found.pop(name), found["runs"])
    return found


def cost_table(cost: pd.DataFrame) -> pd.DataFrame:
    """Summarise the processor time of a release over budgets and runs, and the jobs' memory."""
    found = cost.groupby("system", sort=False).agg(
        releases=("run", "size"),
        areas=("areas", "first"),
        cells=("cells", "first"),
        people=("people", "first"),
        seconds=("seconds", "mean"),
        longest=("seconds", "max"),
        job_memory=("job_memory", "max"),
    )
    return found.reset_index()


def guarantee_table(areas: Areas, swapped: Areas, settings: Mapping) -> pd.DataFrame:
    """List every system's guarantee at each of its budgets; records are swapped in `swapped`."""
    rows = []
    for system in [each for family in systems().values() for each in family]:
        table = swapped if system.parameter == "rate" else areas
        rows += [_row(system, table, budget) for budget in budgets_of(system, settings)]
    return pd.DataFrame([*rows, _bureau_row()])


def _row(system: System, areas: Areas, budget: float) -> dict:
    guarantee = system.guarantee(areas, budget)
    person, rho, to_compare = guarantee.loss_per_person, None, NO_WAY_BACK
    if person is None:
        to_compare = SWAPS
    elif guarantee.flavour == "pure":
        rho, to_compare = upper_decimal(as_fraction(person) ** 2 / 2), PURE_TO_ZCDP
    known = {"TopDown, one pass": slides(), "TopDown, production": production()}.get(system.name)
    return {
        "system": system.name,
        "paper": system.paper,
        "parameter": system.parameter,
        "budget": budget,
        "flavour": guarantee.flavour,
        "loss": upper_decimal(guarantee.loss),
        "unit": guarantee.unit,
        "loss_per_person": None if person is None else upper_decimal(person),
        "rho_by_theorem": rho,
        "held": system.held(),
        # the whole budget, of which the levels and queries that are run take this part
        "published": f"{upper_decimal(float(known.total / known.spent) * budget)}" if known else "",
        "whole_counts": system.whole,
        "no_negative_counts": system.nonnegative,
        "unbiased": system.unbiased,
        "to_compare": to_compare,
        "statement": guarantee.statement(),
    }


def _bureau_row() -> dict:
    whole = production()
    guarantee = whole.guarantee("the total of each state, and what a block has of housing units")
    return {
        "system": BUREAU,
        "paper": "TDA",
        "parameter": "rho",
        "budget": float(bureau_rho()),
        "flavour": "zCDP",
        "loss": upper_decimal(guarantee.loss),
        "unit": guarantee.unit,
        "loss_per_person": upper_decimal(guarantee.loss),
        "rho_by_theorem": None,
        "held": "the total of each region; housing units and occupied group quarters of each block",
        "published": upper_decimal(whole.total),
        "whole_counts": True,
        "no_negative_counts": True,
        "unbiased": False,
        "to_compare": FILE,
        "statement": guarantee.statement(),
    }


def collected(
    runs: Mapping[str, pd.DataFrame], histogram: Histogram, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Make all tables from the single runs, and the points of the figures in the swapped states."""
    errors, shares = error_table(runs["errors"]), share_table(runs["shares"])
    swapped = areas_of(only_states(histogram, settings["swapped"]))
    chosen = {"rho": float(bureau_rho()), **settings["shown"]}
    return {
        "guarantees": guarantee_table(areas_of(histogram), swapped, settings),
        "errors": errors,
        "shares": shares,
        "impossible": impossible_table(runs["summary"]),
        "cost": cost_table(runs["cost"]),
        "errors_points": error_points(errors, shares),
        "bias_points": points_by_size(errors[errors["query"] == "detail"], chosen),
        "shares_points": points_by_size(shares, chosen),
    }


def error_points(errors: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    """List the points of the figure of errors but those of 0, which a logarithm cannot show."""
    tables = {"errors": errors, "shares": shares.rename(columns={"share": "query"})}
    parts = []
    for name, (table, column) in DRAWN.items():
        rows = tables[table].query("scope == @SWAPPED and query == @name and size == 'all'")
        part = rows[["system", "parameter", "budget"]].assign(
            query=name, value=rows[column], error=rows[f"{column}_error"]
        )
        parts.append(part[part["value"] > 1e-9])
    return pd.concat(parts, ignore_index=True)


def points_by_size(table: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """List the errors by size, at the budget chosen for each parameter."""
    rows = table[(table["scope"] == SWAPPED) & (table["size"] != "all")]
    return rows[rows["budget"] == rows["parameter"].map(chosen)].reset_index(drop=True)
