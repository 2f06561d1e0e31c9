"""Exact draws of discrete Gaussian noise on any lattice, by Klein's algorithm with rejection.

Klein's algorithm (Klein 2000; Gentry, Peikert and Vaikuntanathan 2008) draws the coefficients of a
lattice point one by one. It begins with the last Gram-Schmidt direction. Each coefficient comes
from a discrete Gaussian, whose centre depends on the later coefficients. The resulting
probabilities differ from the target by a known factor, which rejection removes (Brakerski,
Langlois, Peikert, Regev and Stehle 2013, Lemma 2.3).

Here the Gram-Schmidt coefficients are rounded to fractions. Let B be the basis and u = B k the
noise. The coefficients k_i are drawn exactly, with rational centres c_i and rational variances v_i.
The probability of a proposal is proportional to

    exp(-Q(k) / 2) / prod_i m(v_i, c_i),    Q(k) = sum_i (k_i - c_i)^2 / v_i,

where m(v, c) is the sum of exp(-(k - c)^2 / (2 v)) over the integers k. The acceptance probability
exp((Q(k) - ||u||^2 / sigma^2) / 2) prod_i m(v_i, c_i) / m(v_i, 0) makes the distribution exact. An
exact Bernoulli draw decides on acceptance. The probability is at most 1 for two reasons. The
maximum of m is at c = 0. The variances are larger than those of Klein's algorithm, so that ||B
k||^2 / sigma^2 - Q(k) is a positive quadratic form. Ball arithmetic proves that this form is
positive, by Gershgorin's circles.

Noise is an integer combination of integer basis vectors, so that every draw is in the lattice.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat
from numpy.typing import ArrayLike

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.checks import refuse_overflow
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.bernoulli import draw_bernoulli, to_ball
from isdp.exact.bits.discrete_gaussian import (
    draw_gaussian_around,
    gaussian_variance,
    log_relative_mass,
)
from isdp.exact.bits.source import BitSource
from isdp.exact.overlapping.compiled_klein import (
    MAX_DEVIATIONS,
    ROOT_TWO_PI,
    GramSchmidt,
    log_each_mass,
    relative_masses,
)
from isdp.exact.sampler import (
    ALLOW_MORE,
    USE_CHAIN,
    RandomBitSampler,
    refuse_many_cells,
    refuse_proposals,
)
from isdp.io.progress import announce, progress
from isdp.lattice.null_lattice import QUICK_LLL_DIMENSION, basis_seconds, kernel_lattice
from isdp.mechanisms.base import Mechanism, Target, check_energy

LOVASZ, LOOSE_LOVASZ = 0.99, 0.7  # parameters of LLL for small and for large dimensions
MAX_PROPOSALS = 1e4  # maximum expected number of proposals per draw
DRAW = "exact: a draw of Gaussian noise in {} dimensions"
FRACTION_BITS = 24  # the fractions are multiples of 2^-24
NUMBERS_AT_ONCE = 1 << 20
# The proof takes seconds at this dimension. LLL took 17 s for margins of 32 x 32 cells, which have
# dimension 961, and more than 100 s for 44 x 44.
MAX_DIMENSION = 1000


class KleinSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-||u||^2 / (2 sigma^2)), for A u = 0.

    The weight of the target must be exp(-rate ||u||_2^2), as for `GeneralizedGaussian`, with
    sigma^2 = 1 / (2 rate).

    Attributes
    ----------
    expected_proposals : float
        An estimate of a bound on the expected number of proposals per draw, at most
        `max_proposals`.

    Raises
    ------
    InputError
        If the weight does not have the form above, or the lattice is too large. The error is also
        raised if draws need too many proposals, or sums could overflow 64-bit integers.
    """

    method = "Klein"
    reason = "the noise is Gaussian"

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        max_proposals: float = MAX_PROPOSALS,
    ):
        energy = check_energy(self.method, target, [(2, False)])
        refuse_many_cells(invariants.cells)
        self.invariants, self.variance = invariants, gaussian_variance(energy)
        sigma = math.sqrt(self.variance)
        frame = gram_schmidt(invariants)
        d = len(frame.lengths)
        n_proposals = max_expected_proposals(frame.lengths, sigma)
        refuse_proposals(DRAW.format(d), n_proposals, max_proposals, ALLOW_MORE)
        if d > MAX_DIMENSION:
            raise InputError(
                f"exact: Gaussian noise under overlapping totals may have at most {MAX_DIMENSION} "
                f"degrees of freedom, got {d}. {USE_CHAIN}"
            )
        self.basis = frame.basis
        self.mu_numerators = np.rint(frame.mu * 2**FRACTION_BITS).astype(np.int64)
        self._refuse_wide(frame, sigma)
        widths = [Fraction(sigma / length) ** 2 for length in frame.lengths]
        excess = _excess(self.basis, self.mu_numerators, widths, self.variance)
        self.variances = [(1 + excess) * width for width in widths]
        n_proposals = max_expected_proposals(frame.lengths, sigma * math.sqrt(1 + excess))
        self.expected_proposals = n_proposals * math.exp(0.5 * d * excess)
        refuse_proposals(DRAW.format(d), self.expected_proposals, max_proposals, ALLOW_MORE)

    def _refuse_wide(self, frame: GramSchmidt, sigma: float) -> None:
        """Raise `InputError` if sums of coefficients could overflow 64-bit integers."""
        if not len(frame.lengths):
            return
        weight = 2.0**FRACTION_BITS + float(np.abs(self.mu_numerators).sum(axis=1).max())
        weight = max(weight, float(np.abs(self.basis).sum(axis=1).max()))
        self.max_coefficient = 2.0**62 / weight
        bound = _max_size(frame, sigma) * weight
        refuse_overflow("sigma", "sums of noise", bound, 62, "Use a smaller sigma.")

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        done, batch = 0, max(NUMBERS_AT_ONCE // max(len(self.variances), 1), 1)
        with progress("drawing noise", n_draws) as report:
            while done < n_draws:
                wanted = math.ceil(1.2 * (n_draws - done) * self.expected_proposals) + 1
                kept = self._propose(bits, min(wanted, batch))[: n_draws - done]
                noise[done : done + len(kept)] = kept
                done += len(kept)
                report(done)
        return noise

    def _propose(self, bits: BitSource, n_proposals: int) -> IntArray:
        """Return the noise of the accepted proposals, as int64 of shape (accepted, cells)."""
        d = len(self.variances)
        # the centres are numerators times 2^-FRACTION_BITS
        coefficients, numerators = np.zeros((2, d, n_proposals), dtype=np.int64)
        for i in range(d - 1, -1, -1):
            numerators[i] = -(self.mu_numerators[i, i + 1 :] @ coefficients[i + 1 :])
            coefficients[i] = draw_gaussian_around(
                bits, self.variances[i], numerators[i], 1 << FRACTION_BITS
            )
            if np.abs(coefficients[i]).max() > self.max_coefficient:
                raise InputError("exact: a coefficient exceeded 64 bits. Draw the noise again.")
        noise = coefficients.T @ self.basis.T
        return np.asarray(noise[self._keep(bits, noise, coefficients, numerators)])

    def _keep(
        self, bits: BitSource, noise: IntArray, coefficients: IntArray, numerators: IntArray
    ) -> BoolArray:
        """Accept proposals with the probabilities in the module's docstring."""
        logs = -0.5 * np.square(noise.astype(float)).sum(axis=1) / float(self.variance)
        probabilities = np.ones(len(noise))
        for variance, k, numerator in zip(self.variances, coefficients, numerators, strict=True):
            centre = numerator / 2**FRACTION_BITS
            logs += 0.5 * (k - centre) ** 2 / float(variance)
            probabilities *= relative_masses(math.sqrt(variance), centre)

        def log_probability(i: int) -> arb:
            fall = sum(x * x for x in noise[i].tolist()) / self.variance
            logs = arb(0)
            pairs = zip(coefficients[:, i].tolist(), numerators[:, i].tolist(), strict=True)
            for variance, (k, numerator) in zip(self.variances, pairs, strict=True):
                centre = Fraction(numerator, 1 << FRACTION_BITS)
                fall -= (k - centre) ** 2 / variance
                logs += log_relative_mass(variance, centre)
            return logs - to_ball(Fraction(fall) / 2)

        return draw_bernoulli(bits, probabilities * np.exp(logs), log_probability)


def gram_schmidt(invariants: Invariants) -> GramSchmidt:
    """Compute a reduced basis of the invariants' lattice and its Gram-Schmidt vectors.

    The Smith basis of totals and of margins is already reduced. Other bases are reduced by LLL,
    whose time grows with the cube of the dimension. Raise `InputError` if an entry of the basis
    exceeds the limit of `isdp.lattice.null_lattice`, or the reduction would take minutes.
    """
    frame = _frame(kernel_lattice(invariants, "smith").basis)
    d = len(frame.lengths)
    if _reduced(frame, LOVASZ if d <= QUICK_LLL_DIMENSION else LOOSE_LOVASZ):
        return frame
    if d > MAX_DIMENSION:
        raise InputError(
            f"exact: a lattice basis can be reduced up to dimension {MAX_DIMENSION}, got {d}. "
            f"{USE_CHAIN}"
        )
    announce("reducing the lattice's basis", basis_seconds(invariants, "lll"))
    return _frame(kernel_lattice(invariants, "lll").basis)


def _frame(basis: IntArray) -> GramSchmidt:
    upper = np.linalg.qr(basis.astype(float), mode="r")
    diagonal = np.diag(upper)
    return GramSchmidt(
        np.ascontiguousarray(basis), np.abs(diagonal), np.triu(upper / diagonal[:, None], 1)
    )


def _reduced(frame: GramSchmidt, delta: float) -> bool:
    """Check the conditions of an LLL-reduced basis (Lenstra, Lenstra and Lovasz)."""
    squares = frame.lengths**2
    after = squares[1:] + np.diag(frame.mu, 1) ** 2 * squares[:-1]
    return bool((np.abs(frame.mu) < 0.51).all() and (after >= delta * squares[:-1]).all())


def log_masses(widths: ArrayLike, centre: float) -> FloatArray:
    """Compute the logarithm of `isdp.exact.overlapping.compiled_klein.mass` for each width."""
    widths = np.asarray(widths, dtype=float)
    flat = np.ascontiguousarray(widths).ravel()
    return log_each_mass(flat, centre).reshape(widths.shape)


def log_sum_lower_bound(lengths: ArrayLike, sigma: ArrayLike) -> FloatArray:
    """Compute lower bounds on the logarithms of Gaussian sums over the lattice for all sigma.

    The sum is that of exp(-||u||^2 / (2 sigma^2)) over all u. With s_i = sigma / lengths[i], it has
    three lower bounds, of which the maximum is returned. The first bound is the term of u = 0. The
    second bound is the sum over the sublattice of the first i basis vectors, for any i. By
    Poisson summation it is at least the integral over their span, prod_{j <= i} s_j sqrt(2 pi). The
    third bound is the product of m(s_i, 1/2) over i, because the minimum of m is at 1/2.
    """
    widths = np.asarray(sigma, dtype=float)[..., None] / np.asarray(lengths)
    poisson = np.cumsum(np.log(widths * ROOT_TWO_PI), axis=-1).max(axis=-1, initial=0.0)
    return np.asarray(np.maximum(poisson, log_masses(widths, 0.5).sum(axis=-1)))


def max_expected_proposals(lengths: ArrayLike, sigma: float) -> float:
    """Bound the expected number of proposals by prod_i m(s_i, 0) / (the lattice's Gaussian sum)."""
    widths = sigma / np.asarray(lengths)
    return exp_or_inf(float(log_masses(widths, 0.0).sum() - log_sum_lower_bound(lengths, sigma)))


def exp_or_inf(exponent: float) -> float:
    """Compute the exponential of a number that is at least 0, except for rounding."""
    return math.exp(max(exponent, 0.0)) if exponent < 700 else math.inf


def _max_size(frame: GramSchmidt, sigma: float) -> float:
    """Bound the coefficients of noise and the noise of cells.

    The norm of a proposal u is at most MAX_DEVIATIONS sqrt(d) sigma. The coefficients of u are at
    most ||u|| times the row norms of the inverse of the triangular factor.
    """
    d = len(frame.lengths)
    inverse = np.linalg.inv(np.eye(d) + frame.mu) / frame.lengths
    norms = np.linalg.norm(inverse, axis=1)
    return MAX_DEVIATIONS * math.sqrt(d) * sigma * float(norms.max(initial=1.0))


def refuse_wide(frame: GramSchmidt, sigma: float) -> None:
    """Raise `InputError` if a coefficient or a cell could exceed the 53 bits of a double."""
    advice = "Use a smaller scale of the noise."
    refuse_overflow("exact", "coefficients of the noise", _max_size(frame, sigma), 52, advice)


def _excess(
    basis: IntArray, mu_numerators: IntArray, widths: list[Fraction], variance: Fraction
) -> Fraction:
    """Find the relative excess of the variances over `widths` that makes the form positive.

    Let U be the unit triangular matrix of the rounded mu, and D the diagonal matrix of the roots of
    `widths`. The form is positive if the matrix D U^-T B'B U^-1 D / sigma^2, times 1 plus the
    excess, has no eigenvalue below 1. All eigenvalues are in circles around the diagonal entries
    (Gershgorin). The radius of a circle is the sum of the absolute values of the row's other
    entries.
    """
    d = len(widths)
    if d == 0:
        return Fraction(0)
    columns = fmpz_mat(basis.tolist())
    gram = columns.transpose() * columns
    upper = fmpz_mat((mu_numerators + (np.eye(d, dtype=np.int64) << FRACTION_BITS)).tolist())
    precision, lower = 64, 0.0
    while not lower > 0.5 and precision <= 128 + 2 * d:
        precision *= 2  # wide balls may give no positive bound
        with ctx.workprec(precision):
            inverse = arb_mat(upper).inv() * arb(1 << FRACTION_BITS)
            form = (inverse.transpose() * arb_mat(gram) * inverse).tolist()
            roots = [(to_ball(width) / to_ball(variance)).sqrt() for width in widths]
            lower = min(
                float((roots[i] * (roots[i] * form[i][i] - _others(form[i], roots, i))).lower())
                for i in range(d)
            )
    if not lower > 0.5:
        raise InputError(
            "invariants: the vectors of the lattice basis are too far from orthogonal for exact "
            "Gaussian noise. Use fewer invariants or smaller entries."
        )
    return max(Fraction(1 / lower) - 1, Fraction(0)) + Fraction(1, 1 << 40)


def _others(row: list[arb], roots: list[arb], own: int) -> arb:
    """Return the scaled sum of the absolute values of the entries of a row, except `own`."""
    pairs = zip(row, roots, strict=True)
    return sum((abs(x) * root for j, (x, root) in enumerate(pairs) if j != own), arb(0))
