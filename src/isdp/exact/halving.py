"""Gaussian noise under disjoint totals of any size, for experiments."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from isdp.checks import whole
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.blocks import blocks_of
from isdp.exact.coins import _Words
from isdp.exact.secure_halving import HalvingRelease
from isdp.exact.tries import refuse_bounds
from isdp.mechanisms.base import Mechanism, energy_served


class HalvingSampler:
    """`isdp.exact.secure_halving` on words of a pseudo-random generator.

    Parameters
    ----------
    invariants : Invariants
        Totals of disjoint blocks.
    law : Mechanism
        Of weight exp(-rate ||u||_2^2), such as `GeneralizedGaussian`.

    Raises
    ------
    InputError
        If the totals overlap, the law is another, or sigma is out of range.

    Attributes
    ----------
    error : float
        0: nothing is cut off, and nothing that was rounded decides.
    """

    method = "halving"
    error = 0.0

    @staticmethod
    def fits(invariants: Invariants, law: Mechanism, lower=None) -> str:
        """Say why this sampler fits, or raise `InputError` with the reason why not."""
        refuse_bounds("halving", lower)
        energy_served("halving", law, [(2, False)])
        if blocks_of(invariants) is None:
            raise InputError("halving: the invariants are not totals of disjoint blocks")
        return "the law is Gaussian, and the invariants are totals of disjoint blocks"

    def __init__(self, invariants: Invariants, law: Mechanism):
        self.fits(invariants, law)
        self.invariants = invariants
        self.halving = HalvingRelease(invariants, 1 / (2 * Fraction(law.energy.rate)))

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells), checked against the invariants."""
        noise = self.halving.draw(_Words(rng.bytes), whole("exact", "draws", draws))
        self.invariants.check(noise)
        return noise
