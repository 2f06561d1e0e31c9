"""Check the statements of CDP on privacy by exact computation, in congenial_statements.

All datasets of a few records are enumerated, with the probabilities of all outputs.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from isdp.mechanisms.generalized_laplace import double_geometric_pmf
from reproduction.jobs.statements import Row, compare, count_failures

EPSILONS = 0.1, 1.0
SMALL_EPSILONS = 1e-1, 1e-3, 1e-5
PRIORS = 20  # number of random priors for each setting
ROUNDING = 1e-12


class Case(NamedTuple):
    """Query on all datasets of a size, and the datasets that meet the invariants.

    Attributes
    ----------
    records
        Datasets, of shape (dataset, record).
    answers
        Answers to the query, int64 of shape (dataset, answer).
    inside
        True for a dataset that meets the invariants.
    """

    query: str
    invariants: str
    records: np.ndarray
    answers: np.ndarray
    inside: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        """Number of records in which two datasets differ."""
        return (self.records[:, None] != self.records).sum(axis=-1)

    @property
    def sensitivity(self) -> int:
        """Largest l1 distance of the answers of two neighbours."""
        steps = np.abs(self.answers[:, None] - self.answers).sum(axis=-1)
        return int(steps[self.distances == 1].max())

    def log_probability(self, epsilon: float, outputs: np.ndarray) -> np.ndarray:
        """Compute log-probabilities under double geometric noise, of shape (dataset, output)."""
        noise = outputs - self.answers[:, None]
        pmf = double_geometric_pmf(noise, math.exp(-epsilon / self.sensitivity))
        return np.log(pmf).sum(axis=-1)

    def list_outputs(self) -> np.ndarray:
        """List the outputs between the smallest and the largest answers.

        The privacy loss of an output outside this box is that of the nearest output in the box.
        """
        limits = zip(self.answers.min(axis=0), self.answers.max(axis=0), strict=True)
        return np.array(list(product(*(range(low, high + 1) for low, high in limits))))

    def invariant_set(self) -> np.ndarray:
        """List the answers of the datasets that meet the invariants, which are (2.1)."""
        return np.unique(self.answers[self.inside], axis=0)


def _list_datasets(values: int, records: int) -> np.ndarray:
    return np.array(list(product(range(values), repeat=records)))


def _histogram(datasets: np.ndarray, values: int) -> np.ndarray:
    return (datasets[:, :, None] == np.arange(values)).sum(axis=1)


def list_cases() -> list[Case]:
    """List the queries and invariants that are enumerated."""
    four, six = _list_datasets(2, 4), _list_datasets(2, 6)
    ternary, pairs = _list_datasets(3, 4), _list_datasets(4, 3)
    ones = six.sum(axis=1)
    rounded, of_three, of_pairs = (
        -(-ones[:, None] // 2),
        _histogram(ternary, 3),
        _histogram(pairs, 4),
    )
    count = four.sum(axis=1, keepdims=True)
    one_attribute = np.isin(pairs, (0, 1)).sum(axis=1)
    return [
        Case("count of 4 records", "1 to 3", four, count, (count[:, 0] > 0) & (count[:, 0] < 4)),
        Case("count of 4 records", "even", four, count, count[:, 0] % 2 == 0),
        Case("count of 6 records", "0, 5 or 6", six, ones[:, None], np.isin(ones, (0, 5, 6))),
        Case(
            "histogram of 4 binary records", "not all 0", four, _histogram(four, 2), count[:, 0] > 0
        ),
        Case("histogram of 3 values", "one cell is 2", ternary, of_three, of_three[:, 0] == 2),
        Case("histogram of 3 values", "no cell is 0", ternary, of_three, of_three.all(axis=1)),
        Case("2 x 2 table", "one margin", pairs, of_pairs, one_attribute == 2),
        Case("halved count of 6 records", "3 to 6", six, rounded, ones >= 3),
    ]


CASES = list_cases()
UNCONSTRAINED = [CASES[index] for index in (0, 3, 4, 6, 7)]  # one case of each query


def check_conditioning(rng: np.random.Generator) -> Iterator[Row]:
    """Check all statements on privacy."""
    yield from check_noise()
    yield from check_theorem(rng)
    yield from check_trivial_invariants()
    yield from check_posteriors(rng)
    yield from check_constrained_posteriors(rng)


def check_noise() -> Iterator[Row]:
    """Compare the loss of unconstrained noise with epsilon, and sensitivities with 1 (1.3).

    The loss of Laplace noise is largest where each output is one of two answers. Its log-ratio
    there is that of double geometric noise, so that one computation covers both.
    """
    for case, epsilon in product(UNCONSTRAINED, EPSILONS):
        log = case.log_probability(epsilon, case.list_outputs())
        losses = (log[:, None] - log).max(axis=-1)[case.distances == 1]
        bounds = [epsilon] * losses.size
        yield compare("unconstrained loss", f"{case.query}, epsilon {epsilon:g}", losses, bounds)
    for name, case in (("binary count", CASES[0]), ("binary histogram", CASES[3])):
        yield compare("sensitivity", name, [case.sensitivity], [1])


def check_theorem(rng: np.random.Generator) -> Iterator[Row]:
    """Compare the loss of conditional mechanisms with the bounds of Theorem 2.1."""
    for case, epsilon in product(CASES, EPSILONS):
        log = case.log_probability(epsilon, case.invariant_set())[case.inside]
        distances = case.distances[np.ix_(case.inside, case.inside)]
        setting = f"{case.query}, {case.invariants}, epsilon {epsilon:g}"
        yield from _compare_conditional(setting, log, distances, epsilon)
        losses, _ = _conditional_losses(log)
        holds = losses[distances > 0] < 2 * epsilon * distances[distances > 0]
        yield count_failures("bound is not attained", setting, holds)
    datasets = _list_datasets(2, 3)
    distances = (datasets[:, None] != datasets).sum(axis=-1)
    for number in range(5):
        log = np.log(rng.dirichlet(np.full(6, 0.5), size=len(datasets)) + 1e-3)
        log -= logsumexp(log, axis=1, keepdims=True)
        epsilon = (log[:, None] - log).max(axis=-1)[distances == 1].max()
        # five datasets meet the invariants, and the invariant set has three of the six outputs
        inside = rng.permutation(len(datasets))[:5]
        own = distances[np.ix_(inside, inside)]
        yield from _compare_conditional(
            f"random mechanism {number + 1}", log[inside, :3], own, epsilon
        )
    # one record, three outputs, and an invariant set of the first two
    common, rare, epsilon = 0.1, 1e-5, 1.0
    grown = math.exp(epsilon)
    pair = np.log([[rare * grown, common], [rare, common * grown]])
    yield from _compare_conditional("two of three outputs", pair, 1 - np.eye(2, dtype=int), epsilon)


def _conditional_losses(log: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the losses of the conditional mechanism, and the log-ratios of (2.5).

    `log` has the log-probabilities of the outputs in the invariant set. The second value has the
    log-ratio of the probability of this set under the second dataset to that under the first.
    """
    mass = logsumexp(log, axis=1)
    conditional = log - mass[:, None]
    return (conditional[:, None] - conditional).max(axis=-1), mass - mass[:, None]


def _gamma(log: np.ndarray, distances: np.ndarray, epsilon: float) -> dict[int, float]:
    """Compute gamma* of (2.5) for each distance."""
    _, ratios = _conditional_losses(log)
    found = np.unique(distances[distances > 0])
    return {int(k): ratios[distances == k].max() / (k * epsilon) for k in found}


def _compare_conditional(
    setting: str, log: np.ndarray, distances: np.ndarray, epsilon: float
) -> Iterator[Row]:
    losses, _ = _conditional_losses(log)
    gamma, differ = _gamma(log, distances, epsilon), distances > 0
    budgets = epsilon * distances[differ]
    factors = np.array([1 + gamma[int(k)] for k in distances[differ]])
    yield compare("conditional loss", setting, losses[differ], factors * budgets)
    yield compare("twice the budget", setting, losses[differ], 2 * budgets)
    holds = [-ROUNDING <= each <= 1 + ROUNDING for each in gamma.values()]
    yield count_failures("gamma is between 0 and 1", setting, holds)


def check_trivial_invariants() -> Iterator[Row]:
    """Compare the loss, given that the output is some answer, with that of gamma = 0 (5.1)."""
    for case, epsilon in product(UNCONSTRAINED, EPSILONS):
        everything = case._replace(inside=np.ones(len(case.records), dtype=bool))
        losses, _ = _conditional_losses(case.log_probability(epsilon, everything.invariant_set()))
        differ = case.distances > 0
        bounds = epsilon * case.distances[differ]
        yield compare(
            "trivial invariants", f"{case.query}, epsilon {epsilon:g}", losses[differ], bounds
        )


def largest_shift(records: np.ndarray, prior: np.ndarray, log: np.ndarray) -> float:
    """Compute the largest absolute log-ratio of a posterior to a prior probability of one record.

    Parameters
    ----------
    records
        Datasets, of shape (dataset, record).
    prior
        Prior weights of the datasets.
    log
        Log-probabilities of the outputs, of shape (dataset, output).
    """
    joint = (prior / prior.sum())[:, None] * np.exp(log)
    shifts = [0.0]
    for record, value in product(range(records.shape[1]), np.unique(records)):
        chosen = records[:, record] == value
        before = prior[chosen].sum() / prior.sum()
        if 0 < before < 1:
            after = joint[chosen].sum(axis=0) / joint.sum(axis=0)
            shifts.append(np.abs(np.log(after / before)).max())
    return max(shifts)


def _known_others(rng: np.random.Generator, records: np.ndarray) -> Iterator[np.ndarray]:
    """Draw priors under which all records but one are known."""
    for known, record in product(records, range(records.shape[1])):
        others = np.delete(records == known, record, axis=1).all(axis=1)
        yield others * rng.dirichlet(np.full(len(records), 0.2))


def _independent(rng: np.random.Generator, records: np.ndarray) -> Iterator[np.ndarray]:
    """Draw priors under which the records are independent."""
    n, values = records.shape[1], records.max() + 1
    for _ in range(PRIORS):
        each = rng.dirichlet(np.full(values, 0.3), size=n)
        yield each[np.arange(n), records].prod(axis=1)


def _equal(records: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a prior under which all records are equal."""
    same = (records == records[:, :1]).all(axis=1)
    yield same * np.where(records[:, 0] == 0, 0.01, 1.0)


def check_posteriors(rng: np.random.Generator) -> Iterator[Row]:
    """Compare prior with posterior probabilities, without invariants (Theorem 1.3, (1.6))."""
    for case, epsilon in product(UNCONSTRAINED, EPSILONS):
        log, records = case.log_probability(epsilon, case.list_outputs()), case.records
        name = f"{case.query}, epsilon {epsilon:g}"
        for statement, priors in (
            ("posterior, others known", _known_others(rng, records)),
            ("posterior, independent records", _independent(rng, records)),
            ("posterior, equal records", _equal(records)),
        ):
            shifts = [largest_shift(records, prior, log) for prior in priors]
            yield compare(statement, name, shifts, [epsilon] * len(shifts))
    for case, epsilon in product(UNCONSTRAINED, SMALL_EPSILONS):
        log, records = case.log_probability(epsilon, case.list_outputs()), case.records
        priors = rng.dirichlet(np.full(len(records), 0.2), size=PRIORS)
        changes = [math.expm1(largest_shift(records, prior, log)) for prior in priors]
        bound = math.expm1(records.shape[1] * epsilon)  # it tends to 0 with epsilon
        name = f"{case.query}, epsilon {epsilon:g}"
        yield compare("posterior tends to the prior", name, changes, [bound] * PRIORS)


def check_constrained_posteriors(rng: np.random.Generator) -> Iterator[Row]:
    """Compare prior with posterior probabilities under invariants (after Theorem 2.1)."""
    for case, epsilon in product(CASES, EPSILONS):
        records = case.records[case.inside]
        distances = case.distances[np.ix_(case.inside, case.inside)]
        log = case.log_probability(epsilon, case.invariant_set())[case.inside]
        gamma = _gamma(log, distances, epsilon)
        if 1 not in gamma:
            continue
        conditional = log - logsumexp(log, axis=1, keepdims=True)
        bound = (1 + gamma[1]) * epsilon
        for statement, priors in (
            ("constrained posterior, others known", _known_others(rng, records)),
            ("constrained posterior, independent records", _independent(rng, records)),
        ):
            shifts = [largest_shift(records, prior, conditional) for prior in priors]
            setting = f"{case.query}, {case.invariants}, epsilon {epsilon:g}"
            yield compare(statement, setting, shifts, [bound] * len(shifts))
