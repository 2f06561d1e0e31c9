"""The Gaussian family: weights that fall with the squared l2 norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_positive
from isdp.errors import InputError
from isdp.mechanisms.base import Energy, Mechanism, l2_norm

SOURCE = (
    "Canonne, Kamath and Steinke 2020, Theorem 4, whose proof holds on any lattice; ISDP, Theorem "
    "14, gives an epsilon and a delta up to an unknown constant"
)


@dataclass(frozen=True)
class GeneralizedGaussian(Mechanism):
    """P(u) proportional to exp(-||u||_2^2 / (2 sigma^2)) on the lattice (ISDP, Definition 13).

    Parameters
    ----------
    sigma : float
        Scale in persons, positive. It is the standard deviation of a free coordinate where it is
        large against the lattice's spacing.

    Raises
    ------
    InputError
        If sigma is not a positive number between 1e-150 and 1e150.

    Notes
    -----
    Two tables with equal invariants differ by a lattice vector v. Completing the square, the Renyi
    divergence of order a between their releases is a ||v||^2 / (2 sigma^2) plus 1 / (a - 1) times
    the logarithm of the Gaussian's sum over a shifted lattice against that over the lattice itself.
    By Poisson's formula the shifted sum is never the larger one, so that the release is zCDP with
    rho = ||v||^2 / (2 sigma^2).
    """

    sigma: float

    name: ClassVar[str] = "generalized Gaussian"

    def __post_init__(self):
        if not 1e-150 < check_positive("sigma", self.sigma) < 1e150:
            raise InputError(f"sigma {self.sigma:g} is beyond what doubles can square")

    @property
    def energy(self) -> Energy:
        """Log-weight for the compiled sampler."""
        return Energy(power=2, root=False, rate=0.5 / self.sigma**2)

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Concentrated differential privacy, quadratic in the l2 distance; see the notes."""
        rho = 1 / (2 * Fraction(repr(float(self.sigma))) ** 2)
        return PrivacyGuarantee("zCDP", rho, "l2", 2, SOURCE, growth="quadratic")

    def measure(self, noise) -> np.ndarray:
        """l2 norm of each noise vector; `noise` has shape (..., cells)."""
        return l2_norm(noise)

    def log_weight(self, noise) -> np.ndarray:
        """-||u||^2 / (2 sigma^2) for each noise vector; `noise` has shape (..., cells)."""
        return -0.5 * (self.measure(noise) / self.sigma) ** 2

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""
        return self.sigma * math.sqrt(dimension / cells)

    def radius(self, dimension: int) -> float:
        """Norm that no draw exceeds, but for a chance below 1e-20."""
        return self.sigma * (math.sqrt(dimension) + 12)
