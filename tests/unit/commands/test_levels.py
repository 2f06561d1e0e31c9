"""Noise with a term for each total of some levels, in `isdp privatize`, `plan` and `check`."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import isdp
from isdp import Invariants
from isdp.cli import main
from isdp.commands.account import account
from isdp.commands.check import check, read_noise
from isdp.commands.privatize.nonnegative import nonnegative_counts
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.guarantee import move_losses, privacy_guarantee, request_for_table
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.noise_levels import NoiseLevels, TableLevels
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import read_table
from isdp.errors import InputError
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import CrossingGaussian, NestedGaussian, SetTree
from tests.unit.commands.moves import check_moves

G2 = {"all:cell": "1/10", "state:cell": "2/10", "county:total": "3/10", "county:cell": "4/10"}


@pytest.fixture
def frame():
    """Two states with two and three counties, each with the cells of two groups by two ages."""
    counties = [("A", "A1"), ("A", "A2"), ("B", "B1"), ("B", "B2"), ("B", "B3")]
    cells = list(product(["h", "n"], ["old", "young"]))
    rows = [(*county, *cell) for county, cell in product(counties, cells)]
    table = pd.DataFrame(rows, columns=["state", "county", "hispanic", "age"])
    return table.assign(count=[50 + 7 * i % 13 for i in range(len(table))])


@pytest.fixture
def files(tmp_path, frame, capsys):
    """Run a command on the table, with the totals of the states held."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "rules.yaml").write_text("totals: [state]\n")

    def run(command, *options, wanted=0):
        table = ["--cells"] * (command == "plan") + [str(tmp_path / "table.csv")]
        rules = ["--invariants", str(tmp_path / "rules.yaml")]
        out = ["--out", str(tmp_path / command), "--no-picture", "--force"]
        assert main([command, *table, *rules, *out, "--levels", "state,county", *options]) == wanted
        said = capsys.readouterr()
        if wanted:
            assert not (tmp_path / command).exists()
            assert said.err.count("\n") == 1
        return said.err if wanted else said.out

    run.folder = tmp_path
    return run


def shares(given):
    return [f"--share={name}={share}" for name, share in given.items()]


def test_the_budget_is_the_loss_of_the_mechanism_per_person(files, frame):
    files("privatize", "--rho", "1.24", "--share=county=0.25", "--share=cell=0.75")
    content = json.loads((files.folder / "privatize/certificate.json").read_text())
    assert content["mechanism"]["rho"] == "31/25"
    tree = SetTree.from_columns({name: frame[name] for name in ("state", "county")})
    noise = NestedGaussian(tree, {"county": Fraction(100, 31), "cell": Fraction(100, 93)})
    states = Invariants(np.repeat(np.eye(2, dtype=int), [8, 12], axis=1))
    assert noise.guarantee_of(states).loss == Fraction("1.24")
    terms = {term["level"]: term for term in content["levels"]["terms"]}
    assert {name: term["variance"] for name, term in terms.items()} == {
        "all": None,
        "state": None,
        "county": "100/31",
        "cell": "100/93",
    }
    variances = NestedAccuracy(noise, states).variance_bounds()
    for name, level in (("county", 2), ("cell", 3)):
        expected = variances[tree.level_of == level].mean() ** 0.5
        assert expected <= terms[name]["rmse"] <= expected * (1 + 1e-5)


def test_the_released_table_keeps_the_totals_and_adds_up(files, frame):
    files("privatize", "--rho", "1", *shares(G2), "--groups", "hispanic")
    noisy = pd.read_csv(files.folder / "privatize/noisy.csv")
    for columns in ([], ["state"]):
        sums = [
            each.groupby([*columns, each["count"] * 0])["count"].sum() for each in (frame, noisy)
        ]
        assert sums[0].tolist() == sums[1].tolist()
    findings = check(
        files.folder / "privatize/noisy.csv",
        files.folder / "rules.yaml",
        certificate_path=files.folder / "privatize/certificate.json",
    )
    assert all(finding.holds for finding in findings)
    assert "privacy loss of the levels" in {finding.item for finding in findings}


def test_a_changed_scale_in_the_certificate_is_noticed(files):
    files("privatize", "--rho", "1")
    path = files.folder / "privatize/certificate.json"
    content = json.loads(path.read_text())
    content["levels"]["terms"][-1]["variance"] = "2001/1000"
    path.write_text(json.dumps(content))
    findings = check(
        files.folder / "privatize/noisy.csv", files.folder / "rules.yaml", certificate_path=path
    )
    wrong = [finding.item for finding in findings if not finding.holds]
    assert wrong == ["privacy loss of the levels"]


@pytest.mark.parametrize(
    "options",
    [
        ["--rho=1", *shares(G2), "--groups=hispanic"],
        ["--epsilon=1/3"],
        ["--error=cell=2", "--error=county=1"],
    ],
)
def test_the_noise_is_read_back_from_the_certificate(files, options):
    files("privatize", *options)
    paths = [files.folder / name for name in ("privatize/noisy.csv", "rules.yaml")]
    mechanism, held = read_noise(*paths, files.folder / "privatize/certificate.json")
    content = json.loads((files.folder / "privatize/certificate.json").read_text())
    guarantee = mechanism.guarantee_of(held)
    assert content["mechanism"][guarantee.parameter] == str(guarantee.loss)
    assert content["mechanism"]["name"] == mechanism.name
    draws = isdp.draw_noise(mechanism, held, n_draws=3000, rng=np.random.default_rng(5))
    counties = draws.reshape(3000, 5, 4).sum(axis=2)
    (term,) = (t for t in content["levels"]["terms"] if t["level"] in ("county", "county:total"))
    # 3,000 draws of five totals, whose squares have a standard error below 2 percent
    assert np.sqrt((counties**2).mean()) == pytest.approx(term["rmse"], rel=0.09)


def test_the_errors_that_are_asked_for_are_met_with_the_smallest_budget(files):
    files("plan", "--error=county=2", "--error=cell=1.5")
    table = pd.read_csv(files.folder / "plan/levels.csv").set_index("level")
    assert table.loc["county", "rmse"] == pytest.approx(2, rel=1e-4)
    assert table.loc["cell", "rmse"] == pytest.approx(1.5, rel=1e-4)
    assert (table.loc[["county", "cell"], "rmse"] <= [2, 1.5]).all()
    # the county's error is not binding: its term is left out
    files("plan", "--error=county=20", "--error=cell=1.5")
    table = pd.read_csv(files.folder / "plan/levels.csv").set_index("level")
    assert np.isnan(table.loc["county", "variance"])
    assert table.loc["county", "rmse"] < 20
    assert table.loc["cell", "rmse"] == pytest.approx(1.5, rel=1e-4)


def test_plan_and_privatize_state_the_same_errors(files):
    options = ["--rho", "1/2", *shares(G2), "--groups", "hispanic"]
    files("plan", *options)
    files("privatize", *options)
    for mine, other in (("levels.csv", "levels.csv"), ("plan.csv", "margins_full.csv")):
        texts = files.folder / "plan" / mine, files.folder / "privatize" / other
        assert texts[0].read_text() == texts[1].read_text()


def test_a_margin_of_a_sum_is_the_exact_one_or_an_upper_bound(files):
    """The standard deviation of a sum that crosses the regions, from 20,000 draws."""
    files("privatize", "--rho", "1", *shares(G2), "--groups", "hispanic")
    margins = pd.read_csv(files.folder / "privatize/margins.csv").set_index("name")
    paths = [files.folder / name for name in ("privatize/noisy.csv", "rules.yaml")]
    noise, held = read_noise(*paths, files.folder / "privatize/certificate.json")
    assert isinstance(noise, CrossingGaussian)
    draws = isdp.draw_noise(noise, held, n_draws=20_000, rng=np.random.default_rng(3))
    sums = draws.reshape(-1, 5, 2, 2).sum(axis=(1, 3))[:, 0]
    sd, limit = margins.loc["hispanic: h", ["sd", "limit_95"]]
    assert 0.97 < sums.std() / sd < 1.02
    assert (abs(sums) > limit).mean() < 0.05


def test_the_table_without_negative_counts_keeps_the_totals_and_the_noisy_table(files, frame):
    frame["count"] = [i % 3 for i in range(len(frame))]
    frame.to_csv(files.folder / "table.csv", index=False)
    files("privatize", "--rho=0.1", "--nonnegative")
    noisy, other = (
        pd.read_csv(files.folder / "privatize" / name) for name in ("noisy.csv", "nonnegative.csv")
    )
    assert noisy["count"].min() < 0 <= other["count"].min()
    totals = [each.groupby("state")["count"].sum().tolist() for each in (frame, noisy, other)]
    assert totals[0] == totals[1] == totals[2]
    assert other.drop(columns="count").equals(frame.drop(columns="count"))
    certificate = (files.folder / "privatize/certificate.md").read_text()
    assert "biased" in certificate
    assert "nonnegative.csv: sha256" in certificate


def test_regions_in_another_order_keep_their_counts_without_negative_counts(frame, tmp_path):
    """A table without negative counts is the nearest one to itself."""
    order = frame["county"].map({"B2": 0, "A2": 1, "B3": 2, "A1": 3, "B1": 4})
    frame.iloc[np.argsort(order, kind="stable")].to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv")
    found = nonnegative_counts(table, NoiseLevels(("state", "county")), ("state",), table.counts)
    assert found.tolist() == table.counts.tolist()


def test_the_sets_of_a_table_in_any_order_are_those_of_its_labels(frame, tmp_path):
    mixed = frame.assign(count=range(len(frame))).sample(frac=1, random_state=3)
    mixed.to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv")
    tree = TableLevels(NoiseLevels(("state", "county")), table).tree
    totals = tree.totals(table.counts)
    for level, columns in enumerate((["state"], ["state", "county"]), start=1):
        sums = mixed.groupby(columns)["count"].sum()
        assert sorted(totals[tree.level_of == level]) == sorted(sums)


def test_only_totals_of_levels_stay_exact_without_negative_counts(files):
    (files.folder / "rules.yaml").write_text("subsets: {old: {state: A, county: A1, age: old}}\n")
    assert "--nonnegative" in files("privatize", "--rho=1", "--nonnegative", wanted=2)


def test_the_data_frame_is_released_with_the_same_levels(frame):
    levels = NoiseLevels(("state", "county"), ("hispanic",))
    made = isdp.privatize(frame, count="count", totals=["state"], rho=1, levels=levels)
    assert made.levels is not None
    assert made.levels["share"].sum() == pytest.approx(1)
    sums = [each.groupby("state")["count"].sum().tolist() for each in (frame, made.frame)]
    assert sums[0] == sums[1]
    request = isdp.NoiseRequest(rho=1)
    with pytest.raises(InputError, match="request"):
        isdp.privatize(frame, count="count", totals=["state"], request=request, levels=levels)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("", "epsilon, rho"),
        ("--rho=1 --share=county=1", "cell"),
        ("--rho=1 --share=county=0.5 --share=cell=0.4", "--share"),
        ("--rho=1 --share=state=0.5 --share=cell=0.5", "'state'"),
        ("--rho=1 --share=town=0.5 --share=cell=0.5", "'town'"),
        ("--rho=1 --share=cell=-1 --share=county=2", "positive"),
        ("--rho=1 --share=cell=1/2 --share=cell=1/2", "repeated"),
        ("--rho=1 --share=cell=many", "--share: cell"),
        ("--rho=1 --share=cell", "NAME=VALUE"),
        ("--rho=1 --error=cell=1", "--error"),
        ("--error=county=1", "cell"),
        ("--error=cell=0", "positive"),
        ("--error=state=1 --error=cell=1", "'state'"),
        ("--error=cell=1 --share=cell=1", "--share, --error"),
        ("--error=cell=1 --error=cell=2", "repeated"),
        ("--error=cell=1 --error=county=1 --error=state=1", "'state'"),
        ("--epsilon=1 --groups=hispanic", "--groups"),
        ("--epsilon=1 --norm=l2 --for-experiments", "norm"),
        ("--sigma=2", "sigma"),
        ("--rho=1 --per-unit", "per"),
        ("--rho=1 --groups=sex", "'sex'"),
        ("--rho=1 --groups=county", "'county'"),
        ("--rho=1 --levels=state,town", "'town'"),
        ("--rho=1 --levels=all", "'all'"),
        ("--rho=1 --levels=county,state", "'state'"),
        ("--rho=1 --groups=age,age", "'age'"),
        ("--rho=1 --levels=county --groups=age --share=county:age=1", "county:cell"),
    ],
)
def test_options_that_contradict_each_other_are_refused(files, options, named):
    assert named in files("privatize", *options.split(), wanted=2)


def test_groups_need_the_same_cells_of_each_region_in_one_order(files, frame):
    for other in (frame.iloc[:-1], frame.sort_values("age"), frame.iloc[[1, 0, *range(2, 20)]]):
        other.to_csv(files.folder / "table.csv", index=False)
        said = files("privatize", "--rho=1", "--groups=hispanic", "--accept=missing-rows", wanted=2)
        assert "table.csv" in said


def test_totals_that_do_not_suit_the_levels_are_refused(files):
    (files.folder / "rules.yaml").write_text("totals: [age]\n")
    assert "invariants" in files("privatize", "--rho=1", wanted=2)


def test_losses_per_person_add_up_under_the_same_totals(files):
    """Plain Gaussian noise has a loss per distance, and noise with levels one per person."""
    files("privatize", "--rho=0.5")
    by_level = files.folder / "privatize/certificate.json"
    plain = files.folder / "plain"
    command = ["privatize", str(files.folder / "table.csv"), "--rho=0.25", "--no-picture"]
    rules = ["--invariants", str(files.folder / "rules.yaml")]
    assert main([*command, *rules, "--out", str(plain)]) == 0
    paths = [by_level, plain / "certificate.json"]
    assert account(paths).guarantee.loss_per_person == Fraction(3, 4)
    cells = {"cells_path": plain / "noisy.csv", "invariants_paths": rules[1:]}
    assert account(paths, **cells).guarantee.loss_per_person == Fraction(3, 4)


def test_losses_under_unlike_totals_are_not_added(files):
    """Both margins force an exchange, for which the losses of single moves are not valid."""
    files("privatize", "--rho=0.5")
    by_level = files.folder / "privatize/certificate.json"
    (files.folder / "ages.yaml").write_text("totals: [[hispanic, age]]\n")
    command = ["privatize", str(files.folder / "table.csv"), "--rho=0.25", "--no-picture"]
    rules = ["--invariants", str(files.folder / "ages.yaml")]
    assert main([*command, *rules, "--out", str(files.folder / "plain")]) == 0
    with pytest.raises(InputError, match="unit of distance"):
        account([by_level, files.folder / "plain/certificate.json"])


def test_losses_of_single_moves_are_not_added_where_only_exchanges_are_possible(files):
    rules = [files.folder / "rules.yaml", files.folder / "ages.yaml"]
    rules[0].write_text("totals: [county]\n")
    rules[1].write_text("totals: [[hispanic, age]]\n")
    files("privatize", "--rho=0.5")
    command = ["privatize", str(files.folder / "table.csv"), "--rho=0.25", "--no-picture"]
    plain = files.folder / "plain"
    assert main([*command, "--invariants", str(rules[1]), "--out", str(plain)]) == 0
    paths = [files.folder / "privatize/certificate.json", plain / "certificate.json"]
    with pytest.raises(InputError, match="unit of distance"):
        account(paths, cells_path=plain / "noisy.csv", invariants_paths=rules)


@pytest.mark.parametrize("budget", [{"epsilon": Fraction(1)}, {"rho": Fraction(1)}])
@pytest.mark.parametrize("groups", [None, ("hispanic",)])
def test_the_losses_of_moves_are_those_of_all_pairs_of_cells(tmp_path, frame, budget, groups):
    if groups and "epsilon" in budget:
        return  # noise with groups is Gaussian
    kept = frame[frame["county"].isin(["A1", "A2", "B1", "B2"]) & (frame["age"] == "old")]
    kept.to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv")
    held = [HeldTotals("totals by state", table.groups(["state"]), ("state",))]
    free = find_degrees_of_freedom(held)
    levels = NoiseLevels(("state", "county"), groups)
    request = request_for_table(NoiseRequest(levels=levels, **budget), free, table)
    found = move_losses(request, privacy_guarantee(request, free), free, size_held=True)
    changes = np.array(list(product([-1, 0, 1], repeat=8)))
    changes = changes[~free.invariants.apply(changes).any(axis=1)]
    losses = -request.mechanism.log_weight(changes)
    pairs = check_moves(found, changes, losses)
    two_moves = (np.abs(changes).reshape(-1, 2, 4).sum(axis=2) == 2).all(axis=1)
    largest = max(*pairs, *losses[two_moves])
    assert largest <= float(found.farthest) * (1 + 1e-9)
    assert groups or largest == pytest.approx(float(found.farthest))
