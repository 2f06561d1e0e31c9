import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import total_law
from isdp.privatize import Request
from isdp.privatize.freedom import Freedom
from isdp.privatize.spread import (
    COARSEST,
    spread_by_sampling,
    spread_of_blocks,
    spread_of_draws,
    spread_of_gaussian_blocks,
)
from tests.statistical.checks import check_law


def test_the_spread_of_the_noise_is_that_of_its_law():
    blocks = np.array([0, 0, 0, 1, 2, 2, -1])
    for epsilon, rel in ((2.0, 1e-9), (0.5, 1e-9), (0.02, 5e-3)):  # the last from a rescaled law
        sd, unchanged, _ = spread_of_blocks(blocks, epsilon)
        assert sd[0] == pytest.approx(total_law(3, epsilon).sd, rel=rel)
        assert sd[3] == 0
        assert sd[5] == pytest.approx(total_law(2, epsilon).sd, rel=rel)
        free = np.sqrt(2 * np.exp(-epsilon)) / (1 - np.exp(-epsilon))
        assert sd[6] == pytest.approx(free, rel=rel)
        chances = [total_law(3, epsilon).within(0), 1, np.tanh(epsilon), np.tanh(epsilon / 2)]
        assert unchanged[[0, 3, 5, 6]] == pytest.approx(chances, rel=rel)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(9), 4 * COARSEST])
def test_the_spread_of_gaussian_noise_is_that_of_its_law(variance):
    """Two cells under a total are k and -k, with weight exp(-k^2 / variance)."""
    sd, unchanged, _ = spread_of_gaussian_blocks(np.array([0, 0, 1, -1]), variance)
    reach = 10 * math.ceil(math.sqrt(variance)) + 10
    k = np.arange(-reach, reach + 1)
    pair, free = (np.exp(-(k**2) * share / float(variance)) for share in (1, 0.5))
    for at, law in ((1, pair), (3, free)):
        assert sd[at] == pytest.approx(math.sqrt(law @ k**2 / law.sum()), rel=1e-6)
        assert unchanged[at] == pytest.approx(1 / law.sum(), rel=1e-6)
    assert (sd[2], unchanged[2]) == (0, 1)


def test_the_spread_of_draws_is_found_from_them():
    draws = np.array([[[0, 3], [4, 3], [0, 3]], [[-4, 3], [0, 3], [0, 3]]])  # chain, draw, cell
    sd, unchanged, _ = spread_of_draws(draws)
    assert sd == pytest.approx([np.sqrt(32 / 6), 0])
    assert unchanged == pytest.approx([4 / 6, 0])


def test_draws_made_to_find_the_spread_have_the_law_of_the_noise():
    invariants, request = Invariants.total(3), Request(GeneralizedLaplace(0.5))
    free = Freedom(invariants, None, 2, np.ones(3, dtype=int))
    law = total_law(3, 0.5)
    for chance in spread_by_sampling(free, request).unchanged:
        zeros = round(400 * chance)
        check_law([zeros, 400 - zeros], [law.within(0), 1 - law.within(0)])
    many = Freedom(Invariants.total(1001), None, 1000, np.ones(1001))
    assert spread_by_sampling(many, Request(GeneralizedLaplace(1.0))) is None
