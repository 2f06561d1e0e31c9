"""What a scenario of a sweep changes, and how a wrong key is named."""

import pytest

from reproduction.running.config import _dotted
from reproduction.running.scenarios import OWN, scenarios_of, unfinished


@pytest.mark.parametrize(
    ("epsilon", "proposal", "wide"), [(0.1, 0.8**0.5, 0.005), (0.4, 0.8**2, 0.02), (2, 0.5, 0.1)]
)
def test_jumps_and_starts_go_with_epsilon(epsilon, proposal, wide):
    counties = dict.fromkeys(OWN) | {
        "epsilon": 0.2,
        "proposal": 0.8,
        "overdispersed": {"epsilon": 0.01, "sweeps": 30},
    }
    sweep = {"states": ["VT"], "norms": ["l1"], "epsilons": [epsilon]}
    config = {"seed": 1, "counties": counties, "sweep": sweep, "data": {"vintage": "20201116"}}
    (found,) = scenarios_of(config).values()
    assert found["counties"]["epsilon"] == epsilon
    assert found["counties"]["proposal"] == pytest.approx(proposal)
    assert found["counties"]["overdispersed"] == {"epsilon": pytest.approx(wide), "sweeps": 30}


def test_a_key_is_named_by_those_that_lead_to_it():
    assert _dotted(("counties", "states", 0)) == "counties.states.0"
    assert _dotted(()) == "top level"


def test_scenarios_without_a_table_are_told_with_the_reason_of_their_logs(tmp_path):
    config = {"data": {"vintage": "20201116"}}
    for name in ("done", "failed", "lost", "waiting"):
        (tmp_path / name / "tables").mkdir(parents=True)
        (tmp_path / name / "logs").mkdir()
    (tmp_path / "done/tables/scenario.csv").touch()
    words = "2020-01-01 INFO begun\n2020-01-01 ERROR epsilon is odd\n2020-01-01 ERROR later\n"
    (tmp_path / "failed/logs/sample.log").write_text(words)
    lost = tmp_path / "data/20210608/read.log"
    lost.parent.mkdir(parents=True)
    lost.write_text("2020-01-01 ERROR no such file\n")
    scenarios = dict.fromkeys(("done", "failed", "waiting"), config)
    scenarios["lost"] = {"data": {"vintage": "20210608"}}
    assert unfinished(tmp_path, scenarios) == {
        "failed": "epsilon is odd",
        "waiting": "not done",
        "lost": "no such file",
    }
