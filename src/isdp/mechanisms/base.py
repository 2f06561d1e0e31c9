"""Interface of all noise mechanisms.

No sampler tests the class of a mechanism. It reads `Mechanism.energy`, which decides the
distribution of a draw, and serves the mechanism or refuses it. A new mechanism is a class in this
package and needs no change elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.errors import MisfitError


class Energy(NamedTuple):
    """A log-weight ``-rate * g(sum of |u_i|^power)``, in the form that compiled samplers take.

    `power` is 1 or 2. The function g is the square root if `root`, else the identity. The sum is
    an integer, so that samplers keep it without rounding. The rate is a fraction if the draws are
    for release.
    """

    power: int
    root: bool
    rate: float | Fraction

    @property
    def product(self) -> bool:
        """True if the weight is a product over cells."""
        return not self.root

    @property
    def of_norm(self) -> bool:
        """True if the weight is exp(-rate ||u||), in the l1 or the l2 norm."""
        return self.root == (self.power == 2)


class Target(NamedTuple):
    """The target distribution of a sampler: a name for messages, and an energy."""

    name: str
    energy: Energy


@dataclass(frozen=True)
class Mechanism(ABC):
    """A distribution of integer noise; subclasses are frozen dataclasses of its parameters.

    Attributes
    ----------
    name : str
        Name of the distribution in certificates and files of draws.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def energy(self) -> Energy | None:
        """Log-weight; None for a distribution of another form, which no sampler here draws."""

    @property
    def exact_energy(self) -> Energy | None:
        """Log-weight with a rational rate; None if no sampler draws it in exact arithmetic."""
        return None

    @property
    @abstractmethod
    def guarantee(self) -> PrivacyGuarantee:
        """Privacy guarantee of a release with this noise."""

    @abstractmethod
    def noise_norm(self, noise: ArrayLike) -> NDArray[np.int64] | NDArray[np.float64]:
        """Norm that decides the weight; noise (..., cells) gives an array of shape (...)."""

    @abstractmethod
    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the unnormalised probability of each noise vector; shape (...)."""

    @abstractmethod
    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""

    @abstractmethod
    def radius(self, dimension: int) -> float:
        """Norm that a draw exceeds with a probability below 1e-20."""

    def as_dict(self) -> dict[str, object]:
        """Name and parameters, ready for JSON."""
        parameters = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        return {"name": self.name, **parameters}


def l1_norm(noise: ArrayLike) -> NDArray[np.int64]:
    """l1 norm of each noise vector (..., cells)."""
    norms: NDArray[np.int64] = np.abs(np.asarray(noise)).sum(axis=-1)
    return norms


def l2_norm(noise: ArrayLike) -> NDArray[np.float64]:
    """l2 norm of each noise vector (..., cells)."""
    norms: NDArray[np.float64] = np.sqrt(np.square(np.asarray(noise, dtype=float)).sum(axis=-1))
    return norms


WEIGHT_FORMS = {
    (1, False): "exp(-rate ||u||_1)",
    (1, True): "exp(-rate sqrt ||u||_1)",
    (2, False): "exp(-rate ||u||_2^2)",
    (2, True): "exp(-rate ||u||_2)",
}


def check_energy(
    method: str, target: Target | Mechanism, forms: Iterable[tuple[int, bool]]
) -> Energy:
    """Return the energy of a target distribution whose form a sampler serves.

    Parameters
    ----------
    method : str
        Name of the sampler, for the message.
    forms : iterable of (power, root)
        The forms that the sampler serves.

    Raises
    ------
    MisfitError
        If the energy has another form.
    """
    forms, energy = tuple(forms), target.energy
    if energy is None or (energy.power, energy.root) not in forms:
        wanted = " or ".join(WEIGHT_FORMS[form] for form in forms)
        form = None if energy is None else WEIGHT_FORMS.get((energy.power, energy.root))
        got = form or "a weight of another form"
        raise MisfitError(f"{method}: needs the weight {wanted}; the {target.name} has {got}")
    return energy
