"""The sampler for totals of blocks draws from the law exactly, at every scale.

Its parts are checked too: the sum S of a composition against exact rational arithmetic or ball
arithmetic, and a composition of a given sum for being uniform.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from numba import njit
from scipy import stats

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import compositions, enumerate_law, total_law
from isdp.exact.blocks import sample_blocks
from tests.statistical.checks import ALPHA, LawRejected, check_law, check_mean, count_points

LATTICES = {
    "two cells": Invariants.total(2),
    "three cells": Invariants.total(3),
    "two blocks": Invariants.partition([0, 1, 0, 1]),
    "a free cell, a block of one and a row twice": Invariants(
        [[0, 1, 1, 0], [0, 3, 3, 0], [0, 0, 0, 1]]
    ),
}


def generator(seed=21):
    return np.random.default_rng(seed)


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def draw_sums(rng, n, epsilon, out):
    for i in range(len(out)):
        out[i] = compositions.draw_under(rng, compositions.hull(n, epsilon))


@njit(cache=True)  # anew whenever compiled code changes anywhere: see conftest
def compose_often(words, total, out):
    room = compositions.rooms_for(out.shape[1])[0]
    for i in range(len(out)):
        compositions.compose(words, total, out[i], room)


def sums(cells, epsilon, draws, seed=22):
    out = np.empty(draws, dtype=np.int64)
    draw_sums(generator(seed), cells, epsilon, out)
    return out


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", LATTICES)
def test_law_on_lattices_small_enough_to_enumerate(name, epsilon):
    invariants, mechanism = LATTICES[name], GeneralizedLaplace(epsilon)
    draws = sample_blocks(generator(), invariants, epsilon, draws=30_000)
    law = enumerate_law(invariants, mechanism)
    assert law.left_out < 1e-8
    check_law(count_points(draws, law.points), np.append(law.pmf, 0.0))
    norms = mechanism.measure(law.points)
    sd = np.sqrt((law.pmf * norms**2).sum() - (law.pmf * norms).sum() ** 2)
    check_mean(mechanism.measure(draws), (law.pmf * norms).sum(), sd)


def test_power_an_epsilon_off_by_a_tenth_is_caught():
    invariants = LATTICES["three cells"]
    draws = sample_blocks(generator(), invariants, 0.77, draws=30_000)
    law = enumerate_law(invariants, GeneralizedLaplace(0.7))
    with pytest.raises(LawRejected):
        check_law(count_points(draws, law.points), np.append(law.pmf, 0.0))


def test_counties_follow_the_law_of_one_cell_under_one_total():
    cells, epsilon = 102, 0.192
    law = total_law(cells, epsilon)
    draws = sample_blocks(generator(), Invariants.total(cells), epsilon, draws=25_000)
    for cell in (0, 50, 100, 101):
        check_law(histogram(draws[:, cell], law.support), np.append(law.pmf, 0.0))
    wrong = sample_blocks(generator(), Invariants.total(cells), 1.1 * epsilon, draws=25_000)
    with pytest.raises(LawRejected):
        check_law(histogram(wrong[:, 0], law.support), np.append(law.pmf, 0.0))


def histogram(values, support):
    counts = np.bincount(
        np.clip(values, support[0], support[-1]) - support[0], minlength=len(support)
    )
    outside = ((values < support[0]) | (values > support[-1])).sum()
    return np.append(counts, outside)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.5])
def test_two_cells_at_every_scale(epsilon):
    # u_1 is geometric in twice the epsilon on either side
    draws = sample_blocks(generator(), Invariants.total(2), epsilon, draws=30_000)[:, 0]
    a = math.exp(-2 * epsilon)
    sd = math.sqrt(2 * a) / (1 - a)
    check_mean(draws, 0.0, sd)
    fourth = 2 * a * (1 + 10 * a + a * a) / (1 - a) ** 4
    check_mean(draws.astype(float) ** 2 / sd**2, 1.0, math.sqrt(fourth / sd**4 - 1))
    if epsilon < 1e-3:
        assert stats.kstest(draws, "laplace", args=(0, 0.5 / epsilon)).pvalue > ALPHA


def law_of_sum(cells, a, most, parts=None):
    """P(S = s) for s < most, in integers; `parts` puts a wrong law in its place."""
    parts = cells - 1 if parts is None else parts
    over, under = a.numerator**2, a.denominator**2
    weights = [
        math.comb(s + parts, parts) ** 2 * over**s * under ** (most - s) for s in range(most)
    ]
    whole = sum(weights)
    return np.array([weight / whole for weight in weights])


@pytest.mark.parametrize(
    ("cells", "a"),
    [(2, Fraction(1, 2)), (2, Fraction(9, 10)), (5, Fraction(4, 5)), (40, Fraction(7, 10))],
)
def test_law_of_the_sum_against_rational_arithmetic(cells, a):
    draws = sums(cells, -math.log(a), 50_000)
    counts = np.bincount(draws, minlength=400)
    assert len(counts) == 400
    check_law(counts, law_of_sum(cells, a, 400))
    for parts in (cells, cells - 2):
        wrong = law_of_sum(cells, a, 400, parts)
        with pytest.raises(LawRejected):
            check_law(counts, wrong)


@pytest.mark.parametrize(("cells", "epsilon"), [(10**7, 20.0), (1000, 8.0)])
def test_law_of_the_sum_where_it_is_mostly_zero(cells, epsilon):
    steps = 2 * np.log1p((cells - 1) / np.arange(1, 80)) - 2 * epsilon
    weights = np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    counts = np.bincount(sums(cells, epsilon, 60_000), minlength=80)
    check_law(counts, weights / weights.sum())


def equal_bins(cells, epsilon, bins=40):
    """Edges of bins of the sum, and their probabilities by ball arithmetic."""
    mode = compositions._mode(cells, epsilon)
    sd = math.sqrt(cells / 2 * math.exp(-epsilon)) / -math.expm1(-epsilon)
    step = max(round(sd / 50), 1)
    least = max(mode - 500 * step, 0)
    points = range(least, mode + 500 * step, step)
    with ctx.workprec(160):
        top = arb(mode + cells).lgamma() - arb(mode + 1).lgamma()
        rate = arb(epsilon)
        weights = np.array(
            [
                float(
                    (
                        2 * (arb(s + cells).lgamma() - arb(s + 1).lgamma() - top)
                        - 2 * rate * (s - mode)
                    ).exp()
                )
                for s in points
            ]
        )
    # the trapezoidal rule on so smooth a function: no error to speak of
    below = np.cumsum(weights) - weights / 2
    below /= weights.sum()
    picked = np.unique(np.searchsorted(below, np.arange(1, bins) / bins))
    edges = least + step * picked
    return edges, np.diff(np.concatenate([[0.0], below[picked], [1.0]]))


@pytest.mark.parametrize(
    ("cells", "epsilon"), [(100, 1e-6), (10**5, 1e-3), (10**7, 1e-6), (10**7, 0.2)]
)
def test_law_of_the_sum_at_huge_scales(cells, epsilon):
    edges, pmf = equal_bins(cells, epsilon)
    assert len(pmf) == 40
    draws = sums(cells, epsilon, 60_000)
    check_law(np.bincount(np.searchsorted(edges, draws), minlength=40), pmf)
    # one part too few, seen where the shift of the mean is not lost in the spread
    if cells == 100:
        wrong = sums(cells - 2, epsilon, 60_000)
        with pytest.raises(LawRejected):
            check_law(np.bincount(np.searchsorted(edges, wrong), minlength=40), pmf)


@pytest.mark.parametrize(("total", "cells"), [(3, 4), (9, 3), (30, 2), (40, 3)])
def test_compositions_are_uniform(total, cells):
    out = np.empty((100_000, cells), dtype=np.int64)
    compose_often(compositions.words_from(generator()), total, out)
    assert (out.sum(axis=1) == total).all()
    grid = np.indices((total + 1,) * cells).reshape(cells, -1).T
    points = grid[grid.sum(axis=1) == total]
    share = np.full(len(points), 1 / math.comb(total + cells - 1, cells - 1))
    check_law(count_points(out, points), np.append(share, 0.0))


@pytest.mark.parametrize(("total", "cells"), [(10**12, 3), (10**9, 50), (5000, 500), (300, 3000)])
def test_a_part_of_a_large_composition_follows_its_law(total, cells):
    # P(part >= k) = prod over j < n - 1 of (S - k + n - 1 - j) / (S + n - 1 - j)
    out = np.empty((10_000, cells), dtype=np.int64)
    compose_often(compositions.words_from(generator()), total, out)
    mean = total / cells
    edges = np.unique([0, 1, 2] + [round(mean * -math.log(1 - i / 20)) for i in range(20)])
    j = np.arange(cells - 1)
    left = np.array(
        [np.exp(np.log1p(-edge / (total + cells - 1 - j)).sum()) for edge in edges] + [0.0]
    )
    for part in (0, cells // 2, cells - 2, cells - 1):
        counts = np.bincount(
            np.searchsorted(edges, out[:, part], side="right") - 1, minlength=len(edges)
        )
        check_law(counts, -np.diff(left))
    # two parts together
    variance = mean * (mean + 1) * (cells - 1) / (cells + 1)
    pair = out[:, 0] + out[:, -1]
    spread = math.sqrt(2 * variance * (1 - 1 / (cells - 1)))
    check_mean(pair, 2 * mean, spread)
    squares = (pair - 2 * mean) ** 2
    check_mean(squares, spread**2)
