"""What every noise law answers, whoever samples it.

No sampler asks for the type of a law. It looks at `Mechanism.energy`, which holds all that decides
a draw, and says by it whether it can serve the law. A new law is a class of its own here and needs
no change elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.errors import MisfitError


class Energy(NamedTuple):
    """A log-weight of the form ``-rate * g(sum of |u_i|^power)``, as compiled samplers take it.

    `power` is 1 or 2 and g is the square root if `root`, else the identity. The sum is an
    integer, so that samplers keep it without rounding. The rate of a release is a fraction.
    """

    power: int
    root: bool
    rate: float | Fraction

    @property
    def product(self) -> bool:
        """Whether the weight is a product over cells."""
        return not self.root

    @property
    def of_norm(self) -> bool:
        """Whether the weight is exp(-rate ||u||), in the l1 or the l2 norm."""
        return self.root == (self.power == 2)


class Target(NamedTuple):
    """All that a sampler asks of a mechanism: what it is called, and its energy."""

    name: str
    energy: Energy


class Mechanism(ABC):
    """A law of integer noise; subclasses are frozen dataclasses whose fields are its parameters.

    Attributes
    ----------
    name : str
        What the law is called in certificates and files of draws.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def energy(self) -> Energy | None:
        """Log-weight; None for a law of another form, which none of the samplers here draws."""

    @property
    @abstractmethod
    def guarantee(self) -> PrivacyGuarantee:
        """What a release with noise of this law costs; every statement is made from it."""

    @abstractmethod
    def measure(self, noise) -> np.ndarray:
        """Norm that the weight falls with; noise (..., cells) gives an array of shape (...)."""

    @abstractmethod
    def log_weight(self, noise) -> np.ndarray:
        """Logarithm of the unnormalised probability of each noise vector; shape (...)."""

    @abstractmethod
    def cell_scale(self, dimension: int, cells: int) -> float:
        """Typical size of the noise in one cell."""

    @abstractmethod
    def radius(self, dimension: int) -> float:
        """Norm that no draw exceeds, but for a chance below 1e-20."""

    def as_dict(self) -> dict:
        """Name and parameters, ready for JSON."""
        parameters = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name, **parameters}


def l1_norm(noise) -> np.ndarray:
    """l1 norm of each noise vector, int64."""
    return np.abs(np.asarray(noise)).sum(axis=-1)


def l2_norm(noise) -> np.ndarray:
    """l2 norm of each noise vector, float64."""
    return np.sqrt(np.square(np.asarray(noise).astype(float)).sum(axis=-1))


WEIGHT_FORMS = {
    (1, False): "exp(-rate ||u||_1)",
    (1, True): "exp(-rate sqrt ||u||_1)",
    (2, False): "exp(-rate ||u||_2^2)",
    (2, True): "exp(-rate ||u||_2)",
}


def check_energy(method: str, law: Mechanism, forms: Iterable[tuple[int, bool]]) -> Energy:
    """Energy of a law, where a sampler serves its form.

    Parameters
    ----------
    method : str
        The sampler, for the message.
    forms : iterable of (power, root)
        The forms that it serves.

    Raises
    ------
    MisfitError
        If the law is of another form.
    """
    forms, energy = tuple(forms), law.energy
    form = None if energy is None else (energy.power, energy.root)
    if form not in forms:
        wanted = " or ".join(WEIGHT_FORMS[form] for form in forms)
        got = WEIGHT_FORMS.get(form, "a weight of another form")
        raise MisfitError(f"{method}: serves laws of weight {wanted}; the {law.name} has {got}")
    return energy
