import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import isdp
from isdp import SYSTEM_RANDOMNESS, GeneralizedLaplace, Invariants, draw_noise
from isdp.cli import main
from isdp.commands.privatize.run import FILES, PICTURES, privatize_file
from isdp.commands.shared.noise import draw
from isdp.commands.shared.noise_levels import LEVELS
from isdp.commands.shared.request import NoiseRequest
from isdp.errors import NoSamplerError
from tests import ROOT
from tests.exact_noise import exact_noise

EXAMPLE = ROOT / "docs/example"
OTHER_FILES = {LEVELS, "nonnegative.csv", "nonnegative.parquet", "noisy.parquet"}
WRITTEN = set(FILES) - OTHER_FILES  # in csv, of noise without levels


def test_the_noisy_table_keeps_all_else(run):
    table = pd.read_csv(run.folder / "table.csv")
    assert run() == 0
    assert {path.name for path in run.out.iterdir()} == WRITTEN - set(PICTURES)
    noisy = run.noisy
    assert list(noisy) == list(table)
    assert noisy.drop(columns="count").equals(table.drop(columns="count"))
    assert not noisy["count"].equals(table["count"])
    for columns in (["county"], ["county", "sex"]):
        sums = [each.groupby(columns)["count"].sum() for each in (table, noisy)]
        assert sums[0].equals(sums[1])
    spoken = run.capsys.readouterr()
    assert "24 cells, 10 totals exact" in spoken.out
    assert "epsilon per person is at most 0.5" in spoken.out
    assert spoken.err == ""


def test_what_the_certificate_says(run):
    assert run("--count", "count") == 0
    content = run.certificate
    assert content["for_release"]
    assert content["invariants"] == [
        {"name": "grand total", "totals": 1, "largest_difference": 0},
        {"name": "totals by county", "totals": 3, "largest_difference": 0},
        {"name": "totals by county x sex", "totals": 6, "largest_difference": 0},
    ]
    assert content["lattice"] == {
        "degrees_of_freedom": 18,
        "cells_without_freedom": 0,
        "published_exactly": [],
    }
    law = content["mechanism"]
    assert (law["epsilon"], law["epsilon_decimal"]) == ("1/4", "0.25")
    assert (law["loss_at_distance_2"], law["loss_at_distance_4"]) == ("0.5", "1")
    assert law["statement"] == GeneralizedLaplace(0.25).guarantee.statement()
    assert content["sampler"]["error_bound"] == 0
    assert content["sampler"]["randomness"] == "the operating system (os.urandom)"
    assert content["output"]["negative_counts"] == int((run.noisy["count"] < 0).sum())
    assert content["input"]["published_as_they_are"] == ["county", "sex", "age"]
    digest = hashlib.sha256((run.out / "noisy.csv").read_bytes()).hexdigest()
    assert content["output"]["sha256"] == digest
    rules = hashlib.sha256((run.folder / "rules.yaml").read_bytes()).hexdigest()
    assert content["input"]["invariants_sha256"] == rules
    assert set(content["versions"]) == {"isdp", "numpy", "python-flint"}
    assert content["versions"]["isdp"] == isdp.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", content["date"])
    text = (run.out / "certificate.md").read_text()
    assert "NOT FOR RELEASE" not in text
    assert "| totals by county x sex | 6 | 0 |" in text
    assert str(run.folder) not in text + json.dumps(content)


def test_with_a_seed_runs_are_equal_and_not_for_release(run):
    files = []
    for _ in range(2):
        assert run("--seed", "7", "--force") == 0
        files.append((run.out / "noisy.csv").read_bytes())
    assert files[0] == files[1]
    content = run.certificate
    assert not content["for_release"]
    assert content["status"].startswith("NOT FOR RELEASE")
    assert content["sampler"]["method"] == "compositions"
    assert content["sampler"]["randomness"].endswith("seed 7")
    assert (run.out / "certificate.md").read_text().count("NOT FOR RELEASE") == 1


@pytest.mark.parametrize("options", [("--sigma", "3"), ("--rho", "1/18")])
def test_gaussian_noise_for_release(run, options):
    assert run(*options, "--delta", "1e-6", epsilon=None) == 0
    content = run.certificate
    assert content["for_release"]
    assert content["sampler"]["error_bound"] == 0
    law = content["mechanism"]
    assert (law["flavour"], law["rho"], law["epsilon"]) == ("zCDP", "1/18", None)
    assert law["rho_at_squared_distance_2"] == "0.111112"
    assert law["rho_at_squared_distance_4"] == "0.222223"
    # Canonne, Kamath and Steinke, Corollary 13, at many orders: each is a bound, the best is ours
    orders = 1 + np.geomspace(1e-1, 1e3, 100_001)
    slack = np.log(1e6) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    best = (orders / 9 + slack / (orders - 1)).min()
    assert best - 1e-6 < float(law["epsilon_per_person_at_delta"]) < best + 1e-4
    assert law["at_delta"] == "1e-06"
    text = (run.out / "certificate.md").read_text()
    assert "rho: 1/18 per unit of squared l2 distance" in text
    assert "conversion: Canonne-Kamath-Steinke" in text
    again = run.noisy
    assert run(*options, "--seed", "2", "--force", epsilon=None) == 0
    assert run.certificate["status"].startswith("NOT FOR RELEASE")
    assert not run.noisy.equals(again)


def test_the_example_of_the_documentation(drawing):
    run = drawing
    arguments = ["privatize", str(EXAMPLE / "table.csv"), "--epsilon", "1/4", "--out", str(run.out)]
    assert main([*arguments, "--invariants", str(EXAMPLE / "invariants.yaml")]) == 0
    change = run.noisy["count"] - pd.read_csv(EXAMPLE / "table.csv")["count"]
    cells = change.to_numpy().reshape(4, 4)
    assert not cells.sum(axis=0).any()
    assert not cells.sum(axis=1).any()
    assert {path.name for path in run.out.iterdir()} == WRITTEN
    assert run.certificate["output"]["picture"]
    assert run.certificate["lattice"]["degrees_of_freedom"] == 9
    assert "at a distance of 4" in (run.out / "certificate.md").read_text()


def test_a_long_table(drawing):
    run = drawing
    rng = np.random.default_rng(4)
    cells = np.arange(20_000)
    counts = rng.poisson(20, len(cells))
    table = pd.DataFrame({"count": counts, "county": cells % 100, "tract": cells})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("total: true\ntotals: [county]\n")
    assert run() == 0
    noisy = run.noisy
    sums = [each.groupby("county")["count"].sum() for each in (table, noisy)]
    assert sums[0].equals(sums[1])
    assert noisy["tract"].equals(table["tract"])
    assert run.certificate["lattice"]["degrees_of_freedom"] == 19_900
    assert (run.out / "noisy.svg").stat().st_size < 400_000
    run.rules("totals: [county, tract]\n")
    assert "determine every cell" in run.refused("--force")


def test_cells_that_make_up_a_total_alone(run):
    run.table("county,sex,count\nA,f,4\nA,m,5\nB,f,123457\n")
    run.rules("totals: [county]")
    assert run("--accept", "missing-rows") == 0
    lattice = run.certificate["lattice"]
    assert lattice["cells_without_freedom"] == 1
    assert lattice["published_exactly"] == ["B, f"]
    assert "1 cell is determined" in run.capsys.readouterr().out
    assert run.noisy["count"][2] == 123457
    for name in ("certificate.json", "certificate.md"):
        assert "123457" not in (run.out / name).read_text()


def test_the_certificate_lists_ten_of_many_cells_without_freedom(run):
    cells = [f"{place},x,{count}" for place, count in zip("abcdefghijkl", range(12), strict=True)]
    run.table("\n".join(["place,sex,count", *cells, "m,x,3", "m,y,4"]))
    run.rules("totals: [place]")
    assert run() == 0
    lattice = run.certificate["lattice"]
    assert lattice["cells_without_freedom"] == 12
    assert lattice["published_exactly"] == [f"{place}, x" for place in "abcdefghij"]
    text = (run.out / "certificate.md").read_text()
    assert "12, which are **published exactly**: a, x; b, x;" in text
    assert "j, x; ..." in text


GOOD = "county,sex,count\nA,f,4\nA,m,5\nB,f,6\nB,m,7\n"


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.replace("county", '"county"').encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("A,f,4", '"A","f", 4 ').encode(),
    ],
)
def test_tables_as_other_programs_write_them(run, text):
    run.table(text, raw=True)
    run.rules("totals: [county]")
    assert run() == 0
    assert list(run.noisy) == ["county", "sex", "count"]
    assert run.noisy["county"].tolist() == list("AABB")


def test_a_table_too_large_for_a_markov_chain(run):
    cells = np.arange(2100)
    table = pd.DataFrame({"a": cells % 30, "b": cells // 30, "count": 5})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [a, b]")
    error = run.refused("--seed", "1", "--allow-mcmc")
    assert "a Markov chain accepts at most" in error


def test_the_sizes_that_the_documentation_names_are_those_that_are_drawn():
    words = " ".join((ROOT / "docs/privatize.md").read_text().split())
    (found,) = re.findall(
        r"small tables only: (\d+) x (\d+) at epsilon ([\d.]+), (\d+) x (\d+) from ([\d.]+) up",
        words,
    )
    rows, columns, epsilon, more_rows, more_columns, larger = found
    taken = Invariants.margins((int(rows), int(columns)))
    beyond = Invariants.margins((int(more_rows), int(more_columns)))
    source = np.random.default_rng(47).bytes  # of which few tries are made
    assert exact_noise(GeneralizedLaplace(epsilon), taken, source=source).any()
    # at an epsilon so large most draws are 0: all of 6000 are once in 70,000 times
    assert any(
        exact_noise(GeneralizedLaplace(larger), beyond, 300, source=source).any() for _ in range(20)
    )
    with pytest.raises(NoSamplerError):
        draw_noise(GeneralizedLaplace(epsilon), beyond, rng=SYSTEM_RANDOMNESS)


@pytest.mark.parametrize("given", [{"epsilon": "1/4"}, {"epsilon": 1, "experiment": True}])
def test_nothing_published_depends_on_more_than_the_noisy_table(drawing, given):
    """Two tables of equal totals that end as one noisy table end as the same files."""
    run = drawing
    table = pd.read_csv(run.folder / "table.csv")
    goal = table["count"] + np.tile([-70, 40, 20, 10], 6)
    files = []
    for move in (0, 5):
        table["count"] += np.repeat([move, -move, 0], [1, 1, 22])
        table.to_csv(run.folder / "table.csv", index=False)

        noise = (goal - table["count"]).to_numpy(copy=True)

        def sampler(free, request, noise=noise):
            return replace(draw(free, request), noise=noise)

        inputs = run.folder / "table.csv", run.folder / "rules.yaml"
        certificate = privatize_file(
            *inputs, NoiseRequest(**given), run.out, force=True, sampler=sampler
        )
        assert run.noisy["count"].tolist() == goal.tolist()
        assert certificate["output"]["negative_counts"] > 0
        date = certificate["date"].encode()
        paths = {path.name: path for path in run.out.iterdir()}
        assert WRITTEN - paths.keys() <= {"registry.yaml"}  # experiments have no record
        files.append({name: paths[name].read_bytes().replace(date, b"") for name in paths})
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("--epsilon=0", "epsilon"),
        ("--epsilon=-1", "epsilon"),
        ("--epsilon=much", "epsilon"),
        ("--epsilon=1e30000000", "epsilon"),
        ("", "epsilon"),
        ("--epsilon=1 --sigma=2", "sigma"),
        ("--sigma=wide", "sigma"),
        ("--sigma=-2", "sigma"),
        ("--rho=0", "rho"),
        ("--rho=1/0", "rho"),
        ("--rho=1e-400000000", "rho"),
        *((f"--rho=1 --delta={wrong}", "delta") for wrong in ("0", "1", "-1", "nan", "few")),
        ("--epsilon=1 --delta=1e-6", "delta"),
        ("--epsilon=1 --seed=x", "--seed"),
        ("--epsilon=1 --seed=--", "--seed"),
        ("--rho=1 --delta=--", "--delta"),
        (f"--epsilon=1 --seed={'1' * 5000}", "--seed"),
        ("--epsilon=1 --allow-mcmc", "--for-experiments"),
        ("--epsilon=1 --name=town", "'town'"),
        ("--epsilon=1 --count=people", "'people'"),
    ],
)
def test_options_that_are_refused(run, options, named):
    assert named in run.refused(*options.split(), epsilon=None)


def test_a_markov_chain_is_asked_for_and_gives_its_evidence(run):
    table = pd.DataFrame(np.argwhere(np.ones((10, 10))), columns=["a", "b"])
    table.assign(count=9 + table["a"] * table["b"] % 7).to_csv(
        run.folder / "table.csv", index=False
    )
    run.rules("totals: [a, b]")
    assert "--allow-mcmc" in run.refused("--seed", "1")
    assert run("--seed", "1", "--allow-mcmc") == 0
    certificate = run.certificate
    sampler, evidence = certificate["sampler"], certificate["sampler"]["evidence"]
    assert certificate["status"].startswith("NOT FOR RELEASE")
    assert sampler["error_bound"] is None
    assert 0.99 < evidence["worst_rhat"] == round(evidence["worst_rhat"], 4) < 1.1
    assert evidence["chains"] == 4
    kept = evidence["kept_states_a_chain"] * evidence["sweeps_between_kept_states"]
    assert evidence["sweeps_before_the_released_state"] == evidence["burn_in_sweeps"] + kept
    text = (run.out / "certificate.md").read_text()
    assert str(evidence["worst_rhat"]) in text
    assert "NOT FOR RELEASE" in text
