"""The generalized Laplace mechanism, and discrete Laplace noise.

The source is *Integer Subspace Differential Privacy* (ISDP), in which the discrete Laplace
distribution is the double geometric distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import Number, PrivacyGuarantee
from isdp.checks import ExactNumber, check_choice, parse_positive
from isdp.mechanisms.base import Energy, Mechanism, l1_norm, l2_norm

Norm = Literal["l1", "l2"]
NORMS: tuple[Norm, ...] = ("l1", "l2")
# A person who changes cell changes two counts by 1. The double nearest to sqrt(2) exceeds sqrt(2).
DISTANCE_PER_PERSON: dict[Norm, Number] = {"l1": 2, "l2": math.sqrt(2)}
# bound on a discrete Laplace variable in units of 1 / epsilon, because NumPy's exponential
# variables do not exceed it
MAX_JUMP_IN_SCALES = 45


@dataclass(frozen=True, init=False)
class GeneralizedLaplace(Mechanism):
    """Noise u on the lattice with P(u) proportional to exp(-epsilon ||u||) (ISDP, Definition 9).

    With the l1 norm and without invariants, the cells are independent discrete Laplace variables.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        Privacy loss per unit of the norm, positive. A float denotes its shortest decimal form. A
        string may be "1/3" or "0.25".
    norm : {"l1", "l2"}
        The l2 norm is not squared.
    exact_epsilon : Fraction, optional
        The exact value of `epsilon`, passed by `dataclasses.replace`. The argument is ignored if
        the double nearest to it is not `epsilon`.

    Attributes
    ----------
    epsilon : float
        The nearest double, for seeded samplers and summaries of experiments.
    exact_epsilon : Fraction
        The exact value, for guarantees and for noise in a release.
    """

    epsilon: float
    norm: Norm
    exact_epsilon: Fraction = field(repr=False)

    name: ClassVar[str] = "generalized Laplace"

    def __init__(
        self, epsilon: ExactNumber, norm: Norm = "l1", exact_epsilon: Fraction | None = None
    ) -> None:
        number, exact = parse_positive("epsilon", epsilon)
        if exact_epsilon is not None and float(exact_epsilon) == number:
            exact = exact_epsilon
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "norm", check_choice("norm", norm, NORMS))
        object.__setattr__(self, "exact_epsilon", exact)

    @property
    def energy(self) -> Energy:
        """The log-weight with a rate in double precision."""
        power, root = (1, False) if self.norm == "l1" else (2, True)
        return Energy(power, root, rate=float(self.epsilon))

    @property
    def exact_energy(self) -> Energy | None:
        """The log-weight with the exact rate, or None for the l2 norm."""
        return Energy(1, False, self.exact_epsilon) if self.norm == "l1" else None

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Pure differential privacy whose loss is linear in the distance (ISDP, Theorem 10)."""
        return PrivacyGuarantee(
            "pure",
            self.exact_epsilon,
            self.norm,
            DISTANCE_PER_PERSON[self.norm],
            "ISDP, Theorem 10",
        )

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the norm of each noise vector, int64 for l1 and float64 for l2."""
        return l1_norm(noise) if self.norm == "l1" else l2_norm(noise)

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return -epsilon ||u|| for each noise vector u."""
        return -self.epsilon * np.asarray(self.noise_norm(noise), dtype=float)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Approximate the magnitude of the noise in one cell, for a small epsilon."""
        if self.norm == "l1":
            return dimension / (self.epsilon * cells)
        return dimension / (self.epsilon * math.sqrt(cells))

    def radius(self, dimension: int) -> float:
        """Return a bound that the norm of a draw exceeds with a probability below 1e-20."""
        return bound_gamma(dimension, self.epsilon)


def bound_gamma(dimension: int, epsilon: float) -> float:
    """Return a bound that a gamma variable exceeds with a probability below 1e-20.

    The variable has the shape `dimension` and the rate epsilon. For a small epsilon, the norm of a
    generalized Laplace vector has nearly this distribution. For a larger epsilon, the norm is
    smaller.
    """
    return (dimension + 12 * math.sqrt(dimension) + 60) / epsilon


def double_geometric_pmf(k: ArrayLike, a: float) -> NDArray[np.float64]:
    """Return p(k) = (1 - a) / (1 + a) a^|k|, the discrete Laplace distribution, for 0 < a < 1.

    ISDP, Section 4, proposes jumps from this distribution.
    """
    pmf: NDArray[np.float64] = (1 - a) / (1 + a) * a ** np.abs(np.asarray(k, dtype=float))
    return pmf


def double_geometric_noise(
    rng: np.random.Generator, epsilon: float, shape: int | tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw independent discrete Laplace noise, with P(k) proportional to exp(-epsilon |k|).

    Each value is the difference of two geometric variables.
    """
    p = -np.expm1(-epsilon)
    return rng.geometric(p, shape) - rng.geometric(p, shape)
