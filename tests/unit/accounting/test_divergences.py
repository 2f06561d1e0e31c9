"""Divergences against all events by brute force, distances against shortest paths."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy.stats import norm

from isdp import InputError
from isdp.accounting.distances import (
    hamming,
    hamming_of_tables,
    steps_between,
    symmetric_difference,
)
from isdp.accounting.divergences import (
    approximate,
    multiplicative,
    normalised_renyi,
    normalised_renyi_of_gaussians,
    renyi,
    total_variation,
)

LAWS = [np.random.default_rng(seed).dirichlet(np.full(5, 0.7), size=2) for seed in range(6)]
EVENTS = [list(s) for size in range(1, 6) for s in combinations(range(5), size)]


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_the_multiplicative_distance_is_the_largest_over_all_events(p, q):
    brute = max(abs(math.log(p[s].sum() / q[s].sum())) for s in EVENTS)
    assert multiplicative(p, q) == pytest.approx(brute, rel=1e-12)
    assert approximate(p, q, 0.0) == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2, 0.9])
@pytest.mark.parametrize(("p", "q"), LAWS)
def test_the_distance_with_slack_is_the_largest_over_all_events(p, q, delta):
    ratios = [0.0]
    for s in EVENTS:
        for one, other in ((p, q), (q, p)):
            if one[s].sum() > delta:
                ratios.append(math.log((one[s].sum() - delta) / other[s].sum()))
    assert approximate(p, q, delta) == pytest.approx(max(ratios), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_total_variation_is_the_largest_difference_over_all_events(p, q):
    brute = max(abs(p[s].sum() - q[s].sum()) for s in EVENTS)
    assert total_variation(p, q) == pytest.approx(brute)


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_renyi_divergences_grow_with_their_order(p, q):
    values = [renyi(p, q, order) for order in (1, 1 + 1e-6, 2, 5, 50, 5000)]
    assert values[0] == pytest.approx(values[1], rel=1e-5)  # it grows by its order less 1 there
    assert all(early <= late for early, late in pairwise(values))
    assert values[-1] <= np.log(p / q).max() + 1e-12
    assert values[2] == pytest.approx(math.log((p**2 / q).sum()))


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_the_normalised_renyi_metric_is_below_what_pure_privacy_gives(p, q):
    found = normalised_renyi(p, q)
    tried = [math.sqrt(renyi(*pair, a) / a) for a in (1.01, 2, 7, 40) for pair in ((p, q), (q, p))]
    assert max(tried) - 1e-12 <= found <= multiplicative(p, q) / math.sqrt(2) + 1e-12


def test_two_normal_laws_have_one_value_at_every_order():
    at = np.linspace(-30, 31, 60_001)
    p, q = (norm.pdf(at, mean, 2.0) for mean in (0.0, 1.0))
    p, q = p / p.sum(), q / q.sum()
    expected = normalised_renyi_of_gaussians(1.0, 2.0)
    for order in (1.5, 3.0, 8.0):
        assert math.sqrt(renyi(p, q, order) / order) == pytest.approx(expected, rel=1e-6)


def test_an_output_of_one_law_alone_makes_distances_infinite():
    p, q = [0.5, 0.5, 0.0], [0.5, 0.25, 0.25]
    assert multiplicative(p, q) == normalised_renyi(p, q) == math.inf
    assert renyi(q, p, 2) == math.inf
    assert renyi(p, q, 2) < math.inf
    assert approximate(p, q, 0.3) < math.inf
    assert approximate(p, q, 0.2) == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: multiplicative([0.5, 0.6], [0.5, 0.5]),
        lambda: multiplicative([1.5, -0.5], [0.5, 0.5]),
        lambda: multiplicative([1.0], [0.5, 0.5]),
        lambda: approximate([1.0], [1.0], 1.0),
        lambda: renyi([1.0], [1.0], 0.5),
        lambda: normalised_renyi_of_gaussians(1, 0),
        lambda: normalised_renyi_of_gaussians(1, -1),
        lambda: hamming_of_tables([1, 2], [1.0, 2.0]),
    ],
)
def test_what_makes_no_sense_is_refused(call):
    with pytest.raises(InputError):
        call()


DATASETS = [tuple(sorted(x)) for n in range(4) for x in product("abc", repeat=n)]


def one_changed(data):
    return {
        tuple(sorted([*data[:i], new, *data[i + 1 :]])) for i in range(len(data)) for new in "abc"
    }


def one_more_or_less(data):
    less = {data[:i] + data[i + 1 :] for i in range(len(data))}
    more = {tuple(sorted([*data, new])) for new in "abc"} if len(data) < 5 else set()
    return less | more


def test_both_distances_are_shortest_paths_of_their_neighbours():
    for x in set(DATASETS):
        for y in set(DATASETS):
            assert hamming(x, y) == steps_between(x, y, one_changed)
            assert symmetric_difference(x, y) == steps_between(x, y, one_more_or_less)


def test_on_tables_the_distance_is_half_of_l1():
    letters, other = "aabbc", "abccc"
    tables = [[data.count(c) for c in "abc"] for data in (letters, other)]
    assert hamming_of_tables(*tables) == hamming(letters, other) == 2
    assert hamming_of_tables([1, 2], [1, 3]) == math.inf
