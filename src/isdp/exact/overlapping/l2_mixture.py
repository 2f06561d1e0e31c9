"""Draws of generalized Laplace noise under the l2 norm, as a scale mixture of Gaussians.

The mean of exp(-r^2 / (2 sigma^2)) over sigma = |N(0, 1)| / epsilon is exp(-epsilon r) (Andrews and
Mallows 1974). The noise is therefore Gaussian noise with a random sigma. The density of sigma is
proportional to exp(-(epsilon sigma)^2 / 2) times the sum of exp(-||u||^2 / (2 sigma^2)) over the
lattice. Klein's algorithm bounds this sum by prod_i m(s_i, 0) (`isdp.exact.overlapping.klein`).
Sigma is drawn with the bound instead of the sum, and the rejection of Klein's algorithm corrects
the difference.

Noise is an integer combination of basis vectors with coefficients that are drawn in floating point.
The random bits are pseudo-random, so that the sampler is for experiments only.

Two arguments bound the effect of rounding on the distribution, in total variation distance. First,
couple the sampler with one in exact arithmetic that uses the same uniform numbers. The draws of the
two samplers differ only if rounding changes a decision. The sum of the probabilities of these
events bounds the distance. Second, suppose that each weight is wrong by a factor between exp(-x)
and exp(x). Then the distance is at most the mean of x, for any acceptance probability. Constants
are rounded up. Typical errors partly cancel and are far below the bounds. The generator is assumed
to return true uniform numbers, which are multiples of 2^-53.
"""

import math

import numpy as np

from isdp.arrays import IntArray
from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.overlapping.compiled_klein import (
    MAX_NARROW_WIDTH,
    Bins,
    GramSchmidt,
    draw_mixture,
)
from isdp.exact.overlapping.klein import (
    exp_or_inf,
    gram_schmidt,
    log_masses,
    log_sum_lower_bound,
    refuse_wide,
)
from isdp.exact.sampler import (
    ALLOW_MORE,
    MAX_PROPOSALS,
    UNIT_ROUNDOFF,
    refuse_many_cells,
    refuse_proposals,
    rejected_draw,
)
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, check_energy

BINS_PER_UNIT = 100  # number of bins per unit of epsilon times sigma
NUMBERS_AT_ONCE = 10**6  # random numbers between two reports of progress
# The probability that a draw needs more than 100 times the maximum is below e^-100.
MAX_PROPOSAL_FACTOR = 100


class MixtureSampler:
    """Independent draws from P(u) proportional to exp(-epsilon ||u||_2), for A u = 0.

    The weight of the target must be exp(-rate ||u||_2), as for `GeneralizedLaplace` with norm "l2".

    Attributes
    ----------
    expected_proposals : float
        An upper bound on the expected number of runs of Klein's algorithm per draw, which is at
        most `max_proposals`. The bound is near 1 in any dimension, unless the noise is as small as
        the distances of lattice points.
    error : float
        A bound on the total variation distance between the distribution of a draw and the target.

    Raises
    ------
    InputError
        If the weight has another form, draws take too many proposals, or noise could exceed the
        integers that a double represents exactly.

    Notes
    -----
    Sigma is drawn from bins of equal width. Let g be the left end of a bin. Because m is increasing
    in s, the density in the bin is at most exp(-(epsilon g)^2 / 2) times prod_i m(s_i, 0) at the
    right end. Rejection corrects the difference.

    The last bin ends at (sqrt(d + 1) + 12) / epsilon. Because m(s, 0) / s decreases with s, epsilon
    sigma is stochastically smaller than a chi variable with d + 1 degrees of freedom. The
    probability beyond the last bin is therefore below exp(-72). By Poisson summation, this bound
    also holds for the sum over the lattice in place of the product.
    """

    method = "mixture"
    reason = "the norm is l2"

    def __init__(
        self,
        invariants: Invariants,
        target: Mechanism,
        max_proposals: float = MAX_PROPOSALS,
    ):
        energy = check_energy(self.method, target, [(2, True)])
        refuse_many_cells(invariants.cells)
        self.invariants, self.max_proposals = invariants, max_proposals
        self.epsilon = epsilon = float(energy.rate)
        self.frame = gram_schmidt(invariants)
        d = len(self.frame.lengths)
        top = math.sqrt(d + 1) + 12
        if not 1e-150 < epsilon < 1e150:
            raise InputError(f"epsilon: must lie between 1e-150 and 1e150, got {epsilon:g}")
        refuse_wide(self.frame, top / epsilon)
        ends = np.linspace(0.0, top / epsilon, math.ceil(BINS_PER_UNIT * top) + 1)
        left, right = ends[:-1], ends[1:]
        log_products = log_masses(right[:, None] / self.frame.lengths, 0.0).sum(axis=1)
        log_bound = log_products - (epsilon * left) ** 2 / 2
        weights = np.exp(log_bound - log_bound.max())
        self.bins = Bins(left, left[1], log_products, np.cumsum(weights) / weights.sum())
        log_sums = np.zeros(len(right))
        log_sums[1:] = log_sum_lower_bound(self.frame.lengths, left[1:])
        log_lower_bound = log_sums - (epsilon * right) ** 2 / 2
        self.expected_proposals = exp_or_inf(
            float(np.logaddexp.reduce(log_bound) - np.logaddexp.reduce(log_lower_bound))
        )
        draw = f"exact: a draw of l2 generalized Laplace noise in {d} dimensions"
        refuse_proposals(draw, self.expected_proposals, max_proposals, ALLOW_MORE)
        self.error = self._error(top)

    def _error(self, top: float) -> float:
        """Bound the errors of truncation and rounding in the draw of sigma and Klein's algorithm.

        Each bin has its own threshold. The rounding error of the logarithm of a weight is relative
        to its maximum.
        """
        largest = float(np.abs(self.bins.log_products).max(initial=0.0)) + top**2
        sigma = (12 * len(self.bins.left) + 6 * largest + 50) * UNIT_ROUNDOFF
        one_proposal = sigma + coefficient_error(top / self.epsilon / self.frame.lengths)
        return math.exp(-72) + frame_error(self.frame) + self.expected_proposals * one_proposal

    def sample(self, rng: np.random.Generator, n_draws: int) -> IntArray:
        """Draw independent noise vectors, int64 (n_draws, cells), and check the invariants."""
        kept = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        limit = int(min(MAX_PROPOSAL_FACTOR * self.max_proposals, 2.0**62))
        numbers = max(self.expected_proposals, 1.0) * self.invariants.cells
        rows = max(1, int(NUMBERS_AT_ONCE / numbers))
        for first in tracked("drawing noise", range(0, len(kept), rows)):
            part = kept[first : first + rows]
            if not draw_mixture(rng, self.frame, self.epsilon, self.bins, limit, part):
                raise rejected_draw("max_proposals", limit)
        self.invariants.check(kept)
        return kept


def frame_error(frame: GramSchmidt) -> float:
    """Bound the effect of a rounded Gram-Schmidt basis on Gaussian noise of any width.

    Let B be the basis and R its triangular factor in doubles. Klein's algorithm draws from the
    exponential of -||R k||^2 / (2 sigma^2) instead of -||B k||^2 / (2 sigma^2). Let g_i^2 be the
    i-th diagonal entry of the inverse of B'B. Banaszczyk's inequality bounds the mean of |k_i k_j|
    by sigma^2 g_i g_j. Sigma therefore cancels in the mean difference of the exponents, which is at
    most g'|B'B - R'R|g / 2.

    The computed difference has an error of (d + 2) units of |R|'|R|. The centres, which are sums of
    d products, and sigma are also rounded.
    """
    d = len(frame.lengths)
    if d == 0:
        return 0.0
    upper = frame.lengths[:, None] * (np.eye(d) + frame.mu)
    g = np.linalg.norm(np.linalg.inv(upper), axis=1)
    basis = frame.basis.astype(float)
    computed = np.abs(basis.T @ basis - upper.T @ upper)
    rounded = (d + 2) * UNIT_ROUNDOFF * np.sum((np.abs(upper) @ g) ** 2)
    centres = d * UNIT_ROUNDOFF * float((np.abs(upper) @ g).sum())
    return float(g @ computed @ g + rounded + centres) + 4 * d * UNIT_ROUNDOFF


def coefficient_error(widths: np.ndarray) -> float:
    """Bound the rounding of one proposal of Klein's algorithm with Gaussians of the given widths.

    A draw from a narrow Gaussian selects one of eleven weights by one uniform number. A draw from a
    wide Gaussian takes a geometric step of at most 40 widths, selects a side, and decides on
    acceptance. Each possible step has its own threshold. Two proposals are needed on average.
    Truncation removes a probability of at most 2^-60. The decision to continue adds at most 10
    units of 2^-53.
    """
    units = np.where(widths < MAX_NARROW_WIDTH, 60.0, 250.0 * widths + 60.0)
    return float(units.sum()) * UNIT_ROUNDOFF + len(widths) * 2.0**-60
