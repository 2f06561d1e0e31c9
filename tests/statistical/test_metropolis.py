"""Every variant of the sampler draws from the mechanism's law.

Draws are states of independent chains so far apart that the tests need no allowance for
autocorrelation: over 150 sweeps, by the transition matrices of the small lattices, no function of
the state is correlated with itself by more than 0.002.
"""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution, total_distribution
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.testing import DistributionError, check_distribution, check_mean, count_points

LATTICES = {
    "three cells under a total": Invariants.total(3),
    "2 x 2 table": Invariants.margins((2, 2)),
    "2 x 3 table": Invariants.margins((2, 3)),
    "a free cell and entries other than 0 and 1": Invariants([[2, 3, 0], [4, 6, 0]]),
}


def states(walk, chains, sweeps, seed, each=1):
    """So many states of each chain, so many sweeps apart and from the start."""
    rng = np.random.default_rng(seed)
    draws, _ = run_chains(rng, walk, n_draws=each, n_chains=chains, burn_in=0, thin=sweeps)
    return draws.reshape(-1, walk.cells)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("basis", ["smith", "lll"])
@pytest.mark.parametrize("acceptance", ["joint", "coordinate"])
@pytest.mark.parametrize("name", LATTICES)
def test_law_on_lattices_small_enough_to_enumerate(name, acceptance, basis, norm):
    invariants, mechanism = LATTICES[name], GeneralizedLaplace(0.7, norm)
    walk = LatticeWalk(kernel_lattice(invariants, basis), mechanism, 0.6, acceptance)
    draws = states(walk, chains=500, sweeps=150, seed=11, each=10)
    law = enumerate_distribution(invariants, mechanism)
    assert law.left_out < 1e-9
    counts = count_points(draws, law.points)
    pmf = np.append(law.pmf, 0.0)
    check_distribution(counts, pmf)
    norms = mechanism.noise_norm(law.points)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    check_mean(mechanism.noise_norm(draws), (law.pmf * norms).sum(), sd)


@pytest.mark.parametrize("acceptance", ["joint", "coordinate"])
def test_power_an_epsilon_off_by_a_tenth_is_caught(acceptance):
    invariants = LATTICES["2 x 3 table"]
    walk = LatticeWalk(kernel_lattice(invariants), GeneralizedLaplace(0.7 * 1.1), 0.6, acceptance)
    draws = states(walk, chains=800, sweeps=150, seed=12, each=10)
    law = enumerate_distribution(invariants, GeneralizedLaplace(0.7))
    with pytest.raises(DistributionError):
        check_distribution(count_points(draws, law.points), np.append(law.pmf, 0.0))


def transition_matrix(invariants, mechanism, points, basis, acceptance, proposal):
    """Exact one-sweep transition probabilities among the points, written down independently."""
    weights = np.exp(mechanism.log_weight(points))
    basis = kernel_lattice(invariants, basis).basis
    jumps = range(-60, 61)
    share = np.array([(1 - proposal) / (1 + proposal) * proposal ** abs(k) for k in jumps])
    # number the points by their cells as digits, wide enough for every jump from every point
    reach = int(np.abs(points).max()) + 60 * int(np.abs(basis).sum(axis=1).max()) + 1
    place = (2 * reach) ** np.arange(points.shape[1])
    assert float(2 * reach) ** points.shape[1] < 2**62
    number = points @ place
    order = np.argsort(number)

    def step(vectors_and_shares):
        matrix = np.zeros((len(points), len(points)))
        for vector, probability in vectors_and_shares:
            wanted = number + vector @ place
            j = order[np.searchsorted(number[order], wanted).clip(max=len(points) - 1)]
            i = np.flatnonzero((number[j] == wanted) & vector.any())
            j = j[i]
            matrix[i, j] += probability * np.minimum(1.0, weights[j] / weights[i])
        here = np.arange(len(points))
        matrix[here, here] = 1 - matrix.sum(axis=1)
        return matrix

    single = [[(k * basis[:, j], share[k + 60]) for k in jumps] for j in range(basis.shape[1])]
    if acceptance == "coordinate":
        return np.linalg.multi_dot([step(s) for s in single] + [np.eye(len(points))])
    joint = [(np.zeros(len(basis), dtype=int), 1.0)]
    for s in single:
        joint = [(v + w, p * q) for v, p in joint for w, q in s if p * q > 1e-12]
    return step(joint)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("acceptance", ["joint", "coordinate"])
def test_one_sweep_moves_as_the_transition_matrix_says_and_leaves_the_law(acceptance, norm):
    invariants, mechanism = Invariants.total(3), GeneralizedLaplace(1.5, norm)
    law = enumerate_distribution(invariants, mechanism, radius=14)
    matrix = transition_matrix(invariants, mechanism, law.points, "smith", acceptance, 0.4)
    assert np.abs(law.pmf @ matrix - law.pmf).max() < 1e-9
    start = np.flatnonzero((law.points == [2, -1, -1]).all(axis=1))[0]
    walk = LatticeWalk(kernel_lattice(invariants), mechanism, 0.4, acceptance)
    rng = np.random.default_rng(13)
    state = walk.init(law.points[start])
    after = np.array([walk.run(rng, state, draws=1)[1].noise for _ in range(20_000)])
    counts = count_points(after, law.points)
    check_distribution(counts, np.append(matrix[start].clip(0), 0.0))


@pytest.mark.parametrize("cells", [2, 12, 102])
def test_counties_follow_a_double_geometric_vector_conditioned_on_its_sum(cells):
    epsilon = 0.192
    walk = LatticeWalk(
        kernel_lattice(Invariants.total(cells)), GeneralizedLaplace(epsilon), 0.87, "coordinate"
    )
    # the norm of two cells tells least of epsilon, and its draws cost least
    each = 3 if cells == 2 else 1
    chains = {2: 4_000, 12: 2_000, 102: 1_000}[cells]
    draws = states(walk, chains=chains, sweeps=100, seed=14, each=each)
    law, wrong = total_distribution(cells, epsilon), total_distribution(cells, 1.1 * epsilon)
    for cell in {0, cells // 2, cells - 1}:
        counts = histogram(draws[:, cell], law.support)
        check_distribution(counts, np.append(law.pmf, 0.0))
        check_mean(draws[:, cell], 0.0, law.sd)
    squares = (draws[:, -1].astype(float)) ** 2
    fourth = (law.pmf * law.support.astype(float) ** 4).sum()
    check_mean(squares, law.sd**2, np.sqrt(fourth - law.sd**4))
    norms = np.abs(draws).sum(axis=1)
    check_mean(norms, cells * mean_size(law))
    with pytest.raises(DistributionError):
        check_mean(norms, cells * mean_size(wrong))


def mean_size(law):
    return (law.pmf * np.abs(law.support)).sum()


def histogram(values, support):
    counts = np.bincount(
        np.clip(values, support[0], support[-1]) - support[0], minlength=len(support)
    )
    outside = ((values < support[0]) | (values > support[-1])).sum()
    return np.append(counts, outside)
