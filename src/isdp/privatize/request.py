"""What a user asks for: the law of the noise, and where its randomness may come from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from isdp.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Request:
    """What to draw, and where from.

    Attributes
    ----------
    mechanism : Mechanism
    epsilon : Fraction or None
        The same epsilon as a rational number, where the norm is l1.
    experiment : bool
        Whether floating point and a pseudo-random generator will do.
    seed : int or None
        Only for experiments.
    allow_mcmc : bool
        Whether a Markov chain will do; only for experiments.
    """

    mechanism: Mechanism
    epsilon: Fraction | None = None
    experiment: bool = False
    seed: int | None = None
    allow_mcmc: bool = False
