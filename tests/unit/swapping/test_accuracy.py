"""Moments, profile, posterior and estimates against enumeration of all permutations."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb, ctx, fmpz
from scipy import stats
from scipy.stats import binom

from isdp import InputError
from isdp.swapping.accuracy import covariance, debias_table, expected_table
from isdp.swapping.mechanism.derangements import subfactorial, subfactorial_ratio
from isdp.swapping.mechanism.permutation import swap_table
from isdp.swapping.privacy.record_pairs import moved_probability
from isdp.testing import check_mean
from reproduction.swapping.percentage_errors import expected_absolute_error, expected_mape, mape
from reproduction.swapping.theory.enumeration import permutation_distribution
from reproduction.swapping.theory.fixed_totals_loss import universe_loss
from reproduction.swapping.theory.location_attack import (
    accuracy,
    bayes_factor_loss,
    distinguishing_advantage,
    location_posterior,
    log_odds_gain,
    pair_distribution,
)
from reproduction.swapping.theory.privacy_profile import (
    delta_at_epsilon,
    exchange_epsilon,
    exchange_loss_distribution,
)
from reproduction.swapping.theory.rate_estimation import fit, likely_rate

RECORDS = [  # county and category of each record of a stratum
    ([0, 0, 1, 1, 2, 2], [0, 1, 2, 1, 0, 0]),
    ([0, 0, 1, 1, 2], [0, 1, 0, 1, 1]),
    ([0, 0, 1, 2], [0, 1, 1, 0]),
    ([0, 1, 1], [0, 1, 0]),
    ([0, 1], [0, 1]),
    ([2], [1]),
]
SHAPE = (3, 3)


def table_of(counties, categories):
    table = np.zeros(SHAPE, dtype=np.int64)
    np.add.at(table, (counties, categories), 1)
    return table


def by_enumeration(counties, categories, rate):
    """Mean (K, L) and covariance (K, L, K, L) of the swapped table."""
    mean, square = np.zeros(SHAPE), np.zeros(SHAPE + SHAPE)
    for sigma, chance in permutation_distribution(len(counties), rate).items():
        table = table_of([counties[i] for i in sigma], categories)
        mean += float(chance) * table
        square += float(chance) * np.multiply.outer(table, table)
    return mean, square - np.multiply.outer(mean, mean)


@pytest.mark.parametrize("rate", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize(("counties", "categories"), RECORDS)
def test_mean_and_covariance_of_a_stratum(counties, categories, rate):
    mean, square = by_enumeration(counties, categories, rate)
    p = float(Fraction(rate))
    counts = table_of(counties, categories)[None]
    np.testing.assert_allclose(expected_table(counts, p)[0], mean, atol=1e-13)
    twice = np.concatenate([counts, counts])  # strata are independent
    for one, other in product(range(3), repeat=2):
        found = covariance(counts, p, one, other)
        np.testing.assert_allclose(found, square[:, one, :, other], atol=1e-13)
        np.testing.assert_allclose(covariance(twice, p, one, other), 2 * found, atol=1e-13)


def variance_in_many_digits(counts, rate):
    """Variance of the first count of a stratum, pair by pair of its category, at 400 bits."""
    n, c, wide = int(counts.sum()), int(counts[0].sum()), int(counts[:, 0].sum())
    own, bits = int(counts[0, 0]), ctx.prec
    ctx.prec = 400
    try:
        p = arb(rate)
        stay = (1 - p) ** (n - 1)
        not_lone = 1 - n * p * stay
        moved, both = p * (1 - stay) / not_lone, p**2 / not_lone
        chance, exchanged = stay * (1 - p), 1 - stay * (1 - p) - n * p * stay
        for m in range(1, 80):
            chance = chance * (n - m + 1) / m * p / (1 - p)  # of m selected
            if m > 1:
                exchanged += chance * (-1) ** m * (m - 1) / arb(fmpz(subfactorial(m)))
        exchanged /= not_lone * n * (n - 1)
        takes = moved / (n - 1)
        third, fourth = arb(1) / (n - 2), arb(1) / ((n - 2) * (n - 3))
        kept, arrow = (moved - both) * third, (takes - exchanged) * third
        apart = (both - 2 * takes + exchanged) * fourth
        one = (c - 1) * (kept + arrow) + (c - 1) * (c - 2) * apart
        two = 1 - 2 * moved + both + exchanged
        two += 2 * (c - 2) * (kept + arrow) + (c - 2) * (c - 3) * apart
        mean = (1 - moved) * own + takes * (wide * c - own)
        pairs = own * (own - 1) * two + 2 * own * (wide - own) * one
        pairs += (wide - own) * (wide - own - 1) * c * (c - 1) * apart
        return float(mean + pairs - mean**2)
    finally:
        ctx.prec = bits


@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.05, 0.5, 0.999])
@pytest.mark.parametrize(
    "counts",
    [
        [[3, 2], [4, 5]],
        [[300, 200], [7, 4000]],
        [[10**8, 2 * 10**7], [3 * 10**8, 11]],
        [[10**9, 10**9], [12, 10**9]],
    ],
)
def test_a_variance_keeps_its_digits_in_strata_of_any_size(counts, rate):
    counts = np.array(counts)
    found = covariance(counts[None], rate)[0, 0]
    assert found == pytest.approx(variance_in_many_digits(counts, rate), rel=1e-9, abs=0)


@pytest.mark.parametrize("rate", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_chances_of_one_record_and_of_two(size, rate):
    sums = np.zeros(6)
    for sigma, chance in permutation_distribution(size, rate).items():
        first, second = sigma[0], sigma[1]
        kinds = (
            first == 0 and second == 1,
            first == 0 and second != 1,
            first == 1 and second == 0,
            first == 1 and second not in (0, 1),
            first not in (0, 1) and second not in (0, 1),
            first != 0,
        )
        sums += float(chance) * np.array(kinds)
    law, p = pair_distribution(size, float(Fraction(rate))), float(Fraction(rate))
    chances = [law.both_fixed, law.one_fixed, law.exchanged, law.one_arrow, law.both_elsewhere]
    np.testing.assert_allclose([*chances, moved_probability(size, p)], sums, atol=1e-13)


@pytest.mark.parametrize("rate", [[0.5], "0.5", 1.5, math.nan])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(InputError, match="swap rate"):
        pair_distribution(5, rate)
    with pytest.raises(InputError, match="swap rate"):
        covariance(np.ones((1, 1, 1), dtype=np.int64), rate)


@pytest.mark.parametrize("rate", [1e-9, 1e-4, 0.3, 1 - 1e-9])
@pytest.mark.parametrize("size", [2, 3, 50, 1000])
def test_the_share_moved_is_right_at_extreme_rates(size, rate):
    p = Fraction(rate)
    lone = size * p * (1 - p) ** (size - 1)
    exact = p * (1 - (1 - p) ** (size - 1)) / (1 - lone)
    assert moved_probability(size, rate) == pytest.approx(float(exact), rel=1e-12)


def test_unmixing_is_refused_where_the_mean_tells_nothing():
    with pytest.raises(InputError, match="rate"):
        debias_table(np.array([[[1, 0], [0, 1]]]), 0.5)


def test_folded_normal_means():
    assert expected_absolute_error(0.0, 2.0) == pytest.approx(2 * math.sqrt(2 / math.pi))
    assert expected_absolute_error(-5.0, 0.0) == 5
    assert expected_absolute_error(50.0, 1.0) == pytest.approx(50)


def test_percentage_errors():
    assert mape([[10, 20]], [[11, 18]]) == pytest.approx(10)


@pytest.mark.parametrize("rate", ["1/10", "3/4"])
def test_expected_percentage_errors_follow_from_the_enumerated_moments(rate):
    homes, kinds = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1])
    counts = table_of(homes, kinds)[None, :2, :2]
    p, mean, squares, undone, bias = float(Fraction(rate)), 0, 0, 0, 0
    for sigma, chance in permutation_distribution(6, rate).items():
        table = table_of([homes[i] for i in sigma], kinds)[None, :2, :2]
        mean = mean + float(chance) * table
        squares = squares + float(chance) * table**2
        undone = undone + float(chance) * (debias_table(table, p) - counts) ** 2
        bias = bias + float(chance) * (debias_table(table, p) - counts)
    np.testing.assert_allclose(bias, 0, atol=1e-12)
    sd = np.sqrt(squares - mean**2)[0]
    swapped = stats.foldnorm(abs(mean - counts)[0] / sd, scale=sd).mean()
    assert expected_mape(counts, p) == pytest.approx(mape(counts[0], counts[0] + swapped))
    folded = np.sqrt(2 / np.pi * undone[0])
    assert expected_mape(counts, p, debiased=True) == pytest.approx(
        mape(counts[0], counts[0] + folded)
    )


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("rate", ["3/10", "1/2", "19/20"])
def test_the_profile_of_an_exchange_is_the_enumerated_one(size, rate):
    law = permutation_distribution(size, rate)
    exchanged = {s: law[(s[1], s[0], *s[2:])] for s in law}
    found = exchange_loss_distribution(size, float(Fraction(rate)))
    for epsilon in (0.0, 0.3, 1.0, 2.0, 4.0):
        delta = sum(max(0, float(law[s]) - math.exp(epsilon) * float(exchanged[s])) for s in law)
        assert delta_at_epsilon(found, epsilon) == pytest.approx(delta, abs=1e-14)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("size", [4, 50, 11691, 264331])
def test_pairs_of_large_strata_are_exchanged_as_summed_over_the_number_moved(size, rate):
    m = np.delete(np.arange(2, size + 1), 1)  # of three that move none are a pair
    terms = m * (m - 1) / subfactorial_ratio(m - 2, 2)
    chances = binom.pmf(m, size, rate) / (1 - binom.pmf(1, size, rate))
    exact = (chances * terms).sum() / (size * (size - 1))
    assert pair_distribution(size, rate).exchanged == pytest.approx(exact, rel=1e-9, abs=0)


@pytest.mark.parametrize(("size", "rate"), [(40, 0.9), (200, 0.01), (11691, 0.5), (264331, 0.01)])
def test_the_law_of_the_loss_is_that_of_two_datasets_in_either_order(size, rate):
    law = exchange_loss_distribution(size, rate)
    other = law.probability * np.exp(-law.loss)
    assert (law.probability.sum(), other.sum()) == pytest.approx((1, 1), rel=1e-9)
    assert law.probability @ law.loss == pytest.approx(-other @ law.loss, rel=1e-9)
    # both stay fixed: by the binomial number of records moved, which is never one
    m = np.delete(np.arange(size + 1), 1)
    moved = binom.pmf(m, size, rate) / (1 - binom.pmf(1, size, rate))
    fixed = (moved * (size - m) * (size - m - 1.0)).sum() / (size * (size - 1))
    assert pair_distribution(size, rate).both_fixed == pytest.approx(fixed, rel=1e-9)


def test_epsilon_falls_as_delta_grows():
    values = [exchange_epsilon(1000, 0.1, delta) for delta in (0, 1e-12, 1e-6, 1e-2, 1)]
    assert all(earlier > later for earlier, later in pairwise(values))
    assert values[-1] == 0


@pytest.mark.parametrize("totals", [(1, 1), (1, 4), (2, 3), (1, 2, 2)])
@pytest.mark.parametrize("rate", ["1/10", "1/2"])
def test_the_posterior_of_a_location_is_bayes_rule_by_enumeration(totals, rate):
    home = [county for county, n in enumerate(totals) for _ in range(n)]
    n, law = len(home), permutation_distribution(len(home), rate)
    joint = np.zeros((len(totals), len(totals)))  # true county by county seen
    for place in range(n):
        for sigma, chance in law.items():
            joint[home[place], home[sigma[place]]] += float(chance) / n
    posterior = np.diag(joint) / joint.sum(axis=0)
    p = float(Fraction(rate))
    np.testing.assert_allclose(location_posterior(totals, p), posterior, atol=1e-13)
    assert accuracy(totals, p) == pytest.approx(np.trace(joint))
    prior = np.array(totals) / n
    gain = np.log(posterior / (1 - posterior) / (prior / (1 - prior)))
    np.testing.assert_allclose(log_odds_gain(totals, p), gain, atol=1e-12)


@pytest.mark.parametrize("rate", ["1/100", "1/2", "19/20"])
@pytest.mark.parametrize("totals", [(1, 1), (1, 2), (1, 1, 2), (2, 3), (1, 2, 2)])
def test_what_an_observer_of_two_records_gains_is_enumerated(totals, rate):
    home = [county for county, n in enumerate(totals) for _ in range(n)]
    first, second = home.index(0), home.index(1)
    likely = {True: 0, False: 0}
    for sigma, chance in permutation_distribution(len(home), rate).items():
        for at_home in likely:
            lives = list(home)
            if not at_home:
                lives[first], lives[second] = 1, 0
            seen = lives[sigma[first]], lives[sigma[second]]
            likely[at_home] += chance if seen == (0, 1) else 0
    brute = abs(math.log(likely[True] / likely[False])) / 2
    found = bayes_factor_loss(totals, float(Fraction(rate)))
    assert found.value == pytest.approx(brute, abs=1e-12)
    assert found.value <= universe_loss(totals, rate).value + 1e-12


@pytest.mark.parametrize("rate", [0.05, 0.5])
@pytest.mark.parametrize("table", [[[2, 1], [1, 3]], [[30, 50], [100, 20], [60, 60], [90, 200]]])
def test_an_advantage_is_the_total_variation_of_two_normal_tables(table, rate):
    """The means are those of the dataset and of the exchange in it; the covariance is one."""
    counts = np.array([table])
    exchanged = counts.copy()
    exchanged[0, :2] += [[-1, 1], [1, -1]]
    shift = (expected_table(exchanged, rate) - expected_table(counts, rate))[0, :, 0]
    distance = np.sqrt(shift @ np.linalg.pinv(covariance(counts, rate)) @ shift)
    cut = stats.norm.cdf(distance / 2) - stats.norm.cdf(-distance / 2)
    assert distinguishing_advantage(counts, rate, 0, 1) == pytest.approx(cut, rel=1e-6)


def test_the_likely_rate_is_near_the_true_one():
    counts = np.random.default_rng(6).integers(500, 4000, (1, 8, 3))
    after = swap_table(np.random.default_rng(7), counts, 0.3).sum(axis=0)
    found = likely_rate(counts, after)
    check_mean(found.rate, 0.3, found.error)
    best = fit(counts, after, found.rate)
    assert best.degrees == 14
    assert best.p > 1e-6 > fit(counts, after, found.rate + 10 * found.error).p
    for z in best.z.ravel():
        check_mean(z, 0, 1)


@pytest.mark.parametrize("shape", [(1, 3, 2), (2, 4, 3)])
def test_a_fit_is_that_of_the_normal_law_of_the_free_counts(shape):
    before = np.random.default_rng(8).integers(3, 40, shape)
    after = swap_table(np.random.default_rng(9), before, 0.4).sum(axis=0)

    def free(rate):
        """Normal law of the counts but the last county's and the last category's."""
        kinds = range(shape[2] - 1)
        blocks = [[covariance(before, rate, a, b)[:-1, :-1] for b in kinds] for a in kinds]
        mean = expected_table(before, rate).sum(axis=0)[:-1, :-1]
        return stats.multivariate_normal(mean.T.ravel(), np.block(blocks))

    seen = after[:-1, :-1].T.ravel()
    found, law = fit(before, after, 0.3), free(0.3)
    off = seen - law.mean
    assert found.chi_square == pytest.approx(off @ np.linalg.inv(law.cov) @ off)
    assert found.degrees == len(off)
    assert found.p == pytest.approx(stats.chi2.sf(found.chi_square, len(off)))
    own = found.z[:-1, :-1].T.ravel()
    np.testing.assert_allclose(own, off / np.sqrt(np.diag(law.cov)))
    likely, step = likely_rate(before, after), 1e-3
    at = [free(likely.rate + k * step).logpdf(seen) for k in (-1, 0, 1)]
    assert at[1] >= max(at) - 1e-9
    assert likely.error == pytest.approx((step**2 / (2 * at[1] - at[0] - at[2])) ** 0.5, rel=0.01)
