"""Tables of the page on which all systems stand side by side, set for readers from the results."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

KIND = "kind of budget"
KINDS = {
    "epsilon": "Pure privacy: epsilon for one person who changes cell",
    "rho": "Zero-concentrated privacy (zCDP): rho for one person who changes cell",
    "rate": "Records swapped: a rate, no budget for one person",
}
ERRORS = {"detail": "cell", "race": "race (margin)", "total": "county's total"}
SHARE = "Hispanic"
SURE = 3  # standard errors from which a bias has a sign
KEYS = ["parameter", "system", "budget"]
# the library's words for the levels of any geography, and this table's
LEVELS = {"region": "state", "area": "county"}


def figures(value: float, error: float | None = None) -> str:
    """Set a number of three figures, and its standard error, rounded up to the last of them.

    Parameters
    ----------
    value : float
    error : float, optional
        Missing or not a number: nothing is known of it. Of an exact 0 it is left out.
    """
    places = 2 - math.floor(math.log10(abs(value))) if value else 0
    text = f"{round(value, places):,.{max(places, 0)}f}"
    if error is None or math.isnan(error) or not value:
        return text
    last = 10.0**-places
    return f"{text}\u00a0±\u00a0{math.ceil(error / last - 1e-9) * last:,.{max(places, 0)}f}"


def error_rows(errors: pd.DataFrame, shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List errors of every system and budget: of a cell, a margin, a county's total, a share.

    Parameters
    ----------
    errors, shares : DataFrame
        The tables comparison_errors and comparison_shares.
    scope : str
        Of the counties in which errors are measured.

    Returns
    -------
    DataFrame of str
        Columns of `KIND`, system and budget, root mean square errors (persons) and the mean
        absolute error of a share (percentage points), with standard errors.
    """
    found = {}
    for query, words in ERRORS.items():
        found[words] = _with_errors(errors[errors["query"] == query], scope, "rmse")
    found[f"{SHARE} share"] = _with_errors(shares[shares["share"] == SHARE], scope, "mae")
    return _headed(pd.DataFrame(found).reset_index())


def _with_errors(rows: pd.DataFrame, scope: str, column: str) -> pd.Series:
    rows = rows[(rows["scope"] == scope) & (rows["size"] == "all")].set_index(KEYS)
    pairs = zip(rows[column], rows[f"{column}_error"], strict=True)
    return pd.Series([figures(*pair) for pair in pairs], index=rows.index)


def _headed(rows: pd.DataFrame) -> pd.DataFrame:
    """Put rows in the order of the kinds of budget, systems as they came, budgets ascending."""
    systems = {name: place for place, name in enumerate(dict.fromkeys(rows["system"]))}
    kinds = {name: place for place, name in enumerate(KINDS)}
    order = {"parameter": kinds, "system": systems}
    rows = rows.sort_values(KEYS, key=lambda column: column.map(order.get(column.name, float)))
    rows.insert(0, KIND, rows.pop("parameter").map(KINDS))
    return rows.assign(budget=[f"{budget:.3g}" for budget in rows["budget"]])


def at_budgets(rows: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """Take the rows of the budgets chosen for epsilon and rho, and of every rate of swaps."""
    kept = (rows["budget"] == rows["parameter"].map(chosen)) | (rows["parameter"] == "rate")
    return rows[kept]


def held_rows(guarantees: pd.DataFrame) -> pd.DataFrame:
    """List each system once: its paper, what is published as it is, and what counts it releases."""
    rows = guarantees.drop_duplicates("system")
    words = {
        "whole_counts": ("whole", "not whole"),
        "no_negative_counts": ("never negative", "may be negative"),
        "unbiased": ("unbiased", "biased"),
    }
    counts = [
        ", ".join(yes if row[name] else no for name, (yes, no) in words.items())
        for _, row in rows.iterrows()
    ]
    held = rows["held"].replace(LEVELS, regex=True)
    made = rows[KEYS].assign(paper=rows["paper"], held=held, counts=counts)
    titles = {"held": "published as it is", "counts": "counts that it releases"}
    return _headed(made).drop(columns="budget").rename(columns=titles)


def loss_rows(guarantees: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """List what a budget comes to: for a unit of the system's distance, a person, as a rho.

    Parameters
    ----------
    guarantees : DataFrame
        The table comparison_guarantees.
    chosen : mapping from parameter to budget
        As `at_budgets` takes it.
    """
    rows = at_budgets(guarantees, chosen)
    swaps = rows["parameter"] == "rate"
    as_rho = rows["rho_by_theorem"].map(_four, na_action="ignore")
    made = rows[KEYS].assign(
        loss=rows["loss"].map(_four) + " " + rows["flavour"].map({"pure": "nats", "zCDP": "rho"}),
        unit=rows["unit"],
        person=rows["loss_per_person"].map(_four).where(~swaps, "none: nobody changes alone"),
        rho=as_rho.where(as_rho.notna(), "none").where(rows["flavour"] == "pure", "is one"),
        whole=rows["published"]
        .map(_four, na_action="ignore")
        .fillna("all of it")
        .mask(swaps, "none"),
    )
    titles = {
        "unit": "for one",
        "person": "for one person",
        "rho": "as a rho, by the theorem",
        "whole": "part of a budget of",
    }
    return _headed(made).rename(columns=titles)


def _four(value) -> str:
    return f"{float(value):.4g}"


def beliefs(guarantees: pd.DataFrame) -> pd.DataFrame:
    """List what leads from the systems of one column to another, or would have to be believed."""
    groups = guarantees.groupby("to_compare", sort=False)["system"]
    found = groups.agg(lambda names: "; ".join(dict.fromkeys(names))).reset_index()
    # what is no theorem begins as a belief does
    words = found["to_compare"].replace(LEVELS | {"^that ": "one must believe that "}, regex=True)
    return pd.DataFrame({"systems": found["system"], "to compare them with others": words})


def bias_rows(
    errors: pd.DataFrame, guarantees: pd.DataFrame, scope: str, chosen: Mapping[str, float]
) -> pd.DataFrame:
    """List which true sizes of cells come out too large and too small, by every biased system.

    A bias below `SURE` standard errors has no sign, nor has that of a single run, whose error is
    not known. Systems that are unbiased by construction are left out.
    """
    biased = guarantees.loc[~guarantees["unbiased"], "system"]
    rows = errors[(errors["scope"] == scope) & (errors["query"] == "detail")]
    rows = rows[rows["system"].isin(biased)]
    rows = rows[(rows["size"] != "all") & (rows["budget"] == rows["parameter"].map(chosen))]
    reach = SURE * rows["bias_error"]
    sides = {
        "too large": rows["bias"] > reach,
        "too small": rows["bias"] < -reach,
        f"within {SURE} standard errors": rows["bias"].abs() <= reach,
        "one run: cannot tell": reach.isna(),
    }
    made = rows[KEYS].drop_duplicates()
    for words, side in sides.items():
        sizes = rows[side].groupby("system")["size"].agg(", ".join)
        made[words] = [sizes.get(system, "none") for system in made["system"]]
    return _headed(made)


def impossible_rows(table: pd.DataFrame, scope: str, chosen: Mapping[str, float]) -> pd.DataFrame:
    """List counts that cannot be and what is exact, at the budgets chosen."""
    rows = at_budgets(table[table["scope"] == scope], chosen)
    made = rows[KEYS].assign(
        **{
            "cells below zero": rows["negative"].map(figures),
            "cells not whole": rows["fractional"].map(figures),
            "county totals exact": rows["exact_areas"].map("{:.1%}".format),
            "cells exact": rows["exact_cells"].map("{:.1%}".format),
            "people moved": rows["people_moved"].map(figures),
        }
    )
    return _headed(made)


def impossible_shares(shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List the systems with shares that cannot be, at the smallest and the largest budget.

    Returns
    -------
    DataFrame of str
        Of all counties' shares, those below 0 or above 1, and those of a county without people;
        systems that have neither are left out.
    """
    rows = shares[(shares["scope"] == scope) & (shares["size"] == "all")]
    sums = rows.groupby(KEYS, sort=False)[["areas", "out_of_range", "undefined"]].sum()
    sums = sums.reset_index().sort_values("budget")
    made = []
    for (parameter, system), group in sums.groupby(["parameter", "system"], sort=False):
        if group[["out_of_range", "undefined"]].to_numpy().any():
            for _, row in group.iloc[sorted({0, len(group) - 1})].iterrows():
                made.append(
                    {
                        **{"parameter": parameter, "system": system, "budget": row["budget"]},
                        "below 0 or above 1": f"{row['out_of_range'] / row['areas']:.1%}",
                        "of a county without people": f"{row['undefined'] / row['areas']:.2%}",
                    }
                )
    return _headed(pd.DataFrame(made)) if made else pd.DataFrame()
