"""The base class of the exact samplers, and checks that several samplers share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, MisfitError
from isdp.exact.bits.source import BitSource, bytes_of

MAX_PROPOSALS = 1e6  # per draw
MAX_CELLS = 2000  # maximum number of cells of samplers that accept any invariants


class RandomBitSampler(ABC):
    """Independent draws in exact arithmetic, without truncation or rounding.

    The random bits come from the operating system for a release, and from a seeded generator for
    experiments.

    Attributes
    ----------
    error : float
        The total variation distance between the distribution of a draw and the target, which is 0.
    """

    invariants: Invariants
    error = 0.0

    @abstractmethod
    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """Draw independent noise vectors, as an int64 array of shape (n_draws, cells)."""

    def sample(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw noise for experiments with `draw`, and check its invariants."""
        noise = self.draw(BitSource(bytes_of(rng)), check_integer("exact", "n_draws", n_draws))
        self.invariants.check(noise)
        return noise


def refuse_expected_proposals(
    expected: float, max_proposals: float, name: str, dimension: int
) -> None:
    """Raise `InputError` if `expected` is above `max_proposals`, or nan."""
    if not expected <= max_proposals:
        raise InputError(
            f"exact: {name} noise in dimension {dimension} may take {expected:.3g} proposals "
            f"per draw, and the maximum is {max_proposals:.3g}. Increase max_proposals, or use a "
            f"Markov chain (isdp.mcmc.draw_chains)."
        )


def refuse_lower_bounds(method: str, lower: object) -> None:
    """Raise `MisfitError` if `lower` is given to a sampler without lower bounds."""
    if lower is not None:
        raise MisfitError(f"{method}: does not support lower bounds on the noise")


def refuse_many_cells(cells: int) -> None:
    """Raise `InputError` if there are more than 2000 cells."""
    if cells > MAX_CELLS:
        raise InputError(
            f"exact: at most {MAX_CELLS} cells are supported under these invariants. Use a Markov "
            f"chain (isdp.mcmc.draw_chains)."
        )
