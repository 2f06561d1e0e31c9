"""What a noise law offers to the samplers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


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
