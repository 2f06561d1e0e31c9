"""The Laplace family: weights that fall exponentially with a norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_choice, check_positive, check_probability
from isdp.mechanisms.base import Energy, Mechanism, l1_norm, l2_norm

NORMS = ("l1", "l2")
# how far one person who changes cell moves a table: +1 and -1
DISTANCE_PER_PERSON = {"l1": 2, "l2": math.sqrt(2)}  # the double is above the root of 2
# of a double geometric variable, as NumPy's exponential variables give nothing beyond
MAX_JUMP_IN_SCALES = 45


@dataclass(frozen=True)
class GeneralizedLaplace(Mechanism):
    """P(u) proportional to exp(-epsilon ||u||) on the lattice (ISDP, Definition 9).

    Where nothing is held, the l1 law makes every cell double geometric, independent of the others.

    Parameters
    ----------
    epsilon : float
        Privacy loss per unit of norm, positive.
    norm : {"l1", "l2"}
        l1, or the l2 norm (not squared).
    """

    epsilon: float
    norm: str = "l1"

    name: ClassVar[str] = "generalized Laplace"

    def __post_init__(self):
        check_positive("epsilon", self.epsilon)
        check_choice("norm", self.norm, NORMS)

    @property
    def energy(self) -> Energy:
        """Log-weight for the compiled sampler."""
        if self.norm == "l1":
            return Energy(power=1, root=False, rate=float(self.epsilon))
        return Energy(power=2, root=True, rate=float(self.epsilon))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Pure differential privacy, linear in the distance (ISDP, Theorem 10)."""
        return PrivacyGuarantee(
            "pure", self.epsilon, self.norm, DISTANCE_PER_PERSON[self.norm], "ISDP, Theorem 10"
        )

    def measure(self, noise) -> np.ndarray:
        """Norm of each noise vector, int64 for l1 and float64 for l2; `noise` is (..., cells)."""
        return l1_norm(noise) if self.norm == "l1" else l2_norm(noise)

    def log_weight(self, noise) -> np.ndarray:
        """-epsilon ||u|| for each noise vector; `noise` has shape (..., cells)."""
        return -self.epsilon * self.measure(noise)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell, from the rule of thumb below."""
        if self.norm == "l1":
            return dimension / (self.epsilon * cells)
        return dimension / (self.epsilon * math.sqrt(cells))

    def radius(self, dimension: int) -> float:
        """Norm that no draw exceeds, but for a chance below 1e-20; see `gamma_reach`."""
        return bound_gamma(dimension, self.epsilon)


def bound_gamma(dimension: int, epsilon: float) -> float:
    """Value that Gamma(dimension, rate epsilon) exceeds with a chance below 1e-20.

    For small epsilon a generalized Laplace vector's norm is close to that law whatever the norm
    is; a larger epsilon only shortens it.
    """
    return (dimension + 12 * math.sqrt(dimension) + 60) / epsilon


def double_geometric_pmf(k, a: float) -> np.ndarray:
    """p(k) = (1 - a) / (1 + a) a^|k| on the integers, the proposal of ISDP, Section 4.

    Parameters
    ----------
    a : float
        Between 0 and 1, both excluded. ``a = exp(-epsilon)`` is the discrete Laplace law.
    """
    return (1 - a) / (1 + a) * a ** np.abs(np.asarray(k, dtype=float))


def double_geometric_noise(rng: np.random.Generator, epsilon: float, shape) -> np.ndarray:
    """Draw independent double geometric noise with a = exp(-epsilon), as a difference."""
    p = -np.expm1(-epsilon)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def check_proposal(where: str, a) -> None:
    """Refuse a parameter that no double geometric law has."""
    check_probability(f"{where}: the double geometric parameter", a)
