"""Tables of the errors, costs and guarantees of all systems, and the data of the figures."""

from collections.abc import Mapping

import pandas as pd

from isdp.accounting import as_fraction, upper_decimal
from isdp.compare import Areas, System
from reproduction.comparison.experiment import DEMONSTRATION_SYSTEM, SWAPPED_STATES, build_areas
from reproduction.comparison.spread import standard_error
from reproduction.comparison.systems import list_budgets, list_systems, published_rho
from reproduction.data.histogram import Histogram
from reproduction.topdown.configurations import production_budget, slides_budget
from reproduction.topdown.experiment import keep_states
from reproduction.topdown.tables import average_runs

RUN_KEYS = ["parameter", "budget", "scope"]
QUERIES_BY_SIZE = ("total", "detail")
IMPOSSIBLE_COLUMNS = ["negative", "fractional", "exact_areas", "exact_cells", "people_moved"]
# The table and the column that the figure of errors shows for each query or share.
PLOTTED = {"detail": ("errors", "rmse"), "total": ("errors", "rmse"), "Hispanic": ("shares", "mae")}
PURE_TO_ZCDP = "Bun and Steinke 2016, Proposition 1.4: epsilon gives rho = epsilon^2 / 2"
NO_ZCDP_TO_PURE = "no rho gives a pure epsilon; an epsilon at a delta is another kind of loss"
SWAPPING_ASSUMPTION = (
    "that keeping every area's total and every region's cells has no cost, and that it does not "
    "matter whose records are exchanged: no theorem converts a rate to the budget of one person"
)
DEMONSTRATION_ASSUMPTION = (
    "that the differences are those of the algorithm alone: the tables of 2010 were themselves "
    "swapped, which affects race and Hispanic origin"
)


def tabulate_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Average the errors over the runs, by query and size class."""
    kept = errors[(errors["size"] == "all") | errors["query"].isin(QUERIES_BY_SIZE)]
    values = ["answers", "bias", "mae", "rmse", "negative"]
    found = _means(kept, ["query", "size"], values, ["bias_spread", "square_spread"])
    of_square = found.pop("square_error")
    # The delta method gives the error of the square root, which is 0 for a query without errors.
    return found.assign(rmse_error=of_square / (2 * found["rmse"]).where(found["rmse"] > 0, 1))


def tabulate_shares(shares: pd.DataFrame) -> pd.DataFrame:
    """Average the errors of shares over the runs, by share and population."""
    values = ["areas", "undefined", "out_of_range", "bias", "mae", "off_by_1"]
    return _means(shares, ["share", "size"], values, ["bias_spread", "mae_spread"])


def _means(
    table: pd.DataFrame, by: list[str], values: list[str], spreads: list[str]
) -> pd.DataFrame:
    """Average over the runs. Each column NAME_spread gives a standard error NAME_error."""
    keys, values = [*RUN_KEYS, *by], [*values, *spreads]
    found = average_runs(table, keys, values)[["system", *keys, "runs", *values]]
    for name in spreads:
        of_mean = name.replace("_spread", "_error")
        found[of_mean] = standard_error(found.pop(name), found["runs"])
    return found


def tabulate_costs(cost: pd.DataFrame) -> pd.DataFrame:
    """Summarise the processor time per release and the memory of the jobs, by system."""
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


def tabulate_guarantees(areas: Areas, swapped: Areas, settings: Mapping) -> pd.DataFrame:
    """List the guarantee of each system at each budget.

    Records are swapped in the areas `swapped`. All other systems release `areas`.
    """
    rows = []
    for system in [each for family in list_systems().values() for each in family]:
        table = swapped if system.parameter == "rate" else areas
        rows += [_row(system, table, budget) for budget in list_budgets(system, settings)]
    return pd.DataFrame([*rows, _bureau_row()])


def _row(system: System, areas: Areas, budget: float) -> dict:
    guarantee = system.guarantee_of(areas, budget)
    person, rho, to_compare = guarantee.loss_per_person, None, NO_ZCDP_TO_PURE
    if person is None:
        to_compare = SWAPPING_ASSUMPTION
    elif guarantee.flavour == "pure":
        rho, to_compare = upper_decimal(as_fraction(person) ** 2 / 2), PURE_TO_ZCDP
    known = {"TopDown, one pass": slides_budget(), "TopDown, production": production_budget()}.get(
        system.name
    )
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
        # This is the whole budget, including levels and queries that this study does not run.
        "published": f"{upper_decimal(float(known.total / known.spent) * budget)}" if known else "",
        "whole_counts": system.whole,
        "no_negative_counts": system.nonnegative,
        "unbiased": system.unbiased,
        "to_compare": to_compare,
        "statement": guarantee.statement(),
    }


def _bureau_row() -> dict:
    whole = production_budget()
    guarantee = whole.guarantee_of("the total of each state, and the housing units of each block")
    return {
        "system": DEMONSTRATION_SYSTEM,
        "paper": "TDA",
        "parameter": "rho",
        "budget": float(published_rho()),
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
        "to_compare": DEMONSTRATION_ASSUMPTION,
        "statement": guarantee.statement(),
    }


def collect_tables(
    runs: Mapping[str, pd.DataFrame], histogram: Histogram, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Summarise the single runs of all systems in tables, and select the data of the figures."""
    errors, shares = tabulate_errors(runs["errors"]), tabulate_shares(runs["shares"])
    swapped = build_areas(keep_states(histogram, settings["swapped"]))
    chosen = {"rho": float(published_rho()), **settings["shown"]}
    return {
        "guarantees": tabulate_guarantees(build_areas(histogram), swapped, settings),
        "errors": errors,
        "shares": shares,
        "impossible": _means(runs["summary"], [], IMPOSSIBLE_COLUMNS, []),
        "cost": tabulate_costs(runs["cost"]),
        "errors_points": select_error_points(errors, shares),
        "bias_points": select_points_by_size(errors[errors["query"] == "detail"], chosen),
        "shares_points": select_points_by_size(shares, chosen),
    }


def select_error_points(errors: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    """Select the errors in the swapped states, except zeros, which a log axis cannot show."""
    tables = {"errors": errors, "shares": shares.rename(columns={"share": "query"})}
    parts = []
    for name, (table, column) in PLOTTED.items():
        rows = tables[table].query("scope == @SWAPPED_STATES and query == @name and size == 'all'")
        part = rows[["system", "parameter", "budget"]].assign(
            query=name, value=rows[column], error=rows[f"{column}_error"]
        )
        parts.append(part[part["value"] > 1e-9])
    return pd.concat(parts, ignore_index=True)


def select_points_by_size(table: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """Select the errors by size class, at the budget chosen for each parameter."""
    rows = table[(table["scope"] == SWAPPED_STATES) & (table["size"] != "all")]
    return rows[rows["budget"] == rows["parameter"].map(chosen)].reset_index(drop=True)
