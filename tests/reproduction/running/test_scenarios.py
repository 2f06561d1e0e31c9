"""What a scenario of a sweep changes, and how a wrong key is named."""

import pytest

from reproduction.running.config import _dotted
from reproduction.running.scenarios import OWN, scenarios_of


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
