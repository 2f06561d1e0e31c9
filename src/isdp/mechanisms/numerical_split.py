"""Split of a privacy budget over the terms of an energy, by sequential quadratic programming.

The amount of a term is the inverse variance of a Gaussian term, or the epsilon of a Laplace term.
The last amount belongs to the cells. It must be positive, because the energy would otherwise not be
definite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
import scipy

from isdp.arrays import FloatArray
from isdp.checks import ExactNumber, check_in_range, parse_positive

Key = TypeVar("Key")
Function = Callable[[FloatArray], FloatArray]

MIN_CELL_SHARE = 1e-6
SHARE_UNITS = 10**9  # number of units of a budget; a term below half a unit is omitted
WEIGHTS, ERRORS = (1e-9, 1e9), (1e-3, 1e9)  # smallest and largest allowed numbers
OPTIONS = {"ftol": 1e-14, "maxiter": 1000}


def split_for_weights(
    variances: Function, jacobian: Function, budget: float, weights: FloatArray
) -> FloatArray:
    """Return amounts that add up to the budget and minimize the weighted sum of the variances.

    Parameters
    ----------
    variances, jacobian : functions of the amounts, which have the shape (terms,)
        The variance of a total of each term, and the derivatives, of shape (terms, terms).
    """
    equal = np.full(len(weights), 1 / len(weights))
    unit = float(weights @ variances(budget * equal))
    return budget * _minimize(
        lambda shares: float(weights @ variances(budget * shares)) / unit,
        lambda shares: budget * weights @ jacobian(budget * shares) / unit,
        equal,
        {"type": "eq", "fun": lambda shares: shares.sum() - 1, "jac": np.ones_like},
    )


def split_for_limits(
    variances: Function, jacobian: Function, limits: FloatArray, start: FloatArray
) -> FloatArray:
    """Return the amounts with the smallest sum for which no variance exceeds its limit.

    Parameters
    ----------
    start : float64 array, shape (terms,)
        Amounts of the expected order of magnitude.
    """
    budget = float(start.sum())
    return budget * _minimize(
        lambda shares: float(shares.sum()),
        np.ones_like,
        start / budget,
        {
            "type": "ineq",
            "fun": lambda shares: 1 - variances(budget * shares) / limits,
            "jac": lambda shares: -budget * jacobian(budget * shares) / limits[:, None],
        },
    )


def _minimize(
    value: Callable[[FloatArray], float],
    gradient: Function,
    start: FloatArray,
    constraint: dict[str, object],
) -> FloatArray:
    found = scipy.optimize.minimize(
        value,
        start,
        jac=gradient,
        bounds=[(0, None)] * (len(start) - 1) + [(MIN_CELL_SHARE, None)],
        constraints=constraint,
        method="SLSQP",
        options=OPTIONS,
    )
    return np.asarray(found.x.clip(0))


def exact_shares(amounts: FloatArray) -> list[Fraction]:
    """Divide amounts by their sum, and round them to fractions that add up to 1."""
    units = np.rint(amounts / amounts.sum() * SHARE_UNITS).astype(int).tolist()
    return [Fraction(part, sum(units)) for part in units]


def without_tiny(amounts: FloatArray) -> FloatArray:
    """Replace amounts below half a unit of the budget by 0."""
    return np.where(amounts < amounts.sum() / (2 * SHARE_UNITS), 0.0, amounts)


def read_numbers(
    name: str,
    given: Mapping[Key, ExactNumber],
    keys: Sequence[Key],
    limits: tuple[float, float],
) -> FloatArray:
    """Return the numbers of the keys, or raise InputError if one is not within the limits."""
    found = []
    for key in keys:
        label = f"{name}: {key}"
        found.append(check_in_range(label, parse_positive(label, given[key])[0], *limits))
    return np.array(found, dtype=float)
