"""Sweeps: scenarios in folders of their own, compared; only what is new or failed runs again."""

import copy
import csv
import re

import pytest
import yaml

from reproduction.running.config import ConfigError, check_config
from reproduction.running.scenarios import file_of, scenarios_of
from reproduction.running.yaml_files import read_yaml
from tests import ROOT
from tests.workflow.conftest import SMALL, Checkout, merged
from tests.workflow.test_data import fractional, national_file

SWEEP = {"name": "tiny", "epsilons": [0.1, 1], "norms": ["l1", "l2"], "states": ["DE"]}
COUNTIES = {
    "draws": 20,
    "burn_in": 20,
    "thin": 2,
    "overdispersed": {"epsilon": 0.05, "sweeps": 10},
}
NORM = "l2"  # not what the config has without the sweep
SCENARIOS = [f"DE_{NORM}_{epsilon}_20201116" for epsilon in (0.1, 1)]


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def settings(**changes):
    return merged(SMALL, {"counties": COUNTIES}) | {"sweep": SWEEP | changes}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    checkout = Checkout(tmp_path_factory.mktemp("swept"))
    ledger = checkout.folder / "data/test_sources.csv"
    first = ledger.read_text()
    checkout.write_ledger("20200527", "http://127.0.0.1:9/nhgis_ppdd_20200527_county.zip")
    ledger.write_text(first + ledger.read_text().splitlines()[1] + "\n")
    checkout.write_config(settings(norms=[NORM]))
    done = checkout.run("--cores", "2", "sweep")
    assert done.returncode == 0, done.stdout + done.stderr
    checkout.console = done.stdout + done.stderr
    return checkout


def test_each_scenario_has_a_folder_and_one_figure_compares_them(swept):
    results = swept.folder / "results"
    folders = {path.name for path in (results / "sweeps/tiny").iterdir()}
    assert folders == {"data", *SCENARIOS}
    for name in SCENARIOS:
        folder = results / "sweeps/tiny" / name
        for file in ("counties_states", "counties_rhat", "counties_noise"):
            assert {row["state"] for row in rows(folder / f"tables/{file}.csv")} == {"DE"}
        own = yaml.safe_load((folder / "scenario.yaml").read_text())
        assert name.split("_")[1:3] == [own["counties"]["norm"], f"{own['counties']['epsilon']:g}"]
        assert "published counts" in (folder / "provenance.json").read_text()
    table = rows(results / "tables/sweep_tiny.csv")
    assert [row["scenario"] for row in table] == SCENARIOS
    assert {row["data"] for row in table} == {"published counts alone"}
    for suffix in ("svg", "png", "csv"):
        assert (results / f"figures/sweep_tiny.{suffix}").stat().st_size > 0
    assert "results/figures/sweep_tiny.svg" in swept.console


def test_a_second_run_has_nothing_to_do(swept):
    done = swept.run("--cores", "1", "sweep")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_new_scenarios_run_alone_and_one_that_fails_is_named_and_loses_no_other(swept):
    folder = swept.folder / "results/sweeps/tiny"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    file = national_file(swept.folder, "20200527", "H7V001", damage=fractional)
    swept.write_config(
        settings(
            epsilons=[0.1, 1, 3], norms=[NORM], vintages=["20201116", "20200527"], files=[file.name]
        )
    )
    done = swept.run("--cores", "2", "--keep-going", "sweep")
    assert done.returncode != 0
    console = done.stdout + done.stderr
    assert "Sweep tiny: 3 of 6 scenarios done; not done:" in console
    assert re.search(f"DE_{NORM}_0.1_20200527: .*12.5", console)
    assert len(rows(folder / f"DE_{NORM}_3_20201116/tables/scenario.csv")) == 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
    # the others are compared all the same, and the picture is named
    shown = rows(swept.folder / "results/tables/sweep_tiny.csv")
    done = [f"DE_{NORM}_{epsilon}_20201116" for epsilon in ("0.1", "1", "3")]
    assert [row["scenario"] for row in shown] == done
    assert "results/figures/sweep_tiny.svg" in console


def changed(**changes):
    config = read_yaml(ROOT / "config/config.yaml")
    return config | {"sweep": {key: v for key, v in (SWEEP | changes).items() if v is not None}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilons": [0]}, "sweep.epsilons.0: 0 will not do; wanted: a number from 0.0001 to 20"),
        ({"epsilons": [1, 1.0]}, "sweep.epsilons: [1, 1.0] will not do; wanted: a list of differ"),
        ({"epsilons": None}, "sweep: missing key epsilons"),
        ({"norms": ["l3"]}, "sweep.norms.0: 'l3' will not do; wanted: l1 or l2"),
        ({"states": "paper"}, "sweep.states: 'paper' will not do; wanted: a list of different two"),
        ({"states": ["IL", "ZZ"]}, "sweep.states.1: there is no state 'ZZ'"),
        ({"states": [["IL"], ["TX", "ZZ"]]}, "sweep.states.1.1: there is no state 'ZZ'"),
        ({"vintages": ["20991231"]}, "sweep.vintages.0: '20991231' is not in sources.csv"),
        ({"files": ["nowhere.zip"]}, "sweep.files.0: there is no file nowhere.zip"),
        ({"name": "a/b"}, "sweep.name: 'a/b' will not do; wanted: small letters"),
        ({"epsilon": 1}, "sweep: unknown key epsilon"),
    ],
)
def test_a_wrong_sweep_is_refused(changes, message):
    with pytest.raises(ConfigError) as refused:
        check_config(changed(**changes), ROOT)
    assert str(refused.value).startswith(f"config: {message}")
    assert "\n" not in str(refused.value)


def test_the_example_is_a_right_one():
    example = read_yaml(ROOT / "config/sweep.yaml")
    check_config(changed() | example, ROOT)


def test_every_combination_is_a_scenario_and_a_right_config_of_its_own(monkeypatch):
    monkeypatch.delenv("NHGIS_PPDD_FILE", raising=False)
    config = changed(
        states=[["IL"], ["VT", "DC"]], epsilons=[0.0001, 20], vintages=["20200527", "20201116"]
    )
    before = copy.deepcopy(config)
    found = scenarios_of(config)
    assert config == before
    assert len(found) == 2 * 2 * 2 * 2
    assert "VT-DC_l2_0.0001_20200527" in found
    for entry in found.values():
        plain = {key: value for key, value in config.items() if key != "sweep"}
        check_config(merged(plain, entry), ROOT)
    walk = {name: entry["counties"]["proposal"] for name, entry in found.items()}
    assert walk["IL_l1_0.0001_20200527"] > 0.9999
    assert walk["IL_l1_20_20200527"] == 0.5


def test_a_local_file_serves_the_vintage_in_its_name(monkeypatch):
    monkeypatch.setenv("NHGIS_PPDD_FILE", "mine.zip")
    two = changed(vintages=["20200527", "20201116"], files=["x_20200527.zip"])
    assert file_of(two, "20200527") == ["x_20200527.zip"]
    assert file_of(two, "20201116") == []
    assert file_of(changed(), "20201116") == ["mine.zip"]
