"""Base class of the exact samplers, and refusals that several samplers share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.source import BitSource

MAX_PROPOSALS = 1e6
MAX_CELLS = 2000  # of samplers for any lattice


class RandomBitSampler(ABC):
    """Independent draws in exact arithmetic, without truncation or rounding.

    The random bits are the operating system's for a release, and those of a seeded generator for
    experiments.

    Attributes
    ----------
    error : float
        0: the total variation distance between the distribution of a draw and the target.
    """

    invariants: Invariants
    error = 0.0

    @abstractmethod
    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """Draw independent noise vectors, int64 (n_draws, cells)."""

    def sample(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw noise for experiments, int64 (n_draws, cells), checked against the invariants."""
        noise = self.draw(BitSource(rng.bytes), check_integer("exact", "n_draws", n_draws))
        self.invariants.check(noise)
        return noise


def refuse_expected_proposals(expected: float, most: float, name: str, dimension: int) -> None:
    """Refuse a target that takes too many proposals per draw.

    Raises
    ------
    InputError
        If `expected` is above `most`, or nan.
    """
    if not expected <= most:
        raise InputError(
            f"exact: {name} noise in dimension {dimension} may take {expected:.3g} proposals "
            f"per draw, more than the limit of {most:.3g}; raise max_proposals or use MCMC"
        )


def refuse_lower_bounds(method: str, lower: object) -> None:
    """Refuse lower bounds on the noise, for samplers without support for them.

    Raises
    ------
    MisfitError
        If `lower` is given.
    """
    if lower is not None:
        raise MisfitError(f"{method}: does not support lower bounds")


def refuse_many_cells(cells: int) -> None:
    """Refuse more cells than the samplers for any lattice support.

    Raises
    ------
    InputError
        If there are more than 2000 cells.
    """
    if cells > MAX_CELLS:
        raise InputError(
            f"exact: at most {MAX_CELLS} cells are supported; use MCMC (isdp.mcmc.draw_chains)"
        )
