import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.constraints.polytope import Polytope
from isdp.mcmc.independence import (
    LONGEST_GAP,
    NO_FLOOR,
    IndependenceSampler,
    _gap,
    _table,
    acceptance_interval,
)
from isdp.mcmc.metropolis import run_chains
from tests.statistical.checks import ALPHA

COUNTS = np.array([4, 1, 0, 6, 2, 3])
MARGINS = Invariants.margins((2, 3))


def sampler(**settings):
    within = Polytope.of_counts(MARGINS, COUNTS).around(COUNTS)
    mechanism = settings.pop("mechanism", GeneralizedLaplace(0.5))
    return IndependenceSampler(within, mechanism, **{"proposal_epsilon": 0.6, **settings})


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(0.5, "l2"), GeneralizedGaussian(2.0)])
def test_draws_stay_within_in_exact_integers(mechanism):
    noise, info = run_chains(np.random.default_rng(1), sampler(mechanism=mechanism), draws=300)
    assert noise.dtype == np.int64
    assert (MARGINS.apply(noise) == 0).all()
    assert (noise + COUNTS >= 0).all()
    assert 0 < info.acceptance_rate < 1


def test_equal_seeds_give_equal_chains_and_a_step_leaves_its_state_alone():
    one = run_chains(np.random.default_rng(3), sampler(), draws=50)[0]
    two = run_chains(np.random.default_rng(3), sampler(), draws=50)[0]
    assert (one == two).all()
    state = sampler().init()
    sampler().run(np.random.default_rng(4), state, draws=1)
    assert state.noise.tolist() == [0] * 6


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
    noise, info = run_chains(np.random.default_rng(1), stuck, draws=10, thin=100)
    assert info.accepted == 0
    assert info.proposed == 4 * 1000
    assert (noise == 0).all()
    rate, low, high = acceptance_interval(np.zeros(4), 1000)
    assert (rate, low) == (0, 0)
    assert (1 - high) ** 4000 == pytest.approx(0.01, rel=1e-2)


def double_geometric(epsilon, values):
    a = np.exp(-epsilon)
    return (1 - a) / (1 + a) * a ** np.abs(values)


@pytest.mark.parametrize("floor", [[-3, 0, 2, NO_FLOOR], [-1], [1], [0]])
def test_proposals_until_all_cells_are_above_their_floors(floor):
    """The count is geometric: an exponential of scale 1 takes a step at each -log(1 - chance)."""
    values = np.arange(-200, 201)
    chance = np.prod([double_geometric(0.5, values[values >= least]).sum() for least in floor])
    assert np.exp(-1 / _gap(np.array(floor), 0.5)) == pytest.approx(1 - chance, rel=1e-12)


def test_floors_that_stop_nothing_or_everything():
    assert _gap(np.full(3, NO_FLOOR), 0.5) == 0
    assert _gap(np.array([10**6, 0]), 0.5) == LONGEST_GAP < np.inf


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 0.6, 2.0, 50.0])
def test_the_table_is_of_the_double_geometric_law(epsilon):
    table = _table(epsilon)
    steps, reach = np.diff(table.cumulative, prepend=0), len(table.cumulative) // 2
    inner = double_geometric(epsilon, np.arange(-reach + 1, reach))
    assert steps[1:-1] == pytest.approx(inner, abs=1e-15)
    assert steps[[0, -1]] == pytest.approx((1 - inner.sum()) / 2, abs=1e-12)
    assert table.cumulative[-1] == 1
    assert np.exp(-1 / table.scale) == pytest.approx(np.exp(-epsilon))  # of each step beyond
    for place in (0, 1, len(table.guide) // 2, len(table.guide) - 1):
        first = np.flatnonzero(table.cumulative > place / len(table.guide))[0]
        assert table.guide[place] == first


def test_cells_that_settle_a_solved_one_are_drawn_before_others():
    rows = Invariants.subsets([[0, 1, 2, 3, 4, 5], [4, 5]], 6)
    within = Polytope.of_counts(rows, COUNTS)
    given = IndependenceSampler(within, GeneralizedLaplace(0.5), 0.6, np.array([0, 5]))._proposals
    assert given.solved.tolist() == [5, 0]
    assert given.free.tolist() == [4, 1, 2, 3]
    assert given.stages.tolist() == [0, 1, 4, 4]
    assert given.offset.tolist() == [5, 11]
    follow = [given.follow.indices[given.follow.indptr[i] :][:1].tolist() for i in (0, 1)]
    assert follow == [[4], [1]]


def test_inequalities_on_several_cells_are_kept_too():
    walls = Invariants(np.array([[1, 1, 0, 0, 0, 0], [0, 0, 0, -1, 0, 0]]), ["pair", "cap"])
    within = Polytope(MARGINS, np.zeros(5, np.int64), walls, np.array([-1, -2]))
    chain = IndependenceSampler(within, GeneralizedLaplace(0.3), 0.4)
    noise, info = run_chains(np.random.default_rng(5), chain, draws=500)
    assert info.accepted > 100
    assert (noise[..., :2].sum(axis=-1) >= -1).all()
    assert (noise[..., 3] <= 2).all()
    assert noise[..., 3].max() == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"proposal_epsilon": 0}, "must be a positive number"),
        ({"proposal_epsilon": -1.0}, "must be a positive number"),
        ({"proposal_epsilon": 1e-18}, "must lie between 0 and 1"),
        ({"proposal_epsilon": 2e-16}, "64-bit"),
        ({"solved": [0, 1, 3, 4]}, "independent columns"),
    ],
)
def test_settings_out_of_range_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        sampler(**settings)


def test_a_start_outside_is_refused_with_the_condition():
    outside = np.array([-5, 5, 0, 5, -5, 0])
    with pytest.raises(InputError, match="is not negative"):
        sampler().init(outside)


def test_the_interval_covers_a_known_rate():
    rng = np.random.default_rng(6)
    inside = [
        low <= 0.3 <= high
        for _, low, high in (
            acceptance_interval(rng.binomial(500, 0.3, 8), 500) for _ in range(500)
        )
    ]
    assert stats.binom.cdf(sum(inside), 500, 0.99) > ALPHA  # it may cover more often than 99 %
