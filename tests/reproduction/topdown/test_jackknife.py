import math

import numpy as np
import pytest

from reproduction.topdown.system_errors import jackknife_error


def ratio(sums):
    return sums[0] / sums[1]


def test_of_a_mean_it_is_the_plain_standard_error():
    values = np.array([3.0, -1.0, 4.0, 1.5])
    parts = np.column_stack([values, np.ones(4)])
    error = values.std(ddof=1) / math.sqrt(4)
    assert jackknife_error(parts, ratio) == pytest.approx(error)


def test_of_a_ratio_it_is_near_the_spread_of_the_ratio():
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 6, (4000, 50))
    # what a unit adds varies together with its weight, so that taking units for single values errs
    sums = weights * rng.normal(2, 1, (4000, 50))
    spread = (sums.sum(axis=1) / weights.sum(axis=1)).std()
    errors = [
        jackknife_error(np.column_stack(both), ratio)
        for both in zip(sums[:400], weights[:400], strict=True)
    ]
    assert np.mean(errors) == pytest.approx(spread, rel=0.05)


def test_one_unit_has_none():
    assert math.isnan(jackknife_error([[1.0, 2.0]], ratio))
    assert math.isnan(jackknife_error(np.empty((0, 2)), ratio))
