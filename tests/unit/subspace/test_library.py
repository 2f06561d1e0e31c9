"""What Gaussian and Laplace noise guarantee here, against a library made for it."""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism as oracle
from dp_accounting.pld.common import DifferentialPrivacyParameters

from isdp import Invariants
from isdp.subspace.privacy.gaussian_calibration import delta, multiplier
from reproduction.subspace.theory.privacy_loss import integrated_profile, log_density

SEARCH = 1e-7  # the width at which the library's bisection ends
ROUNDING = 1e-15  # of the library, which takes the difference of two chances
PAIRS = [(0.192, 1e-5), (0.5, 1e-6), (1.0, 1e-5), (1.0, 1e-9), (3.0, 0.1), (10.0, 1e-8)]


@pytest.mark.parametrize(("epsilon", "target"), PAIRS)
def test_the_least_constant_is_the_library_s(epsilon, target):
    wanted = oracle.GaussianPrivacyLoss.from_privacy_guarantee(
        DifferentialPrivacyParameters(epsilon, target)
    ).standard_deviation
    assert wanted - SEARCH <= multiplier(epsilon, target) <= wanted + SEARCH


@pytest.mark.parametrize(("epsilon", "target"), PAIRS)
@pytest.mark.parametrize("constant", ["exact", "paper"])
def test_the_delta_of_a_constant_is_the_library_s(epsilon, target, constant):
    c = multiplier(epsilon, target, constant)
    wanted = oracle.GaussianPrivacyLoss(c).get_delta_for_epsilon(epsilon)
    assert delta(epsilon, c) == pytest.approx(wanted, rel=1e-10, abs=ROUNDING)


@pytest.mark.parametrize(
    ("epsilon", "target", "fails"),
    [(1.0, 1e-10, False), (1.0, 1e-11, True), (8.0, 1e-2, False), (8.0, 1e-3, True)],
)
def test_the_library_too_finds_that_the_paper_s_constant_fails(epsilon, target, fails):
    law = oracle.GaussianPrivacyLoss(multiplier(epsilon, target, "paper"))
    assert (law.get_delta_for_epsilon(epsilon) > target) == fails


@pytest.mark.parametrize("scale", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("row", [[1, 0], [3, 0]])
def test_the_profile_of_laplace_noise_is_the_library_s(row, scale):
    """Of the noise projected on two cells with the first held, plain Laplace noise is left."""
    held = Invariants([row])
    epsilons = np.array([0, 0.2, 0.5, 0.9, 0.99, 1, 2]) / scale
    found = integrated_profile(
        np.array([0.0, 1]), 1.0, lambda y: log_density(y, held, scale), epsilons, scale
    )
    wanted = oracle.LaplacePrivacyLoss(scale).get_delta_for_epsilon(epsilons)
    assert found.deltas == pytest.approx(wanted, rel=1e-10, abs=ROUNDING)
