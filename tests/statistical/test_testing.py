"""The helper itself: right distributions pass at the stated rate, wrong ones are caught."""

import numpy as np
import pytest
from scipy import stats

from isdp.errors import InputError
from isdp.testing import (
    FALSE_ALARM_RATE,
    DistributionError,
    check_distribution,
    check_mean,
    count_points,
    rejection_probability,
)


def counts_of(rng, pmf, draws):
    return rng.multinomial(draws, pmf)


def double_geometric(scale):
    k = np.arange(-200, 201)
    a = np.exp(-1 / scale)
    pmf = a ** np.abs(k)
    return pmf / pmf.sum()


def test_p_values_of_a_right_distribution_are_uniform():
    rng = np.random.default_rng(1)
    pmf = double_geometric(5.0)
    p = [check_distribution(counts_of(rng, pmf, 5_000), pmf) for _ in range(1_000)]
    assert stats.kstest(p, "uniform").pvalue > FALSE_ALARM_RATE
    check_mean(np.array(p) < 0.01, 0.01, np.sqrt(0.01 * 0.99))


def rejected(check, *given, rate=FALSE_ALARM_RATE):
    try:
        check(*given, false_alarm_rate=rate)
    except DistributionError:
        return True
    return False


@pytest.mark.parametrize(
    ("draws", "pmf"),
    [(40, [0.5, 0.5]), (200, [0.9, 0.1]), (2_000, [0.995, 0.005]), (60, [0.6, 0.2, 0.2])],
)
def test_few_counts_raise_a_false_alarm_as_often_as_is_said(draws, pmf):
    """The rate over all counts there are; Pearson's statistic has up to 16 times it."""
    grid = np.indices((draws + 1,) * (len(pmf) - 1)).reshape(len(pmf) - 1, -1).T
    counts = np.column_stack([grid, draws - grid.sum(axis=1)])
    chance = stats.multinomial.pmf(counts, draws, pmf)
    seen = (chance > 1e-12) & (counts[:, -1] >= 0)
    off = np.array([rejected(check_distribution, row, pmf) for row in counts[seen]])
    assert FALSE_ALARM_RATE / 5 < chance[seen][off].sum() < 2 * FALSE_ALARM_RATE


@pytest.mark.parametrize(("draws", "share"), [(300, 0.5), (1_000, 0.1), (400, 0.05)])
def test_means_of_skew_values_raise_a_false_alarm_as_often_as_is_said(draws, share):
    """In full, for the mean of zeros and ones; the normal distribution has up to 6 times it."""
    ones = np.arange(1, draws)
    chance = stats.binom.pmf(ones, draws, share)
    assert chance.sum() > 1 - 1e-8
    seen = chance > 1e-12
    for sd in (np.sqrt(share * (1 - share)), None):
        off = [
            rejected(check_mean, np.repeat([1, 0], [k, draws - k]), share, sd) for k in ones[seen]
        ]
        assert FALSE_ALARM_RATE / 5 < chance[seen][off].sum() < 2 * FALSE_ALARM_RATE


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_scale_off_by_a_tenth_is_rejected_in_both_directions(factor):
    counts = counts_of(np.random.default_rng(2), double_geometric(5.0 * factor), 20_000)
    with pytest.raises(DistributionError):
        check_distribution(counts, double_geometric(5.0))


@pytest.mark.parametrize("rate", [FALSE_ALARM_RATE, 0.01])
def test_the_power_is_the_share_of_simulated_samples_that_are_rejected(rate):
    rng = np.random.default_rng(4)
    right, wrong = double_geometric(5.0), double_geometric(5.3)
    powers = []
    for draws in (4_000, 10_000, 20_000):
        found = [
            rejected(check_distribution, counts_of(rng, wrong, draws), right, rate=rate)
            for _ in range(1_000)
        ]
        powers.append(rejection_probability(draws, right, wrong, false_alarm_rate=rate))
        # five standard errors of the share, and 0.02 for the approximation
        assert abs(np.mean(found) - powers[-1]) < 0.02 + 5 * np.sqrt(0.25 / 1_000)
    assert powers[0] < 0.5 < powers[-1]


def test_draws_outside_the_support_are_detected_with_the_probability_of_one():
    power = rejection_probability(100, [0.5, 0.5, 0.0], [0.495, 0.495, 0.01])
    assert power == pytest.approx(1 - 0.99**100, abs=1e-5)


def test_a_draw_outside_the_support_is_rejected():
    with pytest.raises(DistributionError):
        check_distribution([50, 50, 1], [0.5, 0.5, 0.0])


def test_a_test_that_can_say_nothing_is_refused():
    with pytest.raises(InputError, match="few"):
        check_distribution([3, 4], [0.5, 0.5])
    with pytest.raises(InputError, match="probabilities"):
        check_distribution([3, 4], [0.7, 0.5])
    with pytest.raises(InputError, match="probabilities"):
        check_distribution([30, 40], [0.3, 0.5])
    with pytest.raises(InputError, match="3 bins"):
        check_distribution([30, 40, 50], [0.5, 0.5])
    with pytest.raises(InputError, match="false_alarm_rate"):
        check_mean([1.0, 2.0], 1.5, false_alarm_rate=1e-9)


def test_mean_check_has_its_rate_and_its_power():
    rng = np.random.default_rng(3)
    p = [check_mean(rng.normal(2.0, 3.0, 200), 2.0, 3.0) for _ in range(500)]
    assert stats.kstest(p, "uniform").pvalue > FALSE_ALARM_RATE
    with pytest.raises(DistributionError):
        check_mean(rng.normal(2.3, 3.0, 20_000), 2.0, 3.0)


def test_points_are_counted_where_they_stand():
    points = np.array([[0, 0], [-1, 1], [1, -1]])
    draws = np.array([[1, -1], [0, 0], [1, -1], [5, -5]])
    assert count_points(draws, points).tolist() == [1, 0, 2, 1]
