"""The one helper for statistical tests: each check has a stated false-alarm rate.

Every check is wrong with probability at most ALPHA when the sampler is right. A test that uses one
also shows its power: the same check must reject a law that is off by a little.
"""

import math

import numpy as np
from scipy import stats

ALPHA = 1e-6
LEAST_EXPECTED = 8  # per bin, so that the chi-square law holds far out in its tail


class LawRejected(AssertionError):
    """The sample does not follow the law that it was checked against."""


def check_law(counts, pmf):
    """Pearson's chi-square test of counts against probabilities; rare bins are pooled.

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
    statistic = ((observed - expected) ** 2 / expected).sum()
    p = float(stats.chi2.sf(statistic, len(expected) - 1))
    if p < ALPHA:
        raise LawRejected(f"chi-square {statistic:.1f} on {len(expected) - 1} degrees: p = {p:.1e}")
    return p


def check_mean(values, mean, sd):
    """Two-sided z-test of the mean of independent values with known standard deviation.

    Raises
    ------
    LawRejected
        If the mean is further off than chance explains but once in 1 / ALPHA.
    """
    values = np.asarray(values, dtype=float)
    z = (values.mean() - mean) / (sd / math.sqrt(values.size))
    p = float(2 * stats.norm.sf(abs(z)))
    if p < ALPHA:
        raise LawRejected(f"mean {values.mean():.4g} against {mean:.4g}: z = {z:.1f}")
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
