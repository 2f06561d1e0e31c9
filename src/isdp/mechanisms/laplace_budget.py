"""Split of a budget over the levels of `NestedLaplace`.

The totals of one level are held. The privacy loss per person is twice the sum of the epsilons of
the levels below this level. The variances are those of a symmetric tree, computed by convolution
along one path, as in `isdp.exact.nested.messages`. Let c be the number of children of a set. The
weight of the sum of c independent totals has the c-th power of the Fourier transform of one total.
If sets of one level differ in size, c is the ratio of the mean sizes, which need not be an integer.

The grid has at most 2^16 points. For larger totals, one point represents several integers. The
epsilons are changed so that Laplace noise of each term alone keeps its variance. For random splits
in trees of up to a million cells, this changes standard errors by less than 0.01 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray
from isdp.checks import ExactNumber, check_in_range, parse_positive
from isdp.mechanisms.nested_budget import check_shares, read_levels
from isdp.mechanisms.numerical_split import (
    ERRORS,
    WEIGHTS,
    exact_shares,
    read_numbers,
    split_for_limits,
    split_for_weights,
    without_tiny,
)
from isdp.mechanisms.set_tree import SetTree

MAX_POINTS = 1 << 16
EPSILONS = 1e-9, 1e3  # smallest and largest loss per person
MIN_RATE, MAX_RATE = 1e-100, 600.0  # in double precision, noise of more extreme rates is the same
TAIL_IN_SCALES = 40  # the probability of larger noise is below 1e-15
TAIL_IN_DEVIATIONS = 12
STEP = 1e-6  # of a finite difference, in units of the sum of the epsilons


def split_laplace_by_weights(
    tree: SetTree, held: str, epsilon: ExactNumber, weights: Mapping[str, ExactNumber]
) -> dict[str, Fraction]:
    """Choose the epsilons that minimize the weighted sum of the variances of the levels.

    The optimizer is local. In the tests, the sum exceeds its minimum by less than 0.01 %.

    Parameters
    ----------
    held : str
        The level whose totals are held.
    epsilon : Fraction, int, str or float
        The privacy loss per person. It is exactly twice the sum of the epsilons.
    weights : dict of str to Fraction, int, str or float
        Positive weights of the levels below the held level, including the cells. Levels without a
        weight have no term.

    Returns
    -------
    dict of str to Fraction
        The epsilon of each level that has a term.

    Raises
    ------
    InputError
        If a level is unknown or not below the held level, or the cells have no weight. The error is
        also raised if epsilon is not between 1e-9 and 1000, or a weight is not between 1e-9 and
        1e9.
    """
    total = _read_epsilon(epsilon)
    levels, sizes = read_levels(tree, held, "weights", weights)
    numbers = read_numbers("weights", weights, levels, WEIGHTS)
    found = _Levels(sizes)
    amounts = split_for_weights(found.variances, found.jacobian, float(total) / 2, numbers)
    shares = zip(levels, exact_shares(amounts), strict=True)
    return {level: total / 2 * share for level, share in shares if share}


def split_laplace_by_errors(
    tree: SetTree, held: str, errors: Mapping[str, ExactNumber]
) -> dict[str, Fraction]:
    """Choose the epsilons with the smallest sum for which no error exceeds its limit.

    The optimizer is local. In the tests, the sum exceeds its minimum by less than 0.1 %. An error
    is smaller than its limit if the limits of other levels require this.

    Parameters
    ----------
    held : str
        The level whose totals are held.
    errors : dict of str to Fraction, int, str or float
        The largest root mean square error, in persons, of a total of each level. The levels are
        below the held level, and include the cells. Other levels have no term.

    Returns
    -------
    dict of str to Fraction
        The epsilon of each level that has a term, rounded to 9 digits.

    Raises
    ------
    InputError
        If a level is unknown or not below the held level, the cells have no limit, or an error is
        not between 0.001 and 1e9.
    """
    levels, sizes = read_levels(tree, held, "errors", errors)
    numbers = read_numbers("errors", errors, levels, ERRORS)
    found = _Levels(sizes)
    amounts = split_for_limits(found.variances, found.jacobian, numbers**2, 1 / numbers)
    # the optimizer keeps the limits up to rounding
    while (excess := (found.variances(amounts) / numbers**2).max()) > 1 + 1e-6:
        amounts *= math.sqrt(excess)
    return {
        level: Fraction(f"{amount:.9g}")
        for level, amount in zip(levels, without_tiny(amounts).tolist(), strict=True)
        if amount
    }


def laplace_frontier(
    tree: SetTree, held: str, epsilon: ExactNumber, level: str, shares: ArrayLike
) -> FloatArray:
    """Compute the errors of a level and of the cells for several splits of epsilon.

    The parameters and the result are those of `isdp.mechanisms.nested_budget.nested_frontier`.
    """
    budget = float(_read_epsilon(epsilon))
    found = _Levels(read_levels(tree, held, "level", [level, tree.levels[-1]])[1])
    splits = [budget / 2 * np.array([share, 1 - share]) for share in check_shares(shares)]
    variances = np.array([found.variances(split) for split in splits])
    return np.asarray(np.sqrt(variances.reshape(-1, 2)))


def _read_epsilon(epsilon: ExactNumber) -> Fraction:
    number, exact = parse_positive("epsilon", epsilon)
    check_in_range("epsilon", number, *EPSILONS)
    return exact


class _Levels:
    """Variances of the totals of the levels below the held level."""

    def __init__(self, sizes: list[Fraction]) -> None:
        self.children = [float(above / n) for above, n in pairwise(sizes)]

    def variances(self, epsilons: FloatArray) -> FloatArray:
        rates = np.clip(epsilons, MIN_RATE, MAX_RATE)
        # bounds of the variances of sums of children, from the smallest sets up
        bounds = [math.inf]
        for n, rate in zip(self.children[::-1], rates[::-1], strict=True):
            bounds.append(n * min(bounds[-1], 0.5 / math.sinh(rate / 2) ** 2))
        deviation = math.sqrt(max(bounds[1:]))
        points = 2 * (TAIL_IN_DEVIATIONS * deviation + TAIL_IN_SCALES / rates[-1] + 8)
        unit = max(1.0, points / MAX_POINTS)  # integers per point
        rates = 2 * np.arcsinh(unit * np.sinh(rates / 2))
        size = scipy.fft.next_fast_len(math.ceil(min(points, MAX_POINTS)), real=True)
        distance = np.minimum(np.arange(size), size - np.arange(size)).astype(float)
        terms = [np.exp(-rate * distance) for rate in rates]
        below, logs, parts = [], [], np.ones(size)  # messages from below, from the cells up
        for n, term in zip(self.children[::-1], terms[::-1], strict=True):
            below.append(term * parts)
            transform = scipy.fft.rfft(below[-1] / below[-1].sum()).real
            logs.append(np.log(transform.clip(1e-300)))
            parts = scipy.fft.irfft(np.exp(n * logs[-1]), size).clip(0)
        variances, above = [], np.ones(len(logs[0]))  # the held total is 0
        for n, term, message, log in zip(
            self.children, terms, below[::-1], logs[::-1], strict=True
        ):
            outside = scipy.fft.irfft(above * np.exp((n - 1) * log), size).clip(0)
            weight = outside * message
            variances.append(unit**2 * (distance**2 * weight).sum() / weight.sum())
            above = scipy.fft.rfft(term * outside).real
        return np.array(variances)

    def jacobian(self, epsilons: FloatArray) -> FloatArray:
        step = STEP * float(epsilons.sum())
        here, unit = self.variances(epsilons), np.eye(len(epsilons))
        moved = [self.variances(epsilons + step * direction) for direction in unit]
        return np.stack([(there - here) / step for there in moved], axis=1)
