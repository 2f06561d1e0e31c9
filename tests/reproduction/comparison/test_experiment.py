import numpy as np
import pandas as pd
import pytest

from isdp.accounting import as_fraction
from reproduction.comparison.experiment import (
    ALL_COUNTIES,
    SWAPPED_STATES,
    TABLE_KINDS,
    build_areas,
    list_shares,
    measure_demonstration,
    measure_releases,
    run_family,
)
from reproduction.comparison.settings import FAMILIES, PARAMETERS
from reproduction.comparison.systems import list_budgets, list_systems, plan_at, published_rho
from reproduction.comparison.tables import (
    tabulate_costs,
    tabulate_errors,
    tabulate_guarantees,
    tabulate_shares,
)
from reproduction.data.histogram import CELLS, Histogram, read_histogram
from reproduction.data.published import read_published
from reproduction.nested.systems import SPLITS, build_crossing, expected_error, hold_totals
from reproduction.topdown.configurations import production_budget, slides_budget
from reproduction.topdown.experiment import keep_states
from tests import ROOT

SETTINGS = {
    "epsilons": [2.0],
    "rhos": ["published", 0.1],
    "rates": [0.1],
    "swapped": ["DE"],
    "runs": 2,
}


@pytest.fixture(scope="module")
def small():
    published = read_published(ROOT / "data/census2010_county_population.csv")
    whole = read_histogram(ROOT / "data/census2010_race_hispanic_adult_county.csv", published)
    return keep_states(whole, ["DE", "RI", "VT"])


@pytest.fixture(scope="module")
def found(small):
    chosen = [list_systems()["noise"][0], list_systems()["swapping"][0]]
    return run_family(5, small, chosen, SETTINGS)


def test_every_family_is_run():
    found = {
        family: tuple(each.parameter for each in known) for family, known in list_systems().items()
    }
    assert found == PARAMETERS
    assert tuple(found) == FAMILIES


def test_every_measure_of_every_run_is_there(small, found):
    assert set(found) == set(TABLE_KINDS)
    for kind, table in found.items():
        runs = table.groupby(["system", "budget"])["run"].unique()
        assert all(sorted(each) == [0, 1] for each in runs), kind
    scopes = found["errors"].groupby("system")["scope"].unique()
    assert sorted(scopes["integer noise"]) == [ALL_COUNTIES, SWAPPED_STATES]
    assert list(scopes["permutation swapping"]) == [SWAPPED_STATES]
    people = found["cost"].groupby("system")["people"].first()
    assert people["integer noise"] == small.counts.sum()
    assert people["permutation swapping"] == keep_states(small, ["DE"]).counts.sum()


def test_a_system_does_not_depend_on_what_else_is_run(small, found):
    alone = run_family(5, small, [list_systems()["swapping"][0]], SETTINGS)["errors"]
    both = found["errors"]
    both = both[both["system"] == "permutation swapping"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, both)


def test_what_is_held_has_no_error(found):
    swap = found["errors"][found["errors"]["system"] == "permutation swapping"]
    assert (swap[swap["query"] == "total"]["mae"] == 0).all()
    assert (swap[swap["query"] == "detail"]["mae"].max()) > 0
    counts = found["summary"].set_index("system")
    assert (counts.loc["permutation swapping", "exact_areas"] == 1).all()
    assert (counts.loc["permutation swapping", "negative"] == 0).all()
    assert (counts.loc["integer noise", "negative"] > 0).all()


def test_shares_are_those_of_the_cells_that_bear_their_letters(small):
    by_name = {share.name: share for share in list_shares()}
    letters = [cell.split(":") for cell in CELLS]
    wanted = {
        "Hispanic": [i for i, (_, h, _) in enumerate(letters) if h == "h"],
        "under 18": [i for i, (_, _, a) in enumerate(letters) if a == "c"],
        "Black alone": [i for i, (race, _, _) in enumerate(letters) if race == "B"],
        "American Indian alone": [i for i, (race, _, _) in enumerate(letters) if race == "I"],
    }
    assert {name: sorted(share.cells) for name, share in by_name.items()} == wanted


def test_the_bureaus_file_is_measured_as_the_systems_are(small):
    private = Histogram(small.counties, small.counts.copy())
    private.counts[0, :2] += [3, -3] if private.counts[0, 1] >= 3 else [3, 3]
    found = measure_demonstration(small, private, 1.25, ["DE"])
    errors = found["errors"]
    detail = errors[(errors["query"] == "detail") & (errors["size"] == "all")]
    moved = np.abs(private.counts - small.counts).sum()
    row = detail.set_index("scope").loc[ALL_COUNTIES]
    assert row["mae"] == pytest.approx(moved / small.counts.size)
    assert set(errors["budget"]) == {1.25}


def test_one_scope_where_all_states_are_swapped(small):
    (tables,) = measure_releases(small, [small.counts], ["DE", "RI", "VT"])
    assert set(tables["errors"]["scope"]) == {SWAPPED_STATES}


@pytest.mark.parametrize(
    ("known", "passes"), [(slides_budget(), "one"), (production_budget(), "isolate_total")]
)
def test_topdown_spends_what_it_is_given_in_the_known_shares(known, passes):
    plan = plan_at(known, passes, 0.75)
    assert plan.budget.spent == pytest.approx(0.75)
    assert float(plan.budget.spent) >= 0.75
    assert plan.held == ("region",)
    for old, new in (("nation", "all"), ("state", "region"), ("county", "area")):
        for query in known.measured_queries(old):
            share = plan.budget.loss(new, query) / plan.budget.spent
            assert share == known.loss(old, query) / known.spent


def test_the_bureaus_budget_is_the_part_for_the_levels_that_are_run():
    assert 0 < published_rho() < production_budget().total
    topdown = list_systems()["topdown"][1]
    assert list_budgets(topdown, SETTINGS) == [0.1, float(published_rho())]


@pytest.mark.parametrize("system", list_systems()["nested"], ids=lambda system: system.name)
@pytest.mark.parametrize("rho", [0.2, 2.0])
def test_noise_of_totals_has_the_errors_of_its_own_split(small, system, rho):
    areas = build_areas(small)
    held, rng = hold_totals(areas.regions), np.random.default_rng(6)
    noise = build_crossing(areas.regions, SPLITS[system.name], as_fraction(rho))
    errors = [system.release(rng, areas, rho) - areas.counts for _ in range(60)]
    totals = np.sum(errors, axis=2, dtype=float)
    for found, query in ((np.array(errors, float), "detail"), (totals, "total")):
        expected = expected_error(noise, held, "county", query)
        # 60 draws of 19 or more free numbers: a root mean square has an error of 2 percent
        assert np.sqrt((found**2).mean()) == pytest.approx(expected, rel=0.1)


def test_guarantees_are_told_for_every_system_and_budget(small):
    table = tabulate_guarantees(
        build_areas(small), build_areas(keep_states(small, ["DE"])), SETTINGS
    )
    every = [system for family in list_systems().values() for system in family]
    wanted = [(each.name, budget) for each in every for budget in list_budgets(each, SETTINGS)]
    rows = list(zip(table["system"], table["budget"], strict=True))
    assert rows[:-1] == wanted
    person = table.set_index(["system", "budget"])["loss_per_person"]
    for name, budget in wanted:
        if name == "permutation swapping":
            assert pd.isna(person[name, budget])
        else:
            assert float(person[name, budget]) == pytest.approx(budget, rel=1e-5)
    pure = table[(table["flavour"] == "pure") & table["loss_per_person"].notna()]
    assert set(pure["rho_by_theorem"].astype(float)) == {2.0}
    assert table.loc[table["flavour"] == "zCDP", "rho_by_theorem"].isna().all()
    production_rows = table[table["system"] == "TopDown, production"].set_index("budget")
    whole = float(production_rows.loc[float(published_rho()), "published"])
    assert whole == pytest.approx(float(production_budget().total), rel=1e-5)


def test_tables_are_means_over_runs_with_their_errors(found):
    """Where there is one state, the error is that of a mean of two numbers: half of the gap."""
    rows = f"system == 'integer noise' and scope == {SWAPPED_STATES!r} and size == '0'"
    detail = found["errors"].query(f"{rows} and query == 'detail'")
    errors = tabulate_errors(found["errors"])
    row = errors.query(f"{rows} and query == 'detail'").iloc[0]
    assert row["runs"] == 2
    assert row["rmse"] == pytest.approx(detail["rmse"].mean())
    assert row["bias_error"] == pytest.approx(abs(np.diff(detail["bias"])[0]) / 2)
    of_square = abs(np.diff(detail["rmse"] ** 2)[0]) / 2
    assert row["rmse_error"] == pytest.approx(of_square / (2 * row["rmse"]))
    assert set(errors[errors["query"] == "race"]["size"]) == {"all"}
    of_shares = tabulate_shares(found["shares"])
    assert of_shares["undefined"].notna().all()
    rows = "system == 'permutation swapping' and size == 'all' and share == 'Hispanic'"
    share = found["shares"].query(rows)
    row = of_shares.query(rows).iloc[0]
    assert row["mae_error"] == pytest.approx(abs(np.diff(share["mae"])[0]) / 2)
    assert row["bias_error"] == pytest.approx(abs(np.diff(share["bias"])[0]) / 2)


def test_what_is_never_off_has_no_error_and_one_run_has_none_that_is_known(small, found):
    errors = tabulate_errors(found["errors"])
    held = errors.query("system == 'permutation swapping' and query == 'total'")
    assert (held[["bias_error", "rmse_error"]] == 0).all(axis=None)
    once = tabulate_errors(found["errors"].query("run == 0"))
    assert once[["bias_error", "rmse_error"]].isna().all(axis=None)


def test_the_cost_is_a_mean_over_releases(found):
    cost = found["cost"].assign(job_memory=100.0)
    table = tabulate_costs(cost).set_index("system")
    mean = cost[cost["system"] == "integer noise"]["seconds"].mean()
    assert table.loc["integer noise", "seconds"] == pytest.approx(mean)
    assert table.loc["integer noise", "releases"] == 2
