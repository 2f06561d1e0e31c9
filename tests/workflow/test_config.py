"""A wrong config is refused with one line before any job runs."""

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.workflow.conftest import ROOT


@pytest.mark.parametrize("name", ["config.yaml", "smoke.yaml"])
def test_the_projects_configs_fit_the_schema_and_hold_every_key(name):
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    Draft202012Validator.check_schema(schema)
    config = yaml.safe_load((ROOT / "config" / name).read_text())
    Draft202012Validator(schema).validate(config)


def keys(node, path=()):
    for key, value in node.items():
        yield ".".join((*path, key))
        if isinstance(value, dict):
            yield from keys(value, (*path, key))


def test_smoke_has_the_same_keys_and_the_readme_explains_each():
    full, smoke = (
        yaml.safe_load((ROOT / "config" / name).read_text())
        for name in ("config.yaml", "smoke.yaml")
    )
    assert list(keys(full)) == list(keys(smoke))
    readme = (ROOT / "config/README.md").read_text()
    assert [key for key in keys(full) if f"`{key}`" not in readme] == []


WRONG = {
    "an unknown key": ({"counties": {"epsilom": 1}}, "counties: unknown key epsilom"),
    "epsilon zero": ({"counties": {"epsilon": 0}}, "counties.epsilon: 0 will not do"),
    "epsilon not a number": ({"counties": {"epsilon": float("nan")}}, "counties.epsilon: nan"),
    "norm l3": ({"counties": {"norm": "l3"}}, "counties.norm: 'l3' will not do; wanted: l1 or l2"),
    "no such state": ({"counties": {"states": ["IL", "ZZ"]}}, "counties.states.1: there is no state 'ZZ'"),
    "a state twice": ({"counties": {"states": ["IL", "IL"]}}, "different two-letter states"),
    "one chain": ({"counties": {"chains": 1}}, "counties.chains: 1 will not do"),
    "narrow starts": (
        {"counties": {"overdispersed": {"epsilon": 0.5}}},
        "counties.overdispersed.epsilon: must be below counties.epsilon",
    ),
    "no such vintage": ({"data": {"vintage": "20991231"}}, "data.vintage: '20991231' is not in"),
    "no such file": ({"data": {"file": "nowhere.zip"}}, "there is no file nowhere.zip"),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_clear_line_and_no_job(checkout, case):
    changes, message = WRONG[case]
    checkout.write_config(changes)
    done = checkout.run("--cores", "1")
    assert done.returncode != 0
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line.lower()]
    assert len(lines) == 1
    assert lines[0].startswith("error: config: ")
    assert message in lines[0]
    assert "Traceback" not in done.stderr
    assert not (checkout.folder / "results" / "logs").exists()
