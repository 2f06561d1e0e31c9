"""Statistical tests of samplers with a stated false-alarm rate.

A test suite runs thousands of times, so a check must reject a correct sampler almost never. Each
check here does so with a probability of about `FALSE_ALARM_RATE`, and of less than twice this rate.
A check that never rejects is useless too. `rejection_probability` computes the probability that a
check detects a given wrong distribution, so that a test can choose the number of its draws.
"""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from isdp.errors import InputError

__all__ = [
    "FALSE_ALARM_RATE",
    "DistributionError",
    "check_distribution",
    "check_mean",
    "count_points",
    "rejection_probability",
]

FALSE_ALARM_RATE = 1e-6
MIN_EXPECTED = 8  # draws per bin, so that the chi-square distribution holds far out in its tail
MAX_MISSING = 1e-6  # probability that the bins may lack, such as the tail beyond a truncation


class DistributionError(AssertionError):
    """The sample does not follow the distribution that it was compared with."""


def check_distribution(
    counts: ArrayLike, probabilities: ArrayLike, *, false_alarm_rate: float = FALSE_ALARM_RATE
) -> float:
    """Compare the counts of independent draws with probabilities by a likelihood ratio test.

    Bins with fewer than 8 expected draws are pooled, the least probable first. The ratio has the
    correction of Williams (1976), and then the tail of chi-square at rates down to one in a
    million. The tail of Pearson's statistic is longer: with bins of 8 draws it has 5 to 30 times
    as many false alarms.

    Parameters
    ----------
    counts : int array, shape (bins,)
        Number of draws in each bin.
    probabilities : float array, shape (bins,)
        Probability of each bin. The sum may lack up to 1e-6.
    false_alarm_rate : float
        Probability of the rejection of correct draws, from 1e-6 to below 1.

    Returns
    -------
    float
        The p-value.

    Raises
    ------
    DistributionError
        If the p-value is below the rate, or if a draw is in a bin of probability 0.
    InputError
        If the probabilities are not valid, or if there are too few draws for two bins.

    Examples
    --------
    >>> round(check_distribution([52, 48], [0.5, 0.5]), 2)
    0.69
    >>> check_distribution([80, 20], [0.5, 0.5])
    Traceback (most recent call last):
    ...
    isdp.testing.DistributionError: chi-square 38.4 with 1 degrees of freedom: p = 5.9e-10
    """
    _check_rate(false_alarm_rate)
    observed = np.asarray(counts)
    wanted = _read_probabilities("probabilities", probabilities)
    if observed.shape != wanted.shape:
        raise InputError(f"counts: {observed.size} bins for {wanted.size} probabilities")
    if observed[wanted == 0].any():
        raise DistributionError("a draw is in a bin of probability 0")
    total = int(observed.sum())
    pools = _pool(wanted, total)
    drawn, expected = np.bincount(pools, observed), np.bincount(pools, wanted * total)
    expected *= total / expected.sum()
    degrees = len(expected) - 1
    correction = 1 + ((1 / expected).sum() - 1 / total) / (6 * degrees)
    statistic = 2 * scipy.special.xlogy(drawn, drawn / expected).sum() / correction
    p = float(scipy.stats.chi2.sf(statistic, degrees))
    if p < false_alarm_rate:
        raise DistributionError(
            f"chi-square {statistic:.1f} with {degrees} degrees of freedom: p = {p:.1e}"
        )
    return p


def rejection_probability(
    n_draws: int,
    probabilities: ArrayLike,
    actual: ArrayLike,
    *,
    false_alarm_rate: float = FALSE_ALARM_RATE,
) -> float:
    """Compute the probability that `check_distribution` rejects draws from a wrong distribution.

    This is the power of the test. It is an approximation by the noncentral chi-square distribution
    with the noncentrality 2 n KL(actual, probabilities), where KL is the divergence of Kullback and
    Leibler over the pooled bins.

    Parameters
    ----------
    n_draws : int
        Number of independent draws.
    probabilities : float array, shape (bins,)
        Distribution that the check compares with.
    actual : float array, shape (bins,)
        Distribution of the draws.
    false_alarm_rate : float
        As in `check_distribution`.

    Examples
    --------
    >>> fair, biased = [0.5, 0.5], [0.55, 0.45]
    >>> [round(rejection_probability(n, fair, biased), 2) for n in (1000, 3000, 6000)]
    [0.04, 0.72, 1.0]
    """
    _check_rate(false_alarm_rate)
    wanted = _read_probabilities("probabilities", probabilities)
    drawn = _read_probabilities("actual", actual)
    if drawn.shape != wanted.shape:
        raise InputError(f"actual: {drawn.size} bins for {wanted.size} probabilities")
    outside = float(drawn[wanted == 0].sum())
    pools = _pool(wanted, n_draws)
    q = np.bincount(pools, np.where(wanted > 0, drawn, 0))
    p = np.bincount(pools, wanted)
    divergence = float(scipy.special.rel_entr(q / q.sum(), p / p.sum()).sum())
    degrees = len(p) - 1
    critical = scipy.stats.chi2.isf(false_alarm_rate, degrees)
    inside = float(scipy.stats.ncx2.sf(critical, degrees, 2 * n_draws * divergence))
    return 1 - (1 - outside) ** n_draws * (1 - inside)


def check_mean(
    values: ArrayLike,
    mean: float,
    sd: float | None = None,
    *,
    false_alarm_rate: float = FALSE_ALARM_RATE,
) -> float:
    """Compare the mean of independent values with its expected value by a two-sided test.

    The mean of skewed values is not normal so far out in the tail. If `sd` is given, the mean
    follows Pearson's type III distribution with the skewness of the sample. Otherwise it follows
    Student's t distribution after the cubic transformation of Hall (1992).

    Parameters
    ----------
    values : float array
        Independent values, in any shape.
    mean : float
        Expected mean.
    sd : float, optional
        Standard deviation of one value. The default is that of the sample.
    false_alarm_rate : float
        Probability of the rejection of correct values, from 1e-6 to below 1.

    Returns
    -------
    float
        The p-value.

    Raises
    ------
    DistributionError
        If the p-value is below the rate.

    Examples
    --------
    >>> round(check_mean([1.0, 2.0, 3.0, 2.0], 2.0, sd=1.0), 2)
    1.0
    """
    _check_rate(false_alarm_rate)
    sample = np.ravel(np.asarray(values, dtype=float))
    root = math.sqrt(sample.size)
    spread = float(sample.std(ddof=1)) if sd is None else sd
    z = float((sample.mean() - mean) / (spread / root))
    skewness = float(((sample - sample.mean()) ** 3).mean() / (sample.std() or 1.0) ** 3 / root)
    if sd is None:
        cubic = z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6
        p = 2 * float(scipy.stats.t.sf(abs(cubic), sample.size - 1))
    else:
        # the smaller of two estimates: a wrong sample has too much skewness about the true mean,
        # and a sample of few rare values has too much about its own
        about_mean = float((((sample - mean) / sd) ** 3).mean() / root)
        skewness = min(skewness, about_mean, key=abs)
        tail = scipy.stats.pearson3.sf(abs(z), math.copysign(skewness, skewness * z))
        p = min(1.0, 2 * float(tail))
    if p < false_alarm_rate:
        raise DistributionError(
            f"mean {sample.mean():.4g}, expected {mean:.4g}: z = {z:.1f}, p = {p:.1e}"
        )
    return p


def count_points(draws: ArrayLike, points: ArrayLike) -> NDArray[np.int64]:
    """Count the draws at each of the given points, for `check_distribution`.

    Parameters
    ----------
    draws : int array, shape (draws, cells)
    points : int array, shape (points, cells)
        Distinct points.

    Returns
    -------
    int array, shape (points + 1,)
        The last number is the number of draws that differ from all points.

    Examples
    --------
    >>> count_points([[1, -1], [0, 0], [1, -1], [5, -5]], [[0, 0], [1, -1]]).tolist()
    [1, 2, 1]
    """
    known = np.ascontiguousarray(points, dtype=np.int64)
    key = np.dtype((np.void, 8 * known.shape[1]))
    names = known.view(key).ravel()
    order = np.argsort(names)
    seen = np.ascontiguousarray(draws, dtype=np.int64).view(key).ravel()
    position = np.searchsorted(names[order], seen).clip(max=len(names) - 1)
    hit = names[order][position] == seen
    counts = np.bincount(order[position[hit]], minlength=len(names))
    return np.append(counts, (~hit).sum())


def _check_rate(rate: float) -> None:
    if not FALSE_ALARM_RATE <= rate < 1:
        raise InputError(
            f"false_alarm_rate: {rate} is not between {FALSE_ALARM_RATE} and 1. The approximations "
            f"hold for these rates"
        )


def _read_probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, dtype=float)
    if found.min() < 0 or not 1 - MAX_MISSING <= found.sum() <= 1 + 1e-9:
        raise InputError(f"{name}: these are not probabilities with the sum 1")
    return found


def _pool(probabilities: NDArray[np.float64], total: int) -> NDArray[np.intp]:
    """Return the number of each bin's pool. The least probable bins share pool 0."""
    order = np.argsort(probabilities)
    expected = probabilities[order] * total
    rare = max(
        int((expected < MIN_EXPECTED).sum()),
        int(np.searchsorted(np.cumsum(expected), MIN_EXPECTED)) + 1,
    )
    if rare >= len(order):
        raise InputError("too few draws or bins for a test. Take more draws")
    pools = np.zeros(len(order), dtype=np.intp)
    pools[order[rare:]] = np.arange(1, len(order) - rare + 1)
    return pools
