"""What samplers share: draws from random words of either source, and what they refuse."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.source import BitSource

MAX_PROPOSALS = 1e6
MAX_CELLS = 2000  # of lattices that are taken as a whole


class RandomBitSampler(ABC):
    """Independent draws in exact arithmetic: nothing is cut off, and no rounded number decides.

    Random words are the operating system's for a release, and a seeded generator's for experiments.

    Attributes
    ----------
    error : float
        0: bound on the total variation distance between a draw's law and the law asked for.
    """

    invariants: Invariants
    error = 0.0

    @abstractmethod
    def draw(self, random_bits: BitSource, n_draws: int) -> np.ndarray:
        """Independent draws, int64 (n_draws, cells)."""

    def sample(self, rng: np.random.Generator, n_draws: int) -> np.ndarray:
        """Draw noise for experiments, int64 (n_draws, cells), checked against the invariants."""
        noise = self.draw(BitSource(rng.bytes), check_integer("exact", "n_draws", n_draws))
        self.invariants.check(noise)
        return noise


def refuse_expected_proposals(expected: float, most: float, name: str, dimension: int) -> None:
    """Refuse a law that would take too many tries a draw, as far as is known.

    Raises
    ------
    InputError
        If `expected` is above `most`, or nan.
    """
    if not expected <= most:
        raise InputError(
            f"exact: {name} noise in dimension {dimension} may take {expected:.3g} tries a draw, "
            f"more than the limit of {most:.3g}; raise max_proposals or use a Markov chain"
        )


def refuse_lower_bounds(method: str, lower) -> None:
    """Refuse bounds on the noise, for samplers that know none.

    Raises
    ------
    MisfitError
        If there are any.
    """
    if lower is not None:
        raise MisfitError(f"{method}: knows no bounds on the noise")


def refuse_many_cells(cells: int) -> None:
    """Refuse more cells than samplers of any lattice set up for in reasonable time.

    Raises
    ------
    InputError
        If there are more than 2000.
    """
    if cells > MAX_CELLS:
        raise InputError(
            f"exact: {cells} cells are too many (up to {MAX_CELLS}); use the MCMC sampler "
            f"(isdp.mcmc.sample)"
        )
