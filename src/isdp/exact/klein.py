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

import numpy as np

from isdp.checks import refuse_overflow
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.kernels import (
    FARTHEST,
    ROOT_TWO_PI,
    GramSchmidt,
    draw_gaussian,
    log_each_mass,
)
from isdp.exact.rounding import coefficient_error, frame_error
from isdp.exact.tries import MOST_TRIES, TriesSampler, refuse_bounds, refuse_tries
from isdp.io.progress import announce
from isdp.lattice.kernel import SOON_REDUCED, basis_seconds, kernel_lattice
from isdp.mechanisms.base import Mechanism, energy_served

LOVASZ, LOOSE_LOVASZ = 0.99, 0.7  # LLL's own bar; and one near the 3/4 of the theorem
LARGEST_REDUCED = 1000  # LLL took 17 s for 32 x 32 margins (961), and beyond 100 s for 44 x 44


class GaussianSampler(TriesSampler):
    """Independent exact draws from P(u) proportional to exp(-||u||^2 / (2 sigma^2)).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    law : Mechanism
        Of weight exp(-rate ||u||_2^2), such as `GeneralizedGaussian`; sigma^2 is 1 / (2 rate).
    most_tries : float
        Refuse if the bound on the expected tries a draw is larger.

    Attributes
    ----------
    expected_tries : float
        Upper bound on the expected tries a draw, `tries_bound`.

    Raises
    ------
    InputError
        For another law, a bound beyond `most_tries`, or noise beyond 52 bits.

    Examples
    --------
    >>> from isdp import GeneralizedGaussian
    >>> sampler = GaussianSampler(Invariants.total(3), GeneralizedGaussian(2.0))
    >>> noise = sampler.sample(np.random.default_rng(1), draws=5)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((5, 3), 0)
    """

    method = "Klein"

    @staticmethod
    def fits(invariants: Invariants, law: Mechanism, lower=None) -> str:
        """Say why this sampler fits, or raise `InputError` with the reason why not."""
        refuse_bounds("Klein", lower)
        energy_served("Klein", law, [(2, False)])
        return "the law is Gaussian"

    def __init__(self, invariants: Invariants, law: Mechanism, most_tries: float = MOST_TRIES):
        self.fits(invariants, law)
        super().__init__(invariants, most_tries)
        self.sigma = math.sqrt(0.5 / law.energy.rate)
        self.frame = gram_schmidt(invariants)
        refuse_wide(self.frame, self.sigma)
        self.expected_tries = tries_bound(self.frame.lengths, self.sigma)
        refuse_tries(self.expected_tries, most_tries, "Gaussian", len(self.frame.lengths))
        a_try = coefficient_error(self.sigma / self.frame.lengths)
        self.error = frame_error(self.frame) + self.expected_tries * a_try

    def _fill(self, rng: np.random.Generator, kept: np.ndarray, longest: int) -> int:
        return draw_gaussian(rng, self.frame, self.sigma, longest, kept)


def gram_schmidt(invariants: Invariants) -> GramSchmidt:
    """Reduced basis of the invariants' lattice with its Gram-Schmidt vectors.

    The Smith basis of totals and of margins is reduced as it is. Others are handed to LLL, whose
    time grows with the cube of the dimension.

    Raises
    ------
    InputError
        If the basis has an entry beyond what `isdp.lattice.kernel` bears, or would take minutes to
        reduce.
    """
    frame = _frame(kernel_lattice(invariants, "smith").basis)
    d = len(frame.lengths)
    if _reduced(frame, LOVASZ if d <= SOON_REDUCED else LOOSE_LOVASZ):
        return frame
    if d > LARGEST_REDUCED:
        raise InputError(
            f"exact: the lattice has dimension {d}, and to reduce a basis of more than "
            f"{LARGEST_REDUCED} takes minutes; use the MCMC sampler (isdp.mcmc.sample)"
        )
    announce("reducing the lattice's basis", basis_seconds(invariants, "lll"))
    return _frame(kernel_lattice(invariants, "lll").basis)


def _frame(basis: np.ndarray) -> GramSchmidt:
    upper = np.linalg.qr(basis.astype(float), mode="r")
    diagonal = np.diag(upper)
    return GramSchmidt(
        np.ascontiguousarray(basis), np.abs(diagonal), np.triu(upper / diagonal[:, None], 1)
    )


def _reduced(frame: GramSchmidt, delta: float) -> bool:
    """Whether a basis meets the conditions of Lenstra, Lenstra and Lovasz, up to rounding."""
    squares = frame.lengths**2
    after = squares[1:] + np.diag(frame.mu, 1) ** 2 * squares[:-1]
    return bool((np.abs(frame.mu) < 0.51).all() and (after >= delta * squares[:-1]).all())


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
    refuse_overflow("Klein", "coefficients", largest, 52, "use a smaller scale of the noise")
