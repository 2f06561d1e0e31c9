"""The one helper for statistical tests: each check has a stated false-alarm rate.

Every check is wrong with a probability of about ALPHA when the sampler is right, and of less than
twice that: `test_checks.py` computes it for counts. A test that uses one also shows its power: the
same check must reject a distribution that is off by a little, and would with nearly any other seed.
"""

import math

import numpy as np
from scipy import special, stats

ALPHA = 1e-6
LEAST_EXPECTED = 8  # per bin, so that the chi-square distribution holds far out in its tail


class LawRejected(AssertionError):
    """The sample does not follow the distribution that it was checked against."""


def check_law(counts, pmf):
    """Likelihood ratio test of counts against probabilities; rare bins are pooled.

    The ratio, corrected by Williams (1976), has the tail of chi-square as far out as ALPHA. That of
    Pearson's sum of squares is longer: with bins of 8 it raises 5 to 30 times the false alarms.

    Parameters
    ----------
    counts : int array, shape (bins,)
        Independent draws that fell into each bin.
    pmf : array, shape (bins,)
        Probability of each bin. What is missing from 1 becomes a bin of its own, without counts.

    Returns
    -------
    float
        The p-value.

    Raises
    ------
    LawRejected
        If the p-value is below ALPHA.
    """
    counts, pmf = np.asarray(counts), np.asarray(pmf, dtype=float)
    total = counts.sum()
    if pmf.min() < 0 or pmf.sum() > 1 + 1e-9:
        raise ValueError("these are no probabilities")
    if counts[pmf == 0].any():
        raise LawRejected("a draw fell where the law has no probability")
    order = np.argsort(pmf)
    expected = pmf[order] * total
    rare = max(
        int((expected < LEAST_EXPECTED).sum()),
        int(np.searchsorted(np.cumsum(expected), LEAST_EXPECTED)) + 1,
    )
    observed = np.concatenate([[counts[order][:rare].sum()], counts[order][rare:]])
    expected = np.concatenate([[expected[:rare].sum()], expected[rare:]])
    if len(expected) < 2:
        raise ValueError("too few draws or bins for the test to say anything")
    expected *= total / expected.sum()
    degrees = len(expected) - 1
    inflated = 1 + ((1 / expected).sum() - 1 / total) / (6 * degrees)
    statistic = 2 * special.xlogy(observed, observed / expected).sum() / inflated
    p = float(stats.chi2.sf(statistic, degrees))
    if p < ALPHA:
        raise LawRejected(f"chi-square {statistic:.1f} on {degrees} degrees: p = {p:.1e}")
    return p


def check_mean(values, mean, sd=None):
    """Two-sided test of the mean of independent values.

    Means of skew values are not normal so far out. With the skewness of the sample they follow
    Pearson's type III distribution; where the deviation is the sample's own too, Student's t after
    the cubic transformation of Hall (1992).

    Parameters
    ----------
    values : array_like
    mean : float
        What it should be.
    sd : float, optional
        Standard deviation of one value, where it is known; by default that of the sample.

    Raises
    ------
    LawRejected
        If the mean is further off than probability explains but once in 1 / ALPHA.
    """
    values = np.ravel(values).astype(float)
    root = math.sqrt(values.size)
    spread = values.std(ddof=1) if sd is None else sd
    z = (values.mean() - mean) / (spread / root)
    lean = ((values - values.mean()) ** 3).mean() / (values.std() or 1.0) ** 3 / root
    if sd is None:
        cubic = z + lean * z**2 / 3 + lean**2 * z**3 / 27 + lean / 6
        p = 2 * float(stats.t.sf(abs(cubic), values.size - 1))
    else:
        # whichever is less: a sample that is off has too much of it about the true mean, and
        # one of few rare values has too much of its own
        lean = min(lean, (((values - mean) / sd) ** 3).mean() / root, key=abs)
        p = min(1.0, 2 * float(stats.pearson3.sf(abs(z), math.copysign(lean, lean * z))))
    if p < ALPHA:
        raise LawRejected(f"mean {values.mean():.4g} against {mean:.4g}: z = {z:.1f}, p = {p:.1e}")
    return p


def count_points(draws, points):
    """How often each of the given points stands among the draws, as check_law takes it.

    Draws at none of the points are counted in a last bin of their own.
    """
    width = points.shape[1]
    key = np.dtype((np.void, 8 * width))
    names = np.ascontiguousarray(points, dtype=np.int64).view(key).ravel()
    order = np.argsort(names)
    seen = np.ascontiguousarray(draws, dtype=np.int64).view(key).ravel()
    position = np.searchsorted(names[order], seen).clip(max=len(names) - 1)
    hit = names[order][position] == seen
    counts = np.bincount(order[position[hit]], minlength=len(names))
    return np.append(counts, (~hit).sum())
