"""Split of a budget over the levels of `NestedGaussian`.

The formulas hold for a symmetric tree under held totals of one level, and for the covariance of the
best linear unbiased estimate. Let n_l be the number of cells in a set of level l, where level 0 is
the held level. Let p_l be the inverse variance of level l. Let mu_j be the sum of n_l p_l over the
levels l >= j, and d_j = 1/n_j - 1/n_(j-1). The variance of a total of level l is n_l^2 times the
sum of d_j / mu_j over j <= l. The loss rho per person is the sum of all p_l. It is equal to the sum
of b_j mu_j, with b_1 = 1/n_1 and b_j = d_j for the other levels.

The weighted sum of the variances is the sum of d_j Lambda_j / mu_j. Here Lambda_j is the sum of
weight_l n_l^2 over l >= j. At the minimum, mu_j is proportional to sqrt(d_j Lambda_j / b_j). If
this ratio increases with j, consecutive levels are pooled, and only the last level of a pool has a
term.

In other trees, n_l is the mean number of cells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray
from isdp.checks import ExactNumber, check_choice, parse_positive
from isdp.errors import InputError
from isdp.mechanisms.set_tree import SetTree

ROOT_DIGITS = 10**12  # square roots are rounded to this relative precision


def split_nested_by_weights(
    tree: SetTree, held: str, rho: ExactNumber, weights: Mapping[str, ExactNumber]
) -> dict[str, Fraction]:
    """Choose the variances that minimize the weighted sum of the variances of the levels.

    Parameters
    ----------
    held : str
        The level whose totals are held.
    rho : Fraction, int, str or float
        The zCDP loss per person. The inverse variances add up to it exactly.
    weights : dict of str to Fraction, int, str or float
        Positive weights of the levels below the held level, including the cells. Levels without a
        weight have no term.

    Returns
    -------
    dict of str to Fraction
        The variance of each level that has a term.

    Raises
    ------
    InputError
        If a level is unknown or not below the held level, the cells have no weight, or a number is
        not positive.

    Examples
    --------
    >>> tree = SetTree.from_columns({"region": [0, 0, 0, 1, 1, 1]})
    >>> scales = split_nested_by_weights(tree, "root", 1, {"region": 1, "cell": 1})
    >>> {level: round(float(1 / variance), 3) for level, variance in scales.items()}
    {'region': 0.292, 'cell': 0.708}
    """
    _, total = parse_positive("rho", rho)
    levels, sizes = read_levels(tree, held, "weights", weights)
    given = [parse_positive(f"weights: {level}", weights[level])[1] for level in levels]
    d = [1 / n - 1 / above for above, n in pairwise(sizes)]
    b = [1 / sizes[1], *d[1:]]
    lambdas = [
        sum((w * n**2 for w, n in zip(given[j:], sizes[j + 1 :], strict=True)), start=Fraction(0))
        for j in range(len(levels))
    ]
    # pools of consecutive levels with decreasing ratios: the sums of d Lambda and of b
    pools: list[tuple[Fraction, Fraction, int]] = []
    for j in range(len(levels)):
        pool = d[j] * lambdas[j], b[j], 1
        while pools and pools[-1][0] * pool[1] <= pool[0] * pools[-1][1]:
            last = pools.pop()
            pool = last[0] + pool[0], last[1] + pool[1], last[2] + pool[2]
        pools.append(pool)
    roots = [root for top, bottom, n in pools for root in [_square_root(top / bottom)] * n]
    scale = total / sum((one * root for one, root in zip(b, roots, strict=True)), Fraction(0))
    return _variances(levels, sizes[1:], [scale * root for root in roots])


def split_nested_by_errors(
    tree: SetTree, held: str, errors: Mapping[str, ExactNumber]
) -> dict[str, Fraction]:
    """Choose the variances that give each level its root mean square error.

    The loss rho per person is the sum of the inverse variances. The variance of the noise is at
    most the square of the error.

    Parameters
    ----------
    held : str
        The level whose totals are held.
    errors : dict of str to Fraction, int, str or float
        The errors, in persons, of levels below the held level, including the cells. Other levels
        have no term.

    Returns
    -------
    dict of str to Fraction
        The exact variance of each level.

    Raises
    ------
    InputError
        If a level is unknown or not below the held level, the cells have no error, or a number is
        not positive. `InputError` is also raised if the other errors make the error of a level
        smaller or larger than requested.

    Examples
    --------
    >>> tree = SetTree.from_columns({"region": [0, 0, 0, 1, 1, 1]})
    >>> split_nested_by_errors(tree, "root", {"region": 1, "cell": 2})
    {'region': Fraction(70, 31), 'cell': Fraction(35, 6)}
    """
    levels, sizes = read_levels(tree, held, "errors", errors)
    given = [parse_positive(f"errors: {level}", errors[level])[1] for level in levels]
    below, mu, before = sizes[1:], [], Fraction(0)
    for level, above, n, error in zip(levels, sizes, below, given, strict=False):
        share = (error / n) ** 2
        if share <= before:
            raise InputError(
                f"errors: {level}: the error is too small compared with the error of the level "
                f"above. Use a larger error for {level}, or a smaller error for the level above"
            )
        mu.append((1 / n - 1 / above) / (share - before))
        before = share
    for level, one, other in zip(levels, mu, mu[1:], strict=False):
        if one <= other:
            raise InputError(
                f"errors: {level}: the errors of the levels below make this error smaller. Use a "
                f"smaller error for {level}, or leave it out"
            )
    return _variances(levels, below, mu)


def nested_frontier(
    tree: SetTree, held: str, rho: ExactNumber, level: str, shares: ArrayLike
) -> FloatArray:
    """Compute the errors of a level and of the cells for several splits of rho.

    Parameters
    ----------
    held, rho
        As for `split_nested_by_weights`.
    level : str
        A level below the held level. Its term has a share of rho, and the term of the cells has
        the rest.
    shares : array_like, shape (points,)
        Shares from 0 to less than 1.

    Returns
    -------
    float64 array, shape (points, 2)
        The root mean square errors of a total of the level and of a cell.

    Examples
    --------
    >>> tree = SetTree.from_columns({"region": np.arange(80) // 20})
    >>> nested_frontier(tree, "root", 1, "region", [0, 0.1, 0.5]).round(2).tolist()
    [[3.87, 0.99], [2.27, 1.03], [1.2, 1.38]]
    """
    budget, _ = parse_positive("rho", rho)
    _, sizes = read_levels(tree, held, "level", [level, tree.levels[-1]])
    above, n, _ = (float(size) for size in sizes)
    share = check_shares(shares)
    mean = (1 / n - 1 / above) / (budget * (n * share + 1 - share))
    cell = mean + (1 - 1 / n) / (budget * (1 - share))
    return np.sqrt(np.stack([n**2 * mean, cell], axis=1))


def check_shares(shares: ArrayLike) -> FloatArray:
    """Return shares of a budget as an array of shape (points,), or raise InputError."""
    array = np.asarray(shares, dtype=float)
    if array.ndim != 1 or not ((array >= 0) & (array < 1)).all():
        raise InputError("shares: give numbers from 0 to less than 1")
    return array


def read_levels(
    tree: SetTree, held: str, name: str, given: Collection[str]
) -> tuple[list[str], list[Fraction]]:
    """Return the given levels in their order, and the mean sizes from the held level down.

    Raises InputError if a level is not below the held level, or the cells are not given. The
    message begins with the argument `name`.
    """
    at = tree.levels.index(check_choice("held", held, tree.levels))
    below = tree.levels[at + 1 :]
    for level in given:
        check_choice(f"{name}: the level", level, below)
    if tree.levels[-1] not in given:
        raise InputError(f"{name}: give a number for the level {tree.levels[-1]!r}")
    levels = [level for level in below if level in given]
    return levels, mean_sizes(name, tree, [held, *levels])


def mean_sizes(name: str, tree: SetTree, levels: Sequence[str]) -> list[Fraction]:
    """Compute the mean number of cells in a set of each level, from the largest sets down.

    Raises InputError if the means do not decrease. The message begins with the argument `name`.
    """
    counts = np.bincount(tree.level_of, minlength=len(tree.levels)).tolist()
    sizes = [Fraction(tree.cells, counts[tree.levels.index(level)] or 1) for level in levels]
    for (above, n), level in zip(pairwise(sizes), levels[1:], strict=True):
        if n >= above:
            raise InputError(
                f"{name}: the sets of level {level!r} have on average no fewer cells than those "
                f"of the level above. Leave this level out"
            )
    return sizes


def _variances(levels: list[str], sizes: list[Fraction], mu: list[Fraction]) -> dict[str, Fraction]:
    steps = zip(levels, sizes, mu, [*mu[1:], Fraction(0)], strict=True)
    return {level: n / (one - other) for level, n, one, other in steps if one > other}


def _square_root(number: Fraction) -> Fraction:
    scale = ROOT_DIGITS * max(1, math.isqrt(math.ceil(1 / number)))
    return Fraction(math.isqrt(math.floor(number * scale**2)), scale)
