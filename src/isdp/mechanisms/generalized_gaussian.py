"""Generalized Gaussian mechanism: the probability falls with the squared l2 norm of the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import ExactNumber, parse_positive
from isdp.errors import InputError
from isdp.mechanisms.base import Energy, Mechanism, l2_norm

SOURCE = (
    "Canonne, Kamath and Steinke 2020, Theorem 4, whose proof holds on any lattice; ISDP, Theorem "
    "14, gives an epsilon and a delta up to an unknown constant"
)
MIN_SIGMA, MAX_SIGMA = 1e-150, 1e150  # whose squares are floats


@dataclass(frozen=True, init=False)
class GeneralizedGaussian(Mechanism):
    """P(u) proportional to exp(-||u||_2^2 / (2 sigma^2)) on the lattice (ISDP, Definition 13).

    Parameters
    ----------
    sigma : Fraction, int, str or float
        Scale in persons, positive. It is close to the standard deviation of a free coordinate if
        it is large compared with the spacing of the lattice. A float stands for its shortest
        decimal form; a string may be "5/2" or "2.5".
    rho : Fraction, int, str or float, optional
        Instead of sigma: the zCDP privacy loss per unit of squared l2 distance, 1 / (2 sigma^2).

    Attributes
    ----------
    sigma : float
        The nearest double, for samplers and summaries of experiments.
    rho : Fraction
        The exact value, for guarantees and for noise for release.

    Raises
    ------
    InputError
        If both or neither of sigma and rho are given, or sigma is not between 1e-150 and 1e150.

    Notes
    -----
    Two tables with equal invariants differ by a lattice vector v. Completing the square, the Renyi
    divergence of order a between their releases is a ||v||^2 / (2 sigma^2) plus 1 / (a - 1) times
    the logarithm of the Gaussian's sum over a shifted lattice divided by that over the lattice
    itself. By Poisson's formula the shifted sum is never the larger one, so that the release is
    zCDP with rho = ||v||^2 / (2 sigma^2).
    """

    sigma: float
    rho: Fraction = field(init=False, repr=False)

    name: ClassVar[str] = "generalized Gaussian"

    def __init__(self, sigma: ExactNumber | None = None, *, rho: ExactNumber | None = None) -> None:
        if sigma is not None and rho is None:
            number, exact = parse_positive("sigma", sigma)
            object.__setattr__(self, "rho", 1 / (2 * exact**2))
        elif rho is not None and sigma is None:
            _, exact = parse_positive("rho", rho)
            number = _square_root(1 / (2 * exact))
            object.__setattr__(self, "rho", exact)
        else:
            raise InputError("GeneralizedGaussian: give either sigma or rho")
        if not MIN_SIGMA < number < MAX_SIGMA:
            raise InputError(f"sigma: must lie between 1e-150 and 1e150, got {number:g}")
        object.__setattr__(self, "sigma", number)

    @property
    def energy(self) -> Energy:
        """Log-weight for compiled samplers."""
        return Energy(power=2, root=False, rate=0.5 / self.sigma**2)

    @property
    def exact_energy(self) -> Energy:
        """Log-weight with the exact rate."""
        return Energy(power=2, root=False, rate=self.rho)

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Concentrated differential privacy, quadratic in the l2 distance; see the notes."""
        return PrivacyGuarantee("zCDP", self.rho, "l2", 2, SOURCE, growth="quadratic")

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.float64]:
        """l2 norm of each noise vector; `noise` has shape (..., cells)."""
        return l2_norm(noise)

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """-||u||^2 / (2 sigma^2) for each noise vector; `noise` has shape (..., cells)."""
        return -0.5 * (self.noise_norm(noise) / self.sigma) ** 2

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""
        return self.sigma * math.sqrt(dimension / cells)

    def radius(self, dimension: int) -> float:
        """Norm that a draw exceeds with a probability below 1e-20."""
        return self.sigma * (math.sqrt(dimension) + 12)


def _square_root(variance: Fraction) -> float:
    root = Fraction(math.isqrt(variance.numerator), math.isqrt(variance.denominator))
    return float(root) if root**2 == variance else math.sqrt(variance)
