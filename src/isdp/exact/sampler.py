"""The base class of the exact samplers, and checks that several samplers share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from isdp.arrays import FloatArray
from isdp.checks import check_integer, check_integer_array
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.source import BitSource, bytes_of

UNIT_ROUNDOFF = 2.0**-53
MAX_PROPOSALS = 1e6  # maximum expected number of proposals per draw
USE_CHAIN = "Use a Markov chain (isdp.mcmc.draw_chains)."
ALLOW_MORE = "Increase max_proposals, or use a Markov chain (isdp.mcmc.draw_chains)."
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


def refuse_proposals(draw: str, expected: float, maximum: float, remedy: str) -> None:
    """Raise `InputError` if the expected number of proposals is above the maximum, or nan.

    The message names the draw, such as "sigma: a draw in 3 dimensions", and ends with the remedy.
    """
    if not expected <= maximum:
        raise InputError(
            f"{draw} may take {expected:.3g} proposals, and the maximum is {maximum:.3g}. {remedy}"
        )


def rejected_draw(argument: str, n_proposals: int) -> InputError:
    """Return the error for a draw whose proposals were all rejected."""
    return InputError(f"{argument}: {n_proposals} proposals of a draw were rejected. {USE_CHAIN}")


def refuse_many_cells(cells: int) -> None:
    """Raise `InputError` if there are more than 2000 cells."""
    if cells > MAX_CELLS:
        raise InputError(
            f"exact: at most {MAX_CELLS} cells are supported under these invariants. {USE_CHAIN}"
        )


def cell_bound(bound: ArrayLike | None, cells: int) -> FloatArray:
    """Check a lower bound, and return one float per cell, which is -inf without a bound."""
    if bound is None:
        return np.full(cells, -np.inf)
    shape = (cells,) if np.ndim(bound) else ()
    integers = check_integer_array("lower", bound, shape, -(2**52), 2**52)
    return np.full(cells, integers.astype(float))


def refuse_infeasible(invariants: Invariants, lower: FloatArray) -> None:
    """Raise `InputError` if no integer noise u with A u = 0 satisfies the bounds."""
    if (lower <= 0).all():
        return
    totals = scipy.optimize.LinearConstraint(invariants.sparse.astype(float), 0, 0)
    found = scipy.optimize.milp(
        np.zeros(invariants.cells),
        integrality=np.ones(invariants.cells),
        bounds=scipy.optimize.Bounds(lower, np.inf),
        constraints=totals if invariants.constraints else None,
    )
    if found.status == 2:
        raise InputError(
            "lower: no integer noise satisfies both the invariants and the bounds. Use smaller "
            "bounds or fewer invariants."
        )
