"""Exact draws of generalized Laplace noise under the l2 norm, as Gaussian noise of a random sigma.

exp(-epsilon r) is the mean of exp(-r^2 / (2 sigma^2)) over sigma = |N(0, 1)| / epsilon (the
Laplace law as a scale mixture of Gaussians: Andrews and Mallows 1974). Noise is therefore Gaussian
noise of a random sigma, whose density is proportional to exp(-(epsilon sigma)^2 / 2) times the sum
of exp(-||u||^2 / (2 sigma^2)) over the lattice. Klein's sampler bounds that sum by prod_i m(s_i, 0)
(`isdp.exact.overlapping.klein`): sigma is drawn with the bound in place of the sum, and Klein's
rejection makes up for the difference.

Noise is a whole combination of basis vectors; floating-point numbers decide only which. The
generator is a pseudo-random one: for experiments, not for the release of confidential data.
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
from isdp.exact.rounding_error import UNIT, coefficient_error, frame_error
from isdp.exact.sampler import (
    MAX_PROPOSALS,
    refuse_expected_proposals,
    refuse_lower_bounds,
    refuse_many_cells,
)
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, check_energy

BINS_PER_UNIT = 100  # of epsilon sigma
NUMBERS_AT_ONCE = 10**6  # some tenths of a second, between which progress shows
MAX_PROPOSAL_FACTOR = 100  # a draw that takes so many times the limit has a chance below e^-100


class MixtureSampler:
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_2).

    Sigma comes from bins of equal width. Its density is at most exp(-(epsilon g)^2 / 2) at a bin's
    left end g times prod_i m(s_i, 0) at the right end, as m grows with s; a try that survives is
    thinned to the density itself. The last bin ends at (sqrt(d + 1) + 12) / epsilon. Because
    m(s, 0) / s falls with s, epsilon sigma is stochastically smaller than a chi variable with d + 1
    degrees of freedom, so that a chance below exp(-72) is left out; the same holds of the lattice's
    sum in the place of the product, by Poisson's formula.

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    target : Mechanism
        Of weight exp(-rate ||u||_2), such as `GeneralizedLaplace` with norm "l2".
    max_proposals : float
        Refuse if the bound on the expected tries a draw is larger.

    Attributes
    ----------
    expected_proposals : float
        Upper bound on the expected starts of Klein's sampler a draw. It stays near one in any
        dimension unless the noise is about as large as the lattice's spacing.
    error : float
        Bound on the total variation distance between a draw's law and the law asked for, rounding
        and truncation together.

    Raises
    ------
    InputError
        For another law, a bound beyond `max_proposals`, or noise beyond the integers that a double
        holds.

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
            raise InputError(f"mixture: epsilon {epsilon:g} is beyond what doubles can square")
        refuse_wide(self.frame, top / epsilon)
        ends = np.linspace(0.0, top / epsilon, math.ceil(BINS_PER_UNIT * top) + 1)
        left, right = ends[:-1], ends[1:]
        log_products = log_masses(right[:, None] / self.frame.lengths, 0.0).sum(axis=1)
        log_bound = log_products - (epsilon * left) ** 2 / 2
        weights = np.exp(log_bound - log_bound.max())
        self.bins = Bins(left, left[1], log_products, np.cumsum(weights) / weights.sum())
        floor = np.zeros(len(right))
        floor[1:] = log_sum_lower_bound(self.frame.lengths, left[1:])
        log_least = floor - (epsilon * right) ** 2 / 2
        self.expected_proposals = exp_or_inf(
            float(np.logaddexp.reduce(log_bound) - np.logaddexp.reduce(log_least))
        )
        refuse_expected_proposals(
            self.expected_proposals, max_proposals, "l2 generalized Laplace", d
        )
        self.error = self._error(top)

    def _error(self, top: float) -> float:
        """Windows and rounding: the choice of sigma, and Klein's sampler at the largest of all.

        Each bin has a cut of its own, and logarithms of weights are sums as large as the largest.
        """
        largest = float(np.abs(self.bins.log_products).max(initial=0.0)) + top**2
        sigma = (12 * len(self.bins.left) + 6 * largest + 50) * UNIT
        a_try = sigma + coefficient_error(top / self.epsilon / self.frame.lengths)
        return math.exp(-72) + frame_error(self.frame) + self.expected_proposals * a_try

    def sample(self, rng: np.random.Generator, n_draws: int) -> np.ndarray:
        """Draw noise.

        Returns
        -------
        int64 array, shape (n_draws, cells)
            Independent; every draw meets the invariants exactly.

        Raises
        ------
        InputError
            If `n_draws` is no count, or one draw takes 100 times `max_proposals`.
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
                    f"proposals; use a Markov chain (isdp.mcmc.sample)"
                )
        self.invariants.check(kept)
        return kept
