"""Discrete Gaussian noise on any lattice, in exact arithmetic: Klein's sampler as a proposal.

`isdp.exact.klein` draws coefficients k_i one after the other, around centres that a Gram-Schmidt
basis gives, and rejects what its law is off by. Here that basis is rounded to fractions, on
purpose: the noise u = B k is proposed around centres c_i that are fractions, linear in the
coefficients after it, with rational variances v_i, all drawn exactly. Its law is in proportion to

    exp(-Q(k) / 2) / prod_i m(v_i, c_i),    Q(k) = sum_i (k_i - c_i)^2 / v_i,

with m(v, c) the sum of exp(-(k - c)^2 / (2 v)) over the integers k. What is proposed is kept with
chance exp((Q(k) - ||u||^2 / sigma^2) / 2) prod_i m(v_i, c_i) / m(v_i, 0), tossed exactly, and has
the law asked for. The chance is at most 1: m is largest at c = 0, and the variances are a little
larger than Gram and Schmidt's, by as much as makes ||B k||^2 / sigma^2 - Q(k) a positive quadratic
form. That is proved in ball arithmetic, by Gershgorin's circles.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.coins import _ball, _Words
from isdp.exact.gaussian import centred_gaussian, log_relative_mass, relative_mass
from isdp.exact.kernels import FARTHEST, GramSchmidt
from isdp.exact.klein import gram_schmidt, tries_bound
from isdp.exact.tosses import toss_all
from isdp.io.progress import progress

MOST_CELLS = 1000
MOST_DIMENSION = 500  # the proof takes seconds
MOST_TRIES = 1e4  # a draw
BITS = 24  # of the fractions
NUMBERS_AT_ONCE = 1 << 20


class KleinRelease:
    """Independent exact draws from P(u) proportional to exp(-||u||_2^2 / (2 variance)).

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    variance : Fraction
        Sigma^2.

    Attributes
    ----------
    expected_tries : float
        Estimate of a bound on the expected tries a draw.

    Raises
    ------
    InputError
        If the lattice is too large, a draw would take too many tries, or sums could leave 64-bit
        integers.
    """

    def __init__(self, invariants: Invariants, variance: Fraction):
        if invariants.cells > MOST_CELLS:
            raise InputError(
                f"release: {invariants.cells} cells whose totals overlap are too many for Gaussian "
                f"noise; it takes at most {MOST_CELLS}"
            )
        self.variance, sigma = variance, math.sqrt(variance)
        self.cells = invariants.cells
        frame = gram_schmidt(invariants)
        d = len(frame.lengths)
        if d > MOST_DIMENSION:
            raise InputError(
                f"release: the noise has {d} degrees of freedom under totals that overlap, more "
                f"than {MOST_DIMENSION}"
            )
        self.basis, self.shares = frame.basis, np.rint(frame.mu * 2**BITS).astype(np.int64)
        self._refuse_wide(frame, sigma)
        widths = [Fraction(sigma / length) ** 2 for length in frame.lengths]
        excess = _excess(self.basis, self.shares, widths, variance)
        self.variances = [(1 + excess) * width for width in widths]
        tries = tries_bound(frame.lengths, sigma * math.sqrt(1 + excess))
        self.expected_tries = tries * math.exp(0.5 * d * excess)
        if not self.expected_tries <= MOST_TRIES:
            raise InputError(
                f"release: Gaussian noise of sigma {sigma:.3g} under these invariants may take "
                f"{self.expected_tries:.3g} tries a draw, more than {MOST_TRIES:.0e}; use a larger "
                f"sigma"
            )

    def _refuse_wide(self, frame: GramSchmidt, sigma: float) -> None:
        """Refuse a sigma for which sums of coefficients could leave 64-bit integers."""
        d = len(frame.lengths)
        if not d:
            return
        inverse = np.linalg.inv(np.eye(d) + frame.mu) / frame.lengths
        reach = FARTHEST * math.sqrt(d) * sigma * max(1.0, np.linalg.norm(inverse, axis=1).max())
        most = 2.0**BITS + float(np.abs(self.shares).sum(axis=1).max())
        self.largest = 2.0**62 / max(most, float(np.abs(self.basis).sum(axis=1).max()))
        if reach > self.largest:
            raise InputError(
                f"release: with sigma {sigma:.3g}, sums of noise under these invariants could "
                f"leave 64-bit integers; use a smaller sigma"
            )

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells)."""
        noise = np.zeros((draws, self.cells), dtype=np.int64)
        done = 0
        most = max(NUMBERS_AT_ONCE // max(len(self.variances), 1), 1)
        with progress("drawing noise", draws) as at:
            while done < draws:
                tries = min(math.ceil(1.2 * (draws - done) * self.expected_tries) + 1, most)
                kept = self._try(words, tries)[: draws - done]
                noise[done : done + len(kept)] = kept
                done += len(kept)
                at(done)
        return noise

    def _try(self, words: _Words, tries: int) -> np.ndarray:
        """Noise of the tries that are kept, int64 (kept, cells)."""
        d = len(self.variances)
        coefficients = np.zeros((d, tries), dtype=np.int64)
        numerators = np.zeros((d, tries), dtype=np.int64)  # of the centres, in 2^-BITS
        for i in range(d - 1, -1, -1):
            numerators[i] = -(self.shares[i, i + 1 :] @ coefficients[i + 1 :])
            coefficients[i] = centred_gaussian(words, self.variances[i], numerators[i], 1 << BITS)
            if np.abs(coefficients[i]).max() > self.largest:
                raise InputError("release: noise came up that 64 bits do not hold; draw again")
        noise = coefficients.T @ self.basis.T
        return noise[self._keep(words, noise, coefficients, numerators)]

    def _keep(self, words: _Words, noise, coefficients, numerators) -> np.ndarray:
        """Decide on proposals; bool (tries,)."""
        logs = -0.5 * np.square(noise.astype(float)).sum(axis=1) / float(self.variance)
        chances = np.ones(len(noise))
        for variance, k, numerator in zip(self.variances, coefficients, numerators, strict=True):
            centre = numerator / 2**BITS
            logs += 0.5 * (k - centre) ** 2 / float(variance)
            chances *= relative_mass(variance, centre)

        def log_chance(i: int) -> arb:
            fall = sum(x * x for x in noise[i].tolist()) / self.variance
            logs = arb(0)
            pairs = zip(coefficients[:, i].tolist(), numerators[:, i].tolist(), strict=True)
            for variance, (k, numerator) in zip(self.variances, pairs, strict=True):
                centre = Fraction(numerator, 1 << BITS)
                fall -= (k - centre) ** 2 / variance
                logs += log_relative_mass(variance, centre)
            return logs - _ball(Fraction(fall) / 2)

        return toss_all(words, chances * np.exp(logs), log_chance)


def _excess(
    basis: np.ndarray, shares: np.ndarray, widths: list[Fraction], variance: Fraction
) -> Fraction:
    """Find by how much the variances must exceed `widths` for the form to be positive.

    With U the unit triangular matrix of the rounded shares and D the roots of `widths`, the form is
    positive if D U^-T B'B U^-1 D / sigma^2, times 1 plus the excess, has no eigenvalue below 1. All
    its eigenvalues lie in circles around the diagonal, whose radii are the other entries' sums.

    Raises
    ------
    InputError
        If rounding is too coarse for the basis.
    """
    d = len(widths)
    if d == 0:
        return Fraction(0)
    unit = 1 << BITS
    exact = basis.astype(object)
    gram = fmpz_mat((exact.T @ exact).tolist())
    upper = fmpz_mat((shares.astype(object) + unit * np.eye(d, dtype=object)).tolist())
    with ctx.workprec(128 + 2 * d):
        inverse = arb_mat(upper).inv() * arb(unit)
        form = (inverse.transpose() * arb_mat(gram) * inverse).tolist()
        roots = [(_ball(width) / _ball(variance)).sqrt() for width in widths]
        lower = min(
            float((roots[i] * (roots[i] * form[i][i] - _others(form[i], roots, i))).lower())
            for i in range(d)
        )
    if not lower > 0.5:
        raise InputError(
            "release: the basis of these invariants' lattice is too skew for Gaussian noise in "
            "exact arithmetic; simplify the invariants"
        )
    return max(Fraction(1 / lower) - 1, Fraction(0)) + Fraction(1, 1 << 40)


def _others(row: list[arb], roots: list[arb], own: int) -> arb:
    """Add up the other entries of a row, absolute and scaled."""
    pairs = zip(row, roots, strict=True)
    return sum((abs(x) * root for j, (x, root) in enumerate(pairs) if j != own), arb(0))
