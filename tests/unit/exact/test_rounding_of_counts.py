"""Bounds on what rounding does to counts, remainders and few cells above zero, with more digits.

NumPy's exponential variables are taken for the real ones here: what its tables add is not tried.
"""

import math

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

from isdp import GeneralizedLaplace, Invariants
from isdp.exact.bounded import LOG_MISSED, BoundedSampler
from isdp.exact.compositions import LARGEST_MEAN, _log_rise, _mode
from isdp.exact.rounding import UNIT, composition_error, counts_error, staged_error

BITS = 200


def least_double(reaches):
    """Find the least double that does, of those from 0 to 100, by bisection."""
    low, high = 0, int(np.float64(100.0).view(np.int64))
    while low < high:
        middle = (low + high) // 2
        if reaches(float(np.int64(middle).view(np.float64))):
            high = middle
        else:
            low = middle + 1
    return float(np.int64(low).view(np.float64))


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 1.7, 7.3])
@pytest.mark.parametrize("turned", [False, True])
def test_counts_are_as_near_as_is_said(rate, turned):
    """Whole parts of an exponential variable over the rate, or times one over it."""
    scale = 1.0 / rate

    def count(x):
        return int(x * scale) if turned else int(x / rate)

    with ctx.workprec(BITS):
        off = arb(0)
        for k in range(1, int(40 / rate)):
            first = least_double(lambda x, k=k: count(x) >= k)
            # P(X >= k), as what is off at one end of an interval is off at its neighbour's
            off += abs((-arb(first)).exp() - (-arb(rate) * k).exp())
    assert 0 < float(off) <= counts_error(1, rate)


@pytest.mark.parametrize("epsilon", [0.001, 0.3, 2.0])
def test_decisions_of_staged_rejection_are_within_the_units_that_are_said(epsilon):
    with ctx.workprec(BITS):
        off = max(
            abs(float(arb(math.exp(-epsilon * size)) - (-arb(epsilon) * size).exp()))
            for size in range(1, int(30 / epsilon), max(1, int(0.01 / epsilon)))
        )
    a_try = staged_error(0, epsilon, 1)  # of up to two decisions, counted twice
    assert 0 < off + UNIT <= a_try / 4


@pytest.mark.parametrize(("cells", "mean"), [(5, 9), (50, 40), (1000, 3000), (1000, 10**7)])
def test_remainders_and_their_quotients_are_as_near_as_is_said(cells, mean):
    """Chances as `compositions._fill_remainders` compares them, and the whole's as it is kept."""
    total, bits = cells * mean, 0
    while total >> bits > LARGEST_MEAN * cells:
        bits += 1
    assert bits > 0
    rate, unit = math.log1p(cells / total), 1 << bits
    r = np.unique(np.linspace(0, unit - 1, min(unit, 4096)).astype(np.int64))
    falls = (rate * r).tolist()
    kept = np.ceil([max(1.0 - fall, math.exp(-fall)) * 2.0**53 for fall in falls])
    quotients = total >> bits
    mode = _mode(cells, unit * rate)
    reach = int(9 * math.sqrt(quotients * (1 + quotients / cells)))
    sums = np.unique(np.linspace(max(mode - reach, 0), mode + reach, 400).astype(np.int64))
    with ctx.workprec(BITS):
        exact = [(-arb(rate) * int(x)).exp() for x in r]
        shares = np.array([float(x) for x in exact])
        ratio = np.array(
            [float(arb(n) / 2**53 / x - 1) for n, x in zip(kept.tolist(), exact, strict=True)]
        )
        each = abs(ratio - (shares @ ratio) / shares.sum()) @ shares / shares.sum() / 2

        def log_ways(q):
            return arb(q + cells).lgamma() - arb(q + 1).lgamma()

        off, chances = [], []
        for q in sums.tolist():
            log = log_ways(q) - log_ways(mode) - arb(unit * rate) * (q - mode)
            off.append(float(arb(_log_rise(mode, q - mode, cells, unit * rate)) - log))
            chances.append(float(log.exp()))
    # twice the chance, by the law that the whole is kept with: its weights are the chances squared
    weights = np.square(chances)
    whole = abs(np.array(off)) @ weights / weights.sum() + UNIT
    assert 0 < float(cells * each + whole) <= composition_error(cells, total)


def test_fewest_cells_above_zero_are_missed_as_seldom_as_is_said():
    """The number of cells that are not below zero, as a product of coins, at 400 bits."""
    rng = np.random.default_rng(5)
    for counts in (rng.integers(0, 3, 900), rng.integers(20, 90, 900), np.full(800, 7)):
        sampler = BoundedSampler(Invariants.total(len(counts)), GeneralizedLaplace(0.2), -counts)
        ((_, block),) = sampler._blocks
        with ctx.workprec(400):
            law = arb_poly([1])
            for deepest in counts.tolist():
                below = block._cells._log_share(deepest).exp() if deepest else arb(0)
                law *= arb_poly([below, 1 - below])
            missed = sum((law[n] for n in range(block._least)), arb(0))
        assert block._least > 1
        assert missed < math.exp(-LOG_MISSED)
