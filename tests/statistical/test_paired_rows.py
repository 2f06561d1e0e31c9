"""Redrawing two rows: one step against its law by enumeration, the target left as it is, and both
chains of a pair moving as one chain does.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import vstack

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_law
from isdp.mcmc import paired_coupling
from isdp.mcmc.paired_coupling import coupled_step, coupled_sweep, pairing
from isdp.mcmc.paired_rows import PairedRows
from isdp.mechanisms.laplace import double_geometric_pmf
from tests.statistical.checks import LawRejected, check_law, check_mean, count_points

TWO_WAY = [(0, 1), (0, 2), (1, 2)]
DRAWS = 3000


def shared(sizes):
    rows, columns = (np.repeat(axis.ravel(), np.ravel(sizes)) for axis in np.indices(sizes.shape))
    margins = [Invariants.partition(labels).sparse for labels in (rows, columns)]
    return Invariants(vstack(margins, format="csr"))


# name: invariants, cells of each place, epsilon, state, places of the step, signs
STEPS = {
    "two rows of 3 x 3": (
        Invariants.margins((3, 3)),
        np.ones(9, int),
        0.6,
        [2, -3, 1, -1, 4, -3, -1, -1, 2],
        [[0, 1, 2], [6, 7, 8]],
        [1, -1],
    ),
    "sums of cells": (
        shared(np.array([[1, 3, 2], [2, 1, 1]])),
        np.array([1, 3, 2, 2, 1, 1]),
        0.6,
        [3, -1, -2, -3, 1, 2],
        [[0, 1, 2], [3, 4, 5]],
        [1, -1],
    ),
    "fibres of 2 x 2 x 3": (
        Invariants.margins((2, 2, 3), TWO_WAY),
        np.ones(12, int),
        0.3,
        [2, -1, -1, -2, 1, 1, -2, 1, 1, 2, -1, -1],
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]],
        [1, -1, -1, 1],
    ),
}


def place_law(cells, epsilon, x):
    """Law of a sum by convolution, at integers x."""
    one = double_geometric_pmf(np.arange(-150, 151), np.exp(-epsilon))
    law = np.ones(1)
    for _ in range(cells):
        law = np.convolve(law, one)
    return law[len(law) // 2 + x]


def step_law(name, epsilon):
    """Points (first row of three columns) and probabilities, from the weights of all places."""
    _, sizes, _, state, places, signs = STEPS[name]
    state, places = np.array(state), np.array(places)
    span = np.arange(-25, 26)
    x, y = (axis.ravel() for axis in np.meshgrid(span, span))
    new = np.stack([x, y, state[places[0]].sum() - x - y], axis=1)
    weight = np.ones(len(new))
    for row, sign in zip(places, signs, strict=True):
        values = state[row] + sign * (new - state[places[0]])
        for k in range(3):
            weight *= place_law(int(sizes[row[k]]), epsilon, values[:, k])
    return new, weight / weight.sum()


@cache
def redrawn(name):
    invariants, sizes, epsilon, state, places, signs = STEPS[name]
    chain = PairedRows(invariants, GeneralizedLaplace(epsilon))
    assert chain.sizes.tolist() == sizes.tolist()
    rng, places, signs = np.random.default_rng(11), np.array(places), np.array(signs)
    draws = np.empty((DRAWS, len(state)), dtype=np.int64)
    order = np.array([2, 0, 1])
    for draw in draws:
        draw[:] = state
        columns = chain.columns(draw, places, signs, np.zeros(3, int))
        chain.redraw(rng.random(4), draw, places, signs, columns, order)
    return draws, places


def check_norm(draws, points, pmf):
    """Compare the mean size of the noise, which tells most of epsilon."""
    norms = np.abs(points).sum(axis=1)
    mean = (pmf * norms).sum()
    check_mean(np.abs(draws).sum(axis=1), mean, np.sqrt((pmf * (norms - mean) ** 2).sum()))


def check_step(name, epsilon):
    """Compare the redrawn rows with their law at an epsilon."""
    (draws, places), (points, pmf) = redrawn(name), step_law(name, epsilon)
    check_law(count_points(draws[:, places[0]], points), np.append(pmf, 0))
    state, signs = np.array(STEPS[name][3]), STEPS[name][5]
    moved = points - state[places[0]]
    rows = [state[row] + sign * moved for row, sign in zip(places, signs, strict=True)]
    check_norm(draws[:, places.ravel()], np.hstack(rows), pmf)


@pytest.mark.parametrize("name", STEPS)
def test_one_step_has_its_law(name):
    draws, places = redrawn(name)
    check_step(name, STEPS[name][2])
    untouched = np.setdiff1d(np.arange(draws.shape[1]), places)
    assert (draws[:, untouched] == np.array(STEPS[name][3])[untouched]).all()


@pytest.mark.parametrize("name", STEPS)
def test_power_a_step_at_another_epsilon_is_caught(name):
    with pytest.raises(LawRejected):
        check_step(name, 1.2 * STEPS[name][2])


# -- the target -------------------------------------------------------------------------------

CHAINS = 1500
TARGETS = {
    "2 x 3": (Invariants.margins((2, 3)), 0.5),
    "3 x 3": (Invariants.margins((3, 3)), 1.2),
    "2 x 2 x 3": (Invariants.margins((2, 2, 3), TWO_WAY), 0.4),
}


@cache
def law_of(name):
    invariants, epsilon = TARGETS[name]
    return enumerate_law(invariants, GeneralizedLaplace(epsilon))


@cache
def moved(name, sweeps, start):
    """States after some sweeps from draws of the law, or from zero, and the law's points."""
    invariants, epsilon = TARGETS[name]
    chain, law = PairedRows(invariants, GeneralizedLaplace(epsilon)), law_of(name)
    rng = np.random.default_rng(12)
    states = np.zeros((CHAINS, chain.places), dtype=np.int64)
    kind = np.argsort(chain.spread_out(rng, np.arange(chain.places)))  # cell of each place
    if start == "law":
        states = law.points[rng.choice(len(law.pmf), CHAINS, p=law.pmf)][:, kind]
    states = np.array([chain.run(rng, state, sweeps) for state in states])
    return states, law.points[:, kind]


def check_states(states, points, pmf):
    check_law(count_points(states, points), np.append(pmf, 0))
    check_norm(states, points, pmf)


@pytest.mark.parametrize("name", TARGETS)
def test_the_target_is_left_as_it_is(name):
    check_states(*moved(name, 1, "law"), law_of(name).pmf)


@pytest.mark.parametrize("name", TARGETS)
def test_chains_from_zero_reach_the_target(name):
    check_states(*moved(name, 3, "zero"), law_of(name).pmf)


@pytest.mark.parametrize("name", TARGETS)
def test_power_the_target_of_another_epsilon_is_not_reached(name):
    wrong = law_of(name).pmf ** 1.2  # the law at 1.2 times the epsilon
    with pytest.raises(LawRejected):
        check_states(*moved(name, 3, "zero"), wrong / wrong.sum())


# -- pairs of chains --------------------------------------------------------------------------


def test_both_chains_of_a_pair_move_by_the_law():
    name = "two rows of 3 x 3"
    invariants, _, epsilon, state, places, signs = STEPS[name]
    chain = PairedRows(invariants, GeneralizedLaplace(epsilon))
    places, signs = np.array(places), np.array(signs)
    starts = [np.array([0, 2, -2, -1, 0, 1, 1, -2, 1]), np.array(state)]
    rng, draws = np.random.default_rng(13), np.empty((2, 1500, 9), dtype=np.int64)
    for i in range(draws.shape[1]):
        uniforms = rng.random(4)
        columns = [chain.columns(start, places, signs, np.zeros(3, int)) for start in starts]
        order = pairing(*columns)
        for side in (0, 1):
            draws[side, i] = starts[side]
            chain.redraw(uniforms, draws[side, i], places, signs, columns[side], order)
    points, pmf = step_law(name, epsilon)
    check_law(count_points(draws[1][:, places[0]], points), np.append(pmf, 0))
    with pytest.raises(LawRejected):  # the other stands elsewhere and has another law
        check_law(count_points(draws[0][:, places[0]], points), np.append(pmf, 0))


def test_both_chains_of_a_pair_keep_the_target():
    name = "3 x 3"
    invariants, epsilon = TARGETS[name]
    chain, law = PairedRows(invariants, GeneralizedLaplace(epsilon)), law_of(name)
    rng = np.random.default_rng(14)
    pairs = law.points[rng.choice(len(law.pmf), (CHAINS, 2), p=law.pmf)]
    for first, second in pairs:
        coupled_sweep(rng, chain, first, second)
    for side in (0, 1):
        check_states(pairs[:, side], law.points, law.pmf)


@pytest.mark.parametrize(
    ("gathering", "close", "shift"),
    # gathered, rows become equal; else each keeps half of what they are apart, in whole numbers
    [(True, 0, [0, 0, 0]), (False, 0, None), (False, 1.1, [3, -3, 0])],
)
def test_chains_of_sums_on_lattices_move_by_the_law(gathering, close, shift, monkeypatch):
    monkeypatch.setattr(paired_coupling, "CLOSE", close)
    chain = PairedRows(shared(np.full((3, 3), 30)), GeneralizedLaplace(0.5))
    places, signs = np.arange(6).reshape(2, 3), np.array([1, -1])
    assert chain.step_of(places) > 3
    starts = [[5, -5, 0, -9, 4, 5, 4, 1, -5], [8, -9, 1, -7, 2, 5, -1, 7, -6]]
    rng, draws, alike = np.random.default_rng(15), np.empty((2, 800), np.int64), 0
    for i in range(draws.shape[1]):
        states = np.array(starts)
        alike += coupled_step(rng, chain, tuple(states), places, signs, gathering)
        draws[:, i] = states[:, 0]
        assert not states.reshape(2, 3, 3).sum(axis=1).any()
        assert not states.reshape(2, 3, 3).sum(axis=2).any()
    x, columns = np.arange(-80, 81), []
    for side, start in enumerate(starts):
        laws = []
        for k in range(3):
            total = start[k] + start[3 + k]
            law = place_law(30, 0.5, x) * place_law(30, 0.5, total - x)
            laws.append(law / law.sum())
        columns.append(laws)
        rest = np.convolve(laws[1], laws[2])[160 - x]  # all three add up to zero
        pmf = laws[0] * rest / (laws[0] * rest).sum()
        points = np.arange(-30, 31)
        counts, inside = count_points(draws[side][:, None], points[:, None]), pmf[points + 80]
        check_law(counts, np.append(inside, 1 - inside.sum()))
    if shift is None:
        assert alike == 0
    else:
        chance = shared_mass(*columns, shift)
        check_law([alike, draws.shape[1] - alike], [chance, 1 - chance])
        with pytest.raises(LawRejected):
            check_law([alike, draws.shape[1] - alike], [0.8 * chance, 1 - 0.8 * chance])


def shared_mass(first, second, shift):
    """Mass that the laws of two first rows share, the second's moved; of columns on -80 to 80."""
    u, v = (axis.ravel() for axis in np.meshgrid(*2 * [np.arange(-35, 36)]))
    rows = [np.stack([u, v, -u - v]) + np.outer(shift, [side]) for side in (0, 1)]
    pmfs = [
        np.prod([law[k] for law, k in zip(laws, row + 80, strict=True)], axis=0)
        for laws, row in zip((first, second), rows, strict=True)
    ]
    return np.minimum(*(pmf / pmf.sum() for pmf in pmfs)).sum()
