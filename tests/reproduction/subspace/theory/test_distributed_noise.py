import numpy as np
import pytest

from isdp import Invariants
from isdp.subspace import null_space
from reproduction.subspace.theory.distributed_noise import agent_noise, central_noise

CAMPUS = Invariants.margins((3, 4, 5), ((0, 1), (0, 2)))
PAPER = Invariants.subsets([[0, 2, 5], [5, 6]], 9)


@pytest.mark.parametrize("held", [CAMPUS, PAPER])
def test_each_agent_computes_the_bits_of_the_centre(held):
    centre = central_noise("shared", held, 2.0)
    for cell in range(held.cells):
        assert agent_noise("shared", held, [cell], 2.0)[0] == centre[cell]
    assert null_space(held).residual(centre) < 1e-14
    mixed = np.random.default_rng(1).permutation(held.cells)
    assert (agent_noise("shared", held, mixed, 2.0) == centre[mixed]).all()


def test_another_seed_or_component_gives_other_noise():
    one, two = (central_noise(seed, CAMPUS, 1.0) for seed in ("a", "b"))
    assert np.abs(one - two).min() > 0
    assert np.abs(one[:20] - one[20:40]).min() > 0


def test_whoever_has_the_seed_takes_the_noise_away():
    counts = np.arange(60.0)
    released = counts + central_noise("shared", CAMPUS, 3.0)
    assert released - central_noise("shared", CAMPUS, 3.0) == pytest.approx(counts, abs=1e-12)
