"""Draws by variable elimination against enumerated distributions, right and wrong ones."""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import total_distribution
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.testing import DistributionError, check_distribution, check_mean, count_points
from tests.distributions import CUTS, binned, cell_distribution
from tests.unit.exact.test_variable_elimination import RECORDS, points_in_a_box

DRAWS = 20_000
LATTICES = {
    "2 x 3 table": Invariants.margins((2, 3)),
    "3 x 3 table": Invariants.margins((3, 3)),
    "nested totals": Invariants([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]),
    "entries other than 0 and 1": Invariants([[1, 2, -1, 1], [2, 0, 1, -1]]),
    "a free cell and a gap": Invariants([[2, 3, 0], [4, 6, 0]]),
}
MECHANISMS = {"l1": GeneralizedLaplace(0.9), "gaussian": GeneralizedGaussian(1.2)}


def enumerate_product(invariants, mechanism, lower=None):
    """Points and probabilities; outside the box there is less than 1e-6 for these distributions."""
    points = points_in_a_box(invariants, {2: 60, 3: 30, 4: 13}[invariants_dimension(invariants)])
    if lower is not None:
        points = points[(points >= lower).all(axis=1)]
    weights = np.exp(mechanism.log_weight(points))
    likely = weights > 1e-14 * weights.sum()
    points, weights = points[likely], weights[likely]
    return points, weights / weights.sum()


def invariants_dimension(invariants):
    return invariants.cells - np.linalg.matrix_rank(invariants.matrix.astype(float))


def draw(invariants, mechanism, seed, **bounds):
    return TruncatedEliminationSampler(invariants, mechanism, **bounds).sample(
        np.random.default_rng(seed), DRAWS
    )


@pytest.mark.parametrize("law", MECHANISMS)
@pytest.mark.parametrize("name", LATTICES)
def test_distribution_on_lattices_small_enough_to_enumerate(name, law):
    invariants, mechanism = LATTICES[name], MECHANISMS[law]
    points, pmf = enumerate_product(invariants, mechanism)
    draws = draw(invariants, mechanism, 21)
    check_distribution(count_points(draws, points), np.append(pmf, 0.0))
    norms = mechanism.noise_norm(points)
    mean = (pmf * norms).sum()
    check_mean(mechanism.noise_norm(draws), mean, np.sqrt((pmf * (norms - mean) ** 2).sum()))


@pytest.mark.parametrize("law", MECHANISMS)
def test_distribution_within_bounds(law):
    lower = -np.array([0, 1, 3, 2, 0, 1, 4, 1, 2])
    invariants, mechanism = LATTICES["3 x 3 table"], MECHANISMS[law]
    points, pmf = enumerate_product(invariants, mechanism, lower)
    draws = draw(invariants, mechanism, 22, lower=lower)
    check_distribution(count_points(draws, points), np.append(pmf, 0.0))
    whole = draw(invariants, mechanism, 22)
    kept = whole[(whole >= lower).all(axis=1)]
    check_distribution(count_points(kept, points), np.append(pmf, 0.0))
    ratio = TruncatedEliminationSampler(invariants, mechanism, lower=lower).log_normaliser
    ratio = np.exp(ratio - TruncatedEliminationSampler(invariants, mechanism).log_normaliser)
    check_distribution(np.array([len(kept), DRAWS - len(kept)]), np.array([ratio, 1 - ratio]))
    with pytest.raises(DistributionError):
        check_distribution(count_points(whole, points), np.append(pmf, 0.0))


@pytest.mark.parametrize("law", MECHANISMS)
def test_power_a_scale_off_by_a_tenth_is_caught(law):
    invariants = LATTICES["2 x 3 table"]
    wrong = {"l1": GeneralizedLaplace(0.9 * 1.1), "gaussian": GeneralizedGaussian(1.2 * 1.1)}
    points, pmf = enumerate_product(invariants, MECHANISMS[law])
    with pytest.raises(DistributionError):
        check_distribution(
            count_points(draw(invariants, wrong[law], 23), points), np.append(pmf, 0.0)
        )


def test_power_a_sublattice_of_index_two_is_caught():
    mechanism = MECHANISMS["l1"]
    finer, coarser = Invariants.total(3), Invariants([[1, 1, 1, 0], [1, 0, 0, 2]])
    even = TruncatedEliminationSampler(coarser, mechanism).sample(np.random.default_rng(24), DRAWS)[
        :, :3
    ]
    assert (even[:, 0] % 2 == 0).all()
    points, pmf = enumerate_product(finer, mechanism)
    with pytest.raises(DistributionError):
        check_distribution(count_points(even, points), np.append(pmf, 0.0))


def test_cells_and_pairs_under_one_total():
    epsilon, cells = 0.192, 40
    law = total_distribution(cells, epsilon)
    draws = draw(Invariants.total(cells), GeneralizedLaplace(epsilon), 25)
    for cell in (0, 17, 39):
        inside = np.clip(draws[:, cell], law.support[0], law.support[-1])
        assert (inside == draws[:, cell]).all()
        check_distribution(np.bincount(inside - law.support[0], minlength=len(law.pmf)), law.pmf)
    squares = draws[:, [3, 30]].astype(float).prod(axis=1)
    fourth = (law.pmf * law.support.astype(float) ** 4).sum()
    # the covariance of two cells is -var / (n - 1); the fourth moment bounds its noise
    check_mean(squares, -(law.sd**2) / (cells - 1), np.sqrt(fourth))


def test_cells_of_a_larger_lattice_follow_their_exact_distributions():
    sampler = TruncatedEliminationSampler(RECORDS, GeneralizedLaplace(0.25))
    draws = sampler.sample(np.random.default_rng(26), DRAWS)
    for cell in (0, 3, 7, 11, 13):
        pmf = cell_distribution(RECORDS, GeneralizedLaplace(0.25), cell, CUTS)
        check_distribution(binned(draws[:, cell], CUTS), pmf)
    norm = np.abs(draws).sum(axis=1)
    step = 1e-3
    below, above = (
        TruncatedEliminationSampler(RECORDS, GeneralizedLaplace(0.25 + h)).log_normaliser
        for h in (-step, step)
    )
    mean = -(above - below) / (2 * step)  # E ||u|| = -d log Z / d epsilon
    centre = sampler.log_normaliser
    check_mean(norm, mean, np.sqrt((above + below - 2 * centre) / step**2))
