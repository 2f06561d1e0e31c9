"""The Laplace family: weights that fall exponentially with a norm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isdp.errors import InputError
from isdp.mechanisms.base import Energy

NORMS = ("l1", "l2")
# of a double geometric variable, as NumPy's exponential variables give nothing beyond
LONGEST_JUMP_IN_SCALES = 45


@dataclass(frozen=True)
class GeneralizedLaplace:
    """P(u) proportional to exp(-epsilon ||u||) on the lattice (ISDP, Definition 9).

    Parameters
    ----------
    epsilon : float
        Privacy loss per unit of norm, positive.
    norm : {"l1", "l2"}
        l1, or the l2 norm (not squared).

    Raises
    ------
    InputError
        If epsilon is not a positive finite number or the norm is unknown.
    """

    epsilon: float
    norm: str = "l1"

    def __post_init__(self):
        if not (isinstance(self.epsilon, int | float) and 0 < self.epsilon < math.inf):
            raise InputError(f"epsilon must be a positive number, got {self.epsilon!r}")
        if self.norm not in NORMS:
            raise InputError(f"norm must be one of {', '.join(NORMS)}, got {self.norm!r}")

    @property
    def energy(self) -> Energy:
        """Log-weight for the compiled sampler."""
        if self.norm == "l1":
            return Energy(power=1, root=False, rate=float(self.epsilon))
        return Energy(power=2, root=True, rate=float(self.epsilon))

    def measure(self, noise) -> np.ndarray:
        """Norm of each noise vector.

        Parameters
        ----------
        noise : int array, shape (..., cells)

        Returns
        -------
        array, shape (...)
            int64 for l1, float64 for l2.
        """
        noise = np.asarray(noise)
        if self.norm == "l1":
            return np.abs(noise).sum(axis=-1)
        return np.sqrt(np.square(noise.astype(float)).sum(axis=-1))

    def log_weight(self, noise) -> np.ndarray:
        """-epsilon ||u|| for each noise vector; `noise` has shape (..., cells)."""
        return -self.epsilon * self.measure(noise)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell, from the rule of thumb below."""
        if self.norm == "l1":
            return dimension / (self.epsilon * cells)
        return dimension / (self.epsilon * math.sqrt(cells))

    def radius(self, dimension: int) -> float:
        """Norm that no draw exceeds, but for a chance below 1e-20.

        For small epsilon the norm is close to Gamma(d, rate epsilon) whatever the norm is; a
        larger epsilon only shortens it.
        """
        return (dimension + 12 * math.sqrt(dimension) + 60) / self.epsilon

    def privacy_statement(self) -> str:
        """Guarantee of Theorem 10, in words."""
        return (
            f"privacy loss at most {self.epsilon:g} per unit of the {self.norm} distance between "
            f"two tables with equal invariants, delta = 0 (ISDP, Theorem 10); this is per unit "
            f"of norm, not per person: one person who changes cell moves the l1 distance by 2"
        )


@dataclass(frozen=True)
class DoubleGeometric:
    """p(k) = (1 - a)/(1 + a) a^|k| on the integers, the proposal of ISDP, Section 4.

    Parameters
    ----------
    a : float
        Between 0 and 1, both excluded. ``a = exp(-epsilon)`` is the discrete Laplace law.

    Raises
    ------
    InputError
        If `a` lies outside (0, 1).
    """

    a: float

    def __post_init__(self):
        if not (isinstance(self.a, int | float) and 0 < self.a < 1):
            raise InputError(
                f"the double geometric parameter must lie between 0 and 1, got {self.a!r}"
            )

    def pmf(self, k) -> np.ndarray:
        """Probability of each integer in `k`."""
        return (1 - self.a) / (1 + self.a) * self.a ** np.abs(np.asarray(k, dtype=float))

    @property
    def variance(self) -> float:
        """2a / (1 - a)^2."""
        return 2 * self.a / (1 - self.a) ** 2


def double_geometric_noise(rng: np.random.Generator, epsilon: float, shape) -> np.ndarray:
    """Draw independent double geometric noise with a = exp(-epsilon), as a difference."""
    p = -np.expm1(-epsilon)
    return rng.geometric(p, shape) - rng.geometric(p, shape)
