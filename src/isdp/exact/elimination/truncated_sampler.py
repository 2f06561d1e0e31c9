"""Draws by variable elimination, from distributions that are products over cells given A u = 0.

The target P(u) is proportional to the product of w_i(u_i) over the integer vectors with A u = 0.
Cells are merged pairwise (`isdp.exact.elimination.tree`). The message of a set of cells is the
total weight of its noise, as a function of the sums that the set shares with the other cells (its
frontier). A draw goes back down the tree and splits sums until single cells are left. This is
forward filtering and backward sampling, or junction-tree sampling, on a binary tree.

For a frontier of q sums, truncation windows hold about epsilon^-q states. Wide windows are
convolved (`isdp.exact.elimination.convolution`), in time epsilon^-q log(1/epsilon). A draw takes at
most epsilon^-q.

The distribution is approximate for three reasons: partial sums are truncated to windows, weights
are rounded to double precision, and convolutions have errors relative to the largest weight. The
errors are bounded in total variation distance. The generator is a pseudo-random one: the sampler is
for experiments, not for the release of confidential data.
"""

from __future__ import annotations

import math

import numpy as np

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.candidate_trees import CandidateTrees
from isdp.exact.elimination.cell_bounds import cell_bound, refuse_infeasible
from isdp.exact.elimination.compiled_messages import Split, draw_splits, sum_splits
from isdp.exact.elimination.convolution import convolve
from isdp.exact.elimination.memory_forecast import min_message_bytes
from isdp.exact.elimination.tree import EliminationForest, Node
from isdp.exact.elimination.truncation import (
    TruncationPlan,
    box_size,
    max_splits,
    plan_truncation,
    sum_messages,
    track_nodes,
    truncation_factor,
)
from isdp.exact.sampler import refuse_many_cells
from isdp.io.progress import tracked
from isdp.mechanisms.base import Mechanism, check_energy

MAX_CONVOLUTION_ERROR = 1e-9  # in total variation; above it, splits are summed term by term
MIN_TOTAL_WEIGHT = 1e-250  # smaller sums may have underflowed
MAX_BYTES, MAX_PRODUCTS = 2e9, 1e11  # the products take minutes
DRAWS_AT_ONCE = 100_000
LOG_ROUGH_TRUNCATION = math.log(1e-3)
PRODUCT_ENERGIES = ((1, False), (2, False))  # energies whose weight is a product over cells
MIN_LOG_PROBABILITY = -2000.0  # of the bounds, in double precision


class TruncatedEliminationSampler:
    """Draws from P(u) proportional to a product over cells, on {u : A u = 0}, within bounds.

    Parameters
    ----------
    invariants : Invariants
        Any integer entries, of any rank.
    mechanism : Mechanism
        Its weight is a product over cells, as for `GeneralizedLaplace` with the l1 norm, or
        `GeneralizedGaussian`.
    lower : int array, shape (cells,), or int, optional
        Smallest noise of each cell. ``lower=-counts`` conditions on a release without negative
        counts. That distribution differs from the mechanism's and has another privacy guarantee.
    left_out : float
        Largest probability outside the truncation windows.
    max_products : float
        Largest number of multiplications for the messages; 1e11 take minutes.

    Attributes
    ----------
    error, left_out : float
        Bound on the total variation distance between the distribution of a draw and the target: the
        sum of `truncation` and `rounding`.
    bytes : int
        Memory of the messages, with that of the largest convolution.
    dimension : int
        Degrees of freedom of the noise.
    log_normaliser : float
        Log of the sum, over all feasible u within the bounds, of exp(log weight of u).

    Raises
    ------
    InputError
        If the weight is not a product over cells, the bounds exclude all noise, or the messages
        would take more than 2 GB or too many products.

    Notes
    -----
    Truncation windows without bounds on the noise. For l1, epsilon^d Z(epsilon) increases with
    epsilon, with Z the normaliser and d the dimension: write the weight as a mixture of Gaussians
    of random variances and use Poisson's summation formula. So the norm's moment generating
    function is at most that of Gamma(d, epsilon), and Chernoff's bound gives a norm N that is
    exceeded with a probability of at most `left_out`. A partial sum equal to sum c_i u_i is then at
    most max |c_i| N, with the best c found by linear programming. For the Gaussian, E exp(c . u) <=
    exp(sigma^2 |c|^2 / 2) on any lattice (Banaszczyk 1993), with c projected onto the lattice's
    span.

    With bounds, the weight left out is at most that without bounds. So the bound on the probability
    grows by the ratio of the two normalisers, which are both computed. The windows are widened
    until `left_out` is met.

    Errors of convolutions. They are relative to the largest weight of a message, not to each. A
    state is split in proportion to the products of its parts' weights, which are summed again where
    its message is convolved. So a draw u of a tree has the probability mu'(u) / Z', where mu'(u) is
    the product of the cells' weights and of 1 + e(x) / M(x) over all unions but the root. M(x) is
    the sum of the products at the state x, e(x) the convolution's error, and Z' the sum of mu'.
    With mu and Z the same without errors, the distance is at most sum |mu' - mu| / Z. At a state x
    a union adds at most |e(x)| and the sum over its splits of E1 M2 + M1 E2 + E1 E2 to this sum,
    with E1 and E2 the bounds of its parts. In each product one factor is bounded by its maximum.
    The other is summed over all states, each of which is in at most one split, or over as many
    maxima as there are splits, if that is less. Above 1e-9, which bounds on the noise may cause,
    all messages are summed term by term.

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
        lower=None,
        *,
        left_out: float = 1e-12,
        max_products: float = MAX_PRODUCTS,
    ):
        energy = check_energy("messages", mechanism, PRODUCT_ENERGIES)
        refuse_many_cells(invariants.cells)
        if not 0 < left_out < 1:
            raise InputError(f"exact: left_out must lie between 0 and 1, got {left_out!r}")
        self.invariants, self.mechanism = invariants, mechanism
        self._power, self._rate = energy.power, energy.rate
        self._most_products = max_products
        self._lower = cell_bound(lower, invariants.cells)
        bounded = np.isfinite(self._lower).any()
        if bounded:
            refuse_infeasible(invariants, self._lower)
        log_left_out = math.log(left_out)
        log_first = LOG_ROUGH_TRUNCATION if bounded else log_left_out  # see `_widen`
        least, sums = min_message_bytes(invariants, energy.power, energy.rate, log_first)
        self._refuse_memory(least, "at least ", f"at least {sums}")
        _, kinds = np.unique(self._lower, return_inverse=True)
        self._candidates = CandidateTrees(invariants, energy.power, kinds)
        if bounded:
            log_left_out = self._widen(log_left_out)
        else:
            self._fill(log_left_out, self._lower)
        if self.log_normaliser == -math.inf:
            raise InputError(
                "exact: the invariants hold with a probability too small for double precision; "
                "use the MCMC sampler (isdp.mcmc.metropolis)"
            )
        self.truncation = math.exp(log_left_out)
        self.rounding = self._plan.rounding + self._convolved
        self.left_out = self.error = self.truncation + self.rounding
        self.dimension, self.bytes = self._forest.dimension, self._plan.bytes

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Size of the frontier of each merged set of cells; the largest decides the memory."""
        open_sums = (
            node.given.shape[1] for tree in self._forest.trees for node in tree if node.cell < 0
        )
        return tuple(dimension for dimension in open_sums if dimension)

    # -- set-up -------------------------------------------------------------------------------

    def _widen(self, log_wanted: float) -> float:
        """Choose windows for noise with bounds; return the log of the probability left out."""
        unbounded = np.full(self.invariants.cells, -math.inf)
        # narrow windows bound both normalisers well enough at a fraction of the cost
        self._fill(LOG_ROUGH_TRUNCATION, unbounded)
        log_free = self.log_normaliser - math.log1p(-math.exp(LOG_ROUGH_TRUNCATION))
        log_window = LOG_ROUGH_TRUNCATION
        while log_window > MIN_LOG_PROBABILITY:
            self._fill(log_window, self._lower)
            log_left_out = log_window + log_free - self.log_normaliser
            if log_left_out <= log_wanted:
                return log_left_out
            short = log_left_out - log_wanted if math.isfinite(log_left_out) else 40.0
            log_window -= short + 0.01
        raise InputError(
            "exact: noise above lower is too improbable for double precision; use smaller bounds"
        )

    def _fill(self, log_left_out: float, lower: np.ndarray) -> None:
        """Compute the messages, without convolutions if their error bound is too large."""
        form = (self._power, self._rate)

        def plan_of(forest: EliminationForest, convolve: bool) -> TruncationPlan:
            coordinates = sum(len(node.scale) for tree in forest.trees for node in tree)
            factor = truncation_factor(*form, forest.dimension, coordinates, log_left_out)
            return plan_truncation(forest, *form, factor, lower, convolve)

        for allowed in (True, False):
            self._messages = {}
            chosen = self._candidates.cheapest(plan_of, MAX_BYTES, allowed)
            self._forest, self._plan = chosen
            self._refuse_cost(self._plan.bytes, self._plan.products)
            self._add_up(lower)
            if self._convolved <= MAX_CONVOLUTION_ERROR:
                return

    def _add_up(self, lower: np.ndarray) -> None:
        """Compute the messages, the normaliser and the error bound of the convolutions."""
        plan = self._plan
        log_normaliser, self._convolved = 0.0, 0.0
        errors: dict[int, float] = {}
        trees = zip(
            self._forest.trees, plan.half_widths, plan.splits, plan.message_ids, strict=True
        )
        for number_of_tree, (tree, half_widths, splits, message_ids) in enumerate(trees):
            nodes = list(zip(tree, half_widths, splits, message_ids, strict=True))
            for (node, half, split, number), at in track_nodes(plan, number_of_tree, nodes):
                log_scale, error = 0.0, 0.0
                if node.cell >= 0:
                    message, log_scale = self._weights(node, half, lower)
                elif number not in self._messages:
                    one, two = message_ids[node.left], message_ids[node.right]
                    left, right = self._messages[one], self._messages[two]
                    if number in plan.convolutions:
                        message, excess = convolve(plan.convolutions[number], split, left, right)
                        # above this threshold at least one split has a positive weight
                        message[message < 2 * excess] = 0.0
                        error = 2.1 * excess
                    else:
                        message = np.empty(box_size(half))
                        sum_messages(split, left, right, message, at)
                    ways = min(math.prod(max_splits(split)), len(left), len(right))
                    over_left, over_right = (
                        1.01 * min(float(part.sum()), ways * float(part.max()))
                        for part in (left, right)
                    )
                    error += errors[one] * over_right + over_left * errors[two]
                    error += ways * errors[one] * errors[two]
                if number not in self._messages:
                    self._messages[number], errors[number] = message, error
                log_normaliser += log_scale
            total, error = float(self._messages[message_ids[-1]].sum()), errors[message_ids[-1]]
            log_normaliser += math.log(total) if total > MIN_TOTAL_WEIGHT else -math.inf
            if error:
                self._convolved += 1.01 * error / (total - error) if total > error else math.inf
        self.log_normaliser = log_normaliser

    def _weights(self, node: Node, half, lower) -> tuple[np.ndarray, float]:
        """Return the weights of a cell's noise, scaled to sum 1, and the log of the scale."""
        noise = node.gap * np.arange(-half[0], half[0] + 1)
        weights = np.exp(-self._rate * np.abs(noise).astype(float) ** self._power)
        weights[noise < lower[node.cell]] = 0.0
        total = weights.sum()
        if total == 0:
            return weights, 0.0
        return weights / total, math.log(total)

    def _refuse_cost(self, used: int, products: float) -> None:
        sums = f"up to {max(self.dimensions, default=0)}"
        self._refuse_memory(used, "", sums)
        if products > self._most_products:
            raise InputError(
                f"exact: the messages would take up to {products:.1e} products, more than "
                f"{self._most_products:.0e} {_advice(sums)}"
            )

    def _refuse_memory(self, used: float, least: str, sums: str) -> None:
        if used > MAX_BYTES:
            raise InputError(
                f"exact: the messages would take {least}{used / 1e9:.3g} GB, more than "
                f"{MAX_BYTES / 1e9:.3g} GB {_advice(sums)}"
            )

    # -- use ----------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator, n_draws: int) -> np.ndarray:
        """Draw independent noise vectors.

        Returns
        -------
        int64 array, shape (n_draws, cells)
            Checked: every draw meets the invariants exactly.

        Raises
        ------
        InputError
            If `n_draws` is not an integer of 0 or more.
        """
        noise = np.zeros(
            (check_integer("exact", "n_draws", n_draws), self.invariants.cells), dtype=np.int64
        )
        for start in tracked("drawing noise", range(0, len(noise), DRAWS_AT_ONCE)):
            for tree in range(len(self._forest.trees)):
                self._sample_tree(rng, tree, noise[start : start + DRAWS_AT_ONCE])
        self.invariants.check(noise)
        return noise

    def _sample_tree(self, rng: np.random.Generator, tree: int, noise: np.ndarray) -> None:
        nodes, half_widths = self._forest.trees[tree], self._plan.half_widths[tree]
        message = [self._messages[number] for number in self._plan.message_ids[tree]]
        states = {len(nodes) - 1: np.zeros(len(noise), np.int64)}
        if nodes[-1].cell >= 0:  # a free cell in a tree of its own
            totals = np.cumsum(message[-1])
            states[len(nodes) - 1] = _invert(totals, rng.random(len(noise)))
        for place in range(len(nodes) - 1, -1, -1):
            node, state = nodes[place], states.pop(place)
            if node.cell >= 0:
                noise[:, node.cell] = node.gap * (state - half_widths[place][0])
                continue
            left, right = message[node.left], message[node.right]
            split = self._plan.splits[tree][place]
            if self._plan.message_ids[tree][place] in self._plan.convolutions:
                weights = _weights_of(split, left, right, state)
            else:
                weights = message[place][state]
            targets = rng.random(len(noise)) * weights
            order = np.lexsort((targets, state))
            parts = np.empty((2, len(noise)), np.int64)
            draw_splits(split, left, right, state[order], targets[order], parts[0], parts[1])
            for part, drawn in zip((node.left, node.right), parts, strict=True):
                states[part] = np.empty(len(noise), np.int64)
                states[part][order] = drawn


def _weights_of(split: Split, left, right, states: np.ndarray) -> np.ndarray:
    """Sum the splits of given states exactly, as a convolution is only approximate."""
    distinct, which = np.unique(states, return_inverse=True)
    weights = np.empty(len(distinct))
    sum_splits(split, left, right, distinct, weights)
    return weights[which]


def _advice(sums: str) -> str:
    return f"({sums} sums in the frontier); use isdp.mcmc.draw_chains or less noise"


def _invert(totals: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw positions by inversion of cumulative weights; never one of weight zero."""
    last = np.searchsorted(totals, totals[-1])
    return np.minimum(np.searchsorted(totals, uniform * totals[-1], side="right"), last)
