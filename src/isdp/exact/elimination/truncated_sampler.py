"""Draws by variable elimination from distributions that are products over cells given A u = 0.

The target P(u) is proportional to the product of the weights w_i(u_i) over the integer vectors u
with A u = 0. Cells are merged pairwise (`isdp.exact.elimination.tree`). The frontier of a set of
cells is the vector of sums that it shares with the other cells. The message of the set is the total
weight of its noise as a function of the frontier. A draw begins at the root of the tree and splits
sums until single cells are left. The algorithm is junction-tree sampling on a binary tree (forward
filtering and backward sampling).

Each sum of a frontier is truncated to an interval, its truncation window. The windows of q sums
contain about epsilon^-q states. Messages of wide windows are convolved
(`isdp.exact.elimination.convolution`) in time epsilon^-q log(1/epsilon). The time of a draw is at
most of the order epsilon^-q.

The distribution is approximate for three reasons. Partial sums are truncated to windows, weights
are rounded to double precision, and the errors of convolutions are relative to the maximum weight.
The errors are bounded in total variation distance. The random bits are pseudo-random, so that the
sampler is for experiments only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray, IntArray
from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.candidate_trees import CandidateTrees
from isdp.exact.elimination.compiled_messages import Split, draw_splits, sum_splits
from isdp.exact.elimination.memory_forecast import min_message_bytes, refuse_memory, refuse_plan
from isdp.exact.elimination.tree import EliminationForest, Node
from isdp.exact.elimination.truncation import (
    MAX_PRODUCTS,
    PlannedNode,
    TruncationPlan,
    max_splits,
    plan_truncation,
    track_nodes,
    truncation_factor,
    union_message,
)
from isdp.exact.sampler import USE_CHAIN, cell_bound, refuse_infeasible, refuse_many_cells
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, check_energy

MAX_CONVOLUTION_ERROR = 1e-9  # total variation distance
MIN_TOTAL_WEIGHT = 1e-250  # smaller sums may have underflowed
DRAWS_AT_ONCE = 100_000
LOG_ROUGH_TRUNCATION = math.log(1e-3)
PRODUCT_ENERGIES = ((1, False), (2, False))  # energies whose weight is a product over cells
MIN_LOG_PROBABILITY = -2000.0  # smaller probabilities of the lower bounds may underflow


class TruncatedEliminationSampler:
    """Draws from P(u) proportional to a product over cells, for A u = 0 and u >= lower.

    Parameters
    ----------
    invariants : Invariants
        The matrix A, of any integers and any rank.
    mechanism : Mechanism
        Its weight must be a product over cells, as for `GeneralizedLaplace` with the l1 norm and
        for `GeneralizedGaussian`.
    lower : int array, shape (cells,), or int, optional
        The lower bound on the noise of each cell. The bound ``-counts`` conditions on a release
        without negative counts, which has another privacy guarantee than the mechanism.
    left_out : float
        The maximum probability outside the truncation windows.
    max_products : float
        The maximum number of multiplications for the messages. The default number takes minutes.

    Attributes
    ----------
    error : float
        A bound on the total variation distance between the distribution of a draw and the target.
        The bound includes truncation and rounding.
    bytes : int
        The memory of the messages and of the largest convolution.
    dimension : int
        The degrees of freedom of the noise.
    log_normaliser : float
        The logarithm of the total weight of all u with A u = 0 and u >= lower.

    Raises
    ------
    InputError
        If the weight is not a product over cells, or the bounds exclude all noise. The error is
        also raised if the messages need more than 2 GB or too many products.

    Notes
    -----
    *Truncation windows without lower bounds.* Let Z(epsilon) be the normaliser and d the dimension.
    For l1 noise, epsilon^d Z(epsilon) increases with epsilon. The proof writes the weight as a
    mixture of Gaussians with random variances and uses Poisson's summation formula. The moment
    generating function of the norm is therefore at most that of Gamma(d, epsilon). Chernoff's bound
    gives a norm N that is exceeded with a probability of at most `left_out`. A partial sum equal to
    sum c_i u_i is then at most max |c_i| N, and linear programming finds the best c. For Gaussian
    noise, E exp(c . u) <= exp(sigma^2 |c|^2 / 2) on any lattice, for c projected onto the span of
    the lattice (Banaszczyk 1993).

    *Truncation windows with lower bounds.* The weight outside the windows is at most that without
    lower bounds. The bound on the probability outside is therefore multiplied by the ratio of the
    two normalisers, which are both computed. The windows are widened until the bound is below
    `left_out`.

    *Errors of convolutions.* These errors are relative to the maximum weight of a message. A state
    is split in proportion to the products of its parts' weights, which are summed again if its
    message is a convolution. A draw u of a tree has the probability mu'(u) / Z'. Here mu'(u) is the
    product of the cells' weights and of 1 + e(x) / M(x) over all unions except the root. M(x) is
    the sum of the products at the state x, e(x) is the error of the convolution, and Z' is the sum
    of mu'. Let mu and Z be the same quantities without errors. The distance is at most sum |mu' -
    mu| / Z.

    Let E1 and E2 be the bounds of the errors of a union's parts. At a state x, the union adds two
    terms to this sum. The first term is at most |e(x)|. The second term is at most the sum of E1 M2
    + M1 E2 + E1 E2 over the splits of x. One factor of each product is bounded by its maximum. The
    other factor is summed over all states, each of which is in at most one split. If the number of
    splits times the maximum is smaller, this product replaces the sum. If the bound is above 1e-9,
    all messages are summed term by term. Lower bounds on the noise can have this effect.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace, Invariants
    >>> sampler = TruncatedEliminationSampler(Invariants.margins((3, 3)), GeneralizedLaplace(0.5))
    >>> noise = sampler.sample(np.random.default_rng(1), 10)
    >>> noise.shape, int(abs(noise.reshape(10, 3, 3).sum(axis=1)).max())
    ((10, 9), 0)
    """

    method = "messages"
    reason = "the noise is bounded, and its weight is a product over cells"

    def __init__(
        self,
        invariants: Invariants,
        mechanism: Mechanism,
        lower: ArrayLike | None = None,
        *,
        left_out: float = 1e-12,
        max_products: float = MAX_PRODUCTS,
    ):
        energy = check_energy("messages", mechanism, PRODUCT_ENERGIES)
        refuse_many_cells(invariants.cells)
        if not 0 < left_out < 1:
            raise InputError(f"left_out: must lie between 0 and 1, got {left_out!r}")
        self.invariants, self._max_products = invariants, max_products
        self._power, self._rate = energy.power, float(energy.rate)
        self._lower = cell_bound(lower, invariants.cells)
        bounded = np.isfinite(self._lower).any()
        if bounded:
            refuse_infeasible(invariants, self._lower)
        log_left_out = math.log(left_out)
        log_first = LOG_ROUGH_TRUNCATION if bounded else log_left_out  # see `_widen`
        refuse_memory(*min_message_bytes(invariants, self._power, self._rate, log_first))
        _, order = np.unique(self._lower, return_inverse=True)
        self._candidates = CandidateTrees(invariants, self._power, order)
        if bounded:
            log_left_out = self._widen(log_left_out)
        else:
            self._fill(log_left_out, self._lower)
        if self.log_normaliser == -math.inf:
            raise InputError(
                f"exact: the probability that the invariants hold is too small for double "
                f"precision. {USE_CHAIN}"
            )
        self.error = math.exp(log_left_out) + self._plan.rounding + self._convolved
        self.dimension, self.bytes = self._forest.dimension, self._plan.bytes

    @property
    def dimensions(self) -> list[int]:
        """The dimension of the frontier of each union."""
        return [
            node.given.shape[1] for tree in self._forest.trees for node in tree if node.right >= 0
        ]

    def _widen(self, log_wanted: float) -> float:
        """Choose windows for bounded noise, and return the log of the bound on truncation."""
        unbounded = np.full(self.invariants.cells, -math.inf)
        # narrow windows are faster and give sufficient bounds on both normalisers
        self._fill(LOG_ROUGH_TRUNCATION, unbounded)
        log_free = self.log_normaliser - math.log1p(-math.exp(LOG_ROUGH_TRUNCATION))
        log_window = LOG_ROUGH_TRUNCATION
        while log_window > MIN_LOG_PROBABILITY:
            self._fill(log_window, self._lower)
            log_left_out = log_window + log_free - self.log_normaliser
            if log_left_out <= log_wanted:
                return log_left_out
            missing = log_left_out - log_wanted if math.isfinite(log_left_out) else 40.0
            log_window -= missing + 0.01
        raise InputError(
            "lower: the probability of noise above these bounds is too small for double precision. "
            "Use smaller bounds."
        )

    def _fill(self, log_left_out: float, lower: FloatArray) -> None:
        """Compute the messages. Convolutions are used if their error bound is at most 1e-9."""
        form = (self._power, self._rate)

        def plan_of(forest: EliminationForest, convolve: bool) -> TruncationPlan:
            coordinates = sum(len(node.scale) for tree in forest.trees for node in tree)
            factor = truncation_factor(*form, forest.dimension, coordinates, log_left_out)
            return plan_truncation(forest, *form, factor, lower, convolve)

        for allowed in (True, False):
            self._forest, self._plan = self._candidates.cheapest(plan_of, allowed)
            refuse_plan(self._plan, self._max_products)
            self._compute_messages(lower)
            if self._convolved <= MAX_CONVOLUTION_ERROR:
                return

    def _compute_messages(self, lower: FloatArray) -> None:
        """Compute the messages, the normaliser and the error bound of the convolutions."""
        plan = self._plan
        log_normaliser, self._convolved = 0.0, 0.0
        self._messages: dict[int, FloatArray] = {}
        errors: dict[int, float] = {}
        for tree in plan.trees:
            for (node, half, split, number), report in track_nodes(plan, tree):
                log_scale, error = 0.0, 0.0
                if split is None:
                    message, log_scale = self._weights(node, half, lower)
                elif number not in self._messages:
                    one, two = tree[node.left].message, tree[node.right].message
                    left, right = self._messages[one], self._messages[two]
                    message, excess = union_message(plan, number, split, left, right, report)
                    # larger entries belong to states that have a split of positive weight
                    message[message < 2 * excess] = 0.0
                    error = 2.1 * excess
                    n_splits = min(math.prod(max_splits(split)), len(left), len(right))
                    sum_left, sum_right = (
                        1.01 * min(float(part.sum()), n_splits * float(part.max()))
                        for part in (left, right)
                    )
                    error += errors[one] * sum_right + sum_left * errors[two]
                    error += n_splits * errors[one] * errors[two]
                if number not in self._messages:
                    self._messages[number], errors[number] = message, error
                log_normaliser += log_scale
            root = tree[-1].message
            total, error = float(self._messages[root].sum()), errors[root]
            log_normaliser += math.log(total) if total > MIN_TOTAL_WEIGHT else -math.inf
            if error:
                self._convolved += 1.01 * error / (total - error) if total > error else math.inf
        self.log_normaliser = log_normaliser

    def _weights(self, node: Node, half: IntArray, lower: FloatArray) -> tuple[FloatArray, float]:
        """Compute the weights of a cell's noise, scaled to sum 1, and the log of their sum."""
        noise = node.gap * np.arange(-half[0], half[0] + 1)
        weights = np.exp(-self._rate * np.abs(noise).astype(float) ** self._power)
        weights[noise < lower[node.cell]] = 0.0
        total = weights.sum()
        if total == 0:
            return weights, 0.0
        return weights / total, math.log(total)

    def sample(self, rng: np.random.Generator, n_draws: int) -> IntArray:
        """Draw independent noise vectors, int64 (n_draws, cells), and check the invariants."""
        noise = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        for start in tracked("drawing noise", range(0, len(noise), DRAWS_AT_ONCE)):
            for tree in self._plan.trees:
                self._sample_tree(rng, tree, noise[start : start + DRAWS_AT_ONCE])
        self.invariants.check(noise)
        return noise

    def _sample_tree(
        self, rng: np.random.Generator, tree: list[PlannedNode], noise: IntArray
    ) -> None:
        messages = [self._messages[planned.message] for planned in tree]
        states = {len(tree) - 1: np.zeros(len(noise), np.int64)}
        if tree[-1].split is None:  # the tree is one free cell
            totals = np.cumsum(messages[-1])
            states[len(tree) - 1] = _invert(totals, rng.random(len(noise)))
        for place in range(len(tree) - 1, -1, -1):
            node, half, split, number = tree[place]
            state = states.pop(place)
            if split is None:
                noise[:, node.cell] = node.gap * (state - half[0])
                continue
            left, right = messages[node.left], messages[node.right]
            if number in self._plan.convolutions:
                weights = _weights_of(split, left, right, state)
            else:
                weights = messages[place][state]
            targets = rng.random(len(noise)) * weights
            order = np.lexsort((targets, state))
            parts = np.empty((2, len(noise)), np.int64)
            draw_splits(split, left, right, state[order], targets[order], parts[0], parts[1])
            for part, drawn in zip((node.left, node.right), parts, strict=True):
                states[part] = np.empty(len(noise), np.int64)
                states[part][order] = drawn


def _weights_of(split: Split, left: FloatArray, right: FloatArray, states: IntArray) -> FloatArray:
    """Sum the splits of the given states, because a convolution is only approximate."""
    distinct, which = np.unique(states, return_inverse=True)
    weights = np.empty(len(distinct))
    sum_splits(split, left, right, distinct, weights)
    return np.asarray(weights[which])


def _invert(totals: FloatArray, uniform: FloatArray) -> IntArray:
    """Draw positions of positive weight by inversion of the cumulative weights."""
    last = np.searchsorted(totals, totals[-1])
    return np.asarray(np.minimum(totals.searchsorted(uniform * totals[-1], side="right"), last))
