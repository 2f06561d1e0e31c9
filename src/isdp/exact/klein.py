"""Exact draws of Gaussian noise on any lattice: Klein's sampler made exact by rejection.

Klein's randomised nearest plane (Klein 2000) draws the coefficients of a lattice point one by one,
from the last Gram-Schmidt direction to the first, each from a Gaussian on the integers around the
centre that the coefficients before it leave. Its law is off by a factor that is known, and
rejection takes it away (Brakerski, Langlois, Peikert, Regev and Stehle 2013, Lemma 2.3).

Write m(s, c) for the sum over the integers k of exp(-(k - c)^2 / (2 s^2)) and s_i for sigma over
the length of the i-th Gram-Schmidt vector. Since ||u||^2 = sum_i ((k_i - c_i) |b*_i|)^2, Klein's
sampler ends in u with probability exp(-||u||^2 / (2 sigma^2)) / prod_i m(s_i, c_i). A try that
goes on past direction i with probability m(s_i, c_i) / m(s_i, 0), which is at most 1 because m is
largest at a whole c, therefore ends in u in proportion to exp(-||u||^2 / (2 sigma^2)) alone.

Noise is an integer combination of integer basis vectors, so that no draw can leave the lattice;
floating-point numbers decide only which combination. Draws are exact up to the rounding of
doubles and to windows that leave out less than 2^-60 a coefficient. The generator is a
pseudo-random one: these samplers are for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.kernels import FARTHEST, ROOT_TWO_PI, draw_gaussian, log_each_mass
from isdp.lattice.kernel import kernel_lattice
from isdp.mechanisms.gaussian import GeneralizedGaussian

MOST_TRIES = 1e6
PATIENCE = 100  # a draw that takes so many times the limit has a chance below e^-100


class GramSchmidt(NamedTuple):
    """A basis and its Gram-Schmidt vectors.

    `basis` is int64 (cells, dimension); `lengths` float64 (dimension,) holds the lengths of the
    Gram-Schmidt vectors b*_i; `mu` float64 (dimension, dimension) holds at [i, j] the share of
    b*_i in basis vector j, for j > i.
    """

    basis: np.ndarray
    lengths: np.ndarray
    mu: np.ndarray


class GaussianSampler:
    """Independent exact draws from P(u) proportional to exp(-||u||^2 / (2 sigma^2)).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    mechanism : GeneralizedGaussian
    most_tries : float
        Refuse if the bound on the expected tries a draw is larger.

    Attributes
    ----------
    expected_tries : float
        Upper bound on the expected tries a draw, `tries_bound`.
    acceptance : float
        Share of tries accepted in the last call of `sample`; nan before.

    Raises
    ------
    InputError
        For another mechanism, a bound beyond `most_tries`, or noise beyond 53 bits.

    Examples
    --------
    >>> sampler = GaussianSampler(Invariants.total(3), GeneralizedGaussian(2.0))
    >>> noise = sampler.sample(np.random.default_rng(1), draws=5)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((5, 3), 0)
    """

    def __init__(
        self,
        invariants: Invariants,
        mechanism: GeneralizedGaussian,
        most_tries: float = MOST_TRIES,
    ):
        if not isinstance(mechanism, GeneralizedGaussian):
            raise InputError(
                f"gaussian: the mechanism must be a GeneralizedGaussian, got "
                f"{type(mechanism).__name__}; RejectionSampler takes a GeneralizedLaplace"
            )
        self.invariants, self.mechanism, self.most_tries = invariants, mechanism, most_tries
        self.acceptance = math.nan
        self._frame = gram_schmidt(invariants)
        refuse_wide(self._frame, mechanism.sigma)
        self.expected_tries = tries_bound(self._frame.lengths, mechanism.sigma)
        refuse_tries(self.expected_tries, most_tries, "Gaussian", len(self._frame.lengths))

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
        kept = empty_draws(draws, self.invariants.cells)
        longest = patience(self.most_tries)
        tries = draw_gaussian(rng, *self._frame, float(self.mechanism.sigma), longest, kept)
        self.acceptance = settle(kept, tries, self.invariants)
        return kept


def gram_schmidt(invariants: Invariants) -> GramSchmidt:
    """LLL-reduced basis of the invariants' lattice with its Gram-Schmidt vectors.

    Raises
    ------
    InputError
        If the basis has an entry beyond what `isdp.lattice.kernel` bears.
    """
    basis = kernel_lattice(invariants, "lll").basis
    upper = np.linalg.qr(basis.astype(float), mode="r")
    diagonal = np.diag(upper)
    return GramSchmidt(
        np.ascontiguousarray(basis), np.abs(diagonal), np.triu(upper / diagonal[:, None], 1)
    )


def log_masses(widths, centre: float) -> np.ndarray:
    """Logarithm of m(s, centre), the sum of exp(-(k - centre)^2 / (2 s^2)) over the integers k.

    Parameters
    ----------
    widths : array of positive float
    centre : float

    Returns
    -------
    float64 array of the same shape
    """
    widths = np.asarray(widths, dtype=float)
    flat = np.ascontiguousarray(widths).ravel()
    return log_each_mass(flat, float(centre)).reshape(widths.shape)


def log_sum_floor(lengths, sigma) -> np.ndarray:
    """Give a lower bound on log sum_u exp(-||u||^2 / (2 sigma^2)) over the lattice.

    The largest of three: the point 0 alone; the basis vectors up to any i alone, whose sum is by
    Poisson's formula at least the integral over their span, prod_{j <= i} s_j sqrt(2 pi); and
    prod_i m(s_i, 1/2), as m is smallest there.

    Parameters
    ----------
    lengths : array, shape (dimension,)
    sigma : array, shape (...)

    Returns
    -------
    float64 array, shape (...)
    """
    widths = np.asarray(sigma, dtype=float)[..., None] / np.asarray(lengths)
    poisson = np.cumsum(np.log(widths * ROOT_TWO_PI), axis=-1).max(axis=-1, initial=0.0)
    return np.maximum(poisson, log_masses(widths, 0.5).sum(axis=-1))


def tries_bound(lengths, sigma: float) -> float:
    """Bound the expected tries of the Gaussian sampler: prod_i m(s_i, 0) over the lattice's sum."""
    widths = sigma / np.asarray(lengths)
    return exp_or_inf(float(log_masses(widths, 0.0).sum() - log_sum_floor(lengths, sigma)))


def exp_or_inf(exponent: float) -> float:
    """Exponential of a logarithm of a bound that is at least 0, but for rounding."""
    return math.exp(max(exponent, 0.0)) if exponent < 700 else math.inf


def refuse_wide(frame: GramSchmidt, sigma: float) -> None:
    """Refuse a sigma for which a coefficient or a cell could leave the 53 bits of a double.

    A try ends at most FARTHEST sqrt(d) sigma away from zero, and the coefficients of u in the
    basis are at most the row norms of the inverse of the triangular factor times ||u||.
    """
    d = len(frame.lengths)
    if d == 0:
        return
    inverse = np.linalg.inv(np.eye(d) + frame.mu) / frame.lengths
    largest = FARTHEST * math.sqrt(d) * sigma * max(1.0, np.linalg.norm(inverse, axis=1).max())
    if largest > 2**52:
        raise InputError(
            f"gaussian: coefficients up to {largest:.3g} do not fit into 52 bits; use a smaller "
            f"scale of the noise"
        )


def refuse_tries(expected: float, most: float, name: str, dimension: int) -> None:
    """Refuse a law that would take too many tries a draw, as far as is known."""
    if not expected <= most:
        raise InputError(
            f"exact: {name} noise in dimension {dimension} may take {expected:.3g} tries a draw, "
            f"more than the limit of {most:.3g}; raise most_tries or use a Markov chain"
        )


def patience(most_tries: float) -> int:
    """Give the tries after which a single draw is given up."""
    return int(min(PATIENCE * most_tries, 2.0**62))


def empty_draws(draws: int, cells: int) -> np.ndarray:
    """Zeros of shape (draws, cells), once `draws` is known to be a count."""
    if isinstance(draws, bool) or int(draws) != draws or draws < 0:
        raise InputError(f"exact: draws must be a whole number from 0 up, got {draws!r}")
    return np.zeros((int(draws), cells), dtype=np.int64)


def settle(kept: np.ndarray, tries: int, invariants: Invariants) -> float:
    """Check the draws and return draws over tries; `tries` is negative where one gave up."""
    if tries < 0:
        raise InputError(
            f"exact: a draw was not accepted in {PATIENCE} times the limit of tries; use a "
            f"Markov chain"
        )
    invariants.check(kept)
    return len(kept) / tries if tries else math.nan
