"""Draws for a real release: exact noise from the operating system's random bits.

Sampling in floating point leaves traces in the low bits of the noise from which the confidential
numbers can be told (I. Mironov, On significance of the least significant bits for differential
privacy, CCS 2012). Here no rounded number decides a draw: see `isdp.exact.bits.geometric`.

`isdp.exact.selection` says which sampler it is. The idea of building the discrete Laplace law
from exact coins is that of C. Canonne, G. Kamath and T. Steinke, The discrete Gaussian for
differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np

from isdp.checks import check_integer, parse_rational
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError, NoSamplerError
from isdp.exact.bits.discrete_gaussian import MAX_VARIANCE, MIN_VARIANCE
from isdp.exact.bits.geometric import MAX_RATE
from isdp.exact.bits.source import BitSource, Source
from isdp.exact.disjoint.blocks import refuse_large_sums
from isdp.exact.selection import ExactSampler, select_sampler
from isdp.mechanisms.base import Energy, Target

SMALLEST_EPSILON = Fraction(1, 10**14)


def release(
    invariants: Invariants,
    epsilon=None,
    draws: int = 1,
    source: Source | None = None,
    *,
    rho=None,
) -> np.ndarray:
    """Draw noise for a real release: exact, from the operating system's randomness.

    P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors u with A u = 0, or with
    `rho` in place of epsilon, to exp(-rho ||u||_2^2), the lattice Gaussian with
    sigma^2 = 1 / (2 rho). This is the law itself, not one near it: no rounding and no pseudo-random
    generator decides a draw.

    Totals of disjoint blocks of any size are drawn directly. Where totals overlap, the sums of the
    cells that stand in the same totals are drawn by rejection and shared out among them
    (`isdp.exact.overlapping.class_sums`): many cells cost no tries, many totals across many
    disjoint ones do, and are refused. What falls apart is drawn part by part.

    The draw closes the attack on the low bits of floating-point noise. It does not hide how long
    the drawing took, which depends on the noise, nor guard the memory that the noise and the
    table are in. The invariants and epsilon count as public. The privacy loss is epsilon per unit
    of the l1 distance between two tables with equal invariants, not per person: one person who
    changes cell moves that distance by 2. Every further draw for the same table costs epsilon
    again. Of Gaussian noise, rho is the loss per unit of the squared l2 distance, which one person
    who changes cell moves by 2.

    Parameters
    ----------
    epsilon : Fraction, int, str or float, optional
        Privacy loss per unit of the l1 norm, between 1e-14 and 1000. A float stands for its
        shortest decimal form, 0.1 for 1/10; a string may be "1/4" or "0.25".
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.
    rho : Fraction, int, str or float, optional
        Zero-concentrated loss per unit of the squared l2 norm: 1 / (2 sigma^2).

    Returns
    -------
    int64 array, shape (draws, cells)
        Checked: every draw meets the invariants.

    Raises
    ------
    InputError
        If a setting is out of range, or sums could pass 2^53.
    NoSamplerError
        If no exact sampler of l1 noise is practical under these invariants, such as where
        rejection would take more than about 1e6 tries for a draw.

    Examples
    --------
    >>> noise = release(Invariants.total(5), "1/4")
    >>> noise.shape, int(noise.sum())
    ((1, 5), 0)
    """
    draws = check_integer("release", "draws", draws)
    noise = release_sampler(invariants, epsilon, rho=rho, draws=draws).draw(
        BitSource(os.urandom if source is None else source), draws
    )
    invariants.check(noise)
    return noise


def release_sampler(
    invariants: Invariants, epsilon=None, *, rho=None, draws: int = 1
) -> ExactSampler:
    """Set up the sampler of `release` without a draw.

    Parameters
    ----------
    invariants, epsilon, rho, draws
        As in `release`.

    Raises
    ------
    InputError, NoSamplerError
        As from `release`.
    """
    if (epsilon is None) == (rho is None):
        raise InputError("release: give either epsilon, for l1 noise, or rho, for Gaussian noise")
    if rho is not None:
        law = Target("Gaussian noise", Energy(2, False, parse_rho(rho)))
        try:
            return select_sampler(law, invariants, draws=draws)
        except NoSamplerError as refusal:
            raise InputError(str(refusal)) from None
    epsilon = parse_epsilon(epsilon)
    refuse_large_sums(invariants.cells, float(epsilon))
    try:
        return select_sampler(
            Target("l1 noise", Energy(1, False, epsilon)), invariants, draws=draws
        )
    except NoSamplerError as refusal:
        error = NoSamplerError(
            f"release: no exact sampler of l1 noise is practical under these invariants at epsilon "
            f"{float(epsilon):g}; use fewer invariants, a larger epsilon, or Gaussian noise (rho)"
        )
        error.add_note(str(refusal))
        raise error from None


def parse_epsilon(epsilon, name: str = "epsilon") -> Fraction:
    """Read epsilon as the rational number that it is written as.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        A float stands for its shortest decimal form.
    name : str
        What messages call it.

    Raises
    ------
    InputError
        If it is no number between 1e-14 and 1000.
    """
    exact = parse_rational(name, epsilon)
    if not SMALLEST_EPSILON <= exact <= MAX_RATE:
        raise InputError(f"release: {name} must lie between 1e-14 and 1000, got {epsilon!r}")
    return exact


def parse_rho(rho) -> Fraction:
    """Read rho as the rational number that it is written as.

    Raises
    ------
    InputError
        If it is no number between 5e-21 and 5e5, where sigma^2 lies between 1e-6 and 1e20.
    """
    exact = parse_rational("rho", rho)
    if exact <= 0 or not MIN_VARIANCE <= 1 / (2 * exact) <= MAX_VARIANCE:
        raise InputError(f"release: rho must lie between 5e-21 and 5e5, got {rho!r}")
    return exact


def rho_of_sigma(sigma) -> Fraction:
    """Find rho = 1 / (2 sigma^2) of a sigma that is read as it is written.

    Raises
    ------
    InputError
        If it is no number between 1e-3 and 1e10.
    """
    exact = parse_rational("sigma", sigma)
    if exact <= 0 or not MIN_VARIANCE <= exact**2 <= MAX_VARIANCE:
        raise InputError(f"release: sigma must lie between 1e-3 and 1e10, got {sigma!r}")
    return 1 / (2 * exact**2)
