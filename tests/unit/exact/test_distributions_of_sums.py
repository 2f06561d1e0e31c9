import itertools

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.exact.distributions import Part, sum_distribution, sum_variance
from isdp.mechanisms.base import Energy

LAPLACE = GeneralizedLaplace(0.8).energy
BLOCKS = ["a"] * 3 + ["b"] * 2


@pytest.mark.parametrize(
    ("cells", "parts"),
    [
        ([0], [Part(3, 1)]),
        ([0, 1], [Part(3, 2)]),
        ([0, 1, 2], [Part(3, 3)]),
        ([0, 3], [Part(3, 1), Part(2, 1)]),
        ([0, 1, 3, 4], [Part(3, 2), Part(2, 2)]),
    ],
)
def test_sums_have_the_enumerated_distribution(cells, parts):
    every = enumerate_distribution(Invariants.partition(BLOCKS), GeneralizedLaplace(0.8))
    sums = every.points[:, cells].sum(axis=1)
    law = sum_distribution(LAPLACE, parts)
    assert law.sd**2 == pytest.approx(np.sum(every.pmf * sums**2), abs=1e-6)
    for size in range(6):
        assert law.beyond(size) == pytest.approx(every.pmf[abs(sums) > size].sum(), abs=1e-8)
        assert law.below(size) == pytest.approx(every.pmf[sums < -size].sum(), abs=1e-8)


def test_gaussian_sums_have_the_enumerated_distribution():
    values = np.arange(-14, 15)
    points = np.array(list(itertools.product(values, repeat=3)))
    last = -points[:, :2].sum(axis=1)
    squares = (points**2).sum(axis=1) + last**2 + points[:, 2] ** 2
    weights = np.exp(-squares / (2 * 1.2**2))
    weights /= weights.sum()
    sums = points.sum(axis=1)  # two of three, and one of two
    law = sum_distribution(GeneralizedGaussian(1.2).energy, [Part(3, 2), Part(2, 1)])
    assert law.sd**2 == pytest.approx(np.sum(weights * sums**2), abs=1e-9)
    assert law.beyond(3) == pytest.approx(weights[abs(sums) > 3].sum(), abs=1e-9)


@pytest.mark.parametrize("cells", [2, 10, 102, 10_000])
def test_one_cell_of_a_block_has_the_distribution_of_a_total(cells):
    wanted, law = (
        total_distribution(cells, 0.25),
        sum_distribution(Energy(1, False, 0.25), [Part(cells, 1)]),
    )
    assert law.sd == pytest.approx(wanted.sd, rel=1e-10)
    assert 1 - law.beyond(5) == pytest.approx(wanted.within(5), abs=1e-10)


def test_a_sum_and_the_rest_of_its_block_have_one_distribution():
    law, rest = (sum_distribution(LAPLACE, [Part(50, chosen)]) for chosen in (10, 40))
    assert law.sd == pytest.approx(rest.sd)
    assert [law.beyond(s) for s in range(9)] == pytest.approx([rest.beyond(s) for s in range(9)])


def test_free_cells_and_equal_blocks_add_up():
    free = 2 * np.exp(-0.8) / (1 - np.exp(-0.8)) ** 2
    assert sum_variance(LAPLACE, [Part(0, 7)]) == pytest.approx(7 * free)
    once = sum_variance(LAPLACE, [Part(5, 2)])
    many = [Part(5, 2, 30), Part(0, 1), Part(9, 9, 4)]
    assert sum_variance(LAPLACE, many) == pytest.approx(30 * once + free)
    law = sum_distribution(LAPLACE, many)
    values = np.arange(len(law.pmf)) - len(law.pmf) // 2
    assert np.sum(law.pmf * values**2) == pytest.approx(law.sd**2, rel=1e-9)


def test_a_sum_too_wide_for_a_grid_is_refused():
    with pytest.raises(InputError):
        sum_distribution(Energy(1, False, 1e-5), [Part(10, 5)])
