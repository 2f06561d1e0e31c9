"""What the runs of all systems come to, and what each guarantees."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from isdp.accounting import Guarantee, as_fraction, upper
from isdp.compare import Areas, System
from reproduction.comparison.experiment import BUREAU, SWAPPED
from reproduction.comparison.spread import standard_error
from reproduction.comparison.systems import budgets_of, bureau_rho, systems
from reproduction.topdown.configurations import production, slides
from reproduction.topdown.tables import over_runs

LABELS = ["parameter", "budget", "scope"]  # beside system and run
# queries whose errors are told by true size; of the others all answers together
BY_SIZE = ("total", "detail")
# what the figure of errors shows of each query or share: the table, and its column
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
    """Tell errors by query and true size: means over runs, with the errors of bias and rmse."""
    kept = errors[(errors["size"] == "all") | errors["query"].isin(BY_SIZE)]
    values = ["answers", "bias", "mae", "rmse", "negative"]
    found, runs = _means(kept, [*LABELS, "query", "size"], values, ["bias_spread", "square_spread"])
    of_square = standard_error(found.pop("square_spread"), runs)
    found["bias_error"] = standard_error(found.pop("bias_spread"), runs)
    # that of a root, to first order; what is never off has no error
    found["rmse_error"] = of_square / (2 * found["rmse"]).where(found["rmse"] > 0, 1)
    return found


def share_table(shares: pd.DataFrame) -> pd.DataFrame:
    """Tell errors of shares: means over runs, with the errors of bias and mae."""
    values = ["areas", "undefined", "out_of_range", "bias", "mae", "off_by_1"]
    found, runs = _means(shares, [*LABELS, "share", "size"], values, ["bias_spread", "mae_spread"])
    for name in ("bias", "mae"):
        found[f"{name}_error"] = standard_error(found.pop(f"{name}_spread"), runs)
    return found


def _means(table: pd.DataFrame, by: list[str], values: list[str], spread: list[str] = ()) -> tuple:
    """Average over runs; the means, and how many runs."""
    found = over_runs(table, by, [*values, *spread])
    return found.drop(columns=[f"{name}_error" for name in [*values, *spread]]), found["runs"]


def impossible_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Tell counts that cannot be, and what is exact: means over runs."""
    values = ["negative", "fractional", "exact_areas", "exact_cells", "people_moved"]
    return _means(summary, LABELS, values)[0]


def cost_table(cost: pd.DataFrame) -> pd.DataFrame:
    """Seconds of one processor for a release, the mean over budgets and runs, and the memory.

    Parameters
    ----------
    cost : DataFrame
        From `reproduction.comparison.experiment.run_family`, with job_memory (MB, the largest of
        the job that ran all systems of a family).

    Returns
    -------
    DataFrame
        Columns system, releases, areas, cells, people, seconds, longest (seconds), job_memory (MB).
    """
    groups = cost.groupby("system", sort=False)
    found = groups[["areas", "cells", "people"]].first()
    found.insert(0, "releases", groups.size())
    found["seconds"] = groups["seconds"].mean()
    found["longest"] = groups["seconds"].max()
    found["job_memory"] = groups["job_memory"].max()
    return found.reset_index()


def guarantee_table(areas: Areas, swapped: Areas, settings: Mapping) -> pd.DataFrame:
    """List every system's guarantee at each of its budgets.

    Parameters
    ----------
    areas, swapped : Areas
        The whole table, and that of the states in which records are swapped.
    settings : mapping
        The block "comparison" of the config.

    Returns
    -------
    DataFrame
        Columns system, paper, parameter and budget (what is set), flavour, loss (a unit, rounded
        up), unit, loss_per_person (missing where there is none), rho_by_theorem (of a pure
        guarantee, for one person; missing for others), held, published (the whole budget of which
        this is the part for these levels and queries), whole_counts, no_negative_counts, unbiased,
        to_compare (what leads to another flavour, or what one would have to believe) and
        statement.
    """
    rows = []
    for system in [each for family in systems().values() for each in family]:
        table = swapped if system.parameter == "rate" else areas
        for budget in budgets_of(system, settings):
            rows.append(_row(system, budget, system.guarantee(table, budget)))
    rows.append(_bureau_row())
    return pd.DataFrame(rows)


def _row(system: System, budget: float, guarantee: Guarantee) -> dict:
    person = guarantee.loss_per_person
    pure = guarantee.flavour == "pure" and person is not None
    return {
        "system": system.name,
        "paper": system.paper,
        "parameter": system.parameter,
        "budget": budget,
        "flavour": guarantee.flavour,
        "loss": upper(guarantee.loss),
        "unit": guarantee.unit,
        "loss_per_person": None if person is None else upper(person),
        "rho_by_theorem": upper(as_fraction(person) ** 2 / 2) if pure else None,
        "held": system.held(),
        "published": _published(system, budget),
        "whole_counts": system.whole,
        "no_negative_counts": system.nonnegative,
        "unbiased": system.unbiased,
        "to_compare": _to_compare(guarantee),
        "statement": guarantee.statement(),
    }


def _to_compare(guarantee: Guarantee) -> str:
    if guarantee.loss_per_person is None:
        return SWAPS
    return PURE_TO_ZCDP if guarantee.flavour == "pure" else NO_WAY_BACK


def _published(system: System, budget: float) -> str:
    """Whole budget of which the levels and queries that are run take this part."""
    known = {"TopDown, one pass": slides(), "TopDown, production": production()}.get(system.name)
    return "" if known is None else f"{upper(float(known.total / known.spent) * budget)}"


def _bureau_row() -> dict:
    whole = production()
    guarantee = whole.guarantee("the total of each state, and what a block has of housing units")
    return {
        "system": BUREAU,
        "paper": "TDA",
        "parameter": "rho",
        "budget": float(bureau_rho()),
        "flavour": "zCDP",
        "loss": upper(guarantee.loss),
        "unit": guarantee.unit,
        "loss_per_person": upper(guarantee.loss),
        "rho_by_theorem": None,
        "held": "the total of each region; housing units and occupied group quarters of each block",
        "published": upper(whole.total),
        "whole_counts": True,
        "no_negative_counts": True,
        "unbiased": False,
        "to_compare": FILE,
        "statement": guarantee.statement(),
    }


def collected(kinds: Mapping[str, list[pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """Make the tables of errors, shares and what is impossible from those of the single runs."""
    of_all = {kind: pd.concat(tables, ignore_index=True) for kind, tables in kinds.items()}
    return {
        "errors": error_table(of_all["errors"]),
        "shares": share_table(of_all["shares"]),
        "impossible": impossible_table(of_all["summary"]),
    }


def figure_points(
    errors: pd.DataFrame, shares: pd.DataFrame, shown: Mapping[str, float]
) -> dict[str, pd.DataFrame]:
    """List the points of all figures, in the counties of the states that are swapped.

    Parameters
    ----------
    errors, shares : DataFrame
        From `collected`.
    shown : mapping from parameter to budget
        The block "comparison.shown" of the config; rho is that of the production settings.
    """
    chosen = {**shown, "rho": float(bureau_rho())}
    return {
        "errors_points": error_points(errors, shares, SWAPPED),
        "bias_points": bias_points(errors, chosen, SWAPPED),
        "shares_points": share_points(shares, chosen, SWAPPED),
    }


def error_points(errors: pd.DataFrame, shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List the points of the figure of errors: query, system, budget, value, standard error.

    Errors of 0 are left out, because a logarithmic axis cannot show them.
    """
    tables = {
        "errors": errors.rename(columns={"query": "of"}),
        "shares": shares.rename(columns={"share": "of"}),
    }
    parts = []
    for name, (table, column) in DRAWN.items():
        rows = tables[table]
        rows = rows[(rows["scope"] == scope) & (rows["of"] == name) & (rows["size"] == "all")]
        part = rows[["system", "parameter", "budget"]].assign(
            query=name, value=rows[column], error=rows[f"{column}_error"]
        )
        parts.append(part[part["value"] > 1e-9])
    return pd.concat(parts, ignore_index=True)


def bias_points(errors: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> pd.DataFrame:
    """List the errors of cells by true size, at the budget chosen for each parameter."""
    rows = errors[
        (errors["scope"] == scope) & (errors["query"] == "detail") & (errors["size"] != "all")
    ]
    return _at_budgets(rows, chosen)


def share_points(shares: pd.DataFrame, chosen: Mapping[str, float], scope: str) -> pd.DataFrame:
    """List the errors of shares by population, at the budget chosen for each parameter."""
    return _at_budgets(shares[(shares["scope"] == scope) & (shares["size"] != "all")], chosen)


def _at_budgets(rows: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    return rows[rows["budget"] == rows["parameter"].map(chosen)].reset_index(drop=True)
