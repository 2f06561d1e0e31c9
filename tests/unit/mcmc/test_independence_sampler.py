import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.constraints.polytope import Polytope
from isdp.mcmc.independence_sampler import IndependenceSampler, acceptance_interval
from isdp.mcmc.metropolis import run_chains
from isdp.mechanisms import double_geometric_pmf
from isdp.testing import FALSE_ALARM_RATE, DistributionError, check_distribution, check_mean

COUNTS = np.array([4, 1, 0, 6, 2, 3])
MARGINS = Invariants.margins((2, 3))


def sampler(**settings):
    within = Polytope.of_counts(MARGINS, COUNTS).around(COUNTS)
    mechanism = settings.pop("mechanism", GeneralizedLaplace(0.5))
    return IndependenceSampler(within, mechanism, **{"proposal_epsilon": 0.6, **settings})


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(0.5, "l2"), GeneralizedGaussian(2.0)])
def test_draws_stay_within_in_exact_integers(mechanism):
    noise, info = run_chains(np.random.default_rng(1), sampler(mechanism=mechanism), n_draws=300)
    assert noise.dtype == np.int64
    assert (MARGINS.apply(noise) == 0).all()
    assert (noise + COUNTS >= 0).all()
    assert 0 < info.acceptance_rate < 1


def test_a_run_is_the_same_as_its_steps():
    chain = sampler()
    kept, last, info = chain.run(np.random.default_rng(5), chain.init(), draws=20)
    rng, state, accepted = np.random.default_rng(5), chain.init(), 0
    for noise in kept:
        _, state, made = chain.run(rng, state, draws=1)
        assert (state.noise == noise).all()
        assert (made.proposed, made.updates) == (1, 1)
        accepted += made.accepted
    assert (last.noise == state.noise).all()
    assert info.accepted == accepted > 0


def test_a_proposal_that_never_accepts_ends_and_is_reported():
    """Proposals so wide that none falls into a polytope of one point."""
    counts = np.zeros(6, np.int64)
    within = Polytope.of_counts(Invariants.total(6), counts).around(counts)
    stuck = IndependenceSampler(within, GeneralizedLaplace(1.0), 1e-4)
    noise, info = run_chains(np.random.default_rng(1), stuck, n_draws=10, thin=100)
    assert info.accepted == 0
    assert info.proposed == 4 * 1000
    assert (noise == 0).all()
    rate, low, high = acceptance_interval(np.zeros(4), 1000)
    assert (rate, low) == (0, 0)
    assert (1 - high) ** 4000 == pytest.approx(0.01, rel=1e-2)


@pytest.mark.parametrize("epsilon", [0.01, 0.6, 2.0])
def test_unconstrained_proposals_from_the_target_are_all_accepted_and_follow_it(epsilon):
    free = Polytope(*[Invariants(np.zeros((0, 2), int)), np.zeros(0, np.int64)] * 2)
    chain = IndependenceSampler(free, GeneralizedLaplace(epsilon), epsilon)
    noise, _, info = chain.run(np.random.default_rng(7), chain.init(), draws=20_000)
    assert info.accepted == info.proposed == 20_000
    counts = np.bincount(noise.ravel() + 5000, minlength=10_001)
    check_distribution(counts, double_geometric_pmf(np.arange(-5000, 5001), np.exp(-epsilon)))
    check_mean(np.abs(noise), 1 / np.sinh(epsilon))
    with pytest.raises(DistributionError):
        check_mean(np.abs(noise), 1 / np.sinh(1.05 * epsilon))


def test_inequalities_on_several_cells_are_kept_too():
    walls = Invariants(np.array([[1, 1, 0, 0, 0, 0], [0, 0, 0, -1, 0, 0]]), ["pair", "cap"])
    within = Polytope(MARGINS, np.zeros(5, np.int64), walls, np.array([-1, -2]))
    chain = IndependenceSampler(within, GeneralizedLaplace(0.3), 0.4)
    noise, info = run_chains(np.random.default_rng(5), chain, n_draws=500)
    assert info.accepted > 100
    assert noise[..., :2].sum(axis=-1).min() == -1
    assert noise[..., 3].max() == 2


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"proposal_epsilon": 0}, "proposal_epsilon"),
        ({"proposal_epsilon": -1.0}, "proposal_epsilon"),
        ({"proposal_epsilon": 1e-18}, "proposal_epsilon"),
        ({"proposal_epsilon": 2e-16}, "proposal_epsilon"),
        ({"solved": [0, 1, 3, 4]}, "solved cells"),
    ],
)
def test_settings_out_of_range_are_refused(settings, named):
    with pytest.raises(InputError, match=named):
        sampler(**settings)


def test_a_start_outside_is_refused_with_the_condition():
    with pytest.raises(InputError, match="cell 0"):
        sampler().init(np.array([-5, 5, 0, 5, -5, 0]))


def test_the_interval_covers_a_known_rate():
    rng = np.random.default_rng(6)
    inside = [
        low <= 0.3 <= high
        for _, low, high in (
            acceptance_interval(rng.binomial(500, 0.3, 8), 500) for _ in range(500)
        )
    ]
    assert (
        stats.binom.cdf(sum(inside), 500, 0.99) > FALSE_ALARM_RATE
    )  # it may cover more often than 99 %
