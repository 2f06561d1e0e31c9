"""The generalized Gaussian mechanism of *Integer Subspace Differential Privacy* (ISDP)."""

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
MIN_SIGMA, MAX_SIGMA = 1e-150, 1e150  # within these limits, squares neither overflow nor underflow


@dataclass(frozen=True, init=False)
class GeneralizedGaussian(Mechanism):
    """Noise u on the lattice with P(u) proportional to exp(-||u||_2^2 / (2 sigma^2)).

    The source is ISDP, Definition 13. Give either sigma or rho.

    Parameters
    ----------
    sigma : Fraction, int, str or float, optional
        Scale in persons, positive. A sigma that is much larger than the spacing of the lattice is
        close to the standard deviation of a free coordinate. A float denotes its shortest decimal
        form. A string may be "5/2" or "2.5".
    rho : Fraction, int, str or float, optional
        The zCDP privacy loss per unit of squared l2 distance, which is 1 / (2 sigma^2).
    exact_rho : Fraction, optional
        The exact value of rho, passed by `dataclasses.replace`. The argument is ignored if `rho` is
        given, or if `sigma` is not the double nearest to 1 / sqrt(2 rho).

    Attributes
    ----------
    sigma : float
        The nearest double, for seeded samplers and summaries of experiments.

    Raises
    ------
    InputError
        If both or neither of sigma and rho are given, or sigma is not between 1e-150 and 1e150.

    Notes
    -----
    Two tables with equal invariants differ by a lattice vector v. Let L be the sum of
    exp(-||u||^2 / (2 sigma^2)) over the lattice, and let L' be the same sum over a shifted lattice.
    By completing the square, the Renyi divergence of order a between the two releases is
    a ||v||^2 / (2 sigma^2) + ln(L' / L) / (a - 1). By Poisson's summation formula L' <= L.
    Therefore the release is zCDP with rho = ||v||^2 / (2 sigma^2).
    """

    sigma: float
    exact_rho: Fraction = field(repr=False)

    name: ClassVar[str] = "generalized Gaussian"

    def __init__(
        self,
        sigma: ExactNumber | None = None,
        *,
        rho: ExactNumber | None = None,
        exact_rho: Fraction | None = None,
    ) -> None:
        if rho is not None and (sigma is None or exact_rho is not None):
            _, exact = parse_positive("rho", rho)
            number = _sigma_of(exact)
        elif sigma is not None and rho is None:
            number, exact_sigma = parse_positive("sigma", sigma)
            exact = 1 / (2 * exact_sigma**2)
            if exact_rho is not None and _sigma_of(exact_rho) == number:
                exact = exact_rho
        else:
            raise InputError("GeneralizedGaussian: give either sigma or rho")
        if not MIN_SIGMA < number < MAX_SIGMA:
            raise InputError(f"sigma must be between 1e-150 and 1e150, got {number:g}")
        object.__setattr__(self, "sigma", number)
        object.__setattr__(self, "exact_rho", exact)

    @property
    def rho(self) -> Fraction:
        """The exact zCDP loss per unit of squared l2 distance, for guarantees and for releases."""
        return self.exact_rho

    @property
    def energy(self) -> Energy:
        """The log-weight with a rate in double precision."""
        return Energy(power=2, root=False, rate=0.5 / self.sigma**2)

    @property
    def exact_energy(self) -> Energy:
        """The log-weight with the exact rate."""
        return Energy(power=2, root=False, rate=self.rho)

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Zero-concentrated differential privacy, whose loss is quadratic in the l2 distance."""
        return PrivacyGuarantee("zCDP", self.rho, "l2", 2, SOURCE, growth="quadratic")

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the l2 norm of each noise vector."""
        return l2_norm(noise)

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return -||u||^2 / (2 sigma^2) for each noise vector u."""
        return -0.5 * (self.noise_norm(noise) / self.sigma) ** 2

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Approximate the magnitude of the noise in one cell."""
        return self.sigma * math.sqrt(dimension / cells)

    def radius(self, dimension: int) -> float:
        """Return a bound that the norm of a draw exceeds with a probability below 1e-20."""
        return self.sigma * (math.sqrt(dimension) + 12)


def _sigma_of(rho: Fraction) -> float:
    variance = 1 / (2 * rho)
    root = Fraction(math.isqrt(variance.numerator), math.isqrt(variance.denominator))
    return float(root) if root**2 == variance else math.sqrt(variance)
