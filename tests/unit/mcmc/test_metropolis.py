import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.constraints.polytope import Polytope
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc import draw_chains
from isdp.mcmc.metropolis import LatticeWalk, run_chains


def walk(invariants=None, mechanism=None, proposal=0.6, acceptance="coordinate", basis="smith"):
    lattice = kernel_lattice(invariants or Invariants.total(5), basis)
    return LatticeWalk(lattice, mechanism or GeneralizedLaplace(0.3), proposal, acceptance)


@given(
    seed=st.integers(0, 2**32 - 1),
    norm=st.sampled_from(["l1", "l2"]),
    basis=st.sampled_from(["smith", "lll"]),
    acceptance=st.sampled_from(["joint", "coordinate"]),
)
def test_every_draw_of_a_random_system_meets_it_exactly(seed, norm, basis, acceptance):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 3, (rng.integers(1, 4), rng.integers(2, 7)))
    noise = draw_chains(
        GeneralizedLaplace(0.2, norm),
        Invariants(matrix),
        n_draws=20,
        n_chains=2,
        burn_in=5,
        basis=basis,
        acceptance=acceptance,
        rng=rng,
    )
    assert noise.shape == (2, 20, matrix.shape[1])
    assert noise.dtype == np.int64
    assert not np.einsum("ij,...j", matrix, noise).any()


def test_a_step_leaves_its_state_and_keeps_the_size_exact():
    for norm, power in (("l1", 1), ("l2", 2)):
        w = walk(mechanism=GeneralizedLaplace(0.05, norm))
        rng = np.random.default_rng(3)
        state = w.init()
        for _ in range(50):
            before = state.noise.copy()
            _, after, info = w.run(rng, state, draws=1)
            assert (state.noise == before).all()
            assert after.size == (np.abs(after.noise) ** power).sum()
            assert info.updates == 4
            state = after
        assert state.size > 0


def test_run_is_the_same_as_its_steps():
    w = walk()
    kept, last, _ = w.run(np.random.default_rng(5), w.init(), draws=4, thin=3)
    rng, state = np.random.default_rng(5), w.init()
    for sweep in range(12):
        _, state, _ = w.run(rng, state, draws=1)
        if sweep % 3 == 2:
            assert (kept[sweep // 3] == state.noise).all()
    assert (last.noise == state.noise).all()


@pytest.mark.parametrize("start", [None, [[3, -3, 0, 0, 0], [0, 0, 40, 0, -40]]])
def test_every_chain_starts_where_it_is_told_or_at_zero(start):
    w = walk()
    kept, _ = run_chains(
        np.random.default_rng(5), w, n_draws=3, n_chains=2, burn_in=2, thin=2, start=start
    )
    streams = np.random.default_rng(5).spawn(2)
    for chain, stream, noise in zip(kept, streams, start or [None, None], strict=True):
        _, state, _ = w.run(stream, w.init(noise), draws=1, thin=2)
        assert (chain == w.run(stream, state, draws=3, thin=2)[0]).all()


def test_seeds_and_chains():
    arguments = {"invariants": Invariants.total(6), "mechanism": GeneralizedLaplace(0.3)}
    one = draw_chains(**arguments, n_draws=5, rng=np.random.default_rng(8))
    same = draw_chains(**arguments, n_draws=5, rng=np.random.default_rng(8))
    other = draw_chains(**arguments, n_draws=5, rng=np.random.default_rng(9))
    assert (one == same).all()
    assert (one != other).any()
    assert (one[0] != one[1]).any()
    more_chains = draw_chains(**arguments, n_draws=5, n_chains=6, rng=np.random.default_rng(8))
    assert (more_chains[:4] == one).all()


def test_no_freedom_gives_zero_noise():
    noise = draw_chains(
        GeneralizedLaplace(0.1), Invariants.total(1), n_draws=3, rng=np.random.default_rng(1)
    )
    assert noise.shape == (4, 3, 1)
    assert not noise.any()


def run(**settings):
    return run_chains(np.random.default_rng(1), walk(), **{"n_draws": 1, **settings})


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: walk(proposal=0.0), "proposal"),
        (lambda: walk(proposal=1), "proposal"),
        (lambda: walk(acceptance="both"), "acceptance"),
        (lambda: walk(mechanism=GeneralizedLaplace(1e-18)), "bits"),
        (lambda: walk(mechanism=GeneralizedLaplace(1e-9, "l2")), "bits"),
        (lambda: walk().init([1, 0, 0, 0, 0]), "invariant"),
        (lambda: walk().init([0, 0]), "start"),
        (lambda: walk().init([2**61, -(2**61), 0, 0, 0]), "bits"),
        (lambda: run(n_draws=-1), "n_draws"),
        (lambda: run(thin=0), "thin"),
        (lambda: run(burn_in=-1), "burn_in"),
        (lambda: run(n_chains=1.5), "n_chains"),
        (lambda: run(start=[[0] * 5]), "start"),
    ],
)
def test_bad_settings_are_refused(call, named):
    with pytest.raises(InputError, match=named):
        call()


def test_a_polytope_of_other_equalities_is_refused():
    counts = np.array([1, 2, 3])
    room = Polytope.of_counts(Invariants.total(3), counts).around(counts)
    lattice = kernel_lattice(Invariants.subsets([[0, 1]], 3))
    with pytest.raises(InputError, match="equalities"):
        LatticeWalk(lattice, GeneralizedLaplace(0.5), 0.5, "coordinate", room)


@pytest.mark.parametrize("acceptance", ["coordinate", "joint"])
def test_a_confined_walk_stays_within_and_starts_there(acceptance):
    counts = np.array([0, 2, 1, 5])
    room = Polytope.of_counts(Invariants.total(4), counts).around(counts)
    lattice = kernel_lattice(room.equalities, "exchange")
    walk = LatticeWalk(lattice, GeneralizedLaplace(0.2), 0.6, acceptance, room)
    noise, info = run_chains(np.random.default_rng(1), walk, n_draws=1000)
    assert info.accepted > 50
    assert (noise + counts >= 0).all()
    assert (noise.sum(axis=-1) == 0).all()
    with pytest.raises(InputError, match="cell 0"):
        walk.init(np.array([-1, 1, 0, 0]))
