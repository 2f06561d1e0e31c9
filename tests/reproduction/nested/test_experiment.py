"""Systems, runs and tables of the study, against dense least squares and sums by hand."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from isdp.exact.nested.accuracy import NestedAccuracy
from reproduction.data.histogram import CELLS, Histogram
from reproduction.nested.experiment import TABLE_KINDS, list_budgets, run_family
from reproduction.nested.systems import (
    CROSSING,
    DEMONSTRATION,
    NESTED,
    PLAIN,
    PRODUCTION,
    PROJECTED,
    SAME_QUERIES,
    SPLITS,
    build_crossing,
    build_noise,
    expected_error,
    hold_totals,
    plan_topdown,
    published_rho,
)
from reproduction.nested.tables import (
    CURVE,
    SHOWN_QUERIES,
    average,
    collect_tables,
    read_topdown_runs,
    tabulate_summary,
)
from reproduction.topdown.configurations import SCHEMA
from reproduction.topdown.system_errors import gather_tables

RHO = Fraction(5, 4)
STATES = ["AA", "BB", "AA", "CC", "BB", "AA"]
SETTINGS = {
    "states": "all",
    "rhos": ["published", 0.5],
    "runs": {"noise": 3, "published": 2, "others": 1},
}


@pytest.fixture(scope="module")
def small():
    """Counties of three states in mixed order, most of whose cells are empty."""
    rng = np.random.default_rng(4)
    shape = len(STATES), len(CELLS)
    counts = rng.negative_binomial(0.3, 0.05, shape) * (rng.random(shape) < 0.3)
    codes = [f"{number:05}" for number in range(len(STATES))]
    people = counts.sum(axis=1)
    counties = pd.DataFrame({"fips": codes, "state": STATES, "population": people})
    return Histogram(counties, counts)


@pytest.fixture(scope="module")
def runs(small):
    return gather_tables(
        [run_family(3, small, family, SETTINGS, False) for family in ("noise", "topdown")]
    )


@pytest.fixture(scope="module")
def tables(runs, small):
    return collect_tables(runs, small, SETTINGS)


def sums_by_hand(level, totals):
    """The 0/1 matrix of all totals of a pair of levels."""
    of_region = {"nation": [0] * len(STATES), "state": STATES, "county": range(len(STATES))}[level]
    names = {"total": lambda cell: "", "group": lambda cell: cell.split(":", 1)[1]}
    of_cell = [names.get(totals, str)(cell) for cell in CELLS]
    labels = [f"{region}/{cell}" for region in of_region for cell in of_cell]
    return pd.get_dummies(pd.Series(labels)).to_numpy(dtype=float).T


@pytest.fixture(scope="module", params=list(SPLITS))
def covariance(request):
    """The split, and the covariance of the best linear unbiased estimate by dense algebra."""
    energy = 0.0
    for (level, totals), share in SPLITS[request.param].items():
        rows = sums_by_hand(level, totals)
        energy = energy + float(share * RHO) * rows.T @ rows
    held, inverse = sums_by_hand("state", "total"), np.linalg.inv(energy)
    gain = np.linalg.solve(held @ inverse @ held.T, held @ inverse)
    return request.param, inverse - inverse @ held.T @ gain


def test_errors_in_closed_form_are_those_of_dense_least_squares(covariance):
    system, matrix = covariance
    noise, held = build_crossing(STATES, SPLITS[system], RHO), hold_totals(STATES)
    of_region = {level: sums_by_hand(level, "total") for level in ("nation", "state", "county")}
    for level, query in SHOWN_QUERIES.values():
        answers = SCHEMA.margins([query]).sparse.toarray()
        rows = [
            np.kron(region[:: len(CELLS)], answer)
            for region in of_region[level]
            for answer in answers
        ]
        variances = ((np.array(rows) @ matrix) * np.array(rows)).sum(axis=1)
        found = expected_error(noise, held, level, query)
        assert found == pytest.approx(np.sqrt(variances.mean()), rel=1e-6)


def test_nested_noise_is_the_same_as_a_tree_and_as_a_crossing_family():
    noise, held = build_noise(STATES, SPLITS[NESTED], RHO), hold_totals(STATES)
    bounds = NestedAccuracy(noise, held).variance_bounds()
    crossing = build_crossing(STATES, SPLITS[NESTED], RHO)
    for level, query in (("cell", "detail"), ("county", "total")):
        nodes = noise.tree.level_of == noise.tree.levels.index(level)
        found = expected_error(crossing, held, "county", query)
        assert found == pytest.approx(np.sqrt(bounds[nodes].mean()))


@pytest.mark.parametrize("system", [PLAIN, NESTED, CROSSING])
def test_each_noise_has_the_whole_budget_as_loss_per_person(system):
    noise = build_noise(STATES, SPLITS[system], RHO)
    assert noise.guarantee_of(hold_totals(STATES)).loss_per_person == RHO
    assert sum(SPLITS[system].values()) == 1


@pytest.mark.parametrize("system", [PRODUCTION, SAME_QUERIES])
def test_topdown_spends_the_whole_budget(system):
    assert plan_topdown(system, RHO).budget.spent == RHO


def test_topdown_measures_the_totals_of_crossing_noise_with_its_variances():
    rows = {
        (row["level"], row["query"]): Fraction(row["share"]).limit_denominator(100)
        for row in plan_topdown(SAME_QUERIES, RHO).budget.rows(SCHEMA)
    }
    names = {"total": "total", "group": "hispanic*adult", "cell": "detail"}
    assert rows == {(at, names[group]): share for (at, group), share in SPLITS[CROSSING].items()}


def test_every_system_runs_as_often_as_the_settings_say(runs):
    published = float(published_rho())
    number = runs["summary"].groupby(["system", "budget"]).size()
    for system in (PLAIN, NESTED, CROSSING):
        assert number[system, published] == number[system, 0.5] == 3
    for system in (PROJECTED, PRODUCTION, SAME_QUERIES):
        assert (number[system, published], number[system, 0.5]) == (2, 1)
    negative = runs["summary"].set_index("system")["negative"]
    assert (negative[[PROJECTED, PRODUCTION, SAME_QUERIES]] == 0).all()
    assert (negative[[PLAIN, NESTED, CROSSING]] > 0).all()
    held = runs["margins"].query("level == 'state' and query == 'total'")
    assert (held["rmse"] == 0).all()


def test_times_belong_to_their_systems_and_budgets(small, runs):
    """Each run takes a number of seconds that names its system and budget."""
    summary = runs["summary"].copy()
    keys = list(zip(summary["system"], summary["budget"], strict=True))
    number = {key: float(place) for place, key in enumerate(dict.fromkeys(keys))}
    summary["seconds"] = [number[key] for key in keys]
    found = tabulate_summary(summary.sample(frac=1, random_state=1), small, SETTINGS)
    places = zip(found["system"], found["budget"], strict=True)
    assert found["seconds"].tolist() == [number[place] for place in places]


def test_runs_of_the_topdown_study_are_not_repeated(small):
    settings = SETTINGS | {"runs": {"noise": 1, "published": 1, "others": 1}}
    found = run_family(3, small, "topdown", settings, True)["summary"]
    assert set(found.loc[found["system"] == PRODUCTION, "budget"]) == {0.5}
    assert len(found[found["system"] == SAME_QUERIES]) == 2


def test_budgets_are_exact_and_in_ascending_order():
    assert list_budgets(SETTINGS) == [(Fraction(1, 2), 1), (published_rho(), 2)]


def test_draws_have_the_errors_of_the_closed_form(small):
    """40 runs: a t statistic of 39 degrees of freedom is above 6.5 once in ten million."""
    settings = {"rhos": ["published"], "runs": {"noise": 40, "published": 1, "others": 1}}
    errors = collect_tables(run_family(8, small, "noise", settings, False), small, settings)
    rows = errors["errors"].dropna(subset=["expected"])
    assert len(rows) == 3 * len(SHOWN_QUERIES)
    assert rows["z"].abs().max() < 6.5
    assert rows["rmse"].to_numpy() == pytest.approx(rows["expected"].to_numpy(), rel=0.25)


def test_means_and_standard_errors_by_hand():
    table = pd.DataFrame(
        {
            "system": PLAIN,
            "budget": 1.0,
            "run": [0, 1, 2],
            "mean": [1.0, 2.0, 6.0],
            "rmse": [1, 2, 3],
        }
    )
    (row,) = average(table, [], ["mean", "rmse"]).to_dict("records")
    assert row["mean"] == 3
    assert row["mean_error"] == pytest.approx(np.sqrt(7 / 3))
    assert row["rmse"] == pytest.approx(np.sqrt(14 / 3))
    assert row["rmse_error"] == pytest.approx(np.std([1, 4, 9], ddof=1) / 3**0.5 / 2 / row["rmse"])


def test_tables_do_not_depend_on_the_order_of_rows(runs, small, tables):
    shuffled = {
        kind: table.sample(frac=1, random_state=number, ignore_index=True)
        for number, (kind, table) in enumerate(runs.items())
    }
    order = np.random.default_rng(0).permutation(len(STATES))
    counties = small.counties.iloc[order].reset_index(drop=True)
    again = collect_tables(shuffled, Histogram(counties, small.counts[order]), SETTINGS)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(again[name], table, check_exact=False, rtol=1e-12)


def test_the_curve_passes_through_nested_noise_and_plain_noise(tables):
    points = tables["frontier_points"]
    curve = points[points["system"] == CURVE].set_index("share")
    expected = tables["errors_points"].set_index(["system", "query"])["expected"]
    for share, system in ((0.0, PLAIN), (0.1, NESTED)):
        assert curve.loc[share, "cell"] == pytest.approx(expected[system, "county cell"])
        assert curve.loc[share, "total"] == pytest.approx(expected[system, "county total"])
    rest = points[points["system"] != CURVE].set_index("system")
    rmse = tables["errors_points"].set_index(["query", "system"])["rmse"]
    assert rest["total"].to_dict() == rmse["county total"].to_dict()


def test_the_topdown_study_gives_its_production_runs_and_the_demonstration_data():
    table = pd.DataFrame({"system": ["production", "slides", "Bureau"], "run": [4, 0, 0]})
    found = read_topdown_runs(dict.fromkeys(TABLE_KINDS, table))
    assert found["bias"]["system"].tolist() == [PRODUCTION, DEMONSTRATION]
    assert set(found["bias"]["budget"]) == {float(published_rho())}
    assert found["bias"]["run"].tolist() == [4, 0]


def test_a_run_draws_from_a_stream_of_its_own(small, runs):
    again = run_family(3, small, "topdown", SETTINGS | {"rhos": ["published"]}, False)
    rows = runs["margins"]
    kept = rows[
        rows["system"].isin([PRODUCTION, SAME_QUERIES]) & (rows["budget"] == float(published_rho()))
    ]
    pd.testing.assert_frame_equal(again["margins"], kept.reset_index(drop=True))
