"""Exact draws of generalized Laplace noise under the l2 norm, as a scale mixture of Gaussians.

exp(-epsilon r) is the mean of exp(-r^2 / (2 sigma^2)) over sigma = |N(0, 1)| / epsilon (Andrews and
Mallows 1974). The noise is therefore Gaussian noise of a random sigma. The density of sigma is
proportional to exp(-(epsilon sigma)^2 / 2) times the sum of exp(-||u||^2 / (2 sigma^2)) over the
lattice. Klein's algorithm bounds that sum by prod_i m(s_i, 0) (`isdp.exact.overlapping.klein`).
Sigma is drawn with the bound in place of the sum, and the rejection of Klein's algorithm removes
the difference.

Noise is an integer combination of basis vectors, which floating-point numbers select. The generator
is a pseudo-random one: the sampler is for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math

import numpy as np

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.overlapping.compiled_klein import Bins, draw_mixture
from isdp.exact.overlapping.klein import (
    exp_or_inf,
    gram_schmidt,
    log_masses,
    log_sum_lower_bound,
    refuse_wide,
)
from isdp.exact.rounding_error import UNIT_ROUNDOFF, coefficient_error, frame_error
from isdp.exact.sampler import (
    MAX_PROPOSALS,
    refuse_expected_proposals,
    refuse_lower_bounds,
    refuse_many_cells,
)
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, check_energy

BINS_PER_UNIT = 100  # bins per unit of epsilon sigma
NUMBERS_AT_ONCE = 10**6  # some tenths of a second between two reports of progress
MAX_PROPOSAL_FACTOR = 100  # a draw exceeds 100 times the limit with a probability below e^-100


class MixtureSampler:
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_2).

    Sigma comes from bins of equal width. Its density is at most exp(-(epsilon g)^2 / 2) at a bin's
    left end g times prod_i m(s_i, 0) at the right end, as m grows with s; proposals are thinned to
    the density itself. The last bin ends at (sqrt(d + 1) + 12) / epsilon. Because m(s, 0) / s
    decreases with s, epsilon sigma is stochastically smaller than a chi variable with d + 1 degrees
    of freedom, so that the probability left out is below exp(-72). By Poisson's formula the same
    holds for the lattice's sum in place of the product.

    Parameters
    ----------
    invariants : Invariants
        Every draw u satisfies A u = 0.
    target : Mechanism
        Its weight is exp(-rate ||u||_2), as for `GeneralizedLaplace` with norm "l2".
    max_proposals : float
        Largest accepted bound on the expected proposals per draw.

    Attributes
    ----------
    expected_proposals : float
        Upper bound on the expected runs of Klein's algorithm per draw. It stays near one in any
        dimension unless the noise is about as large as the lattice's spacing.
    error : float
        Bound on the total variation distance between the distribution of a draw and the target,
        rounding and truncation together.

    Raises
    ------
    InputError
        If the weight has another form, the bound exceeds `max_proposals`, or noise exceeds the
        integers that a double represents exactly.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> sampler = MixtureSampler(Invariants.total(3), GeneralizedLaplace(0.5, "l2"))
    >>> noise = sampler.sample(np.random.default_rng(1), n_draws=5)
    >>> noise.shape, int(abs(noise.sum(axis=-1)).max())
    ((5, 3), 0)
    """

    method = "mixture"

    reason = "the norm is l2"

    def __init__(
        self,
        invariants: Invariants,
        target: Mechanism,
        lower=None,
        max_proposals: float = MAX_PROPOSALS,
    ):
        refuse_lower_bounds(self.method, lower)
        check_energy(self.method, target, [(2, True)])
        refuse_many_cells(invariants.cells)
        self.invariants, self.max_proposals = invariants, max_proposals
        self.epsilon = epsilon = target.energy.rate
        self.frame = gram_schmidt(invariants)
        d = len(self.frame.lengths)
        top = math.sqrt(d + 1) + 12
        if not 1e-150 < epsilon < 1e150:
            raise InputError(f"mixture: epsilon {epsilon:g} is outside the range 1e-150 to 1e150")
        refuse_wide(self.frame, top / epsilon)
        ends = np.linspace(0.0, top / epsilon, math.ceil(BINS_PER_UNIT * top) + 1)
        left, right = ends[:-1], ends[1:]
        log_products = log_masses(right[:, None] / self.frame.lengths, 0.0).sum(axis=1)
        log_bound = log_products - (epsilon * left) ** 2 / 2
        weights = np.exp(log_bound - log_bound.max())
        self.bins = Bins(left, left[1], log_products, np.cumsum(weights) / weights.sum())
        log_sums = np.zeros(len(right))
        log_sums[1:] = log_sum_lower_bound(self.frame.lengths, left[1:])
        log_least = log_sums - (epsilon * right) ** 2 / 2
        self.expected_proposals = exp_or_inf(
            float(np.logaddexp.reduce(log_bound) - np.logaddexp.reduce(log_least))
        )
        refuse_expected_proposals(
            self.expected_proposals, max_proposals, "l2 generalized Laplace", d
        )
        self.error = self._error(top)

    def _error(self, top: float) -> float:
        """Bound truncation and rounding, of the draw of sigma and of Klein's algorithm.

        Each bin has its own cut. The logarithm of a weight is a sum of the size of the largest one.
        """
        largest = float(np.abs(self.bins.log_products).max(initial=0.0)) + top**2
        sigma = (12 * len(self.bins.left) + 6 * largest + 50) * UNIT_ROUNDOFF
        one_proposal = sigma + coefficient_error(top / self.epsilon / self.frame.lengths)
        return math.exp(-72) + frame_error(self.frame) + self.expected_proposals * one_proposal

    def sample(self, rng: np.random.Generator, n_draws: int) -> np.ndarray:
        """Draw noise.

        Returns
        -------
        int64 array, shape (n_draws, cells)
            Independent; every draw meets the invariants exactly.

        Raises
        ------
        InputError
            If one draw takes 100 times `max_proposals`.
        """
        kept = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        longest = int(min(MAX_PROPOSAL_FACTOR * self.max_proposals, 2.0**62))
        numbers = max(self.expected_proposals, 1.0) * self.invariants.cells
        rows = max(1, int(NUMBERS_AT_ONCE / numbers))
        for first in tracked("drawing noise", range(0, len(kept), rows)):
            part = kept[first : first + rows]
            if draw_mixture(rng, self.frame, self.epsilon, self.bins, longest, part) < 0:
                raise InputError(
                    f"exact: a draw was not accepted in {MAX_PROPOSAL_FACTOR} times the limit of "
                    f"proposals; use a Markov chain (isdp.mcmc.draw_chains)"
                )
        self.invariants.check(kept)
        return kept
