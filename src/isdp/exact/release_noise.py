"""Draws of integer noise, by one function for experiments and for release.

The low bits of noise that is sampled in floating point can reveal the confidential counts
(I. Mironov, On significance of the least significant bits for differential privacy, CCS 2012).
Noise for release is therefore drawn in exact arithmetic from random bits of the operating system,
and no rounded number decides a draw (`isdp.exact.bits`). Discrete Gaussian draws follow C. Canonne,
G. Kamath and T. Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.checks import ExactNumber, check_integer, parse_rational
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, NoSamplerError
from isdp.exact.bits.discrete_gaussian import MAX_VARIANCE, MIN_VARIANCE
from isdp.exact.bits.geometric import MAX_RATE
from isdp.exact.bits.source import BitSource
from isdp.exact.overflow import refuse_large_sums
from isdp.exact.selection import ExactSampler, select_sampler
from isdp.mechanisms.base import Mechanism, Target
from isdp.streams import SYSTEM_RANDOMNESS, SystemRandomness

MIN_EPSILON = Fraction(1, 10**14)


def draw_noise(
    mechanism: Mechanism,
    invariants: Invariants,
    *,
    n_draws: int = 1,
    rng: np.random.Generator | SystemRandomness,
    lower: ArrayLike | None = None,
) -> NDArray[np.int64]:
    """Draw independent integer noise u with A u = 0, without a Markov chain.

    Never publish noise alone. `isdp.privatize` adds noise to a table, and returns the noisy table
    with its certificate.

    Parameters
    ----------
    rng : numpy.random.Generator or isdp.SYSTEM_RANDOMNESS
        Use a seeded generator for experiments, and `isdp.SYSTEM_RANDOMNESS` for release. Noise for
        release is drawn in exact arithmetic from the random bits of the operating system.
    lower : int array_like, shape (cells,), optional
        The lower bound on the noise of each cell, for experiments only. The bound ``-counts``
        conditions on a release without negative counts, which has another privacy guarantee
        (*Congenial Differential Privacy under Mandated Disclosure*, Theorem 2.1).

    Returns
    -------
    int64 array, shape (n_draws, cells)
        The invariants of each draw are checked in exact integers.

    Raises
    ------
    InputError
        If a setting is out of range, or sums of the noise could exceed 2^53.
    NoSamplerError
        If no exact sampler is practical. For experiments, use `isdp.mcmc.draw_chains` instead.

    Notes
    -----
    Noise for release has exactly the distribution of the mechanism, without rounding of its
    parameter. Exact arithmetic prevents the attack on the low bits of floating-point noise. It does
    not hide the time of a draw, which depends on the noise, and does not protect the memory of the
    process. The invariants and the parameter are public. Each further draw for the same table adds
    its privacy loss to that of the earlier draws.

    Examples
    --------
    >>> from isdp import SYSTEM_RANDOMNESS, GeneralizedLaplace
    >>> total = Invariants.total(5)
    >>> noise = draw_noise(GeneralizedLaplace("1/3"), total, n_draws=2, rng=SYSTEM_RANDOMNESS)
    >>> noise.shape, noise.sum(axis=1).tolist()
    ((2, 5), [0, 0])
    """
    n_draws = check_integer("draw_noise", "n_draws", n_draws)
    if isinstance(rng, np.random.Generator):
        return select_sampler(mechanism, invariants, lower, n_draws=n_draws).sample(rng, n_draws)
    if rng is not SYSTEM_RANDOMNESS:
        raise InputError(
            f"rng: must be a numpy.random.Generator or isdp.SYSTEM_RANDOMNESS, got a "
            f"{type(rng).__name__}"
        )
    if lower is not None:
        raise InputError(
            "lower: bounds on the noise are allowed only in experiments. Pass a generator as rng, "
            "or omit lower."
        )
    sampler = release_sampler(mechanism, invariants, n_draws=n_draws)
    noise = sampler.draw(BitSource(rng.bytes), n_draws)
    invariants.check(noise)
    return noise


def release_sampler(
    mechanism: Mechanism, invariants: Invariants, *, n_draws: int = 1
) -> ExactSampler:
    """Set up the sampler of noise for release, and draw nothing.

    Raise `NoSamplerError` if no exact sampler is practical. Raise `InputError` if the parameter of
    the mechanism is out of range, or sums of the noise could exceed 2^53.
    """
    energy = mechanism.exact_energy
    if energy is None and mechanism.set_energy is not None:
        return select_sampler(mechanism, invariants, n_draws=n_draws)
    if energy is None:
        raise NoSamplerError(
            f"mechanism: {mechanism.name} noise of this form has no sampler in exact arithmetic. "
            f"Use GeneralizedLaplace with the l1 norm, or GeneralizedGaussian."
        )
    if energy.power == 2:
        parse_rho(energy.rate)
    else:
        refuse_large_sums(invariants.cells, float(parse_epsilon(energy.rate)))
    try:
        return select_sampler(Target(mechanism.name, energy), invariants, n_draws=n_draws)
    except NoSamplerError as refusal:
        if energy.power == 2:
            raise
        error = NoSamplerError(
            f"invariants: no exact sampler of l1 noise is practical under these invariants at "
            f"epsilon {float(energy.rate):g}. Use fewer invariants, a larger epsilon, or "
            f"GeneralizedGaussian(rho=...)."
        )
        error.add_note(str(refusal))
        raise error from None


def parse_epsilon(epsilon: ExactNumber, name: str = "epsilon") -> Fraction:
    """Convert the epsilon of noise for release to a fraction, without rounding.

    Raise `InputError` if epsilon is not a number from 1e-14 to 1000. The message begins with
    `name`.
    """
    exact = parse_rational(name, epsilon)
    if not MIN_EPSILON <= exact <= MAX_RATE:
        raise InputError(f"{name}: must lie between 1e-14 and 1000, got {epsilon!r}")
    return exact


def parse_rho(rho: ExactNumber) -> Fraction:
    """Convert the rho of noise for release to a fraction, without rounding.

    Raise `InputError` if rho is not a number from 5e-21 to 5e5, so that sigma^2 is from 1e-6 to
    1e20.
    """
    exact = parse_rational("rho", rho)
    if exact <= 0 or not MIN_VARIANCE <= 1 / (2 * exact) <= MAX_VARIANCE:
        raise InputError(f"rho: must lie between 5e-21 and 5e5, got {rho!r}")
    return exact


def rho_of_sigma(sigma: ExactNumber) -> Fraction:
    """Compute rho = 1 / (2 sigma^2) without rounding.

    Raise `InputError` if sigma is not a number from 1e-3 to 1e10.
    """
    exact = parse_rational("sigma", sigma)
    if exact <= 0 or not MIN_VARIANCE <= exact**2 <= MAX_VARIANCE:
        raise InputError(f"sigma: must lie between 1e-3 and 1e10, got {sigma!r}")
    return 1 / (2 * exact**2)
