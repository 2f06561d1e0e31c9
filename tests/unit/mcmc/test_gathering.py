"""When a coupled sweep tries to gather all differences of two states, and when it stops."""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.mcmc import paired_coupling
from isdp.mcmc.paired_coupling import chance_to_gather, coupled_sweep
from isdp.mcmc.paired_rows import PairedRows

CHAIN = PairedRows(Invariants.margins((5, 2)), GeneralizedLaplace(0.5))
HERE = np.zeros(10, dtype=np.int64)
APART = np.array([1, -1, 0, 0, -1, 1, 0, 0, 0, 0])
ROWS = np.arange(10).reshape(5, 2)
STEPS = [(ROWS[[i, i + 1]], np.array([1, -1])) for i in range(4)]


def test_nothing_is_left_to_chance_where_no_state_differs():
    assert chance_to_gather(CHAIN, STEPS, HERE) == 1


def test_the_chance_is_that_of_all_steps_and_falls_with_the_difference():
    chances = [chance_to_gather(CHAIN, STEPS, size * APART) for size in (1, 2, 4)]
    assert 1 > chances[0] > chances[1] > chances[2] > 0
    # rows in which nothing differs have nothing to gather
    assert chance_to_gather(CHAIN, STEPS[3:], APART) == 1


@pytest.mark.parametrize(
    ("likely", "met", "tried"),
    [
        (0.0, [True] * 4, [True] * 4),
        (0.0, [True, False, True, True], [True, True, False, False]),  # what failed is given up
        (1.1, [True] * 4, [False] * 4),  # and what was not begun does not begin midway
    ],
)
def test_gathering_goes_on_until_a_step_fails(monkeypatch, likely, met, tried):
    left, seen = list(met), []

    def step(rng, chain, states, places, signs, gathering):
        seen.append(gathering)
        return left.pop(0)

    monkeypatch.setattr(paired_coupling, "coupled_step", step)
    monkeypatch.setattr(CHAIN, "steps", lambda rng: STEPS)
    began = coupled_sweep(np.random.default_rng(1), CHAIN, HERE.copy(), HERE + APART, likely)
    assert seen == tried
    assert began == tried[0]
