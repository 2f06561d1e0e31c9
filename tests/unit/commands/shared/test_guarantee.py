"""What a certificate says of one person, under totals that let nobody change cell alone."""

import json

import numpy as np
import pytest

from isdp.cli import main
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
MARGINS = "totals: [[county, sex], [county, age]]"
NOBODY = "nobody can change cell alone"


def said(run):
    return run.capsys.readouterr().out, (run.out / "certificate.md").read_text()


def test_under_both_margins_no_figure_is_given_for_one_person(run):
    run.rules(MARGINS)
    assert run() == 0
    law = run.certificate["mechanism"]
    assert (law["epsilon_per_person"], law["units_per_person"]) == (None, None)
    for text in said(run):
        assert NOBODY in text
        assert "per person is at most" not in text
    assert "the nearest tables are at a distance of 4" in law["distances"]
    # +1 -1 -1 +1 changes no margin, and a smaller change does
    assert law["loss_at_distance_4"] == "1"


def test_under_both_margins_gaussian_noise_has_its_epsilon_at_the_nearest_tables(run):
    run.rules(MARGINS)
    assert run("--rho", "1/3", "--delta", "1e-6", epsilon=None) == 0
    law = run.certificate["mechanism"]
    orders = 1 + np.geomspace(1e-2, 1e3, 200_001)
    slack = np.log(1e6) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    best = (orders * 4 / 3 + slack / (orders - 1)).min()
    assert best - 1e-6 < float(law["epsilon_at_squared_distance_4_at_delta"]) < best + 1e-4
    for text in said(run):
        assert NOBODY in text
        assert "one person who changes cell" not in text


def test_totals_that_overlap_may_leave_somebody_free_to_change_alone(run):
    run.rules("totals: [county, sex]")  # four ages stand in the same totals
    assert run() == 0
    law = run.certificate["mechanism"]
    assert law["epsilon_per_person"] == "0.5"
    assert "one person who changes between cells that stand in the same totals" in law["distances"]
    assert "any other change of cell takes several people" in law["distances"]


@pytest.mark.parametrize(("rule", "told"), [("a: [a, b]", True), ("a: [a, b, c]", False)])
def test_a_cell_in_no_total_lets_one_person_come_or_go(run, rule, told):
    run.table("cell,count\na,4\nb,15\nc,6\n")
    run.rules(f"subsets: {{{rule}}}")
    assert run() == 0
    words = run.certificate["mechanism"]["distances"]
    assert ("one person more or fewer" in words) == told


def test_the_plan_says_the_same_of_one_person(tmp_path, capsys):
    arguments = ["plan", "--cells", EXAMPLE / "table.csv", "--epsilon", "1", "--no-picture"]
    arguments += ["--invariants", EXAMPLE / "invariants.yaml", "--out", tmp_path / "plan"]
    assert main([str(part) for part in arguments]) == 0
    plan = json.loads((tmp_path / "plan/plan.json").read_text())
    assert NOBODY in plan["guarantee"]
    assert plan["guarantee"] in capsys.readouterr().out


def test_the_plan_says_what_would_be_given_away(tmp_path, capsys):
    (tmp_path / "cells.csv").write_text("cell\na\nb\nc\nd\n")
    (tmp_path / "rules.yaml").write_text("subsets: {p: [a, b], q: [b, c], r: [c, a, d]}")
    arguments = ["plan", "--cells", tmp_path / "cells.csv", "--epsilon", "1", "--no-picture"]
    arguments += ["--accept", "weak-noise"]
    arguments += ["--invariants", tmp_path / "rules.yaml", "--out", tmp_path / "plan"]
    assert main([str(part) for part in arguments]) == 0
    assert (
        json.loads((tmp_path / "plan/plan.json").read_text())["cells_known_up_to_a_multiple"] == 1
    )
    assert "1 count would be published up to a multiple" in capsys.readouterr().out
