import numpy as np
import pytest
from scipy import stats

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.constraints.polytope import Polytope
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.coupling import (
    MeetingTimes,
    bound_terms,
    choose_lag,
    meeting_times,
    start,
    step,
    time_to_bound,
    tv_bound,
)
from isdp.mcmc.metropolis import LatticeWalk

ACCEPTANCES = pytest.mark.parametrize("acceptance", ["joint", "coordinate"])


def walk(cells=5, epsilon=0.3, proposal=0.6, acceptance="coordinate", norm="l1"):
    lattice = kernel_lattice(Invariants.total(cells))
    return LatticeWalk(lattice, GeneralizedLaplace(epsilon, norm), proposal, acceptance)


def met(lag, tau, censored=False):
    tau = np.asarray(tau, dtype=np.int64)
    cut = np.broadcast_to(censored, tau.shape)
    return MeetingTimes(lag, tau, cut, np.full(tau.shape, 10))


def meet(seed=1, which=None, **settings):
    settings = {"lag": 3, "runs": 20} | settings
    return meeting_times(np.random.default_rng(seed), which or walk(), **settings)


def test_bound_terms_by_hand():
    terms = bound_terms(met(2, [3, 5, 9]), [0, 1, 3, 6, 7, 100])
    assert terms.dtype == np.int64
    assert terms.tolist() == [[1, 0, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0], [4, 3, 2, 1, 0, 0]]
    assert bound_terms(met(1, [4]), [0, 1, 2, 3]).tolist() == [[3, 2, 1, 0]]
    assert bound_terms(met(50, [51, 100, 101]), [0, 1, 50]).tolist() == [
        [1, 0, 0],
        [1, 1, 0],
        [2, 1, 1],
    ]


def test_band_by_hand():
    row = tv_bound(met(2, [3, 5, 9]), [0]).iloc[0]
    reach = 2.5758293 * np.std([1, 2, 4], ddof=1) / np.sqrt(3)
    assert row["bound"] == pytest.approx(7 / 3)
    assert row["high"] == pytest.approx(7 / 3 + reach, rel=1e-4)
    assert row["low"] == pytest.approx(max(0, 7 / 3 - reach), abs=1e-3)
    single = tv_bound(met(2, [9]), [0, 8]).iloc[0]
    assert (single["low"], single["high"]) == (0, np.inf)


def test_where_one_run_is_still_apart_it_weighs_what_it_weighs():
    """One of a hundred lasts 50 lags beyond t = 1: its share has an exact binomial limit."""
    row = tv_bound(met(2, [3] * 99 + [103]), [1]).iloc[0]
    most = stats.binomtest(1, 100).proportion_ci(0.99, "exact").high
    assert row["bound"] == pytest.approx(50 / 100)
    assert row["high"] == pytest.approx(50 * most)


def test_a_meeting_is_that_of_a_lead_and_single_steps():
    which, lag = walk(), 4
    found = meet(9, which, lag=lag, runs=10)
    for run, stream in enumerate(np.random.default_rng(9).spawn(10)):
        _, first, info = which.run(stream, which.init(), draws=1, thin=lag)
        state, tau = start(which, first.noise), lag
        while tau == lag or not state.identical:
            state, _ = step(stream, which, state)
            tau += 1
        assert (found.tau[run], found.jumps[run]) == (tau, info.accepted)


@pytest.mark.parametrize("lag", [1, 3, 50])
def test_time_to_bound_is_the_first_time_below_the_level(lag):
    rng = np.random.default_rng(4)
    for _ in range(40):
        runs = int(rng.integers(1, 30))
        times = met(lag, lag + 1 + rng.geometric(rng.uniform(0.01, 1), runs))
        mean = bound_terms(times, np.arange(times.tau.max() + 1)).mean(axis=0)
        for level in (0.01, 0.3, 1.0, 2.5):
            assert time_to_bound(times, level) == np.flatnonzero(mean < level)[0]


def test_time_to_bound_is_unknown_where_a_run_is_censored():
    assert time_to_bound(met(1, [2, 9], [False, True])) is None


def test_a_cap_censors_exactly_the_runs_that_meet_later():
    free = meet(lag=2, runs=40)
    cap = int(np.median(free.tau))
    cut = meet(lag=2, runs=40, cap=cap)
    assert 0 < cut.censored.sum() < 40
    assert (cut.censored == (free.tau > cap)).all()
    assert (cut.tau == np.minimum(free.tau, cap)).all()


@pytest.mark.parametrize("cap", [60, 100, 400])
def test_a_censored_run_never_makes_the_bound_smaller(cap):
    """The same runs, free and cut off: no bound of the cut ones lies below that of the free."""
    which = walk(8, 0.3, 0.5, "joint")
    free = meet(3, which, lag=20, runs=60)
    cut = meet(3, which, lag=20, runs=60, cap=cap)
    assert cut.censored.any() == (free.tau > cap).any()
    t = np.arange(0, free.tau.max(), 7)
    whole, table = tv_bound(free, t), tv_bound(cut, t)
    for column in ("bound", "high"):
        assert (table[column] >= whole[column]).all()
    assert (table["low"] <= whole["bound"] + 1e-12).all()
    known = table["at_least"].notna()
    assert (table.loc[known, "at_least"] <= whole.loc[known, "bound"]).all()
    if cut.censored.any():
        assert np.isinf(table[["bound", "high"]]).all(axis=None)
        assert (known == (t < cap - 20)).all()
        assert time_to_bound(cut) is None


@ACCEPTANCES
def test_no_freedom_meets_at_once(acceptance):
    w = walk(cells=1, acceptance=acceptance)
    assert (meet(1, w, lag=7).tau == 8).all()
    after, together = step(np.random.default_rng(1), w, start(w))
    assert together
    assert after.difference.shape == (0,)


def arrays(state):
    return state.first.noise, state.second.noise, state.difference


def test_both_start_at_zero_unless_told():
    state = start(walk())
    assert state.identical
    assert not any(x.any() for x in arrays(state))
    apart = start(walk(), second=[3, -3, 0, 0, 0])
    assert not apart.identical
    assert (walk().lattice.basis @ apart.difference == [3, -3, 0, 0, 0]).all()


@pytest.mark.parametrize(
    ("which", "near_one", "cap"),
    [
        (walk(), 1.1, 10**6),
        (walk(proposal=0.2, acceptance="joint"), 1.3, 10**6),
        (walk(epsilon=0.05), 1.1, 60),
        (walk(), 1.0001, 64),
    ],
)
def test_the_lag_doubles_until_the_bound_is_near_one(which, near_one, cap):
    lag, trail = choose_lag(np.random.default_rng(6), which, near_one=near_one, cap=cap)
    assert list(trail.columns) == ["lag", "bound_at_0", "jumps", "censored"]
    assert trail["lag"].tolist() == [2**i for i in range(len(trail))]
    assert trail["lag"].iloc[-1] == lag
    assert (trail["bound_at_0"] >= 1).all()
    settled = (trail["bound_at_0"] <= near_one) & (trail["jumps"] >= 10)
    ended = settled | (trail["censored"] > 0) | (4 * trail["lag"] > cap)
    assert ended.tolist() == [False] * (len(trail) - 1) + [True]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"lag": 0}, "lag"),
        ({"lag": 1.5}, "lag"),
        ({"lag": True}, "lag"),
        ({"runs": 0}, "runs"),
        ({"lag": 5, "cap": 5}, "cap"),
    ],
)
def test_settings_of_meeting_times_out_of_range_are_refused(settings, named):
    with pytest.raises(InputError, match=named):
        meet(**settings)


@pytest.mark.parametrize("near_one", [1, 0.5, float("nan")])
def test_a_bound_at_zero_of_one_or_less_is_never_reached(near_one):
    with pytest.raises(InputError, match="near_one"):
        choose_lag(np.random.default_rng(1), walk(), near_one=near_one)


@pytest.mark.parametrize("second", [[1, 0, 0, 0, 0], [0, 0]])
def test_a_start_that_is_no_feasible_noise_is_refused(second):
    with pytest.raises(InputError):
        start(walk(), None, second)


def test_runs_that_met_before_the_leading_chain_moved_say_nothing():
    times = met(2, [3, 3, 9])
    assert not times.uninformative.any()
    assert time_to_bound(times) is not None
    standing = times._replace(jumps=np.array([0, 5, 7]))
    assert standing.uninformative.tolist() == [True, False, False]
    assert time_to_bound(standing) is None
    assert (tv_bound(standing, [0, 5])["censored"] == 1).all()


def test_walks_that_cannot_be_coupled_are_refused():
    invariants = Invariants.total(4)
    room = Polytope.of_counts(invariants, np.ones(4, np.int64)).around(np.ones(4, np.int64))
    confined = LatticeWalk(
        kernel_lattice(invariants), GeneralizedLaplace(0.5), 0.5, "coordinate", room
    )
    with pytest.raises(InputError, match="inequalities"):
        meet(which=confined)
    loose = LatticeWalk(kernel_lattice(invariants, "exchange"), GeneralizedLaplace(0.5), 0.5)
    with pytest.raises(InputError, match="exchange"):
        meet(which=loose)
    with pytest.raises(InputError, match="inequalities"):
        start(confined)
