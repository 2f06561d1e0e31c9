"""The totals of all regions with national totals of classes: privatize, plan, check and account."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from isdp.cli import main

REGIONS, AGES = 1200, 6  # more cells and totals than other samplers of overlapping totals accept
RULES = "totals: [state, region, age]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of states, regions, sexes and ages in random order."""
    folder, rng = tmp_path_factory.mktemp("regions"), np.random.default_rng(8)
    index = pd.MultiIndex.from_product([range(REGIONS), ["f", "m"], range(AGES)])
    table = index.to_frame(index=False, name=["region", "sex", "age"])
    table.insert(0, "state", table["region"] % 7)
    table = table.astype(str).radd({"state": "S", "region": "R", "sex": "", "age": "A"})
    table["count"] = rng.poisson(20, len(table))
    table = table.iloc[rng.permutation(len(table))]
    table.to_csv(folder / "both.csv", index=False)
    table[table["sex"] == "f"].drop(columns="sex").to_csv(folder / "women.csv", index=False)
    (folder / "rules.yaml").write_text(RULES)
    return folder


def command(name, table, folder, *options):
    given = [str(folder / table)] if name == "privatize" else ["--cells", str(folder / table)]
    rules = ["--invariants", str(folder / "rules.yaml"), "--no-picture"]
    return main([name, *given, *rules, "--out", str(folder / f"{name}-{table}"), *options])


@pytest.mark.parametrize(("table", "kept"), [("women.csv", 1), ("both.csv", 2)])
def test_a_release_keeps_all_totals_and_is_checked(folder, capsys, table, kept):
    options = ["--rho", "1/8", "--force"]
    assert command("privatize", table, folder, *options) == 0
    said = capsys.readouterr().out
    assert "rho per person is at most 0.125" in said
    given, out = pd.read_csv(folder / table), folder / f"privatize-{table}"
    noisy = pd.read_csv(out / "noisy.csv")
    assert noisy.drop(columns="count").equals(given.drop(columns="count"))
    for column in ("state", "region", "age"):
        one, two = (each.groupby(column)["count"].sum() for each in (given, noisy))
        assert one.equals(two)
    noise = (noisy["count"] - given["count"]).to_numpy()
    # one person moves alone if a class has two cells, and otherwise two exchange their ages
    sigma = math.sqrt({1: 4, 2: 2}[kept] / (2 * 0.125))
    variance = sigma**2 * (1 - (REGIONS + AGES - 1) / len(noise))
    assert np.mean(noise**2.0) == pytest.approx(
        variance, abs=6 * variance * (2 / len(noise)) ** 0.5
    )
    files = ["--invariants", str(folder / "rules.yaml"), "--totals", str(out / "totals.csv")]
    assert main(["check", str(out / "noisy.csv"), *files]) == 0
    margins = pd.read_csv(out / "margins.csv").set_index("name")
    (cell,) = [name for name in margins.index if name.startswith("a cell such as")]
    assert margins.loc[cell, "sd"] == pytest.approx(math.sqrt(variance), rel=1e-4)
    assert (margins.loc[[f"age: A{age}" for age in range(AGES)], "sd"] == 0).all()


@pytest.mark.parametrize("table", ["women.csv", "both.csv"])
def test_a_plan_is_finite(folder, table, capsys):
    assert command("plan", table, folder, "--rho", "1/8", "--force") == 0
    assert "nan" not in capsys.readouterr().out
    plan = pd.read_csv(folder / f"plan-{table}" / "plan.csv")
    assert plan["sd"].notna().all()
    assert plan["limit_95"].notna().all()
    curve = pd.read_csv(folder / f"plan-{table}" / "curve.csv")
    assert curve["sd"].gt(0).all()


def test_the_error_of_a_cell_gives_the_scale_in_closed_form(folder, capsys):
    assert command("plan", "women.csv", folder, "--sigma", "1", "--error", "cell=3", "--force") == 0
    sigma = 3 / math.sqrt(1 - (REGIONS + AGES - 1) / (REGIONS * AGES))
    assert f"sigma {math.floor(100 * sigma) / 100:g}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["plan", "privatize"])
def test_noise_without_a_sampler_is_refused_with_noise_that_has_one(folder, capsys, name):
    assert command(name, "women.csv", folder, "--epsilon", "1", "--force") == 2
    error = capsys.readouterr().err
    assert "Laplace noise at epsilon 1 per person" in error
    sigma, rho = re.search(r"--sigma (\S+) \(rho (\S+) per person\)", error).groups()
    assert float(rho) == pytest.approx(2 / float(sigma) ** 2, rel=0.01)
    assert float(sigma) == pytest.approx(math.sqrt(0.5) / math.sinh(1 / 8), rel=0.05)
    assert command(name, "women.csv", folder, "--sigma", sigma, "--force") == 0


def test_a_scale_that_is_too_small_is_refused_with_one_that_is_not(folder, capsys):
    options = ["--sigma", "0.55", "--force", "--accept", "weak-noise"]
    assert command("privatize", "both.csv", folder, *options) == 2
    sigma = re.search(r"give --sigma (\S+)", capsys.readouterr().err)[1]
    assert command("privatize", "both.csv", folder, "--sigma", sigma, "--force") == 0
