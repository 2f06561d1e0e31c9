import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.mechanisms import double_geometric_pmf


def test_two_cells_under_a_total_are_geometric_in_twice_the_epsilon():
    law = total_distribution(2, 0.3)
    expected = double_geometric_pmf(law.support, np.exp(-0.6))
    assert np.abs(law.pmf - expected).max() < 1e-14


@pytest.mark.parametrize(("cells", "epsilon"), [(3, 0.2), (5, 1.0), (40, 0.192)])
def test_total_distribution_against_plain_convolution(cells, epsilon):
    reach = int(60 / epsilon)
    p = double_geometric_pmf(np.arange(-reach, reach + 1), np.exp(-epsilon))
    others = p
    for _ in range(cells - 2):
        others = np.convolve(others, p)
    middle = len(others) // 2
    law = total_distribution(cells, epsilon)
    joint = p[law.support + reach] * others[middle - law.support]
    assert np.abs(law.pmf - joint / joint.sum()).max() < 1e-12


def test_enumeration_goes_up_to_the_radius_on_either_side():
    law = enumerate_distribution(Invariants.total(2), GeneralizedLaplace(0.8), radius=6)
    assert sorted(law.points[:, 0].tolist()) == [-3, -2, -1, 0, 1, 2, 3]


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_enumeration_is_the_distribution_it_says(norm):
    invariants, mechanism = Invariants.margins((2, 3)), GeneralizedLaplace(0.8, norm)
    law = enumerate_distribution(invariants, mechanism)
    assert law.left_out < 1e-9
    assert law.pmf.sum() == pytest.approx(1)
    invariants.check(law.points)
    assert len(np.unique(law.points, axis=0)) == len(law.points)
    origin = np.flatnonzero((law.points == 0).all(axis=1))[0]
    ratio = np.log(law.pmf / law.pmf[origin])
    assert np.abs(ratio + 0.8 * mechanism.noise_norm(law.points)).max() < 1e-9
    wider = enumerate_distribution(invariants, mechanism, radius=60)
    assert len(wider.points) > len(law.points)
    assert wider.pmf[(wider.points == 0).all(axis=1)] == pytest.approx(law.pmf[origin], rel=1e-8)


def test_enumeration_and_total_distribution_agree():
    law = enumerate_distribution(Invariants.total(3), GeneralizedLaplace(0.5))
    cell = total_distribution(3, 0.5)
    counted = np.array([law.pmf[law.points[:, 1] == k].sum() for k in cell.support])
    assert np.abs(counted - cell.pmf).max() < 1e-9


def test_the_share_that_the_facts_give_for_illinois():
    assert total_distribution(102, 0.192).within(30) == pytest.approx(0.9975, abs=5e-5)


def test_what_is_left_out_is_bounded_from_above():
    invariants, mechanism = Invariants.total(3), GeneralizedLaplace(0.5)
    short = enumerate_distribution(invariants, mechanism, radius=12)
    whole = enumerate_distribution(invariants, mechanism)
    beyond = whole.pmf[mechanism.noise_norm(whole.points) > 12].sum()
    assert 0 < beyond <= short.left_out


def test_no_freedom_is_a_single_point():
    assert enumerate_distribution(Invariants.total(1), GeneralizedLaplace(1.0)).points.tolist() == [
        [0]
    ]
    assert total_distribution(1, 0.5).sd == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: enumerate_distribution(Invariants.margins((4, 4)), GeneralizedLaplace(0.25)),
        lambda: total_distribution(0, 0.5),
        lambda: total_distribution(5, 0.0),
        lambda: total_distribution(100, 1e-7),
    ],
)
def test_what_is_out_of_reach_is_refused(call):
    with pytest.raises(InputError):
        call()
