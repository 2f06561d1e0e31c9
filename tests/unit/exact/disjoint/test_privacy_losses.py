"""The privacy loss of a move between cells, against closed forms."""

import math

import numpy as np
import pytest

from isdp import InputError
from isdp.exact.disjoint.privacy_losses import loss_of_move
from isdp.mechanisms.base import Energy

ERROR = 3e-9


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2, 0.5, 1.0, 2.0])
def test_cells_without_a_total_are_independent(rate):
    free = np.array([-1, -1, -1, 0])
    values = np.arange(-100, 101)
    weights = np.exp(-rate * values**2)
    sign = weights @ np.where(values % 2, -1, 1) / weights.sum()
    gaussian = loss_of_move(Energy(2, False, rate), free)
    assert gaussian.rho == 2 * rate
    (shares,) = gaussian.shares
    assert shares == pytest.approx(((1 + sign**2) / 2, (1 - sign**2) / 2), abs=ERROR)
    laplace = loss_of_move(Energy(1, False, rate), free)
    a = math.exp(-rate)
    assert laplace.epsilon == 2 * rate
    assert laplace.probability == pytest.approx((1 + a * a) / (1 + a) ** 2, abs=ERROR / rate)


def test_two_cells_with_one_total_always_have_opposite_noise():
    blocks = np.array([0, 0, 1, 1, 1, -1])
    assert loss_of_move(Energy(1, False, 0.3), blocks).probability == 1
    pair, three = sorted(loss_of_move(Energy(2, False, 0.3), blocks).shares, reverse=True)
    assert pair == pytest.approx((1, 0), abs=ERROR)
    assert three[0] < 0.9


@pytest.mark.parametrize(
    ("rate", "blocks"), [(0.3, [0, 1, -1]), (1e-13, [0, 0]), (1e13, [0, 0]), (1e-9, [0, 0, 0])]
)
def test_a_loss_that_cannot_be_computed_is_refused(rate, blocks):
    with pytest.raises(InputError):
        loss_of_move(Energy(1, False, rate), np.array(blocks))
