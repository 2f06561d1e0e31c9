"""Exact l1 noise under overlapping totals, by variable elimination with rejection.

Messages in double precision, truncated to windows, define a proposal distribution Q near the
target. Each split is drawn with an integer number of units of 2^-63. In spite of rounding, Q(u) is
therefore a rational number that is known exactly. Rejection then makes the distribution exact. Let
g(u) = exp(-epsilon ||u||_1), and let exp(L) be slightly above the sum of g over the lattice.

- A proposal u from Q is accepted with probability exp(-L) g(u) / Q(u) if ||u||_1 <= N.
- A proposal u from R is accepted with probability w exp(-L) g(u) / R(u) if ||u||_1 > N. R draws d
  free cells as independent discrete Laplace variables at the smaller rate theta epsilon. Then g(u)
  / R(u) is at most exp(-(1 - theta) epsilon N) / tanh(theta epsilon / 2)^d. If N is large, this
  bound is small, and proposals from R can be w times rarer than proposals from Q.

Every u is therefore drawn with a probability proportional to g(u). Acceptances are exact Bernoulli
draws. Acceptance probabilities are at most 1 within the ball, because Q(u) telescopes. The message
of each inner set occurs in one numerator and in one denominator and cancels. The proof requires
that each message is at least the sum of its splits, which is also true of convolutions
(`isdp.exact.elimination.convolution`).
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.bits.bernoulli import draw_bernoulli, to_ball
from isdp.exact.bits.geometric import cached_geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.elimination.candidate_trees import CandidateTrees
from isdp.exact.elimination.compiled_messages import Split, draw_integer_splits
from isdp.exact.elimination.memory_forecast import min_message_bytes, refuse_memory, refuse_plan
from isdp.exact.elimination.tree import EliminationForest
from isdp.exact.elimination.truncation import (
    MAX_PRODUCTS,
    TruncationPlan,
    max_splits,
    plan_truncation,
    track_nodes,
    truncation_factor,
    union_message,
)
from isdp.exact.sampler import RandomBitSampler, refuse_many_cells
from isdp.io.progress import progress
from isdp.lattice.elimination import solve_determined
from isdp.mechanisms.base import Mechanism, Target, check_energy

SLACK = 2.0**-30  # unused share of the 2^63 units, which absorbs rounding errors
# maximum numbers of splits of a state for which rounding errors stay below SLACK
MAX_TERMS, MAX_ADDED = 2.0**31, 2.0**21
MIN_WEIGHT = 1e-280  # smaller weights of a message with maximum 1 are increased to this value
RARE_BITS = 10  # a proposal is from R if this number of random bits are all 0
STEPS_OF_THETA = 32
PROPOSALS_AT_ONCE = 4096


class _Filled(NamedTuple):
    """Messages whose windows contain a ball of the l1 norm.

    Attributes
    ----------
    messages, scales : dict
        The message with the number i in `plan` is ``scales[i] * messages[i]``.
    log_sum : float
        The logarithm of the sum of g over the windows.
    """

    plan: TruncationPlan
    messages: dict[int, FloatArray]
    scales: dict[int, float]
    log_sum: float


class EliminationSampler(RandomBitSampler):
    """Independent exact draws from P(u) proportional to exp(-epsilon ||u||_1), for A u = 0.

    The constructor raises `InputError` if the weight of the target is not exp(-rate ||u||_1). It
    also raises `InputError` if the messages need more than 2 GB or more than `max_products`
    multiplications.

    Parameters
    ----------
    max_products : float
        The maximum number of multiplications for the messages. The default number takes minutes.

    Attributes
    ----------
    radius : int
        The norm N of the module's docstring.
    """

    method = "messages"
    reason = "the norm is l1, and the frontier is small"

    def __init__(
        self,
        invariants: Invariants,
        target: Target | Mechanism,
        max_products: float = MAX_PRODUCTS,
    ):
        energy = check_energy(self.method, target, [(1, False)])
        refuse_many_cells(invariants.cells)
        self.invariants, self.epsilon = invariants, Fraction(energy.rate)
        self._max_products = max_products
        touched = np.zeros(invariants.cells, dtype=bool)
        touched[invariants.sparse.indices] = True
        self.unconstrained, self.constrained = np.flatnonzero(~touched), np.flatnonzero(touched)
        constrained = Invariants(invariants.sparse[:, self.constrained])
        rate = float(self.epsilon)
        refuse_memory(*min_message_bytes(constrained, 1, rate, math.log(0.5)))
        self.candidates = CandidateTrees(constrained, 1)
        self.determined = solve_determined(constrained.matrix)
        self.dimension = len(self.determined[1])
        self.radius = math.ceil(truncation_factor(1, rate, self.dimension, 1, math.log(0.5)))
        self._bound(self._fill())  # windows with half of the probability are sufficient for a bound
        self.theta, self.radius = self._choose_radius()
        self.filled = self._fill()
        self._bound(self.filled)

    def _bound(self, filled: _Filled) -> None:
        """Set L, a bound on the logarithm of g(u) / Q(u) within the ball."""
        nodes = sum(len(tree) for tree in filled.plan.trees)
        slack = nodes * 2.0**-28 + len(self.constrained) * 2.0**-38 + 1e-9
        self.log_bound = Fraction(filled.log_sum + slack)

    def _choose_radius(self) -> tuple[Fraction, int]:
        """Choose theta and the smallest N with acceptance probabilities of at most 1 beyond N."""
        rate, choices = float(self.epsilon), []
        for i in range(1, STEPS_OF_THETA):
            theta = i / STEPS_OF_THETA
            log = math.log(proposal_ratio()) - float(self.log_bound) + 0.01
            log -= self.dimension * math.log(math.tanh(theta * rate / 2))
            choices.append((max(math.ceil(log / ((1 - theta) * rate)), 1), i))
        radius, i = min(choices)
        return Fraction(i, STEPS_OF_THETA), radius

    def _fill(self) -> _Filled:
        """Compute messages whose windows contain the ball ||u||_1 <= N."""
        rate = float(self.epsilon)
        unbounded = np.full(len(self.constrained), -math.inf)

        def plan_of(forest: EliminationForest, allowed: bool) -> TruncationPlan:
            # the factor 1 + 1e-7 is above all rounding errors of the scales
            return plan_truncation(forest, 1, rate, self.radius * (1 + 1e-7), unbounded, allowed)

        _, plan = self.candidates.cheapest(plan_of)
        refuse_plan(plan, self._max_products)
        messages: dict[int, FloatArray] = {}
        scales: dict[int, float] = {}
        log_sum = 0.0
        for tree in plan.trees:
            for (node, half, split, number), report in track_nodes(plan, tree):
                if number not in messages:
                    if split is None:
                        noise = node.gap * np.arange(-half[0], half[0] + 1)
                        message = np.exp(-rate * np.abs(noise))
                    else:
                        _refuse_terms(split, added=number not in plan.convolutions)
                        left = messages[tree[node.left].message]
                        right = messages[tree[node.right].message]
                        message, _ = union_message(plan, number, split, left, right, report)
                    scales[number] = float(message.max())
                    messages[number] = np.maximum(message / scales[number], MIN_WEIGHT)
                log_sum += math.log(scales[number])
        return _Filled(plan, messages, scales, log_sum)

    def draw(self, bits: BitSource, n_draws: int) -> IntArray:
        """See `RandomBitSampler.draw`."""
        noise = np.zeros((n_draws, self.invariants.cells), dtype=np.int64)
        unconstrained = cached_geometric(self.epsilon).draw_difference(
            bits, n_draws * len(self.unconstrained)
        )
        noise[:, self.unconstrained] = unconstrained.reshape(n_draws, len(self.unconstrained))
        done = 0
        with progress("drawing noise", n_draws) as report:
            while done < n_draws:
                kept = self._draw_kept(bits, min(n_draws - done + 8, PROPOSALS_AT_ONCE))
                kept = kept[: n_draws - done]
                noise[done : done + len(kept), self.constrained] = kept
                done += len(kept)
                report(done)
        return noise

    def _draw_kept(self, bits: BitSource, n_proposals: int) -> IntArray:
        """Return the noise of the constrained cells of the accepted proposals."""
        rare = bits.take(n_proposals) >> np.uint64(64 - RARE_BITS) == 0
        kept = np.zeros(n_proposals, dtype=bool)
        noise = np.zeros((n_proposals, len(self.constrained)), dtype=np.int64)
        kept[~rare], noise[~rare] = self._accept_inside(bits, n_proposals - int(rare.sum()))
        kept[rare], noise[rare] = self._accept_outside(bits, int(rare.sum()))
        return np.asarray(noise[kept])

    def _accept_inside(self, bits: BitSource, n_proposals: int) -> tuple[BoolArray, IntArray]:
        """Propose noise from Q, and return the acceptances and the noise of all proposals."""
        noise, units = self._propose(bits, n_proposals)
        norms = np.abs(noise).sum(axis=1)
        kept = np.flatnonzero((norms <= self.radius) & (units > 0).all(axis=1))
        units, norms = units[kept], norms[kept]

        def log_probability(i: int) -> arb:
            proposed = Fraction(math.prod(units[i].tolist()), 1 << 63 * units.shape[1])
            return -to_ball(self.log_bound + self.epsilon * int(norms[i])) - to_ball(proposed).log()

        logs = (63 * math.log(2) - np.log(units.astype(np.float64))).sum(axis=1)
        logs -= float(self.log_bound) + float(self.epsilon) * norms
        successes = np.zeros(n_proposals, dtype=bool)
        successes[kept] = draw_bernoulli(bits, np.exp(logs), log_probability)
        return successes, noise

    def _propose(self, bits: BitSource, n_proposals: int) -> tuple[IntArray, IntArray]:
        """Draw noise from Q, and return it with the units of each split.

        If a random number is beyond the units of all splits, 0 units and invalid noise are
        returned.
        """
        noise, all_units = np.zeros((n_proposals, len(self.constrained)), dtype=np.int64), []
        plan, messages, scales, _ = self.filled
        for tree in plan.trees:
            states = {len(tree) - 1: np.zeros(n_proposals, dtype=np.int64)}
            for place in range(len(tree) - 1, -1, -1):
                node, half, split, number = tree[place]
                state = states.pop(place)
                if split is None:
                    noise[:, node.cell] = node.gap * (state - half[0])
                    continue
                weights = messages[number][state] * scales[number]
                factors = 2.0**63 * (1 - SLACK) / weights
                uniform = (bits.take(n_proposals) >> np.uint64(1)).astype(np.int64)
                left, right = (messages[tree[part].message] for part in (node.left, node.right))
                lefts, rights, units = np.empty((3, n_proposals), dtype=np.int64)
                draw_integer_splits(
                    split, left, right, state, factors, uniform, lefts, rights, units
                )
                states[node.left], states[node.right] = lefts, rights
                all_units.append(units)
        return noise, np.array(all_units, dtype=np.int64).reshape(-1, n_proposals).T

    def _accept_outside(self, bits: BitSource, n_proposals: int) -> tuple[BoolArray, IntArray]:
        """Propose noise from R, and return the acceptances and the noise of all proposals."""
        cells, free, weights, denominator = self.determined
        rate = self.theta * self.epsilon
        drawn = cached_geometric(rate).draw_difference(bits, n_proposals * len(free))
        drawn = drawn.reshape(n_proposals, len(free)).astype(object)
        others = drawn @ weights.T
        noise = np.zeros((n_proposals, len(self.constrained)), dtype=object)
        noise[:, free], noise[:, cells] = drawn, others // denominator
        norms, own = np.abs(noise).sum(axis=1), np.abs(drawn).sum(axis=1)
        kept = np.flatnonzero((others % denominator == 0).all(axis=1) & (norms > self.radius))
        falls = [
            self.log_bound + self.epsilon * norm - rate * size
            for norm, size in zip(norms[kept].tolist(), own[kept].tolist(), strict=True)
        ]

        def log_probability(i: int) -> arb:
            spread = arb(proposal_ratio()).log() - len(free) * (to_ball(rate / 2)).tanh().log()
            return spread - to_ball(falls[i])

        log_spread = math.log(proposal_ratio()) - len(free) * math.log(math.tanh(rate / 2))
        successes = np.zeros(n_proposals, dtype=bool)
        probabilities = np.array([math.exp(log_spread - float(fall)) for fall in falls])
        successes[kept] = draw_bernoulli(bits, probabilities, log_probability)
        noise[~successes] = 0  # rejected noise may not fit in 64 bits
        return successes, noise.astype(np.int64)


def proposal_ratio() -> int:
    """Return w, the number of proposals from Q for each proposal from R."""
    return (1 << RARE_BITS) - 1


def _refuse_terms(split: Split, added: bool) -> None:
    """Raise `InputError` if a state has too many splits for units of 2^-63."""
    lines, longest = max_splits(split)
    if lines * longest > MAX_TERMS or (added and lines + longest > MAX_ADDED):
        raise InputError(
            f"exact: in variable elimination, a partial sum would have {lines * longest:.1e} "
            f"splits, too many for 63 random bits. Use a larger epsilon or fewer overlapping "
            f"totals."
        )
