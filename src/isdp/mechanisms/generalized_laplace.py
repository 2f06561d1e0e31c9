"""Generalized Laplace mechanism: the probability falls exponentially with a norm of the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import Number, PrivacyGuarantee
from isdp.checks import ExactNumber, check_choice, check_probability, parse_positive
from isdp.mechanisms.base import Energy, Mechanism, l1_norm, l2_norm

Norm = Literal["l1", "l2"]
NORMS: tuple[Norm, ...] = ("l1", "l2")
# the distance between two tables that differ in the cell of one person: +1 and -1
DISTANCE_PER_PERSON: dict[Norm, Number] = {"l1": 2, "l2": math.sqrt(2)}  # rounded up to a double
# of a double geometric variable, as NumPy's exponential variables give nothing beyond
MAX_JUMP_IN_SCALES = 45


@dataclass(frozen=True, init=False)
class GeneralizedLaplace(Mechanism):
    """P(u) proportional to exp(-epsilon ||u||) on the lattice (ISDP, Definition 9).

    Without invariants, the l1 norm makes the cells independent double geometric variables.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        Privacy loss per unit of norm, positive. A float stands for its shortest decimal form; a
        string may be "1/3" or "0.25".
    norm : {"l1", "l2"}
        The l1 norm, or the l2 norm (not squared).

    Attributes
    ----------
    epsilon : float
        The nearest double, for samplers and summaries of experiments.
    exact_epsilon : Fraction
        The exact value, for guarantees and for noise for release.
    """

    epsilon: float
    norm: Norm
    exact_epsilon: Fraction = field(init=False, repr=False)

    name: ClassVar[str] = "generalized Laplace"

    def __init__(self, epsilon: ExactNumber, norm: Norm = "l1") -> None:
        number, exact = parse_positive("epsilon", epsilon)
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "norm", check_choice("norm", norm, NORMS))
        object.__setattr__(self, "exact_epsilon", exact)

    @property
    def energy(self) -> Energy:
        """Log-weight for compiled samplers."""
        power, root = (1, False) if self.norm == "l1" else (2, True)
        return Energy(power, root, rate=float(self.epsilon))

    @property
    def exact_energy(self) -> Energy | None:
        """Log-weight with the exact rate; None for the l2 norm."""
        return Energy(1, False, self.exact_epsilon) if self.norm == "l1" else None

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Pure differential privacy, linear in the distance (ISDP, Theorem 10)."""
        return PrivacyGuarantee(
            "pure",
            self.exact_epsilon,
            self.norm,
            DISTANCE_PER_PERSON[self.norm],
            "ISDP, Theorem 10",
        )

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.int64] | NDArray[np.float64]:
        """Norm of each noise vector (..., cells): int64 for l1, float64 for l2; shape (...)."""
        return l1_norm(noise) if self.norm == "l1" else l2_norm(noise)

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """-epsilon ||u|| for each noise vector; `noise` has shape (..., cells)."""
        return -self.epsilon * np.asarray(self.noise_norm(noise), dtype=float)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell, by the approximation of `bound_gamma`."""
        if self.norm == "l1":
            return dimension / (self.epsilon * cells)
        return dimension / (self.epsilon * math.sqrt(cells))

    def radius(self, dimension: int) -> float:
        """Norm that a draw exceeds with a probability below 1e-20; see `bound_gamma`."""
        return bound_gamma(dimension, self.epsilon)


def bound_gamma(dimension: int, epsilon: float) -> float:
    """Bound a Gamma(dimension, rate epsilon) variable, up to a probability below 1e-20.

    For a small epsilon the norm of a generalized Laplace vector is close to this distribution,
    for either norm. A larger epsilon only shortens the vector.
    """
    return (dimension + 12 * math.sqrt(dimension) + 60) / epsilon


def double_geometric_pmf(k: ArrayLike, a: float) -> NDArray[np.float64]:
    """p(k) = (1 - a) / (1 + a) a^|k| on the integers, the proposal of ISDP, Section 4.

    Parameters
    ----------
    a : float
        Between 0 and 1, both excluded. ``a = exp(-epsilon)`` is the discrete Laplace distribution.
    """
    pmf: NDArray[np.float64] = (1 - a) / (1 + a) * a ** np.abs(np.asarray(k, dtype=float))
    return pmf


def double_geometric_noise(
    rng: np.random.Generator, epsilon: float, shape: int | tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw independent double geometric noise, a = exp(-epsilon), as a difference of geometrics."""
    p = -np.expm1(-epsilon)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def check_proposal(where: str, a: float) -> None:
    """Refuse a parameter of the double geometric distribution that is not between 0 and 1."""
    check_probability(f"{where}: the double geometric parameter", a)
