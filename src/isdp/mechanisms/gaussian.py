"""The Gaussian family: weights that fall with the squared l2 norm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isdp.errors import InputError
from isdp.mechanisms.base import Energy


@dataclass(frozen=True)
class GeneralizedGaussian:
    """P(u) proportional to exp(-||u||_2^2 / (2 sigma^2)) on the lattice (ISDP, Definition 13).

    Parameters
    ----------
    sigma : float
        Scale in persons, positive. It is the standard deviation of a free coordinate where it is
        large against the lattice's spacing.

    Raises
    ------
    InputError
        If sigma is not a positive finite number.
    """

    sigma: float

    def __post_init__(self):
        if not (isinstance(self.sigma, int | float) and 0 < self.sigma < math.inf):
            raise InputError(f"sigma must be a positive number, got {self.sigma!r}")

    @property
    def energy(self) -> Energy:
        """Log-weight for the compiled sampler."""
        return Energy(power=2, root=False, rate=0.5 / self.sigma**2)

    def measure(self, noise) -> np.ndarray:
        """l2 norm of each noise vector; `noise` has shape (..., cells)."""
        return np.sqrt(np.square(np.asarray(noise).astype(float)).sum(axis=-1))

    def log_weight(self, noise) -> np.ndarray:
        """-||u||^2 / (2 sigma^2) for each noise vector; `noise` has shape (..., cells)."""
        return -0.5 * (self.measure(noise) / self.sigma) ** 2

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""
        return self.sigma * math.sqrt(dimension / cells)

    def radius(self, dimension: int) -> float:
        """Norm that no draw exceeds, but for a chance below 1e-20."""
        return self.sigma * (math.sqrt(dimension) + 12)

    def privacy_statement(self) -> str:
        """Guarantee of Theorem 14, in words, as far as it is known."""
        return (
            f"sigma = {self.sigma:g}: (epsilon, delta) integer subspace differential privacy "
            f"holds for a sigma that depends on epsilon, delta and the invariants (ISDP, Theorem "
            f"14); the constant is not known here, so no epsilon or delta is claimed"
        )
