import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.testing import DistributionError, check_mean
from tests.distributions import CUTS, cell_distribution

RECORDS = Invariants.subsets(
    [
        [0, 1, 6, 7, 8, 9, 12, 13],
        [2, 3, 6, 7, 10, 11, 12, 13],
        [4, 5, 8, 9, 10, 11, 12, 13],
    ],
    14,
)
SEX_BY_AGE = Invariants.subsets([range(46), range(23), [*range(4, 23), *range(27, 46)]], 46)
SMALL = {
    "total": Invariants.total(3),
    "2 x 3": Invariants.margins((2, 3)),
    "repeated and dependent rows": Invariants([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]]),
    "entries other than 0 and 1": Invariants([[1, 2, 3, 4], [3, -1, 7, 2]]),
    "a free cell, a gap and a fixed cell": Invariants([[2, 3, 0, 0], [4, 6, 0, 0], [0, 0, 0, 5]]),
    "one free dimension in two blocks": Invariants.partition("aabb"),
    "three-way": Invariants.margins((2, 2, 2), ((0, 1), (0, 2), (1, 2))),
}
MECHANISMS = [GeneralizedLaplace(0.8), GeneralizedGaussian(1.3)]


def points_in_a_box(invariants, most):
    """All feasible noise with coordinates up to `most` in the reduced basis."""
    basis = kernel_lattice(invariants, "lll").basis
    grid = np.meshgrid(*[np.arange(-most, most + 1)] * basis.shape[1], indexing="ij")
    return np.stack([axis.ravel() for axis in grid], axis=1) @ basis.T


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", SMALL)
def test_the_normaliser_is_that_of_enumeration(name, mechanism):
    invariants = SMALL[name]
    points = points_in_a_box(invariants, 60)
    weights = np.exp(mechanism.log_weight(points))
    sampler = TruncatedEliminationSampler(invariants, mechanism)
    assert sampler.error < 2e-12
    assert sampler.log_normaliser == pytest.approx(np.log(weights.sum()), abs=1e-11)


def test_three_by_three_table_against_enumeration():
    invariants, mechanism = Invariants.margins((3, 3)), GeneralizedLaplace(1.0)
    law = enumerate_distribution(invariants, mechanism)
    no_noise = law.pmf[~law.points.any(axis=1)].item()  # exp(0) over the normaliser
    sampler = TruncatedEliminationSampler(invariants, mechanism)
    assert sampler.log_normaliser == pytest.approx(-np.log(no_noise), abs=1e-9)
    for cell in range(9):
        counts = np.bincount(np.searchsorted(CUTS, law.points[:, cell], "right"), law.pmf)
        assert cell_distribution(invariants, mechanism, cell, CUTS) == pytest.approx(
            counts, abs=1e-9
        )


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 0.05), (12, 0.192), (102, 0.192), (5, 3.0)])
def test_the_distribution_of_a_cell_under_one_total(cells, epsilon):
    law = total_distribution(cells, epsilon)
    expected = np.bincount(np.searchsorted(CUTS, law.support, "right"), law.pmf, len(CUTS) + 1)
    for cell in {0, cells - 1}:
        found = cell_distribution(Invariants.total(cells), GeneralizedLaplace(epsilon), cell, CUTS)
        assert found == pytest.approx(expected, abs=1e-10)


def test_the_distribution_of_a_cell_where_windows_are_wide():
    """Messages are convolved, with an error that is stated."""
    cuts, held, mechanism = 100 * np.array(CUTS), Invariants.total(12), GeneralizedLaplace(1e-3)
    law = total_distribution(12, 1e-3)
    expected = np.bincount(np.searchsorted(cuts, law.support, "right"), law.pmf, len(cuts) + 1)
    assert 2e-12 < TruncatedEliminationSampler(held, mechanism).error < 1e-8
    assert cell_distribution(held, mechanism, 5, cuts) == pytest.approx(expected, abs=1e-8)


def test_normaliser_under_one_total_by_convolution():
    weights = np.exp(-0.4 * np.abs(np.arange(-150, 151)))
    sum_of_all = weights
    for _ in range(6):
        sum_of_all = np.convolve(sum_of_all, weights)
    sampler = TruncatedEliminationSampler(Invariants.total(7), GeneralizedLaplace(0.4))
    middle = sum_of_all[len(sum_of_all) // 2]
    assert sampler.log_normaliser == pytest.approx(np.log(middle), abs=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    "bounds",
    [
        {"lower": -np.array([0, 1, 2, 3, 1, 0])},
        {"lower": -2},
        {"lower": np.array([3, -9, -9, -9, -9, -9])},
    ],
)
def test_bounds_on_a_small_table_against_enumeration(bounds, mechanism):
    invariants = SMALL["2 x 3"]
    points = points_in_a_box(invariants, 60)
    inside = (points >= bounds["lower"]).all(axis=1)
    points = points[inside]
    weights = np.exp(mechanism.log_weight(points))
    sampler = TruncatedEliminationSampler(invariants, mechanism, **bounds)
    assert sampler.error < 2e-12
    assert sampler.log_normaliser == pytest.approx(np.log(weights.sum()), abs=1e-11)
    draws = sampler.sample(np.random.default_rng(1), 200)
    assert (draws >= bounds["lower"]).all()


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(0.9), GeneralizedGaussian(2.0)])
def test_four_by_four_table_by_generating_functions(mechanism):
    """Two halves of two columns meet in the row sums s, with weight M(s); Z = sum M(s)^2.

    M(s) is the constant term of the product over rows of sum_u w(u) w(s_i - u) z^u.
    """
    most, size = 18, 128
    weight = np.exp(mechanism.log_weight(np.arange(-200, 201)[:, None]))
    u = np.arange(-size // 2, size // 2)
    rows = [np.fft.fft(weight[u + 200] * weight[s - u + 200]) for s in range(-most, most + 1)]
    rows = np.array(rows) * (-1.0) ** np.arange(size)
    pairs = (rows[:, None] * rows[None]).reshape(-1, size)
    sums = np.add.outer(np.arange(-most, most + 1), np.arange(-most, most + 1)).ravel()
    both = (pairs @ pairs.T).real / size
    z = (both**2)[sums[:, None] + sums[None] == 0].sum()
    sampler = TruncatedEliminationSampler(Invariants.margins((4, 4)), mechanism)
    assert sampler.log_normaliser == pytest.approx(np.log(z), abs=1e-9)


def test_released_counts_by_sex_and_age_are_not_negative():
    counts = np.random.default_rng(2).integers(0, 12, 46)
    sampler = TruncatedEliminationSampler(SEX_BY_AGE, GeneralizedLaplace(0.5), lower=-counts)
    assert (sampler.dimension, max(sampler.dimensions)) == (43, 1)
    draws = sampler.sample(np.random.default_rng(1), 1000)
    assert (draws + counts >= 0).all()
    SEX_BY_AGE.check(draws)
    whole = TruncatedEliminationSampler(SEX_BY_AGE, GeneralizedLaplace(0.5))
    assert sampler.log_normaliser < whole.log_normaliser
    assert sampler.error < 2e-11


def test_windows_lose_no_more_than_they_say():
    exact = TruncatedEliminationSampler(RECORDS, GeneralizedLaplace(0.4))
    for left_out in (1e-1, 1e-3, 1e-6):
        rough = TruncatedEliminationSampler(RECORDS, GeneralizedLaplace(0.4), left_out=left_out)
        lost = -np.expm1(rough.log_normaliser - exact.log_normaliser)
        assert -1e-11 < lost <= rough.error
        assert rough.bytes < exact.bytes


@pytest.mark.parametrize(
    "invariants",
    [
        Invariants.total(1),
        Invariants(np.eye(3, dtype=int)),
        Invariants([[1, 1], [1, -1]]),
        Invariants.margins((1, 4)),
    ],
)
def test_no_freedom_gives_zeros(invariants):
    sampler = TruncatedEliminationSampler(invariants, GeneralizedLaplace(0.5), lower=-3)
    assert not sampler.sample(np.random.default_rng(1), 4).any()
    assert sampler.log_normaliser == 0


def test_no_invariant_leaves_the_cells_independent():
    epsilon = 0.7
    sampler = TruncatedEliminationSampler(
        Invariants(np.zeros((0, 2), int)), GeneralizedLaplace(epsilon)
    )
    expected = 2 * np.log((1 + np.exp(-epsilon)) / (1 - np.exp(-epsilon)))
    assert sampler.log_normaliser == pytest.approx(expected, abs=1e-11)
    draws = sampler.sample(np.random.default_rng(1), 2000)
    variance = 2 * np.exp(-epsilon) / (1 - np.exp(-epsilon)) ** 2
    check_mean(draws.prod(axis=1), 0, variance)
    with pytest.raises(DistributionError):
        check_mean(draws[:, 0] ** 2, 0, variance)


@pytest.mark.parametrize("epsilon", [1e-3, 20.0])
def test_two_cells_at_extreme_epsilon(epsilon):
    sampler = TruncatedEliminationSampler(Invariants.total(2), GeneralizedLaplace(epsilon))
    a = np.exp(-2 * epsilon)
    assert sampler.log_normaliser == pytest.approx(np.log((1 + a) / (1 - a)), abs=1e-11)
    draws = sampler.sample(np.random.default_rng(1), 50)
    assert (draws.sum(axis=1) == 0).all()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"mechanism": GeneralizedLaplace(1.0, "l2")}, None),
        ({"lower": 1}, None),
        ({"lower": np.zeros(2, int)}, None),
        ({"lower": 0.5}, None),
        ({"lower": 2**60}, None),
        ({"left_out": 0}, "left_out"),
        ({"left_out": 1}, "left_out"),
        ({"lower": np.array([5000, -9999, -9999])}, None),
        ({"mechanism": GeneralizedLaplace(1e-7)}, None),
        ({"mechanism": GeneralizedLaplace(2e-6)}, None),
    ],
)
def test_refusals(arguments, named):
    arguments = {"mechanism": GeneralizedLaplace(1.0), **arguments}
    with pytest.raises(InputError, match=named):
        TruncatedEliminationSampler(Invariants.total(3), **arguments)
