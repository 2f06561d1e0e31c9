import math

import numpy as np
import pytest
from scipy.special import gammaincc

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.errors import NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.elimination.memory_forecast import min_message_bytes
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.elimination.truncation import truncation_factor

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


def test_more_pairs_of_cells_than_memory_holds_are_refused():
    with pytest.raises(InputError):
        min_message_bytes(Invariants.total(2001), 1, 1.0, -1.0)


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(1.5), GeneralizedGaussian(1.0)])
@pytest.mark.parametrize("name", LATTICES)
def test_the_forecast_is_never_above_what_a_tree_takes(name, mechanism):
    invariants, energy = LATTICES[name], mechanism.energy
    sampler = TruncatedEliminationSampler(invariants, mechanism)
    used, sums = min_message_bytes(invariants, energy.power, energy.rate, math.log(1e-12))
    assert used <= sampler.bytes * (1 + 1e-9)
    assert sums <= max(sampler.dimensions, default=0)


@pytest.mark.parametrize(
    ("mechanism", "norm"),
    [(GeneralizedGaussian(50.0), math.sqrt(2)), (GeneralizedLaplace(0.02), 2.0)],
)
def test_the_forecast_for_one_total_by_hand(mechanism, norm):
    """One sum is open, which a vector e_i - e_0 of that norm moves by one."""
    energy, log_left_out = mechanism.energy, math.log(1e-12)
    factor = truncation_factor(energy.power, energy.rate, 19, 1, log_left_out)
    used, sums = min_message_bytes(Invariants.total(20), energy.power, energy.rate, log_left_out)
    assert sums == 1
    assert used == pytest.approx(8 * (2 * math.floor(factor / norm) + 1))


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_windows_leave_out_what_they_may(rate):
    """Gaussian: 2 n exp(-rate x^2); l1: Chernoff's bound of the tail of Gamma(d, 1)."""
    x = truncation_factor(2, rate, 7, 5, math.log(1e-12))
    assert 2 * 5 * math.exp(-rate * x**2) == pytest.approx(1e-12)
    y = rate * truncation_factor(1, rate, 7, 5, math.log(1e-12))
    assert (y / 7) ** 7 * math.exp(7 - y) == pytest.approx(1e-12)
    assert gammaincc(7, y) < 1e-12


def test_a_hopeless_table_is_refused():
    table, law = Invariants.margins((20, 20)), GeneralizedLaplace(0.25)
    with pytest.raises(NoSamplerError):
        select_sampler(law, table, np.zeros(400, dtype=np.int64))
