"""The loss per person and per unit that a certificate states under the totals held."""

import itertools
import json

import numpy as np
import pytest

from isdp.cli import main
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.guarantee import person_distance
from isdp.commands.shared.invariants_file import HeldTotals
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
MARGINS = "totals: [[county, sex], [county, age]]"
TOGETHER = "one person who changes cell, with the fewest others that the invariants force"


@pytest.mark.parametrize(
    ("labels", "distance"), [([0, 0, 1], 2), ([0, 1, -1], 1), ([0, 1, 2], None)]
)
def test_one_person_moves_within_a_total_or_comes_and_goes(labels, distance):
    free = find_degrees_of_freedom([HeldTotals("one", np.array(labels, dtype=np.int32))])
    found = person_distance(free)
    assert (found and found.value) == distance


def said(run):
    return run.capsys.readouterr().out, (run.out / "certificate.md").read_text()


@pytest.mark.parametrize(
    ("rules", "distance"), [("total: true", 2), ("totals: [county]", 2), (MARGINS, 4)]
)
@pytest.mark.parametrize("budget", ["epsilon", "rho"])
def test_the_budget_is_the_loss_per_person(run, rules, distance, budget):
    run.rules(rules)
    assert run(f"--{budget}", "1", epsilon=None, per_unit=False) == 0
    certificate = run.certificate
    law = certificate["mechanism"]
    assert certificate["format"] == "0.3"
    assert certificate["budget"] == {budget: "1", "per": "person"}
    assert law[budget] == f"1/{distance}"
    assert law["units_per_person"] == str(distance)
    assert law[f"{budget}_per_person"] == "1"
    for text in said(run):
        assert (TOGETHER in text) == (distance == 4)
        assert f"distance by {distance}, so {budget} per person is at most 1" in text


def test_the_budget_per_unit_is_the_loss_at_distance_one(run):
    run.rules(MARGINS)
    assert run() == 0
    certificate = run.certificate
    law = certificate["mechanism"]
    assert certificate["budget"] == {"epsilon": "1/4", "per": "unit"}
    assert (law["epsilon"], law["epsilon_per_person"]) == ("1/4", "1")
    # +1 -1 -1 +1 changes no margin, and a smaller change does
    assert law["loss_at_distance_4"] == "1"


def test_all_margins_of_two_columns_force_a_distance_of_eight(run):
    cells = [",".join(values) for values in itertools.product("01", repeat=3)]
    run.table("a,b,c,count\n" + "".join(f"{cell},9\n" for cell in cells))
    run.rules("totals: [[a, b], [b, c], [a, c]]")
    assert run("--accept", "weak-noise", epsilon="2", per_unit=False) == 0
    law = run.certificate["mechanism"]
    assert (law["epsilon"], law["units_per_person"], law["epsilon_per_person"]) == ("1/4", "8", "2")


def test_under_both_margins_gaussian_noise_has_its_epsilon_at_the_nearest_tables(run):
    run.rules(MARGINS)
    assert run("--rho", "4/3", "--delta", "1e-6", epsilon=None, per_unit=False) == 0
    law = run.certificate["mechanism"]
    orders = 1 + np.geomspace(1e-2, 1e3, 200_001)
    slack = np.log(1e6) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    best = (orders * 4 / 3 + slack / (orders - 1)).min()
    assert best - 1e-6 < float(law["epsilon_per_person_at_delta"]) < best + 1e-4


def test_totals_that_overlap_may_leave_one_person_free_to_change_alone(run):
    run.rules("totals: [county, sex]")  # four ages stand in the same totals
    assert run() == 0
    law = run.certificate["mechanism"]
    assert law["epsilon_per_person"] == "0.5"
    assert law["distances"].endswith("the largest distance between two cells is 4")


@pytest.mark.parametrize(("rule", "told"), [("a: [a, b]", True), ("a: [a, b, c]", False)])
def test_a_cell_in_no_total_lets_one_person_come_or_go(run, rule, told):
    run.table("cell,count\na,4\nb,15\nc,6\n")
    run.rules(f"subsets: {{{rule}}}")
    assert run() == 0
    words = run.certificate["mechanism"]["distances"]
    assert ("one person more or fewer" in words) == told


def test_the_plan_says_the_same_of_one_person(tmp_path, capsys):
    arguments = ["plan", "--cells", EXAMPLE / "table.csv", "--epsilon", "4", "--no-picture"]
    arguments += ["--invariants", EXAMPLE / "invariants.yaml", "--out", tmp_path / "plan"]
    assert main([str(part) for part in arguments]) == 0
    plan = json.loads((tmp_path / "plan/plan.json").read_text())
    assert (plan["epsilon"], plan["per"]) == (4, "person")
    assert "epsilon per person is at most 4" in plan["guarantee"]["statement"]
    assert plan["guarantee"]["statement"] in capsys.readouterr().out


def test_the_plan_says_what_would_be_given_away(tmp_path, capsys):
    (tmp_path / "cells.csv").write_text("cell\na\nb\nc\nd\n")
    (tmp_path / "rules.yaml").write_text("subsets: {p: [a, b], q: [b, c], r: [c, a, d]}")
    arguments = ["plan", "--cells", tmp_path / "cells.csv", "--epsilon", "1", "--no-picture"]
    arguments += ["--accept", "weak-noise", "--per-unit"]
    arguments += ["--invariants", tmp_path / "rules.yaml", "--out", tmp_path / "plan"]
    assert main([str(part) for part in arguments]) == 0
    assert json.loads((tmp_path / "plan/plan.json").read_text())["cells_revealed_modulo_m"] == 1
    assert "1 count would be published modulo m" in capsys.readouterr().out
