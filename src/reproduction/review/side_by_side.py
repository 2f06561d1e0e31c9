"""Tables of the page that compares all systems, from the tables comparison_*."""

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
SHOWN_SHARE = "Hispanic"
MIN_BIAS_ERRORS = 3  # minimum absolute bias with a sign, in standard errors
KEYS = ["parameter", "system", "budget"]
# levels of the library, and their names in this table
LEVELS = {"region": "state", "area": "county"}


def format_number(value: float, error: float | None = None) -> str:
    """Format a number to three significant digits, with its standard error rounded up.

    The error is omitted if it is missing, or if the number is 0.
    """
    places = 2 - math.floor(math.log10(abs(value))) if value else 0
    text = f"{round(value, places):,.{max(places, 0)}f}"
    if error is None or math.isnan(error) or not value:
        return text
    last = 10.0**-places
    return f"{text}\u00a0±\u00a0{math.ceil(error / last - 1e-9) * last:,.{max(places, 0)}f}"


def error_rows(errors: pd.DataFrame, shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List the errors of every system and budget in the counties of a scope.

    The errors of a cell, a margin and a county's total are root mean square errors (persons). The
    error of a share is a mean absolute error (percentage points). Each error has its standard
    error.
    """
    found = {
        words: _with_errors(errors[errors["query"] == query], scope, "rmse")
        for query, words in ERRORS.items()
    }
    found[f"{SHOWN_SHARE} share"] = _with_errors(
        shares[shares["share"] == SHOWN_SHARE], scope, "mae"
    )
    return _headed(pd.DataFrame(found).reset_index())


def _with_errors(rows: pd.DataFrame, scope: str, column: str) -> pd.Series:
    rows = rows[(rows["scope"] == scope) & (rows["size"] == "all")].set_index(KEYS)
    pairs = zip(rows[column], rows[f"{column}_error"], strict=True)
    return pd.Series([format_number(*pair) for pair in pairs], index=rows.index)


def _headed(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by kind of budget, system (in the given order) and budget."""
    rows = rows.assign(
        parameter=pd.Categorical(rows["parameter"], list(KINDS)),
        system=pd.Categorical(rows["system"], rows["system"].unique()),
    ).sort_values(KEYS)
    rows.insert(0, KIND, rows.pop("parameter").map(KINDS).astype(str))
    return rows.assign(
        system=rows["system"].astype(str), budget=rows["budget"].map("{:.3g}".format)
    )


def at_budgets(rows: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """Select the rows of the chosen budgets for epsilon and rho, and all rows of swap rates."""
    return rows[(rows["budget"] == rows["parameter"].map(chosen)) | (rows["parameter"] == "rate")]


def held_rows(guarantees: pd.DataFrame) -> pd.DataFrame:
    """List each system once: its paper, its invariants, and the kind of counts that it releases."""
    rows = guarantees.drop_duplicates("system")
    words = {
        "whole_counts": {True: "whole", False: "not whole"},
        "no_negative_counts": {True: "never negative", False: "may be negative"},
        "unbiased": {True: "unbiased", False: "biased"},
    }
    counts = pd.DataFrame({name: rows[name].map(each) for name, each in words.items()})
    titles = {
        "published as it is": rows["held"].replace(LEVELS, regex=True),
        "counts that it releases": counts.agg(", ".join, axis=1),
    }
    return _headed(rows[[*KEYS, "paper"]].assign(**titles)).drop(columns="budget")


def loss_rows(guarantees: pd.DataFrame, chosen: Mapping[str, float]) -> pd.DataFrame:
    """List the privacy loss at a budget: per unit of distance, per person, and as a rho."""
    rows = at_budgets(guarantees, chosen)
    swaps = rows["parameter"] == "rate"
    four = rows[["loss", "loss_per_person", "rho_by_theorem", "published"]].map(
        lambda value: f"{float(value):.4g}", na_action="ignore"
    )
    titles = {
        "loss": four["loss"] + " " + rows["flavour"].map({"pure": "nats", "zCDP": "rho"}),
        "for one": rows["unit"],
        "for one person": four["loss_per_person"].where(~swaps, "none: no person changes alone"),
        "as a rho, by the theorem": four["rho_by_theorem"]
        .fillna("none")
        .where(rows["flavour"] == "pure", "is one"),
        "part of a budget of": four["published"].fillna("all of it").mask(swaps, "none"),
    }
    return _headed(rows[KEYS].assign(**titles))


def beliefs(guarantees: pd.DataFrame) -> pd.DataFrame:
    """List the theorem or assumption by which systems are compared with systems of other kinds."""
    groups = guarantees.groupby("to_compare", sort=False)["system"]
    found = groups.agg(lambda names: "; ".join(names.unique())).reset_index()
    # an assumption begins with "that"
    words = found["to_compare"].replace(LEVELS | {"^that ": "one must believe that "}, regex=True)
    return pd.DataFrame({"systems": found["system"], "to compare them with others": words})


def bias_rows(
    errors: pd.DataFrame, guarantees: pd.DataFrame, scope: str, chosen: Mapping[str, float]
) -> pd.DataFrame:
    """List the true counts at which each biased system is too large, too small or undecided.

    The sign of a bias below `MIN_BIAS_ERRORS` standard errors is undecided. A single run has no
    standard error. Systems that are unbiased by construction are omitted.
    """
    biased = guarantees.loc[~guarantees["unbiased"], "system"]
    rows = errors[
        (errors["scope"] == scope)
        & (errors["query"] == "detail")
        & (errors["size"] != "all")
        & errors["system"].isin(biased)
        & (errors["budget"] == errors["parameter"].map(chosen))
    ]
    reach = MIN_BIAS_ERRORS * rows["bias_error"]
    sides = {
        "too large": rows["bias"] > reach,
        "too small": rows["bias"] < -reach,
        f"within {MIN_BIAS_ERRORS} standard errors": rows["bias"].abs() <= reach,
        "one run: undecided": reach.isna(),
    }
    made = rows[KEYS].drop_duplicates()
    for words, side in sides.items():
        sizes = rows[side].groupby("system")["size"].agg(", ".join)
        made[words] = [sizes.get(system, "none") for system in made["system"]]
    return _headed(made)


def impossible_rows(table: pd.DataFrame, scope: str, chosen: Mapping[str, float]) -> pd.DataFrame:
    """List the numbers of impossible counts and of exact counts at the chosen budgets."""
    rows = at_budgets(table[table["scope"] == scope], chosen)
    titles = {
        "cells below zero": rows["negative"].map(format_number),
        "cells not whole": rows["fractional"].map(format_number),
        "county totals exact": rows["exact_areas"].map("{:.1%}".format),
        "cells exact": rows["exact_cells"].map("{:.1%}".format),
        "people moved": rows["people_moved"].map(format_number),
    }
    return _headed(rows[KEYS].assign(**titles))


def impossible_shares(shares: pd.DataFrame, scope: str) -> pd.DataFrame:
    """List systems with impossible shares, at their smallest and largest budget.

    Shares below 0 or above 1, and shares of a county without persons, are fractions of all shares.
    Systems without impossible shares are omitted.
    """
    rows = shares[(shares["scope"] == scope) & (shares["size"] == "all")]
    sums = rows.groupby(KEYS, sort=False)[["areas", "out_of_range", "undefined"]].sum()
    sums = sums.reset_index().sort_values("budget")
    found = sums[["out_of_range", "undefined"]].any(axis=1)
    sums = sums[found.groupby(sums["system"]).transform("any")]
    budget, budgets = sums["budget"], sums.groupby(["parameter", "system"])["budget"]
    ends = sums[(budget == budgets.transform("min")) | (budget == budgets.transform("max"))]
    titles = {
        "below 0 or above 1": (ends["out_of_range"] / ends["areas"]).map("{:.1%}".format),
        "of a county without people": (ends["undefined"] / ends["areas"]).map("{:.2%}".format),
    }
    return _headed(ends[KEYS].assign(**titles)) if len(ends) else pd.DataFrame()


def errors_at_rho_1(rows: pd.DataFrame) -> tuple[pd.Series, float]:
    """Convert the closed-form errors of the table nested_errors to rho = 1 per person.

    The variance of the noise is inversely proportional to rho, up to rounding to integers. Returns
    the root mean square errors in persons by query and system, and the budget nearest to 1, from
    which they are converted.
    """
    known = rows.dropna(subset="expected")
    distance = (known["budget"] - 1).abs()
    known = known[distance == distance.min()]
    errors = known["expected"] * known["budget"] ** 0.5
    converted = known.assign(error=errors).set_index(["query", "system"])["error"]
    return converted, float(known["budget"].iloc[0])
