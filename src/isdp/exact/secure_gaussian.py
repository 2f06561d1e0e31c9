"""Gaussian noise for a real release: exact, from the operating system's randomness."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np

from isdp.checks import exact_number
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.blocks import blocks_of
from isdp.exact.coins import Source, _Words
from isdp.exact.gaussian import LEAST_VARIANCE, MOST_VARIANCE
from isdp.exact.secure_halving import HalvingRelease
from isdp.exact.secure_klein import KleinRelease


def release_gaussian(
    invariants: Invariants, rho, draws: int, source: Source | None = None
) -> np.ndarray:
    """Draw discrete Gaussian noise under invariants, exactly; see `isdp.exact.release`.

    P(u) is proportional to exp(-rho ||u||_2^2) over the integer vectors u with A u = 0: the
    lattice Gaussian with sigma^2 = 1 / (2 rho). Totals of disjoint blocks of any size are drawn by
    halving, other small lattices by Klein's sampler made exact.

    Parameters
    ----------
    invariants : Invariants
    rho : Fraction, int, str or float
    draws : int
    source : callable, optional

    Returns
    -------
    int64 array, shape (draws, cells)
        Checked: every draw meets the invariants.

    Raises
    ------
    InputError
        If rho is out of range, or no sampler is practical.
    """
    words = _Words(os.urandom if source is None else source)
    noise = gaussian_sampler(invariants, rho).draw(words, draws)
    invariants.check(noise)
    return noise


def gaussian_sampler(invariants: Invariants, rho) -> HalvingRelease | KleinRelease:
    """Set up the sampler of `release_gaussian` without a draw.

    Parameters
    ----------
    invariants : Invariants
    rho : Fraction, int, str or float

    Raises
    ------
    InputError
        If rho is out of range, or no sampler is practical.
    """
    variance = 1 / (2 * exact_rho(rho))
    kind = KleinRelease if blocks_of(invariants) is None else HalvingRelease
    return kind(invariants, variance)


def exact_rho(rho) -> Fraction:
    """Read rho as the rational number that it is written as.

    Raises
    ------
    InputError
        If it is no number between 5e-21 and 5e5, where sigma^2 lies between 1e-6 and 1e20.
    """
    exact = exact_number("rho", rho)
    if exact <= 0 or not LEAST_VARIANCE <= 1 / (2 * exact) <= MOST_VARIANCE:
        raise InputError(f"release: rho must lie between 5e-21 and 5e5, got {rho!r}")
    return exact


def rho_of_sigma(sigma) -> Fraction:
    """Find rho = 1 / (2 sigma^2) of a sigma that is read as it is written.

    Raises
    ------
    InputError
        If it is no number between 1e-3 and 1e10.
    """
    exact = exact_number("sigma", sigma)
    if exact <= 0 or not LEAST_VARIANCE <= exact**2 <= MOST_VARIANCE:
        raise InputError(f"release: sigma must lie between 1e-3 and 1e10, got {sigma!r}")
    return 1 / (2 * exact**2)
