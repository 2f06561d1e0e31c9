"""Conditioned mechanisms against enumeration, and the two samplers against each other."""

from functools import cache

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.constraints.polytope import Polytope
from isdp.lattice.null_lattice import KernelLattice, kernel_lattice
from isdp.mcmc.independence_sampler import IndependenceSampler
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.generalized_laplace import double_geometric_noise
from isdp.testing import DistributionError, check_distribution, check_mean, count_points
from reproduction.data.table_p12 import sex_by_age_invariants

COUNTS = np.array([2, 0, 3, 1, 4])
SUMS = Invariants.subsets([[0, 1, 2, 3, 4], [0, 1]], 5)
ROOM = Polytope.of_counts(SUMS, COUNTS).around(COUNTS)
LAWS = {
    "l1": GeneralizedLaplace(0.4),
    "l2": GeneralizedLaplace(0.8, "l2"),
    "gaussian": GeneralizedGaussian(2.0),
}


@cache
def confined_noise():
    """Noise that leads to any table of counts with the same sums."""
    total = int(COUNTS.sum())
    tables = np.indices((total + 1,) * 4).reshape(4, -1)
    tables = np.vstack([tables, total - tables.sum(axis=0)]).T
    noise = tables - COUNTS
    return noise[ROOM.contains(noise)]


def conditioned_law(mechanism):
    """Every table of counts with the same sums, and its exact probability."""
    noise = confined_noise()
    weights = np.exp(mechanism.log_weight(noise))
    return noise, weights / weights.sum()


def draws_of(sampler, thin, draws=6_000, seed=7, chains=4, burn_in=500):
    """States of all chains, one chain after the other.

    Where they are taken for independent, `thin` is so long that by the matrices of all moves no
    function of the state is correlated with itself by more than 0.002.
    """
    noise, _ = run_chains(
        np.random.default_rng(seed),
        sampler,
        n_draws=draws,
        n_chains=chains,
        burn_in=burn_in,
        thin=thin,
    )
    return noise.reshape(-1, noise.shape[-1])


def check_draws(draws, mechanism):
    """Compare the draws with the law, and their mean size, which tells most of the scale."""
    points, pmf = conditioned_law(mechanism)
    check_distribution(count_points(draws, points), np.append(pmf, 0))
    sizes = mechanism.noise_norm(points)
    mean = (pmf * sizes).sum()
    check_mean(mechanism.noise_norm(draws), mean, np.sqrt((pmf * (sizes - mean) ** 2).sum()))


@pytest.mark.parametrize("law", LAWS)
def test_independence_sampler_against_enumeration(law):
    draws = draws_of(IndependenceSampler(ROOM, LAWS[law], 0.5), thin=80)
    check_draws(draws, LAWS[law])


THINNED = {  # parameter of the jumps, and sweeps from draw to draw
    ("lll", "coordinate"): (0.5, 50),
    ("lll", "joint"): (0.5, 110),
    ("exchange", "coordinate"): (0.5, 30),
    ("exchange", "joint"): (0.3, 70),
}


def test_the_rate_counts_proposals_that_are_never_drawn():
    """Against the sum over all pairs of states; two of the five cells are solved."""
    points, pmf = conditioned_law(LAWS["l1"])
    sampler = IndependenceSampler(ROOM, LAWS["l1"], 0.5)
    a = np.exp(-0.5)
    free = points[:, sampler.free]
    proposed = ((1 - a) / (1 + a) * a ** np.abs(free)).prod(axis=1)
    # P(from) P(to is proposed) min(1, weight of to / weight of from), and the same the other way
    rate = np.minimum(np.outer(pmf, proposed), np.outer(proposed, pmf)).sum()
    rng = np.random.default_rng(10)
    starts = points[rng.choice(len(points), 2_000, p=pmf)]
    accepted = [sampler.run(rng, sampler.init(start), 1, 100)[2].accepted for start in starts]
    rates = np.array(accepted) / 100
    check_mean(rates, rate, rates.std())
    with pytest.raises(DistributionError):
        check_mean(rates, 1.1 * rate, rates.std())


@pytest.mark.parametrize("acceptance", ["coordinate", "joint"])
@pytest.mark.parametrize("basis", ["lll", "exchange"])
@pytest.mark.parametrize("law", LAWS)
def test_confined_walk_against_enumeration(law, basis, acceptance):
    jumps, thin = THINNED[basis, acceptance]
    walk = LatticeWalk(kernel_lattice(SUMS, basis), LAWS[law], jumps, acceptance, ROOM)
    check_draws(draws_of(walk, thin, draws=4_000), LAWS[law])


def test_power_a_scale_ten_percent_off_is_rejected():
    draws = draws_of(IndependenceSampler(ROOM, GeneralizedLaplace(0.44), 0.5), thin=80)
    with pytest.raises(DistributionError):
        check_draws(draws, LAWS["l1"])


def test_power_jumps_that_do_not_generate_the_lattice_are_rejected():
    lattice = kernel_lattice(SUMS, "lll")
    columns = lattice.columns.copy()
    columns.data = columns.data.copy()
    first = slice(columns.indptr[0], columns.indptr[1])
    columns.data[first] *= 2
    for part in (columns.data, columns.indices, columns.indptr):
        part.flags.writeable = False  # as the lattice's own, for which the walk is compiled
    walk = LatticeWalk(KernelLattice(SUMS, "lll", columns), LAWS["l1"], 0.5, "coordinate", ROOM)
    with pytest.raises(DistributionError):
        check_draws(draws_of(walk, thin=25), LAWS["l1"])


def test_both_samplers_agree_on_sex_by_age():
    counts = np.random.default_rng(1).negative_binomial(100, 0.95, 46)
    room = Polytope.of_counts(sex_by_age_invariants(), counts).around(counts)
    mechanism = GeneralizedLaplace(0.5)
    walk = LatticeWalk(
        kernel_lattice(room.equalities, "exchange"), mechanism, 0.8, "coordinate", room
    )
    proposals = IndependenceSampler(room, mechanism, 0.6)
    walked = draws_of(walk, thin=8, draws=100, chains=40)
    proposed = draws_of(proposals, thin=400, draws=180, chains=40, burn_in=2_000, seed=8)
    for measure in (mechanism.noise_norm, lambda u: u[:, 0], lambda u: (u == -counts).sum(axis=1)):
        # a chain's mean is one value: chains are independent, and their own spread is the error
        one, two = (measure(noise).reshape(40, -1).mean(axis=1) for noise in (walked, proposed))
        check_mean(one - two, 0)
        with pytest.raises(DistributionError):
            check_mean(one - two, 0.3 * measure(walked).std())


def test_the_raw_mechanisms_mean_distance_has_its_closed_form():
    rng = np.random.default_rng(9)
    for epsilon in (0.5, 1.0):
        a = np.exp(-epsilon)
        noise = double_geometric_noise(rng, epsilon, (4_000, 46))
        mean = 2 * a / (1 - a * a)
        sd = np.sqrt(2 * a / (1 - a) ** 2 - mean**2)
        check_mean(np.abs(noise), mean, sd)
        with pytest.raises(DistributionError):
            check_mean(double_geometric_noise(rng, 1.02 * epsilon, (4_000, 46)), mean, sd)
