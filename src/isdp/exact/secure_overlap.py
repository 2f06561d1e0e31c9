"""Totals that overlap, for a real release: which of two exact samplers to take."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.coins import _Words
from isdp.exact.messages.secure import MessageRelease
from isdp.exact.secure_staged import StagedRelease

MOST_TRIES = 1e6  # a draw: seconds
FEW_TRIES = 1e4  # a draw: milliseconds, and not worth the setting up of messages
MANY_TRIES = 1e6  # in all: seconds, and worth it


class OverlapRelease:
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_1), for any invariants.

    Staged rejection where it takes few tries in all, else messages, else rejection that takes many.

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    epsilon : Fraction

    Raises
    ------
    InputError
        If neither sampler is practical: with what each would take.
    """

    def __init__(self, invariants: Invariants, epsilon: Fraction):
        self.invariants, self.epsilon = invariants, epsilon
        self.staged, self.messages, refusals = None, None, []
        self.tries = math.inf
        try:
            staged = StagedRelease(invariants, epsilon, MOST_TRIES)
        except InputError as refusal:
            refusals.append(str(refusal))
        else:
            self.tries = staged.expected_tries
            self.staged = staged if self.tries <= MOST_TRIES else None
            refusals.append(
                f"release: staged rejection would take about {self.tries:.1g} tries for a draw or "
                f"more, beyond {MOST_TRIES:.0e}"
            )
        if self.staged is not None and self.tries <= FEW_TRIES:
            return
        refusals += self._set_up_messages()
        if self.staged is None and self.messages is None:
            raise InputError(f"{'; '.join(refusals)}; use a larger epsilon or a smaller table")

    def _set_up_messages(self) -> list[str]:
        """Set them up if that is practical, and say why not where it is not."""
        try:
            self.messages = MessageRelease(self.invariants, self.epsilon)
        except InputError as refusal:
            return [str(refusal).removeprefix("release: ")]
        return []

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells)."""
        if self.messages is None and self.tries <= FEW_TRIES and self.tries * draws > MANY_TRIES:
            self._set_up_messages()
        sampler = self.staged if self.messages is None else self.messages
        return sampler.draw(words, draws)
