"""A wrong config is refused with one line before any job runs."""

import re

import pytest
import yaml
from jsonschema import Draft202012Validator

from reproduction.running.config import ConfigError, check_config, leave_out_nulls
from tests import ROOT
from tests.workflow.conftest import merged


@pytest.mark.parametrize("name", ["config.yaml", "smoke.yaml"])
def test_the_projects_configs_fit_the_schema_and_hold_every_key(name):
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    Draft202012Validator.check_schema(schema)
    config = yaml.safe_load((ROOT / "config" / name).read_text())
    leave_out_nulls(config)
    Draft202012Validator(schema).validate(config)


NAMED_BY_USERS = {"lattices": "NAME", "laws": "LAW"}
OPAQUE = (
    "axes",
    "constraints",
    "printed",
    "proposal",
    "variants",
    "walk",
    "independence",
    "paper",
)


def keys(node, path=()):
    """Keys as config/README.md lists them, with NAME and LAW for what users name."""
    for key, value in node.items():
        shown = NAMED_BY_USERS.get(path[-1] if path else "", key)
        if (*path, shown) != (*path, "NAME") and shown != "LAW":
            yield ".".join((*path, shown))
        if isinstance(value, dict) and key not in OPAQUE:
            yield from keys(value, (*path, shown))


def test_smoke_has_the_same_keys_and_the_readme_explains_each():
    full, smoke = (
        yaml.safe_load((ROOT / "config" / name).read_text())
        for name in ("config.yaml", "smoke.yaml")
    )
    everything = list(keys(full))
    for name in [name for name, entry in smoke["lattices"].items() if entry is None]:
        del full["lattices"][name], smoke["lattices"][name]
    for name, entry in smoke["lattices"].items():
        for law in [law for law, settings in entry["laws"].items() if settings is None]:
            del full["lattices"][name]["laws"][law], entry["laws"][law]
    assert list(keys(full)) == list(keys(smoke))
    assert set(keys(full)) == set(everything)
    readme = (ROOT / "config/README.md").read_text()
    assert [key for key in keys(full) if f"`{key}`" not in readme] == []
    shown = set(re.findall(r"`((?:lattices|coupling|noise|counties|data)\.[A-Za-z_.]+)`", readme))
    assert shown <= set(keys(full))


def changed(changes):
    """The project's config with some keys changed, as --configfile does it."""
    return merged(yaml.safe_load((ROOT / "config/config.yaml").read_text()), changes)


def test_null_leaves_out_an_experiment_or_a_law():
    lattices = {"small": None, "contingency": {"laws": {"l2": None}}}
    config = changed({"lattices": lattices})
    leave_out_nulls(config)
    check_config(config, ROOT)
    assert set(config["lattices"]) == {"intersecting", "contingency"}
    assert set(config["lattices"]["contingency"]["laws"]) == {"l1", "gaussian"}
    assert set(config["lattices"]["contingency"]["printed"]) == {"l1"}
    only = changed({"lattices": dict.fromkeys(config["lattices"]) | {"small": None}})
    leave_out_nulls(only)
    with pytest.raises(ConfigError, match="lattices"):
        check_config(only, ROOT)


WRONG = {
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
        {"lattices": {"contingency": {"counts": [[1, 2], [3, 4]]}}},
        "lattices.contingency: counts: the counts have shape (2, 2), the axes give (4, 4)",
    ),
    "a negative count": (
        {"lattices": {"contingency": {"counts": [[-1] * 4] * 4}}},
        "counts: -1 is not a count",
    ),
    "a fractional count": (
        {"lattices": {"contingency": {"counts": [[0.5] * 4] * 4}}},
        "counts: 0.5 is not a count",
    ),
    "a margin of a missing axis": (
        {"lattices": {"contingency": {"held": [["county"], ["age"]]}}},
        "names the axis 'age', but the table has county, education",
    ),
    "a record that does not exist": (
        {"lattices": {"intersecting": {"constraints": {"A": [1, 15]}}}},
        "A holds record 15, but records go from 1 to 14",
    ),
    "a proposal of one": (
        {"lattices": {"contingency": {"laws": {"l1": {"proposal": {"paper": 1.0}}}}}},
        "lattices.contingency.laws.l1.proposal.paper: 1.0 will not do; wanted: a number between 0",
    ),
    "a printed table of another shape": (
        {"lattices": {"contingency": {"printed": {"l1": [[1, 2]]}}}},
        "lattices.contingency.printed.l1",
    ),
    "a law without epsilon": (
        {"lattices": {"mine": {"records": 2, "constraints": {"A": [1]}, "laws": {"x": {}}}}},
        "lattices.mine.laws.x: missing key proposal",
    ),
    "a lag factor of zero": ({"coupling": {"lag_factors": [0, 1]}}, "coupling.lag_factors"),
    "an unknown variant": ({"noise": {"variant": "best"}}, "noise.variant: 'best' will not do"),
    "a table with 22 age groups": (
        {"sex_by_age": {"counts": {"male": [1] * 22}}},
        "sex_by_age.counts: sex by age: male has 22 age groups",
    ),
    "a negative count of people": (
        {"sex_by_age": {"counts": {"female": [-1] * 23}}},
        "female, under 5: -1 is not a count",
    ),
    "a file without a county": ({"sex_by_age": {"file": "p12.csv"}}, "belong together"),
    "a P12 file that is not there": (
        {"sex_by_age": {"file": "nowhere.csv", "county": "X"}},
        "sex_by_age.file: there is no file nowhere.csv",
    ),
    "cells that do not follow from the others": (
        {"sex_by_age": {"solved": [1, 2, 3]}},
        "columns have rank 1, but the equalities have rank 3",
    ),
    "rates without their parameters": (
        {"sex_by_age": {"acceptance": {"paper": [1.0]}}},
        "sex_by_age.acceptance.paper: wanted: one number or null for each of the 10",
    ),
    "a weight above one": ({"two_bin": {"betas": [0, 1.5]}}, "two_bin.betas.1: 1.5 will not do"),
    "no simulation": ({"projection": {"simulations": 0}}, "projection.simulations: 0 will not do"),
    "an epsilon too small": ({"truncation": {"epsilons": [0, 1]}}, "truncation.epsilons.0"),
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


def test_the_command_says_it_in_one_line_and_runs_no_job(checkout):
    checkout.write_config({"counties": {"norm": "l3"}})
    done = checkout.run("--cores", "1")
    assert done.returncode != 0
    told = [line for line in (done.stdout + done.stderr).splitlines() if "l3" in line]
    assert told == ["error: config: counties.norm: 'l3' will not do; wanted: l1 or l2"]
    assert "Traceback" not in done.stderr
    assert not (checkout.folder / "results" / "logs").exists()
