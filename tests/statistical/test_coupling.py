"""The coupled chains: each moves as the single walk, they agree as often as can be, and the bound
that their meeting times give lies above the exact distance.
"""

from functools import cache, partial

import numpy as np
import pytest
from numba import njit

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.compiled_chains import coupled_double_geometric
from isdp.mcmc.coupling import (
    CoupledState,
    bound_terms,
    meeting_times,
    powers_of,
    start,
    step,
    tv_bound,
)
from isdp.mcmc.metropolis import LatticeWalk
from isdp.mechanisms.generalized_laplace import double_geometric_pmf
from isdp.testing import DistributionError, check_distribution, count_points
from tests.statistical.test_metropolis import histogram, transition_matrix

ACCEPTANCES = pytest.mark.parametrize("acceptance", ["joint", "coordinate"])
PROPOSAL = 0.3
TABLE = Invariants.margins((2, 2))
TOTAL = Invariants.total(3)
# invariants, where the two chains start
LATTICES = {
    "2 x 2": (TABLE, [1, -1, -1, 1], [-2, 2, 2, -2]),
    "2 x 3": (Invariants.margins((2, 3)), [1, -1, 0, -1, 1, 0], [0, 0, 0, 0, 0, 0]),
    "total": (TOTAL, [2, -1, -1], [0, 1, -1]),
}
# mechanism, radius that one sweep does not leave
MECHANISMS = {
    "l1": (GeneralizedLaplace(1.0, "l1"), 18),
    "l2": (GeneralizedLaplace(1.0, "l2"), 12),
    "gaussian": (GeneralizedGaussian(1.0), 8),
}


# -- the coupled proposal ---------------------------------------------------------------------


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def pairs(rng, apart, powers, p_zero, log_a, draws):
    steps = np.empty((draws, 2), dtype=np.int64)
    for i in range(draws):
        steps[i, 0], steps[i, 1] = coupled_double_geometric(rng, apart, powers, p_zero, log_a)
    return steps


def coupled_pairs(seed, apart, a, draws=20_000):
    return pairs(
        np.random.default_rng(seed), apart, powers_of(a), (1 - a) / (1 + a), np.log(a), draws
    )


def check_marginals(steps, a):
    support = np.arange(-400, 401)
    for side in (0, 1):
        counts = histogram(steps[:, side], support)
        check_distribution(counts, np.append(double_geometric_pmf(support, a), 0.0))


def overlap(apart, a):
    """Chance that the maximal coupling makes two double geometric proposals agree."""
    m, odd = divmod(abs(apart), 2)
    return 2 * a ** (m + 1) / (1 + a) if odd else a**m


def check_agreement(agree, apart, a):
    if apart == 0:
        assert agree.all()
        return
    chance = overlap(apart, a)
    check_distribution([agree.sum(), (~agree).sum()], [chance, 1 - chance])


@pytest.mark.parametrize("apart", [0, 1, 2, 3, -4, 9])
@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_proposals_keep_their_law_and_agree_as_often_as_can_be(a, apart):
    steps = coupled_pairs(21, apart, a)
    check_marginals(steps, a)
    check_agreement(steps[:, 0] == apart + steps[:, 1], apart, a)


@pytest.mark.parametrize("a", [0.1, 0.5, 0.9])
def test_overlap_is_the_mass_that_two_proposals_share(a):
    k, p = np.arange(-500, 501), partial(double_geometric_pmf, a=a)
    for apart in range(-12, 13):
        shared = np.minimum(p(k), p(k - apart)).sum()
        assert overlap(apart, a) == pytest.approx(shared, rel=1e-12)


@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_power_an_agreement_off_by_a_twentieth_is_caught(a):
    steps = coupled_pairs(22, 3, a, draws=300_000)
    agree = steps[:, 0] == 3 + steps[:, 1]
    check_agreement(agree, 3, a)
    lost = np.random.default_rng(23).random(len(agree)) < 0.05
    with pytest.raises(DistributionError):
        check_agreement(agree & ~lost, 3, a)


# -- one step ---------------------------------------------------------------------------------


@cache
def one_sweep(lattice, mechanism, acceptance, epsilon=None):
    """Points, and the two starts' rows of the single chain's exact transition matrix.

    `epsilon` takes the place of the mechanism's own, to see that it is noticed.
    """
    invariants, *starts = LATTICES[lattice]
    law, radius = MECHANISMS[mechanism]
    ball = law if isinstance(law, GeneralizedLaplace) else GeneralizedLaplace(1.0, "l2")
    points = enumerate_distribution(invariants, ball, radius=radius).points
    law = law if epsilon is None else GeneralizedLaplace(epsilon, mechanism)
    matrix = transition_matrix(invariants, law, points, "smith", acceptance, PROPOSAL)
    places = [np.flatnonzero((points == s).all(axis=1))[0] for s in starts]
    return points, matrix[places].clip(0)


@cache
def after_one_step(lattice, mechanism, acceptance, stepper, draws, seed):
    """Where both chains stand after one step of `stepper`, int64 (2, draws, cells)."""
    invariants, *starts = LATTICES[lattice]
    walk = LatticeWalk(kernel_lattice(invariants), MECHANISMS[mechanism][0], PROPOSAL, acceptance)
    rng, state = np.random.default_rng(seed), start(walk, *starts)
    after = [stepper(rng, walk, state)[0] for _ in range(draws)]
    return np.array([[one.noise, two.noise] for one, two, _ in after]).swapaxes(0, 1)


def check_one_step(after, points, rows):
    """Compare both chains with their rows of a transition matrix."""
    for side in (0, 1):
        check_distribution(count_points(after[side], points), np.append(rows[side], 0.0))


DRAWS = {"2 x 2": 4_000, "2 x 3": 4_000, "total": 8_000}


@ACCEPTANCES
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("lattice", LATTICES)
def test_each_chain_moves_as_the_single_walk(lattice, mechanism, acceptance):
    after = after_one_step(lattice, mechanism, acceptance, step, DRAWS[lattice], seed=24)
    check_one_step(after, *one_sweep(lattice, mechanism, acceptance))


# what is taken for epsilon: on the tables, where few jumps are accepted, half of it
MISTAKEN = {"2 x 2": 0.5, "2 x 3": 0.5, "total": 1.4}


@ACCEPTANCES
@pytest.mark.parametrize("lattice", LATTICES)
def test_power_a_step_at_another_epsilon_is_caught(lattice, acceptance):
    after = after_one_step(lattice, "l1", acceptance, step, DRAWS[lattice], seed=24)
    with pytest.raises(DistributionError):
        check_one_step(after, *one_sweep(lattice, "l1", acceptance, MISTAKEN[lattice]))


# -- together ---------------------------------------------------------------------------------


def check_together(stepper, walk, first, second, steps, seed):
    """Check that met chains stay so and that the state's own account of them is true."""
    rng, state, met = np.random.default_rng(seed), start(walk, first, second), False
    power = walk.mechanism.energy.power
    for _ in range(steps):
        state, together = stepper(rng, walk, state)
        one, two = state.first.noise, state.second.noise
        equal = bool((one == two).all())
        assert together == state.identical == equal
        assert equal or not met
        assert (state.difference == walk.lattice.coordinates(two - one)).all()
        assert state.first.size == (np.abs(one) ** power).sum()
        assert state.second.size == (np.abs(two) ** power).sum()
        met = equal
    return met


@ACCEPTANCES
@pytest.mark.parametrize("basis", ["smith", "lll"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_chains_that_met_stay_together_and_the_account_is_true(norm, basis, acceptance):
    lattice = kernel_lattice(Invariants.margins((2, 3)), basis)
    walk = LatticeWalk(lattice, GeneralizedLaplace(0.3, norm), 0.6, acceptance)
    here, there = [3, -1, -2, -3, 1, 2], [-4, 0, 4, 4, 0, -4]
    assert check_together(step, walk, here, here, steps=300, seed=26)
    assert check_together(step, walk, here, there, steps=300, seed=27)


# -- the bound --------------------------------------------------------------------------------


@cache
def exact_distance(name, acceptance):
    """Total variation distance to the target at each time, for a chain that starts at zero."""
    invariants, mechanism, proposal, radius = BOUNDED[name]
    law = enumerate_distribution(invariants, mechanism, radius=radius)
    matrix = transition_matrix(invariants, mechanism, law.points, "smith", acceptance, proposal)
    now = (~law.points.any(axis=1)).astype(float)
    distance = []
    for _ in range(81):
        distance.append(0.5 * np.abs(now - law.pmf).sum())
        now = now @ matrix
    return np.array(distance)


BOUNDED = {
    "2 x 2": (TABLE, GeneralizedLaplace(0.2), 0.15, 120),
    "total": (TOTAL, GeneralizedLaplace(1.0), 0.1, 22),
}


def check_bound(times, exact, least):
    """Compare where at least `least` runs are still apart: the band needs some to rest upon."""
    t = np.arange(len(exact))
    seen = (bound_terms(times, t) > 0).sum(axis=0) >= least
    assert seen[0]
    assert (exact <= tv_bound(times, t)["high"] + 1e-9)[seen].all()


@ACCEPTANCES
@pytest.mark.parametrize("lag", [1, 5, 20])
@pytest.mark.parametrize("name", BOUNDED)
def test_bound_lies_above_the_exact_distance(name, lag, acceptance):
    invariants, mechanism, proposal, _ = BOUNDED[name]
    exact = exact_distance(name, acceptance)
    assert exact[0] > 0.3
    assert exact[5] > 0.1
    assert exact[-1] < 0.5 * exact[0]
    walk = LatticeWalk(kernel_lattice(invariants), mechanism, proposal, acceptance)
    times = meeting_times(np.random.default_rng(28), walk, lag=lag, runs=300)
    assert not times.censored.any()
    check_bound(times, exact, least=3)
    many = meeting_times(np.random.default_rng(33), walk, lag=lag, runs=4_000)
    check_bound(many, exact, least=3)
    if lag == 20:  # power, where the bound is close: runs that met in half the time are caught
        hasty = many._replace(tau=lag + (many.tau - lag + 1) // 2)
        with pytest.raises(AssertionError):
            check_bound(hasty, exact, least=3)


# -- a wrong coupling is caught ---------------------------------------------------------------


def apart_step(rng, walk, state):
    """Two walks that know nothing of each other: right one by one, wrong as a coupling."""
    first, second = (walk.run(rng, one, draws=1)[1] for one in (state.first, state.second))
    after = CoupledState(first, second, walk.lattice.coordinates(second.noise - first.noise))
    return after, after.identical


@ACCEPTANCES
def test_independent_chains_move_rightly_but_do_not_stay_together(acceptance):
    after = after_one_step("2 x 2", "l1", acceptance, apart_step, 2_000, seed=29)
    check_one_step(after, *one_sweep("2 x 2", "l1", acceptance))
    walk = LatticeWalk(kernel_lattice(TOTAL), GeneralizedLaplace(0.3), 0.6, acceptance)
    with pytest.raises(AssertionError):
        check_together(apart_step, walk, [2, -1, -1], [2, -1, -1], steps=300, seed=30)


@pytest.mark.parametrize("apart", [0, 1, 3])
def test_independent_proposals_do_not_agree_often_enough(apart):
    steps = np.stack([coupled_pairs(seed, 0, 0.6)[:, 0] for seed in (31, 32)], axis=1)
    check_marginals(steps, 0.6)
    with pytest.raises(AssertionError):
        check_agreement(steps[:, 0] == apart + steps[:, 1], apart, 0.6)
