"""Noise laws on the lattice, each with the privacy statement that it carries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from isdp.errors import InputError

NORMS = ("l1", "l2")


class Energy(NamedTuple):
    """How the compiled sampler computes a log-weight: ``-rate * g(sum of |u_i|^power)``.

    `power` is 1 or 2 and g is the square root if `root`, else the identity. The sum is an
    integer, so the sampler keeps it without rounding.
    """

    power: int
    root: bool
    rate: float


class Mechanism(Protocol):
    """What a noise law offers to the samplers."""

    @property
    def energy(self) -> Energy:
        """The law's log-weight in the form that the compiled sampler takes."""

    def log_weight(self, noise) -> np.ndarray:
        """Logarithm of the unnormalised probability of each noise vector."""

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""

    def radius(self, dimension: int) -> float:
        """Give a norm that no draw exceeds, but for a chance below 1e-20."""

    def privacy_statement(self) -> str:
        """Say what the mechanism guarantees."""


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
