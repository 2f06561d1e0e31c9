"""The permutation of both paths has the law of the listing; wrong samplers are caught."""

from itertools import permutations

import numpy as np
import pytest

from isdp.swapping.accuracy import covariance, expected_table
from isdp.swapping.mechanism.derangements import derange, pseudo_random_bits
from isdp.swapping.mechanism.exact_permutation import permutation_for_release
from isdp.swapping.mechanism.permutation import Strata, draw_permutation, swap_table
from isdp.testing import DistributionError, check_distribution, check_mean, count_points

STRATA = 10_000  # of one law each, in one call


def deranged(points):
    return [order for order in permutations(points) if all(map(int.__ne__, order, points))]


def law_of_the_listing(n, rate):
    """Every selection but those of one record, and every derangement of it, by enumeration."""
    law = dict.fromkeys(permutations(range(n)), 0.0)
    for chosen in range(2**n):
        points = [i for i in range(n) if chosen >> i & 1]
        orders = deranged(points)
        for order in orders:
            whole = list(range(n))
            for place, source in zip(points, order, strict=True):
                whole[place] = source
            law[tuple(whole)] += rate ** len(points) * (1 - rate) ** (n - len(points)) / len(orders)
    total = sum(law.values())
    return np.array(list(law)), np.array(list(law.values())) / total


def fast(strata, rate):
    return draw_permutation(np.random.default_rng(11), strata, rate)


def secure(strata, rate):
    return permutation_for_release(strata, rate, source=np.random.default_rng(12).bytes)


def permutations_drawn(draw, n, rate, strata=STRATA):
    sigma = draw(Strata.from_sizes(np.full(strata, n)), rate).reshape(strata, n)
    return sigma - n * np.arange(strata)[:, None]


def check(draw, n, rate, strata=STRATA):
    points, pmf = law_of_the_listing(n, rate)
    counts = count_points(permutations_drawn(draw, n, rate, strata), points)
    check_distribution(counts, np.append(pmf, 0.0))


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("draw", [fast, secure])
def test_the_permutation_has_the_law_of_the_listing(draw, n, rate):
    check(draw, n, rate)


def check_derangements(images):
    points = np.array(deranged(list(range(images.shape[1]))))
    check_distribution(
        count_points(images, points), np.append(np.full(len(points), 1 / len(points)), 0.0)
    )


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_all_derangements_are_equally_likely(n, exact):
    words = pseudo_random_bits(np.random.default_rng(13))
    strata = 2 * STRATA  # as there are 1854 derangements of seven
    image = derange(words, np.full(strata, n), exact=exact).reshape(strata, n)
    check_derangements(image - n * np.arange(strata)[:, None])


def one_cycle(rng, m):
    """Sattolo's algorithm: cyclic permutations alone."""
    order = np.arange(m)
    for i in range(m - 1, 0, -1):
        j = rng.integers(i)
        order[[i, j]] = order[[j, i]]
    return order


def shuffled_and_mended(rng, m):
    """A shuffle whose fixed points are exchanged with a neighbour."""
    order = rng.permutation(m)
    for i in range(m):
        if order[i] == i:
            j = (i + 1) % m
            order[[i, j]] = order[[j, i]]
    return order


def shifted(rng, m):
    """A shift along a random order: again one cycle."""
    order = rng.permutation(m)
    image = np.empty(m, dtype=int)
    image[order] = np.roll(order, 1)
    return image


def cycles_closed_as_if_many_were_left(rng, m):
    """One pass that closes cycles with the chance 1/u, also where few points are left."""
    order, closed, left = np.arange(m), np.zeros(m, dtype=bool), m
    for i in range(m - 1, 0, -1):
        if closed[i] or left < 2:
            continue
        j = rng.choice(np.flatnonzero(~closed[:i]))
        order[[i, j]] = order[[j, i]]
        if rng.random() < (1 / left if left != 3 else 0) or left == 2:
            closed[j] = True
            left -= 1
        left -= 1
    return order


WRONG = {  # and how many strata show it
    one_cycle: 3_000,
    shuffled_and_mended: 3_000,
    shifted: 3_000,
    cycles_closed_as_if_many_were_left: 8_000,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("n", [4, 5])
def test_power_wrong_derangements_are_caught(wrong, n):
    rng = np.random.default_rng(14)
    with pytest.raises(DistributionError):
        check_derangements(np.array([wrong(rng, n) for _ in range(WRONG[wrong])]))


def selected(rng, n, rate, second):
    """A selection; one of a single record is dropped, or a second record is picked."""
    chosen = rng.random(n) < rate
    if chosen.sum() == 1:
        if second:
            chosen[rng.choice(np.flatnonzero(~chosen))] = True
        else:
            chosen[:] = False
    return np.flatnonzero(chosen)


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("n", [4, 5, 6])
def test_power_a_lone_selection_treated_otherwise_is_caught(second, n):
    rng = np.random.default_rng(15)

    def wrong(strata, rate):
        whole = np.arange(len(strata.order))
        for start in strata.starts[:-1]:
            places = start + selected(rng, n, rate, second)
            options = deranged(places.tolist())
            whole[places] = options[rng.integers(len(options))]
        return whole

    with pytest.raises(DistributionError):
        check(wrong, n, 0.2)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_power_a_rate_off_by_a_tenth_is_caught(n):
    with pytest.raises(DistributionError):
        check(lambda strata, rate: fast(strata, 1.1 * rate), n, 0.5)


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_swapped_tables_have_the_exact_mean_and_variance(rate):
    counts = np.random.default_rng(16).integers(5, 60, (2, 3, 2))
    rng = np.random.default_rng(17)
    own = np.stack([swap_table(rng, counts, rate).sum(axis=0)[:, 0] for _ in range(2000)])
    mean = expected_table(counts, rate).sum(axis=0)[:, 0]
    spread = covariance(counts, rate)
    for county in range(3):
        sd = np.sqrt(spread[county, county])
        check_mean(own[:, county], mean[county], sd)
        square = (own[:, county] - mean[county]) ** 2
        check_mean(square, sd**2)
        with pytest.raises(DistributionError):  # power: a variance off by a third
            check_mean(square, 4 / 3 * sd**2)
