"""Check the statements of CDP by exact computation, in congenial_statements.

A row either compares a value with the bound that a statement gives for it, or counts the cases in
which an equality fails. Evidence on a finite number of settings is no proof.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.mechanisms.generalized_laplace import double_geometric_pmf
from reproduction.congenial.conditioning_statements import check_conditioning
from reproduction.congenial.density_statements import check_densities
from reproduction.data.table_p12 import N_MINOR_GROUPS, SEXES
from reproduction.jobs.statements import Row, build_table, count_failures

RATIOS = tuple(map(Fraction, ("1/3", "1/2", "2/3", "9/10")))  # values of a = exp(-epsilon)
TABLE_1 = 130, 126, 43, 213, 256  # females, males, children, persons of voting age, all
PRINTED_MOMENTS = 5.26, 5.54
MAX_NOISE = 200  # of one cell; larger noise has a probability below 1e-40


def tabulate_statements(rng: np.random.Generator, settings: Mapping) -> pd.DataFrame:
    """Check all statements, with one row per statement and setting.

    `settings` is the block `congenial.sex_by_age` of the configuration.
    """
    counts, first, second = settings["counts"], *rng.spawn(2)
    return build_table(
        [
            *check_conditioning(first),
            *check_densities(second),
            *check_double_geometric(),
            *check_algorithm(),
            *check_printed_numbers(counts, settings["distances"]),
            *measure_rejection(counts, settings["epsilon"]),
        ]
    )


def mass(u: int, a: Fraction) -> Fraction:
    """Return the mass (1.3) of the double geometric distribution."""
    return (1 - a) / (1 + a) * a ** abs(u)


def distribution_function(u: int, a: Fraction) -> Fraction:
    """Return the printed distribution function (Appendix B)."""
    return a**-u / (1 + a) if u <= 0 else 1 - a ** (u + 1) / (1 + a)


def printed_quantile(v: Fraction, a: Fraction) -> int:
    """Return the printed quantile (Appendix B), with exact logarithms to the base a."""
    lower = v <= 1 / (1 + a)
    y, power = (v if lower else 1 - v) * (1 + a), 0
    # the floor of log(y) / log(a) is the largest k with a^k >= y
    while a ** (power + 1) >= y:
        power += 1
    return -power if lower else power


def check_double_geometric() -> Iterator[Row]:
    """Check the mass, the distribution function and the quantile function (1.3, Appendix B)."""
    for a in RATIOS:
        setting, values = f"a = {a}", range(-30, 31)
        steps = {u: distribution_function(u, a) for u in range(-31, 31)}
        holds = [steps[u] - steps[u - 1] == mass(u, a) for u in values]
        far = math.ceil(math.log(1e-15) / math.log(a))  # the mass adds up to one
        holds.append(1 - 2e-15 < distribution_function(far, a) - distribution_function(-far, a) < 1)
        yield count_failures("distribution function", setting, holds)
        # at a jump, and at three levels between two jumps
        for statement, shares in (("quantiles at jumps", (0,)), ("quantiles between", (1, 2, 3))):
            holds = [
                printed_quantile(steps[u] - share * mass(u, a) / 4, a) == u
                for u, share in product(range(-8, 9), shares)
            ]
            yield count_failures(statement, setting, holds)
        # the printed quantiles of equidistant levels, counted
        levels = (a.numerator + a.denominator) * a.denominator**3
        found = [printed_quantile(Fraction(2 * j + 1, 2 * levels), a) for j in range(levels)]
        holds = [found.count(u) == levels * mass(u, a) for u in (-2, -1, 0, 1, 2)]
        yield count_failures("inverse sampling", setting, holds)


def transition_matrix(
    states: np.ndarray, truth: np.ndarray, solved: Iterable[int], a: Fraction, b: Fraction
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return the transition probabilities of Algorithm 1, and the weights of its target.

    Parameters
    ----------
    states
        All elements of the invariant set, int64 of shape (state, cell).
    truth
        Confidential counts.
    solved
        Cells that are computed from the equalities.
    a, b
        Parameters of the target and of the proposal.
    """
    noise = np.abs(states - truth)
    proposed = np.delete(noise, list(solved), axis=1)
    p = [a ** int(each.sum()) for each in noise]
    q = [math.prod(mass(int(u), b) for u in each) for each in proposed]
    matrix = [
        [q[t] * min(1, p[t] * q[s] / (p[s] * q[t])) for t in range(len(p))] for s in range(len(p))
    ]
    for s, row in enumerate(matrix):  # proposals that are rejected, or outside the invariant set
        row[s] += 1 - sum(row)
    return matrix, p


ALGORITHM = {  # equalities, confidential counts, and solved cells
    "total of 3 cells": ([[1, 1, 1]], (2, 0, 1), (0,)),
    "margins of a 2 x 2 table": (
        [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]],
        (2, 1, 1, 2),
        (0, 1, 2),
    ),
    "three sums of a 2 x 3 table": (
        [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 1]],
        (1, 0, 1, 0, 2, 1),
        (0, 1, 3),
    ),
    "weighted sum of 3 cells": ([[1, 2, 3]], (1, 1, 1), (2,)),
}


def check_algorithm() -> Iterator[Row]:
    """Check that the target is stationary and unique, and needs no normalization (2.3)."""
    a, b = Fraction(3, 5), Fraction(1, 2)
    for name, (rows, truth, solved) in ALGORITHM.items():
        equalities, counts = np.array(rows), np.array(truth)
        held = equalities @ counts
        grid = np.array(list(product(range(int(held.max()) + 1), repeat=len(counts))))
        states = grid[(grid @ equalities.T == held).all(axis=1)]
        matrix, p = transition_matrix(states, counts, solved, a, b)
        after = [
            sum(weight * row[t] for weight, row in zip(p, matrix, strict=True))
            for t in range(len(p))
        ]
        holds = [x == y for x, y in zip(after, p, strict=True)]
        holds += [entry > 0 for row in matrix for entry in row]  # so that the chain converges
        yield count_failures("target of Algorithm 1", name, holds)


def check_printed_numbers(counts: Mapping, cells: Mapping) -> Iterator[Row]:
    """Compare the totals of Table 1, and the moments of its cells, with the printed ones."""
    female, male = (counts[sex] for sex in SEXES)
    children = sum(female[:N_MINOR_GROUPS]) + sum(male[:N_MINOR_GROUPS])
    persons = sum(female) + sum(male)
    found = sum(female), sum(male), children, persons - children, persons
    holds = [ours == printed for ours, printed in zip(found, TABLE_1, strict=True)]
    yield count_failures("totals of Table 1", "confidential table", holds)
    moments = scipy.stats.nbinom(cells["successes"], 1 - cells["failure"]).stats("mv")
    holds = [
        round(float(ours), 2) == each for ours, each in zip(moments, PRINTED_MOMENTS, strict=True)
    ]
    yield count_failures("moments of a cell", "mean and variance", holds)


def measure_rejection(counts: Mapping, epsilon: float) -> Iterator[Row]:
    """Compute probabilities of unconstrained noise on Table 1 (Sections 2.1 and 2.3)."""
    every = [count for sex in SEXES for count in counts[sex]]
    for each in (epsilon, 2 * epsilon):
        free = noise_of_sum([MAX_NOISE] * len(every), each)
        setting = f"total of Table 1, epsilon {each:g}"
        yield {"statement": "total is broken", "setting": setting, "value": 1 - free[0]}
    groups = [
        noise_of_sum(part, epsilon)
        for sex in SEXES
        for part in (counts[sex][:N_MINOR_GROUPS], counts[sex][N_MINOR_GROUPS:])
    ]
    # the noise of the four groups is t, -t, -t and t for some t
    accepted = sum(
        math.prod(
            group.get(sign * t, 0) for group, sign in zip(groups, (1, -1, -1, 1), strict=True)
        )
        for t in range(-MAX_NOISE, MAX_NOISE + 1)
    )
    setting = f"Table 1, epsilon {epsilon:g}"
    yield {"statement": "rejection sampling", "setting": setting, "value": 100 * accepted}


def noise_of_sum(lowest: Iterable[int], epsilon: float) -> dict[int, float]:
    """Compute the probabilities that cells have noise of at least `-lowest`, and a given sum."""
    total, start = np.ones(1), 0
    for limit in lowest:
        start -= limit
        pmf = double_geometric_pmf(np.arange(-limit, MAX_NOISE + 1), math.exp(-epsilon))
        total = np.convolve(total, pmf)
    return dict(enumerate(total.tolist(), start))
