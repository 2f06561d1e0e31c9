"""A wrong config is refused with one line before any job runs."""

import pytest
from jsonschema import Draft202012Validator

from reproduction.running.config import ConfigError, check_config, leave_out_nulls, read_schema
from reproduction.running.describe import described, page_with, referred, table
from reproduction.running.yaml_files import read_yaml
from tests import ROOT
from tests.workflow.conftest import merged

CONFIG, SMOKE = (read_yaml(ROOT / "config" / name) for name in ("config.yaml", "smoke.yaml"))
SCHEMA = read_schema(ROOT)


@pytest.mark.parametrize("changes", [{}, SMOKE], ids=["config", "smoke"])
def test_the_projects_configs_fit_the_schema(changes):
    Draft202012Validator.check_schema(SCHEMA)
    config = merged(CONFIG, changes)
    leave_out_nulls(config)
    Draft202012Validator(SCHEMA).validate(config)


def leaves(node, path=()):
    for key, value in node.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def test_smoke_holds_what_differs_and_nothing_else():
    usual = dict(leaves(CONFIG))
    for path, value in leaves(SMOKE):
        assert value is None or usual[path] != value, ".".join(path)


def undescribed(node, path=()):
    """Keys without a meaning beside others that have one."""
    node = {**referred(SCHEMA, node), **node}
    inner = {k: v for k, v in node.get("properties", {}).items() if isinstance(v, dict)}
    if not path or any("description" in value for value in inner.values()):
        yield from [(*path, key) for key, value in inner.items() if "description" not in value]
        for key, value in inner.items():
            yield from undescribed(value, (*path, key))


def test_every_key_of_the_schema_has_a_meaning():
    assert list(undescribed(SCHEMA)) == []
    meanings = dict(described(SCHEMA, SCHEMA))
    assert {"lattices.experiments.NAME.laws.LAW.sigma", "congenial.two_bin.draws"} <= set(meanings)


def test_the_readme_has_the_table_that_the_schema_gives():
    text = (ROOT / "config/README.md").read_text()
    assert page_with(text, table(SCHEMA)) == text, "`make keys` writes it anew"


def changed(changes):
    """The project's config with some keys changed, as --configfile does it."""
    return merged(CONFIG, changes)


def test_null_leaves_out_an_experiment_or_a_law():
    lattices = {"small": None, "contingency": {"laws": {"l2": None}}}
    config = changed({"lattices": {"experiments": lattices}})
    leave_out_nulls(config)
    check_config(config, ROOT)
    assert set(config["lattices"]["experiments"]) == {"intersecting", "contingency"}
    assert set(config["lattices"]["experiments"]["contingency"]["laws"]) == {"l1", "gaussian"}
    assert set(config["lattices"]["experiments"]["contingency"]["printed"]) == {"l1"}
    only = dict.fromkeys(CONFIG["lattices"]["experiments"])
    only = changed({"lattices": {"experiments": only}})
    leave_out_nulls(only)
    with pytest.raises(ConfigError, match=r"lattices\.experiments"):
        check_config(only, ROOT)


def test_null_leaves_out_a_configuration_of_topdown_but_not_the_rule():
    config = changed({"topdown": {"runs": {"slides": None}}})
    leave_out_nulls(config)
    check_config(config, ROOT)
    assert "slides" not in config["topdown"]["runs"]
    config = changed({"topdown": {"runs": {"identity 4": None}}})
    leave_out_nulls(config)
    with pytest.raises(ConfigError, match="'identity 4' may not be left out"):
        check_config(config, ROOT)


WRONG = {
    "a state that there is not, nationally": (
        {"national": {"states": ["DE", "XX"]}},
        "national.states.1: there is no state 'XX'",
    ),
    "a batch of nothing": (
        {"national": {"batch": {"noise": 0}}},
        "national.batch.noise: 0 will not do; wanted: a whole number from 1 up",
    ),
    "no budgets": (
        {"national": {"epsilons": []}},
        "national.epsilons: [] will not do; wanted: a list of different numbers above 0",
    ),
    "a machine without cores": (
        {"national": {"cost": {"machines": [[1]]}}},
        "national.cost.machines.0: [1] will not do; wanted: two whole numbers from 1 up",
    ),
    "an unknown key": ({"counties": {"epsilom": 1}}, "counties: unknown key epsilom"),
    "epsilon zero": ({"counties": {"epsilon": 0}}, "counties.epsilon: 0 will not do"),
    "epsilon nan": ({"counties": {"epsilon": float("nan")}}, "counties.epsilon: nan"),
    "epsilon as text": ({"counties": {"epsilon": "0.1"}}, "counties.epsilon: '0.1'"),
    "norm l3": ({"counties": {"norm": "l3"}}, "counties.norm: 'l3' will not do; wanted: l1 or l2"),
    "no such state": ({"counties": {"states": ["IL", "ZZ"]}}, "counties.states.1: there is no"),
    "a state twice": ({"counties": {"states": ["IL", "IL"]}}, "different two-letter states"),
    "no states": ({"counties": {"states": []}}, "different two-letter states"),
    "one chain": ({"counties": {"chains": 1}}, "counties.chains: 1 will not do"),
    "proposal one": ({"counties": {"proposal": 1}}, "between 0 and 1, both excluded"),
    "a block as a number": ({"counties": 3}, "counties: 3 will not do"),
    "narrow starts": (
        {"counties": {"overdispersed": {"epsilon": 0.5}}},
        "counties.overdispersed.epsilon: must be below counties.epsilon",
    ),
    "a negative seed": ({"seed": -1}, "seed: -1 will not do"),
    "no such vintage": ({"data": {"vintage": "20991231"}}, "data.vintage: '20991231' is not in"),
    "a vintage as a number": ({"data": {"vintage": 20201116}}, "eight digits in quotes"),
    "no such file": ({"data": {"file": "nowhere.zip"}}, "there is no file nowhere.zip"),
    "shapes that differ": (
        {"lattices": {"experiments": {"contingency": {"counts": [[1, 2], [3, 4]]}}}},
        "contingency: counts: the counts have shape (2, 2), the axes give (4, 4)",
    ),
    "a negative count": (
        {"lattices": {"experiments": {"contingency": {"counts": [[-1] * 4] * 4}}}},
        "counts: -1 is not a count",
    ),
    "a fractional count": (
        {"lattices": {"experiments": {"contingency": {"counts": [[0.5] * 4] * 4}}}},
        "counts: 0.5 is not a count",
    ),
    "a margin of a missing axis": (
        {"lattices": {"experiments": {"contingency": {"held": [["county"], ["age"]]}}}},
        "names the axis 'age', but the table has county, education",
    ),
    "a record that does not exist": (
        {"lattices": {"experiments": {"intersecting": {"constraints": {"A": [1, 15]}}}}},
        "A holds record 15, but records go from 1 to 14",
    ),
    "a proposal of one": (
        {
            "lattices": {
                "experiments": {"contingency": {"laws": {"l1": {"proposal": {"paper": 1.0}}}}}
            }
        },
        "lattices.experiments.contingency.laws.l1.proposal.paper: 1.0 will not do; wanted: a",
    ),
    "a printed table of another shape": (
        {"lattices": {"experiments": {"contingency": {"printed": {"l1": [[1, 2]]}}}}},
        "lattices.experiments.contingency.printed.l1",
    ),
    "a law without epsilon": (
        {
            "lattices": {
                "experiments": {
                    "mine": {"records": 2, "constraints": {"A": [1]}, "laws": {"x": {}}}
                }
            }
        },
        "lattices.experiments.mine.laws.x: missing key proposal",
    ),
    "a lag factor of zero": (
        {"lattices": {"coupling": {"lag_factors": [0, 1]}}},
        "coupling.lag_factors",
    ),
    "an unknown variant": (
        {"lattices": {"noise": {"variant": "best"}}},
        "lattices.noise.variant: 'best' will not do",
    ),
    "a table with 22 age groups": (
        {"congenial": {"sex_by_age": {"counts": {"male": [1] * 22}}}},
        "sex_by_age.counts: sex by age: male has 22 age groups",
    ),
    "a negative count of people": (
        {"congenial": {"sex_by_age": {"counts": {"female": [-1] * 23}}}},
        "female, under 5: -1 is not a count",
    ),
    "a file without a county": (
        {"congenial": {"sex_by_age": {"file": "p12.csv"}}},
        "belong together",
    ),
    "a P12 file that is not there": (
        {"congenial": {"sex_by_age": {"file": "nowhere.csv", "county": "X"}}},
        "sex_by_age.file: there is no file nowhere.csv",
    ),
    "cells that do not follow from the others": (
        {"congenial": {"sex_by_age": {"solved": [1, 2, 3]}}},
        "columns have rank 1, but the equalities have rank 3",
    ),
    "rates without their parameters": (
        {"congenial": {"sex_by_age": {"acceptance": {"paper": [1.0]}}}},
        "sex_by_age.acceptance.paper: wanted: one number or null for each of the 10",
    ),
    "a weight above one": (
        {"congenial": {"two_bin": {"betas": [0, 1.5]}}},
        "two_bin.betas.1: 1.5 will not do",
    ),
    "no simulation": (
        {"counties": {"projection": {"simulations": 0}}},
        "projection.simulations: 0 will not do",
    ),
    "an epsilon too small": (
        {"counties": {"truncation": {"epsilons": [0, 1]}}},
        "truncation.epsilons.0",
    ),
    "a workload that is none": (
        {"subspace": {"workloads": {"mine": {"query": "sums", "size": 3, "held": "total"}}}},
        "subspace.workloads.mine.query: 'sums' will not do",
    ),
    "margins of a range query": (
        {"subspace": {"workloads": {"mine": {"query": "ranges", "size": 3, "held": "margins"}}}},
        "subspace.workloads.mine",
    ),
    "a delta of one": ({"subspace": {"delta": 1}}, "subspace.delta: 1 will not do"),
    "a state of the figure that is none": (
        {"subspace": {"counties": {"state": "ZZ"}}},
        "subspace.counties.state.0: there is no state 'ZZ'",
    ),
    "a configuration that there is not": (
        {"topdown": {"runs": {"identity 7": 1}}},
        "topdown.runs: unknown key identity 7",
    ),
    "no such state to show": ({"topdown": {"shown": "ZZ"}}, "topdown.shown.0: there is no state"),
    "no such state of group quarters": (
        {"topdown": {"implied": {"states": ["ZZ"]}}},
        "topdown.implied.states.0: there is no state",
    ),
    "no such histogram": (
        {"topdown": {"histogram": "nowhere.csv"}},
        "topdown.histogram: there is no file nowhere.csv",
    ),
    "swap rates out of order": (
        {"swapping": {"rates": [0.5, 0.1]}},
        "swapping.rates: wanted: rates in rising order",
    ),
    "a swap rate of one": ({"swapping": {"rates": [0.5, 1]}}, "swapping.rates.1: 1 will not do"),
    "margins of different totals": (
        {"swapping": {"tables": [[[2, 2], [3, 2]]]}},
        "swapping.tables.0: the counties have 4 records, the categories 5",
    ),
    "households that are not there": (
        {"swapping": {"households": "nowhere.csv"}},
        "swapping.households: there is no file nowhere.csv",
    ),
    "no such ledger": ({"data": {"ledger": "nowhere.csv"}}, "data.ledger: there is no file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_config_is_refused_with_the_path_of_its_key(case):
    changes, message = WRONG[case]
    with pytest.raises(ConfigError) as refused:
        check_config(changed(changes), ROOT)
    text = str(refused.value)
    assert text.startswith("config: ")
    assert message in text
    assert "\n" not in text


def test_a_missing_key_is_named():
    config = changed({})
    del config["counties"]["norm"]
    with pytest.raises(ConfigError, match="config: counties: missing key norm"):
        check_config(config, ROOT)


def test_the_environment_variable_names_a_file_too(monkeypatch):
    monkeypatch.setenv("NHGIS_PPDD_FILE", "elsewhere.zip")
    with pytest.raises(ConfigError, match=r"there is no file elsewhere\.zip"):
        check_config(changed({}), ROOT)


@pytest.mark.parametrize("states", ["paper", ["IL"], ["DC", "PR", "TX"]])
def test_a_right_config_passes(states, monkeypatch):
    monkeypatch.delenv("NHGIS_PPDD_FILE", raising=False)
    check_config(changed({"counties": {"states": states}}), ROOT)


def test_a_claims_query_on_a_column_that_is_not_there_is_one_line_before_any_job(checkout):
    path = checkout.folder / "config/claims/counties.yaml"
    path.write_text(path.read_text().replace("rows: not frozen,", "rows: not thawed,"))
    done = checkout.run("--cores", "1")
    assert done.returncode != 0
    told = [line for line in (done.stdout + done.stderr).splitlines() if "thawed" in line]
    assert len(told) == 1
    assert told[0].startswith(
        "error: config/claims/counties.yaml: claim counties-rhat: table counties_rhat: "
        "there is no column 'thawed'; there are state fips "
    )
    assert "Traceback" not in done.stderr
    assert not (checkout.folder / "results" / "logs").exists()


def test_the_command_says_it_in_one_line_and_runs_no_job(checkout):
    checkout.write_config({"counties": {"norm": "l3"}})
    done = checkout.run("--cores", "1")
    assert done.returncode != 0
    told = [line for line in (done.stdout + done.stderr).splitlines() if "l3" in line]
    assert told == ["error: config: counties.norm: 'l3' will not do; wanted: l1 or l2"]
    assert "Traceback" not in done.stderr
    assert not (checkout.folder / "results" / "logs").exists()
