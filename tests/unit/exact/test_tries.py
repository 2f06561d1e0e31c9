"""The loop that samplers by rejection share, around a sampler that needs no tries."""

import numpy as np
import pytest

from isdp import Invariants
from isdp.exact import tries


class Ready(tries.TriesSampler):
    """Draws of zeros that take two tries each; keeps how many are asked for at a time."""

    def __init__(self, cells, expected_tries):
        super().__init__(Invariants.total(cells), 1e6)
        self.expected_tries, self.asked = expected_tries, []

    def _fill(self, rng, kept, longest):
        self.asked.append(len(kept))
        return 2 * len(kept)


@pytest.mark.parametrize(
    ("expected_tries", "asked"),
    [(5.0, [5, 5, 2]), (4.0, [6, 6]), (0.1, [12]), (1000.0, [1] * 12)],
)
def test_so_many_draws_are_asked_for_as_take_about_equally_long(monkeypatch, expected_tries, asked):
    monkeypatch.setattr(tries, "NUMBERS_AT_ONCE", 100)
    sampler = Ready(4, expected_tries)
    noise = sampler.sample(np.random.default_rng(1), 12)
    assert noise.shape == (12, 4)
    assert sampler.asked == asked
    assert sampler.acceptance == 0.5
