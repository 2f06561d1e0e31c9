"""The parameter space of a sweep, and the settings of its scenarios."""

import pytest

from reproduction.jobs.scenarios import (
    WALK_KEYS,
    list_comparison_files,
    list_scenarios,
    select_scenario,
)
from reproduction.jobs.settings import ConfigError

COUNTIES = dict.fromkeys(WALK_KEYS) | {
    "epsilon": 0.2,
    "proposal": 0.8,
    "overdispersed": {"epsilon": 0.01, "sweeps": 30},
}


@pytest.mark.parametrize(
    ("epsilon", "proposal", "wide"), [(0.1, 0.8**0.5, 0.005), (0.4, 0.8**2, 0.02), (2, 0.5, 0.1)]
)
def test_jumps_and_starts_scale_with_epsilon(epsilon, proposal, wide):
    sweep = {"states": ["VT", "DC"], "norms": ["l1"], "epsilons": [epsilon]}
    config = {"seed": 1, "counties": COUNTIES, "sweep": sweep, "data": {"vintage": "20201116"}}
    (scenario,) = list_scenarios(config).to_dict("records")
    found = select_scenario(config, scenario)["counties"]
    assert found["states"] == ["VT", "DC"]
    assert found["epsilon"] == epsilon
    assert found["proposal"] == pytest.approx(proposal)
    assert found["overdispersed"] == {"epsilon": pytest.approx(wide), "sweeps": 30}


def test_a_longer_list_keeps_the_names_of_the_other_scenarios():
    sweep = {"states": [["VT"]], "norms": ["l1"], "epsilons": [1, 2]}
    config = {"sweep": sweep, "data": {"vintage": "20201116"}}
    before = list_scenarios(config)
    sweep["epsilons"] = [0.5, 1, 2]
    after = list_scenarios(config)
    assert after["epsilon"].tolist() == ["0.5", "1", "2"]
    assert before.to_dict("records") == after.to_dict("records")[1:]
    assert len(list_scenarios({"data": config["data"]})) == 0


def test_a_sweep_is_asked_for_where_the_config_has_none():
    with pytest.raises(ConfigError, match=r"config/sweep\.yaml"):
        list_comparison_files("")
    assert list_comparison_files("mine") == [
        "results/figures/sweep_mine.svg",
        "results/tables/sweep_mine.html",
    ]
