import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from isdp import Invariants
from isdp.commands.compare.report import markdown
from isdp.commands.compare.run import compare
from isdp.commands.shared.noise_levels import NoiseLevels, TableLevels, level_errors
from isdp.compare import ConditionedNoise, Swapping, TopDown
from isdp.exact import total_distribution
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree
from tests.unit.commands.compare.conftest import STATES, places

SMALL = {"simulations": 10}
PURE = ["integer noise", "K-norm noise", "projected Laplace noise"]
ON_COUNTS = ["conditioned noise, no count below zero", "TopDown"]


@pytest.fixture
def files(tmp_path):
    return write(tmp_path)


@pytest.fixture(scope="module")
def on_a_stand_in(tmp_path_factory):
    """All systems, compared once for the tests that look at what was found."""
    files = write(tmp_path_factory.mktemp("files"))
    budgets = {"epsilons": [1.0], "rhos": [0.5], "rates": [0.1]}
    rules = files["rules"](STATES)
    return compare(files["bare"], rules, stand_in=files["stand_in"], **budgets, **SMALL)


def write(folder):
    """Write the cells, with or without counts, a stand-in and rules; give their paths."""
    table = places()
    paths = {name: str(folder / f"{name}.csv") for name in ("bare", "counted", "stand_in")}
    table.drop(columns="count").to_csv(paths["bare"], index=False)
    table.to_csv(paths["counted"], index=False)
    # in another order
    places(2).sample(frac=1, random_state=4).to_csv(paths["stand_in"], index=False)

    def rules(text):
        path = folder / "rules.yaml"
        path.write_text(text)
        return str(path)

    return paths | {"rules": rules}


def figures(found, **chosen):
    table = found.errors
    for name, value in chosen.items():
        table = table[table[name] == value]
    return table


def test_without_counts_noise_has_its_law_and_all_else_is_left_out_with_why(files):
    found = compare(
        files["bare"], files["rules"](STATES), epsilons=[1.0], rhos=[0.5], rates=[0.1], **SMALL
    )
    assert found.question.source == "no counts"
    assert set(found.errors["system"]) == {
        *PURE,
        "integer Gaussian noise",
        "projected Gaussian noise",
    }
    assert set(found.errors["rmse_is"]) == {"exact"}
    assert set(found.errors["size"]) == {"all"}
    left = found.left_out.groupby("system")["reason"].first()
    assert set(left.index) == {*ON_COUNTS, "permutation swapping"}
    assert all("--stand-in" in reason for reason in left)


def test_errors_of_integer_noise_are_by_the_law_of_a_cell_under_its_state(files):
    found = compare(files["bare"], files["rules"](STATES), epsilons=[1.0], **SMALL)
    own = figures(found, system="integer noise").set_index("query")["rmse"]
    # three counties of 4 cells, and two
    variances = {n: total_distribution(n, 0.5).sd ** 2 for n in (12, 8)}
    assert own["cells"] == pytest.approx(np.sqrt((12 * variances[12] + 8 * variances[8]) / 20))
    of_area = {n: variances[n] * 4 * (n - 4) / (n - 1) for n in (12, 8)}
    want = np.sqrt((3 * of_area[12] + 2 * of_area[8]) / 5)
    assert own["totals of areas"] == pytest.approx(want)
    assert own["totals by state"] == 0


def test_on_a_stand_in_all_systems_are_compared_and_its_order_does_not_matter(files, on_a_stand_in):
    found = on_a_stand_in
    assert found.left_out.empty
    assert found.question.counts.tolist() == places(2)["count"].tolist()
    assert set(found.systems["system"]) == {
        *PURE,
        *ON_COUNTS,
        "integer Gaussian noise",
        "projected Gaussian noise",
        "permutation swapping",
    }
    held = figures(found, query="totals by state")
    assert (held["rmse"] == 0).all()
    assert (held["rmse_is"] == "exact").all()
    for system in ON_COUNTS:
        simulated = figures(found, system=system, query="cells", size="all", parameter="epsilon")
        assert simulated["rmse_is"].item() == "simulated"
        assert simulated["rmse_error"].item() > 0
    swapped = figures(found, system="permutation swapping").set_index(["query", "size"])
    assert swapped.loc[("totals of areas", "all"), "rmse"] == 0
    assert swapped.loc[("cells", "all"), "rmse"] > 0
    empty = figures(found, system=ON_COUNTS[0], query="cells", size="0")
    assert empty["bias"].item() > 0
    assert empty["answers"].item() == (places(2)["count"] == 0).sum()
    # another seed gives other figures; that equal ones give equal figures is in test_command.py
    options = {"epsilons": [1.0], "stand_in": files["stand_in"], "seed": 1, **SMALL}
    other = compare(files["bare"], files["rules"](STATES), **options)
    own, names = figures(found, parameter="epsilon"), ["system", "query", "size"]
    assert own[names].to_numpy().tolist() == other.errors[names].to_numpy().tolist()
    assert own["rmse"].tolist() != other.errors["rmse"].tolist()


def test_a_stand_in_takes_the_place_of_counts_that_are_there(files):
    rules = files["rules"](STATES)
    both = [
        compare(files[cells], rules, rates=[0.1], stand_in=files["stand_in"], **SMALL)
        for cells in ("bare", "counted")
    ]
    assert [found.question.source for found in both] == ["stand-in"] * 2
    pd.testing.assert_frame_equal(both[0].errors, both[1].errors)


def test_what_each_system_promises_is_its_own_budget(on_a_stand_in):
    systems = on_a_stand_in.systems
    people = systems[systems["unit"] == "one person who changes cell"]
    # rounded up, and rho of the projected Gaussian is found from an epsilon and back
    for parameter, budget in (("epsilon", 1.0), ("rho", 0.5)):
        losses = people.loc[people["parameter"] == parameter, "loss"].astype(float)
        assert len(losses) >= 2
        assert losses.tolist() == pytest.approx([budget] * len(losses), rel=1e-5)
        assert losses.min() >= budget
    assert set(people["flavour"]) == {"pure", "zCDP"}
    (swapping,) = systems.index[systems["paper"] == "SWAP"]
    assert "d_HAM" in systems.loc[swapping, "unit"]
    largest = places(2).groupby("state")["count"].sum().max()
    assert float(systems.loc[swapping, "loss"]) == pytest.approx(
        np.log(largest + 1) - np.log(0.1 / 0.9), rel=1e-5
    )


@pytest.mark.parametrize(
    ("rules", "whys"),
    [
        (
            "totals: [county, [sex, age]]",
            {
                "K-norm noise": "disjoint totals",
                ON_COUNTS[0]: "disjoint totals",
                "TopDown": "other totals are held",
            },
        ),
        ("subsets: {young: {age: young}}", {ON_COUNTS[0]: "disjoint totals"}),
        ("totals: [age]\nsubsets: {f: {sex: f}}", {"K-norm noise": "disjoint totals"}),
        ("totals: [state, [sex, age]]", {"TopDown": "other totals are held"}),
        ("totals: [[state, sex]]", {"TopDown": "other totals are held"}),
        ("total: true", {"TopDown": "other totals are held"}),
        ("totals: [[county, sex]]", {"permutation swapping": "totals by county x sex"}),
    ],
)
def test_a_system_that_does_not_fit_the_totals_says_why(files, rules, whys):
    found = compare(
        files["bare"],
        files["rules"](rules),
        stand_in=files["stand_in"],
        epsilons=[1.0],
        rates=[0.1],
        region="state",
        area="county",
        **SMALL,
    )
    reasons = found.left_out.set_index("system")["reason"]
    assert all(why in reasons[system] for system, why in whys.items())
    assert "integer noise" in set(found.systems["system"])


def test_swapping_fits_all_totals_that_it_keeps(files):
    found = compare(
        files["bare"],
        files["rules"]("totals: [county, [state, age], [sex, age]]"),
        stand_in=files["stand_in"],
        rates=[0.1],
        region="state",
        area="county",
        **SMALL,
    )
    assert set(found.systems["system"]) == {"permutation swapping"}


@pytest.mark.parametrize(
    ("rules", "options", "why"),
    [
        ("total: true", {}, "no column's totals are held"),
        ("totals: [sex, state]", {}, "is it sex or state?"),
        ("totals: [county]", {}, "areas within each county"),
        ("totals: [state]", {"area": "sex"}, "lies in two regions"),
        ("totals: [sex]", {"area": "county", "region": "age"}, "lies in two regions"),
    ],
)
def test_areas_that_cannot_be_told_are_asked_for(files, rules, options, why):
    found = compare(
        files["bare"],
        files["rules"](rules),
        stand_in=files["stand_in"],
        epsilons=[1.0],
        **options,
        **SMALL,
    )
    assert why in found.left_out.set_index("system").loc["TopDown", "reason"]


def test_a_table_without_some_cells_is_not_taken_for_areas(files, tmp_path):
    table = places().drop(index=[3])
    table.drop(columns="count").to_csv(files["bare"], index=False)
    table.to_csv(files["stand_in"], index=False)
    found = compare(
        files["bare"],
        files["rules"](STATES),
        stand_in=files["stand_in"],
        epsilons=[1.0],
        **SMALL,
    )
    reasons = found.left_out.set_index("system")["reason"]
    assert "1 are missing in" in reasons["TopDown"]
    assert ON_COUNTS[0] not in reasons.index  # asks for disjoint totals alone


def test_ranks_are_within_a_group_and_shared_where_errors_do_not_tell_apart(on_a_stand_in):
    keys = ["flavour", "unit", "parameter", "budget", "query", "size"]
    seen = set()
    for _, group in on_a_stand_in.errors.groupby(keys):
        for row in group.itertuples():
            apart = np.hypot(group["rmse_error"], row.rmse_error)
            better = int((group["rmse"] < row.rmse * (1 - 1e-9) - apart).sum())
            assert row.rank == 1 + better
            seen.add(row.rank)
    assert {1, 2, 3} <= seen


def test_the_page_says_how_each_error_was_found(on_a_stand_in):
    page, found = markdown(on_a_stand_in), on_a_stand_in.errors
    (line,) = re.findall(r"^\| cells \| 20 \| (.*) \|$", page, re.MULTILINE)[:1]
    own = found.query("query == 'cells' and size == 'all' and parameter == 'epsilon'")
    cells = line.split(" | ")
    assert len(cells) == len(own)
    for cell, row in zip(cells, own.itertuples(), strict=True):
        assert cell.startswith(f"{row.rmse:.3g}")
        assert ("±" in cell) == (row.rmse_is == "simulated")
        assert cell.endswith(f"({row.rank})")
    assert "| totals by state | 2 | 0, held |" in page


def test_noise_with_levels_has_the_errors_of_its_budget(files):
    """A move changes two totals of each of two levels; each level has half of the budget."""
    levels = NoiseLevels(("state", "county"))
    budgets = {"epsilons": [1.0], "rhos": [0.5], "simulations": 100, "levels": levels}
    found = figures(
        compare(files["bare"], files["rules"](STATES), **budgets), query="cells", size="all"
    )
    found = found[found["system"] == "noise with levels"].set_index("parameter")
    table = places()
    tree = SetTree.from_columns({name: table[name] for name in levels.levels})
    held = Invariants.partition(table["state"])
    gaussian = NestedAccuracy(NestedGaussian(tree, {"county": 4, "cell": 4}), held)
    bound = gaussian.variance_bounds()[: len(table)].mean() ** 0.5
    assert found["rmse"]["rho"] == pytest.approx(bound)
    laplace = NestedAccuracy(NestedLaplace(tree, {"county": "1/4", "cell": "1/4"}), held)
    exact = np.mean([laplace.variance(cell) for cell in range(len(table))]) ** 0.5
    assert abs(found["rmse"]["epsilon"] - exact) < 2.5 * found["rmse_error"]["epsilon"]


def test_noise_with_groups_has_the_errors_of_its_cells(files):
    levels = NoiseLevels(("state", "county"), ("sex",))
    found = compare(files["bare"], files["rules"](STATES), rhos=[0.5], levels=levels, **SMALL)
    (rmse,) = figures(found, query="cells", size="all", system="noise with levels")["rmse"]
    held = Invariants.partition(places()["state"])
    noise = TableLevels(levels, found.question.table).mechanism(held, "zCDP", Fraction(1, 2))
    (cell,) = (one for one in level_errors(noise, held) if one.name == "county:cell")
    assert rmse == pytest.approx(cell.rmse)


def test_every_release_that_is_simulated_keeps_the_totals_of_the_regions(files, monkeypatch):
    kept = set()
    for system in (TopDown, ConditionedNoise, Swapping):

        def checked(self, rng, areas, budget, release=system.release):
            released = release(self, rng, areas, budget)
            off = (released - areas.counts).sum(axis=1)
            assert all(off[rows].sum() == 0 for rows in areas.blocks.values())
            kept.add(type(self))
            return released

        monkeypatch.setattr(system, "release", checked)
    budgets = {"epsilons": [1.0], "rhos": [0.5], "rates": [0.1]}
    compare(files["counted"], files["rules"](STATES), **budgets, **SMALL)
    assert kept >= {TopDown, ConditionedNoise}
