"""What samplers by rejection share: limits on tries, and the loop around their compiled code."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from isdp.checks import whole
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.io.progress import tracked

MOST_TRIES = 1e6
NUMBERS_AT_ONCE = 10**6  # some tenths of a second, between which progress shows
PATIENCE = 100  # a draw that takes so many times the limit has a chance below e^-100


class TriesSampler(ABC):
    """Independent exact draws by tries that are accepted or not.

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    most_tries : float
        Limit on the expected tries a draw, which the subclass refuses to pass.

    Attributes
    ----------
    expected_tries : float
        The subclass says of what, and whether it is a bound or an estimate.
    acceptance : float
        Draws over tries in the last call of `sample`; nan before.
    error : float
        Bound on the total variation distance between a draw's law and the law asked for, rounding
        and truncation together.
    """

    expected_tries: float
    error: float

    def __init__(self, invariants: Invariants, most_tries: float):
        self.invariants, self.most_tries = invariants, most_tries
        self.acceptance = math.nan

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise.

        Parameters
        ----------
        rng : numpy.random.Generator
        draws : int

        Returns
        -------
        int64 array, shape (draws, cells)
            Independent; every draw meets the invariants exactly.

        Raises
        ------
        InputError
            If `draws` is no count, or one draw takes 100 times `most_tries`.
        """
        kept = np.zeros((whole("exact", "draws", draws), self.invariants.cells), dtype=np.int64)
        longest, tries = int(min(PATIENCE * self.most_tries, 2.0**62)), 0
        numbers = max(self.expected_tries, 1.0) * self.invariants.cells
        rows = max(1, int(NUMBERS_AT_ONCE / numbers))
        for first in tracked("drawing noise", range(0, len(kept), rows)):
            more = self._fill(rng, kept[first : first + rows], longest)
            if more < 0:
                raise InputError(
                    f"exact: a draw was not accepted in {PATIENCE} times the limit of tries; use a "
                    f"Markov chain"
                )
            tries += more
        self.invariants.check(kept)
        self.acceptance = len(kept) / tries if tries else math.nan
        return kept

    @abstractmethod
    def _fill(self, rng: np.random.Generator, kept: np.ndarray, longest: int) -> int:
        """Fill `kept` and return the tries, or -1 if one draw took more than `longest`."""


def refuse_tries(expected: float, most: float, name: str, dimension: int) -> None:
    """Refuse a law that would take too many tries a draw, as far as is known.

    Raises
    ------
    InputError
        If `expected` is above `most`, or nan.
    """
    if not expected <= most:
        raise InputError(
            f"exact: {name} noise in dimension {dimension} may take {expected:.3g} tries a draw, "
            f"more than the limit of {most:.3g}; raise most_tries or use a Markov chain"
        )


def refuse_bounds(method: str, lower) -> None:
    """Refuse bounds on the noise, for samplers that know none.

    Raises
    ------
    InputError
        If there are any.
    """
    if lower is not None:
        raise InputError(f"{method}: knows no bounds on the noise")
