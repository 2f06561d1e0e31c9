"""Sweeps: each scenario has a folder and all are compared; only new or failed scenarios run."""

import copy
import csv
import re

import pytest
import yaml

from reproduction.config.model import check_config
from reproduction.jobs.scenarios import find_local_files, list_scenarios, select_scenario
from reproduction.jobs.settings import ConfigError
from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT
from tests.reproduction.data.test_demonstration import GENUINE
from tests.workflow.conftest import SMALL, Checkout, merged

SWEEP = {"name": "tiny", "epsilons": [0.1, 1], "norms": ["l1", "l2"], "states": ["DE"]}
COUNTIES = {
    "draws": 20,
    "burn_in": 20,
    "thin": 2,
    "overdispersed": {"epsilon": 0.05, "sweeps": 10},
}
NORM = "l2"  # not what the config has without the sweep


def folder_of(epsilon, vintage="20201116"):
    return f"states~DE_norm~{NORM}_epsilon~{epsilon}_vintage~{vintage}"


SCENARIOS = [folder_of(0.1), folder_of(1)]


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
        assert name == folder_of(f"{own['counties']['epsilon']:g}")
        assert own["counties"]["norm"] == NORM
        assert "published counts" in (folder / "provenance.json").read_text()
    table = rows(results / "tables/sweep_tiny.csv")
    assert [row["scenario"] for row in table] == SCENARIOS
    assert {row["data"] for row in table} == {"published counts alone"}
    for suffix in ("svg", "png", "csv"):
        assert (results / f"figures/sweep_tiny.{suffix}").stat().st_size > 0
    assert "results/figures/sweep_tiny.svg" in swept.console


def test_new_scenarios_run_alone_and_a_failure_does_not_stop_the_others(swept):
    folder = swept.folder / "results/sweeps/tiny"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    file = swept.folder / "nhgis_ppdd_20200527_county.csv"
    file.write_text(GENUINE)  # with the column of a later vintage
    longer = {"epsilons": [0.1, 1, 3], "norms": [NORM]}
    swept.write_config(settings(**longer, vintages=["20201116", "20200527"], files=[file.name]))
    done = swept.run("--cores", "2", "--keep-going", "sweep")
    assert done.returncode != 0
    assert re.search(f"error: {file.stem}.*H7V001_dp", done.stdout + done.stderr)
    assert "Traceback" not in done.stdout + done.stderr
    assert len(rows(folder / folder_of(3) / "tables/scenario.csv")) == 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
    # without the vintage of the wrong file, the comparison alone is missing
    swept.write_config(settings(**longer))
    done = swept.run("--cores", "2", "sweep")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = rows(swept.folder / "results/tables/sweep_tiny.csv")
    assert [row["scenario"] for row in shown] == [folder_of(epsilon) for epsilon in (0.1, 1, 3)]
    assert {path: path.stat().st_mtime_ns for path in before} == before


def changed(**changes):
    config = read_yaml(ROOT / "config/config.yaml")
    return config | {"sweep": {key: v for key, v in (SWEEP | changes).items() if v is not None}}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"epsilons": [0]}, "sweep.epsilons.0"),
        ({"epsilons": [1, 1.0]}, "sweep.epsilons"),
        ({"epsilons": None}, "sweep"),
        ({"norms": ["l3"]}, "sweep.norms.0"),
        ({"states": "paper"}, "sweep.states"),
        ({"states": ["IL", "ZZ"]}, "sweep.states.1"),
        ({"states": [["IL"], ["TX", "ZZ"]]}, "sweep.states.1.1"),
        ({"states": [["IL"], "TX"]}, "sweep.states.1"),
        ({"vintages": ["20991231"]}, "sweep.vintages.0"),
        ({"files": ["nowhere.zip"]}, "sweep.files.0"),
        ({"name": "a/b"}, "sweep.name"),
        ({"epsilon": 1}, "sweep"),
    ],
)
def test_a_wrong_sweep_is_refused(changes, key):
    with pytest.raises(ConfigError) as refused:
        check_config(changed(**changes), ROOT)
    message = str(refused.value)
    assert message.startswith(f"config: {key}: ")
    assert "\n" not in message


def test_every_combination_is_a_scenario_and_a_right_config_of_its_own(monkeypatch):
    monkeypatch.delenv("NHGIS_PPDD_FILE", raising=False)
    config = changed(
        states=[["IL"], ["VT", "DC"]], epsilons=[0.0001, 20], vintages=["20200527", "20201116"]
    )
    before = copy.deepcopy(config)
    space = list_scenarios(config)
    assert len(space.drop_duplicates()) == 2 * 2 * 2 * 2
    assert ("VT-DC", "l2", "0.0001", "20200527") in set(space.itertuples(index=False, name=None))
    plain = {key: value for key, value in config.items() if key != "sweep"}
    for scenario in space.to_dict("records"):
        entry = select_scenario(config, scenario)
        check_config(merged(plain, entry), ROOT)
    assert config == before


def test_a_local_file_serves_the_vintage_in_its_name(monkeypatch):
    monkeypatch.setenv("NHGIS_PPDD_FILE", "mine.zip")
    two = changed(vintages=["20200527", "20201116"], files=["x_20200527.zip"])
    assert find_local_files(two, "20200527") == ["x_20200527.zip"]
    assert find_local_files(two, "20201116") == []
    assert find_local_files(changed(), "20201116") == ["mine.zip"]
