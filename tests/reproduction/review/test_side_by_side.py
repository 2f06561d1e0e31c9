"""What the page of all systems says is what the tables say."""

import numpy as np
import pandas as pd
import pytest

from reproduction.review import side_by_side as page

SCOPE = "here"
CHOSEN = {"epsilon": 1.0, "rho": 0.5, "rate": 0.1}
SYSTEMS = {  # parameter, budgets, whether unbiased
    "noise": ("epsilon", [0.5, 1.0], True),
    "swap": ("rate", [0.1, 0.2], False),
    "down": ("rho", [0.5], False),
    "file": ("rho", [0.5], False),
}


def errors():
    rows = []
    for number, (system, (parameter, budgets, _)) in enumerate(SYSTEMS.items()):
        for budget in budgets:
            for query in ("total", "race", "detail"):
                for size in ("all", "0", "over 9"):
                    head = {"system": system, "parameter": parameter, "budget": budget}
                    sign = -1 if size == "over 9" else 1
                    rows.append(
                        head
                        | {"scope": SCOPE, "query": query, "size": size}
                        | {"rmse": 1234.5 * (number + 1) * budget, "rmse_error": 5.0}
                        | {"bias": sign * budget, "bias_error": np.nan if number == 3 else 0.1}
                    )
    table = pd.DataFrame(rows)
    table.loc[(table["system"] == "swap") & (table["query"] == "total"), ["rmse"]] = 0.0
    table.loc[(table["system"] == "down") & (table["size"] == "0"), "bias_error"] = 0.2
    return pd.concat([table, table.assign(scope="elsewhere", rmse=7.0)], ignore_index=True)


def shares(out=0.0):
    table = errors().query("query == 'race'").assign(share="Hispanic", mae=0.05, mae_error=0.002)
    return table.assign(areas=10.0, out_of_range=out, undefined=0.0)


def guarantees():
    rows = []
    for system, (parameter, budgets, unbiased) in SYSTEMS.items():
        for budget in budgets:
            pure = parameter == "epsilon"
            rows.append(
                {
                    **{"system": system, "parameter": parameter, "budget": budget, "paper": "P"},
                    "flavour": "zCDP" if parameter == "rho" else "pure",
                    **{"loss": budget / 2, "unit": "unit", "held": "each area of a region"},
                    "loss_per_person": np.nan if parameter == "rate" else budget,
                    "rho_by_theorem": budget**2 / 2 if pure else np.nan,
                    "published": 2.0 if system == "down" else np.nan,
                    **{"whole_counts": True, "no_negative_counts": not pure, "unbiased": unbiased},
                    "to_compare": "theorem" if pure else "that each region is",
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.0, 0.0, "0"),
        (2.7999, 0.0004, "2.80 ± 0.01"),
        (1886.0, 14.0, "1,890 ± 20"),
        (0.0601, 0.0002, "0.0601 ± 0.0002"),
        (11.3, np.nan, "11.3"),
        (-0.5, None, "-0.500"),
        (320931.0, None, "321,000"),
    ],
)
def test_a_number_has_three_figures_and_an_error_that_is_not_too_small(value, error, text):
    assert page.format_number(value, error).replace("\u00a0", " ") == text


def test_errors_stand_by_kind_of_budget_each_from_its_own_rows():
    rows = page.error_rows(errors(), shares(), SCOPE)
    assert rows["system"].tolist() == ["noise", "noise", "down", "file", "swap", "swap"]
    assert rows["budget"].tolist() == ["0.5", "1", "0.5", "0.5", "0.1", "0.2"]
    assert rows[page.KIND].map(dict(map(reversed, page.KINDS.items()))).tolist() == [
        *("epsilon", "epsilon", "rho", "rho", "rate", "rate")
    ]
    assert rows["county's total"].tolist()[-2:] == ["0", "0"]
    assert [cell.split()[0] for cell in rows["cell"]] == [
        *("617", "1,230", "1,850", "2,470", "247", "494")
    ]


def test_a_bias_has_a_sign_from_three_standard_errors_and_that_of_one_file_has_none():
    rows = page.bias_rows(errors(), guarantees(), SCOPE, CHOSEN).set_index("system")
    assert set(rows.index) == {"swap", "down", "file"}  # the unbiased are left out
    assert rows.loc["file"].tolist()[-4:] == ["none", "none", "none", "0, over 9"]
    assert (rows.drop("file")["one run: undecided"] == "none").all()
    assert rows.loc["down", ["too large", "too small"]].tolist() == ["none", "over 9"]
    assert rows.loc["down", "within 3 standard errors"] == "0"
    assert rows.loc["swap", "within 3 standard errors"] == "0, over 9"


def test_no_cell_of_what_is_guaranteed_is_empty():
    rows = page.loss_rows(guarantees(), CHOSEN)
    assert rows["system"].tolist() == ["noise", "down", "file", "swap", "swap"]
    assert rows.notna().all(axis=None)
    assert not (rows == "").any(axis=None)
    assert rows["as a rho, by the theorem"].tolist() == ["0.5", "is one", "is one", "none", "none"]
    assert rows["part of a budget of"].tolist() == ["all of it", "2", "all of it", "none", "none"]
    held = page.held_rows(guarantees())
    assert len(held) == 4
    assert set(held["published as it is"]) == {"each county of a state"}
    assert held["counts that it releases"].iloc[0] == "whole, may be negative, unbiased"
    beliefs = page.beliefs(guarantees())
    assert beliefs["systems"].tolist() == ["noise", "swap; down; file"]
    assert beliefs.iloc[:, 1].tolist() == ["theorem", "one must believe that each state is"]


def test_shares_that_cannot_be_are_told_at_the_ends_of_the_budgets():
    assert page.impossible_shares(shares(), SCOPE).empty
    rows = page.impossible_shares(shares(out=2.0), SCOPE)
    assert rows["system"].tolist() == ["noise", "noise", "down", "file", "swap", "swap"]
    assert set(rows["below 0 or above 1"]) == {"20.0%"}
    assert set(rows["of a county without people"]) == {"0.00%"}


def test_what_is_impossible_is_told_at_the_budgets_chosen():
    table = errors().query("query == 'race' and size == 'all'")
    counts = {"negative": 20000.0, "fractional": 0.0, "people_moved": 5.0}
    table = table.assign(**counts, exact_areas=0.5, exact_cells=1.0)
    rows = page.impossible_rows(table, SCOPE, CHOSEN)
    assert rows["budget"].tolist() == ["1", "0.5", "0.5", "0.1", "0.2"]
    assert rows.iloc[0, 3:].tolist() == ["20,000", "0", "50.0%", "100.0%", "5.00"]


def test_errors_at_rho_1_are_those_of_the_nearest_budget_times_its_root():
    rows = pd.DataFrame(
        {
            "system": ["a", "a", "b", "published"],
            "query": "cell",
            "budget": [0.25, 4.0, 0.25, 1.0],
            "expected": [2.0, 7.0, 3.0, None],
        }
    )
    errors, nearest = page.errors_at_rho_1(rows)
    assert nearest == 0.25
    assert errors.to_dict() == {("cell", "a"): 1.0, ("cell", "b"): 1.5}
