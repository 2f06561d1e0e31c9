import math

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.exact import choose
from isdp.exact.messages import sampler as dynamic
from isdp.exact.messages.forecast import least_bytes, least_open
from isdp.exact.messages.sampler import DynamicSampler

LATTICES = {
    "total": Invariants.total(9),
    "fixed cells": Invariants(np.eye(3, dtype=int)),
    "nothing held": Invariants(np.zeros((0, 3), dtype=int)),
    "two parts": Invariants.partition([0, 0, 0, 1, 1, 1]),
    "3 x 3": Invariants.margins((3, 3)),
    "4 x 4": Invariants.margins((4, 4)),
    "2 x 2 x 2": Invariants.margins((2, 2, 2)),
    "uneven": Invariants([[2, 1, 0, 1, 0, -1], [0, 1, 1, 2, -1, 0]]),
}


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(1.5), GeneralizedGaussian(1.0)])
@pytest.mark.parametrize("name", LATTICES)
def test_the_forecast_is_never_above_what_a_tree_takes(name, mechanism):
    invariants, energy = LATTICES[name], mechanism.energy
    sampler = DynamicSampler(invariants, mechanism)
    used, sums = least_bytes(invariants, energy.power, energy.rate, math.log(1e-12))
    assert used <= sampler.bytes * (1 + 1e-9)
    assert sums <= max(sampler.dimensions, default=0)


def test_square_tables_have_many_sums_open():
    # half the rows against the other half leave all columns' sums but one open
    assert 14 <= least_open(Invariants.margins((20, 20))) <= 19
    assert least_open(Invariants.total(20)) == 1


def test_a_hopeless_table_is_refused_before_a_tree_is_sought(monkeypatch):
    def no_tree(*arguments):
        raise AssertionError("a tree was sought")

    monkeypatch.setattr(dynamic, "lay_out", no_tree)
    with pytest.raises(InputError, match=r"by messages: .* at least .* GB.*; by staged rejection"):
        choose(Invariants.margins((20, 20)), GeneralizedLaplace(0.25))
    lower = np.zeros(400, dtype=np.int64)
    with pytest.raises(InputError, match=r"at least .* GB.* sums are open"):
        choose(Invariants.margins((20, 20)), GeneralizedLaplace(0.25), lower)
