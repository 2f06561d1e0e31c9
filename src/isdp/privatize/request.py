"""What a user asks for: the law of the noise, and where its randomness may come from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from isdp.mechanisms.base import Mechanism

DELTA = 1e-10  # as for the redistricting data of the 2020 Census


@dataclass(frozen=True)
class Request:
    """What to draw, and where from.

    Attributes
    ----------
    mechanism : Mechanism
    epsilon : Fraction or None
        The same epsilon as a rational number, where the norm is l1.
    rho : Fraction or None
        1 / (2 sigma^2) as a rational number, where the noise is Gaussian.
    delta : float
        At which the certificate of Gaussian noise says epsilon as well.
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
    rho: Fraction | None = None
    delta: float = DELTA
