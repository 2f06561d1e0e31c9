"""Interface of all noise mechanisms.

Samplers read the property `energy`, which determines the distribution, and refuse an energy that
they do not support. Samplers do not test the class of a mechanism. A new mechanism therefore needs
changes in this package only.
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
from isdp.mechanisms.set_tree import SetTree


class Energy(NamedTuple):
    """Log-weight ``-rate * g(sum of |u_i|^power)`` of a noise vector u.

    The power is 1 or 2. The function g is the square root if `root`, and otherwise the identity.
    The sum is an integer, so that samplers store it exactly. The rate is a fraction for samplers in
    exact arithmetic.
    """

    power: int
    root: bool
    rate: float | Fraction

    @property
    def product(self) -> bool:
        """True if the weight is a product over the cells."""
        return not self.root

    @property
    def of_norm(self) -> bool:
        """True if the weight is exp(-rate ||u||) with the l1 norm or the l2 norm."""
        return self.root == (self.power == 2)


class NestedEnergy(NamedTuple):
    """Log-weight ``-sum of rate_v |S_v(u)|^power`` over the sets v of a nested family.

    S_v(u) is the sum of the noise vector u over the set v.

    Attributes
    ----------
    power : int
        The power is 1 or 2.
    rates : tuple of Fraction
        The distinct positive rates.
    rate_of : int64 array, shape (nodes,)
        Index of each node's rate in `rates`, or -1 if the rate is 0.
    """

    power: int
    tree: SetTree
    rates: tuple[Fraction, ...]
    rate_of: NDArray[np.int64]


class CrossingEnergy(NamedTuple):
    """Log-weight ``-sum of precision_ij S_ab(u)^2 / 2`` over pairs of sets of regions and groups.

    S_ab(u) is the sum of the noise vector u over a set a of regions of level i and a set b of cells
    of level j. The noise is in row-major order, with one row per region.

    Attributes
    ----------
    precisions : tuple of tuples of Fraction
        ``precisions[i][j]`` is 1 / sigma^2 for level i of the regions and level j of the groups. It
        is 0 if there is no term. If a level of the groups has a term, its sets have equal sizes.
    """

    regions: SetTree
    groups: SetTree
    precisions: tuple[tuple[Fraction, ...], ...]


class Target(NamedTuple):
    """Name and energy of the target distribution of a sampler. One of the two energies is None."""

    name: str
    energy: Energy | None
    set_energy: CrossingEnergy | None = None


@dataclass(frozen=True)
class Mechanism(ABC):
    """Distribution of integer noise. Subclasses are frozen dataclasses of its parameters.

    Arrays `noise` have shape (..., cells), and their norms and log-weights have shape (...). The
    attribute `name` is the name of the distribution in certificates and in files of draws.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def energy(self) -> Energy | None:
        """The log-weight, or None if it does not have the form of `Energy`."""

    @property
    def exact_energy(self) -> Energy | None:
        """The log-weight with a rational rate, or None if no exact sampler supports it."""
        return None

    @property
    def set_energy(self) -> NestedEnergy | CrossingEnergy | None:
        """The log-weight with terms for sets of cells, or None if it has none."""
        return None

    @property
    @abstractmethod
    def guarantee(self) -> PrivacyGuarantee:
        """The privacy guarantee of a release with this noise."""

    @abstractmethod
    def noise_norm(self, noise: ArrayLike) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the norm that determines the weight of each noise vector."""

    @abstractmethod
    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the unnormalised probability of each noise vector."""

    @abstractmethod
    def cell_scale(self, dimension: int, cells: int) -> float:
        """Approximate the magnitude of the noise in one cell on a lattice of this dimension."""

    @abstractmethod
    def radius(self, dimension: int) -> float:
        """Return a bound that the norm of a draw exceeds with a probability below 1e-20."""

    def as_dict(self) -> dict[str, object]:
        """Return the name and the parameters as values for JSON."""
        parameters = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        return {"name": self.name, **parameters}


def l1_norm(noise: ArrayLike) -> NDArray[np.int64]:
    """Return the l1 norm of each vector of an array (..., cells)."""
    norms: NDArray[np.int64] = np.abs(np.asarray(noise)).sum(axis=-1)
    return norms


def l2_norm(noise: ArrayLike) -> NDArray[np.float64]:
    """Return the l2 norm of each vector of an array (..., cells)."""
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
    """Return the energy of a target distribution for a sampler that supports the given forms.

    A form is a pair (power, root). Raise `MisfitError` if the energy has another form. The message
    begins with the name of the sampler, `method`.
    """
    forms, energy = tuple(forms), target.energy
    if energy is None or (energy.power, energy.root) not in forms:
        supported = " or ".join(WEIGHT_FORMS[form] for form in forms)
        form = None if energy is None else WEIGHT_FORMS.get((energy.power, energy.root))
        raise MisfitError(
            f"{method}: the {target.name} noise has {form or 'another form of weight'}. Use a "
            f"mechanism with the weight {supported}"
        )
    return energy
