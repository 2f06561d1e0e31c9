import numpy as np
import pytest

from isdp import Invariants
from isdp.subspace import null_space
from reproduction.subspace.theory.frameworks import (
    conditioned_covariance,
    projected_covariance,
)

HELD = Invariants.margins((4, 4))
RNG = np.random.default_rng(42)


def gap(covariance):
    difference = projected_covariance(covariance, HELD) - conditioned_covariance(covariance, HELD)
    return np.abs(difference).max()


def test_projecting_and_conditioning_round_noise_are_the_same():
    assert gap(2 * np.eye(16)) < 1e-13


def test_they_differ_where_the_variances_do():
    assert gap(np.diag(np.arange(1.0, 17))) == pytest.approx(1.106, abs=5e-4)


def test_they_agree_exactly_if_the_null_space_is_mapped_to_itself():
    inside = null_space(HELD).matrix()
    mixing = RNG.standard_normal((16, 16))
    blocks = inside @ mixing @ mixing.T @ inside + 3 * (np.eye(16) - inside)
    blocks = (blocks + blocks.T) / 2
    assert gap(blocks) < 1e-10 * np.abs(blocks).max()
