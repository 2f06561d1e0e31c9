"""Split of a budget over the pairs of levels of `CrossingGaussian`.

The totals of one pair of levels are held, and so are the totals of larger sets. The formulas hold
for symmetric trees of the regions, and for the covariance of the best linear unbiased estimate. Let
n_i be the number of regions in a set of level i. Let m_j be the number of cells in a set of level j
of the groups. Let p_ij be the inverse variance of the pair (i, j). The loss rho per person is the
sum of all p_ij.

Mode (a, b) contains the tables that are constant on the sets of the levels a and b. These tables
add up to 0 on the sets of the levels above. The mode is an eigenspace of the energy. Its eigenvalue
mu_ab is the sum of n_i m_j p_ij over i >= a and j >= b. Let d_a = 1/n_a - 1/n_(a-1) and e_b = 1/m_b
- 1/m_(b-1). The variance of a total of the pair (i, j) is n_i^2 m_j^2 times the sum of d_a e_b /
mu_ab. This sum includes the modes with a <= i and b <= j that are not held.

The variances are convex functions of the p_ij, so that sequential quadratic programming finds the
best split. The weighted sum of the variances is the sum of C_ab / mu_ab for some numbers C_ab. If
every pair that is not held has a term, rho is the sum of B_ab mu_ab for some numbers B_ab. The
minimum then has the closed form in which mu_ab is proportional to sqrt(C_ab / B_ab), unless a p_ij
would be negative. As an example, let one region with a held total have c groups of m cells. Then B
is 1/m for the groups, 1/c for the cells across groups, and 1 - 1/m - 1/c for the third mode.

If sets of one level of the regions differ in size, n_i is their mean size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from isdp.arrays import FloatArray, IntArray
from isdp.checks import ExactNumber, check_choice, parse_positive
from isdp.errors import InputError
from isdp.mechanisms.nested_budget import check_shares, mean_sizes
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

Pair = tuple[str, str]


def split_crossing_by_weights(
    regions: SetTree,
    groups: SetTree,
    held: Pair,
    rho: ExactNumber,
    weights: Mapping[Pair, ExactNumber],
) -> dict[Pair, Fraction]:
    """Choose the variances that minimize the weighted sum of the variances of pairs of levels.

    The weighted sum exceeds its minimum by less than 0.01 %.

    Parameters
    ----------
    regions, groups : SetTree
        The trees of `CrossingGaussian`.
    held : tuple of (str, str)
        The pair of levels whose totals are held.
    rho : Fraction, int, str or float
        The zCDP loss per person. The inverse variances add up to it exactly.
    weights : dict of (str, str) to Fraction, int, str or float
        Positive weights of pairs that are not held, including the pair of both last levels. Pairs
        without a weight have no term.

    Returns
    -------
    dict of (str, str) to Fraction
        The variance of each pair that has a term.

    Raises
    ------
    InputError
        If a pair is unknown or held, or the pair of both last levels has no weight. The error is
        also raised if the sets of a level are as large as those of the level above, or a weight is
        not between 1e-9 and 1e9.

    Examples
    --------
    >>> regions = SetTree.from_columns({"state": [0] * 20 + [1] * 20}, root="nation")
    >>> groups = SetTree.from_columns({"age": [0, 0, 0, 1, 1, 1]}, root="total")
    >>> weights = {("cell", "total"): 1, ("cell", "cell"): 4}
    >>> scales = split_crossing_by_weights(regions, groups, ("state", "total"), 1, weights)
    >>> {pair: round(float(1 / variance), 3) for pair, variance in scales.items()}
    {('cell', 'total'): 0.258, ('cell', 'cell'): 0.742}
    """
    _, total = parse_positive("rho", rho)
    family = _Family(regions, groups, held, "weights", weights)
    numbers = read_numbers("weights", weights, family.pairs, WEIGHTS)
    shares = exact_shares(family.minimize_weighted(numbers))
    return {
        pair: 1 / (total * share) for pair, share in zip(family.pairs, shares, strict=True) if share
    }


def split_crossing_by_errors(
    regions: SetTree, groups: SetTree, held: Pair, errors: Mapping[Pair, ExactNumber]
) -> dict[Pair, Fraction]:
    """Choose the variances with the smallest loss for which no error exceeds its limit.

    The loss rho per person is the sum of the inverse variances. This sum exceeds its minimum by
    less than 0.01 %. An error is smaller than its limit if the limits of other pairs require this.

    Parameters
    ----------
    regions, groups, held
        As for `split_crossing_by_weights`.
    errors : dict of (str, str) to Fraction, int, str or float
        The largest root mean square error, in persons, of a total of each pair. The pairs are not
        held, and include the pair of both last levels. Other pairs have no term.

    Returns
    -------
    dict of (str, str) to Fraction
        The variance of each pair that has a term, rounded to 12 digits.

    Raises
    ------
    InputError
        As for `split_crossing_by_weights`. Errors must be between 0.001 and 1e9.
    """
    family = _Family(regions, groups, held, "errors", errors)
    numbers = read_numbers("errors", errors, family.pairs, ERRORS)
    amounts = without_tiny(family.minimize_budget(np.square(numbers))).tolist()
    return {
        pair: Fraction(f"{1 / amount:.12g}")
        for pair, amount in zip(family.pairs, amounts, strict=True)
        if amount
    }


def crossing_frontier(
    regions: SetTree,
    groups: SetTree,
    held: Pair,
    rho: ExactNumber,
    pair: Pair,
    shares: ArrayLike,
) -> FloatArray:
    """Compute the errors of a pair of levels and of the cells for several splits of rho.

    Parameters
    ----------
    regions, groups, held, rho
        As for `split_crossing_by_weights`.
    pair : tuple of (str, str)
        The pair whose term has a share of rho. The term of the cells has the rest.
    shares : array_like, shape (points,)
        Shares from 0 to less than 1.

    Returns
    -------
    float64 array, shape (points, 2)
        The root mean square errors of a total of the pair and of a cell.
    """
    cells = regions.levels[-1], groups.levels[-1]
    family = _Family(regions, groups, held, "pair", [pair, cells])
    budget = parse_positive("rho", rho)[0]
    splits = [budget * np.array([share, 1 - share]) for share in check_shares(shares)]
    variances = np.array([family.variances(split) for split in splits])
    return np.asarray(np.sqrt(variances.reshape(-1, 2)))


class _Family:
    """Pairs of levels with terms, and the variances of their totals.

    Attributes
    ----------
    pairs : list of tuple of (str, str)
        The pairs in the order of the levels.
    eigenvalues : float64 array, shape (modes, pairs)
        The eigenvalues are the product of this matrix and the inverse variances of the terms.
    loads : float64 array, shape (pairs, modes)
        The variances are the product of this matrix and the inverse eigenvalues.
    """

    def __init__(
        self, regions: SetTree, groups: SetTree, held: Pair, name: str, pairs: Iterable[Pair]
    ) -> None:
        known = [(region, group) for region in regions.levels for group in groups.levels]
        check_choice("held", held, known)
        given = {check_choice(f"{name}: the pair", pair, known) for pair in pairs}
        if known[-1] not in given:
            raise InputError(f"{name}: give a number for the pair {known[-1]!r}")
        self.pairs = [pair for pair in known if pair in given]
        n, region = _sizes(name, regions, [pair[0] for pair in (held, *self.pairs)])
        m, group = _sizes(name, groups, [pair[1] for pair in (held, *self.pairs)])
        is_held = (region <= region[0]) & (group <= group[0])
        if is_held[1:].any():
            raise InputError(
                f"{name}: the totals of the pair {self.pairs[int(np.argmax(is_held[1:]))]!r} are "
                f"held. Leave this pair out"
            )
        a, b = np.indices((len(n), len(m))).reshape(2, -1)
        free = (a > region[0]) | (b > group[0])
        a, b, region, group = a[free], b[free], region[1:, None], group[1:, None]
        inside, sizes = (a <= region) & (b <= group), n[region] * m[group]
        self.eigenvalues = (inside * sizes).T
        self.loads = inside * sizes**2 * np.diff(1 / n, prepend=0)[a] * np.diff(1 / m, prepend=0)[b]

    def variances(self, amounts: FloatArray) -> FloatArray:
        return np.asarray(self.loads @ (1 / (self.eigenvalues @ amounts)))

    def _jacobian(self, amounts: FloatArray) -> FloatArray:
        return np.asarray(-(self.loads / (self.eigenvalues @ amounts) ** 2) @ self.eigenvalues)

    def minimize_weighted(self, weights: FloatArray) -> FloatArray:
        """Return the inverse variances for rho = 1."""
        if len(self.eigenvalues) == len(self.pairs):  # the closed form
            costs = np.linalg.solve(self.eigenvalues.T, np.ones(len(self.pairs)))
            if (costs > 0).all():
                found = np.sqrt(weights @ self.loads / costs)
                amounts = np.linalg.solve(self.eigenvalues, found / (costs @ found))
                if (amounts >= 0).all():
                    return np.asarray(amounts)
        return split_for_weights(self.variances, self._jacobian, 1.0, weights)

    def minimize_budget(self, limits: FloatArray) -> FloatArray:
        """Return the inverse variances with the smallest sum within the limits of the variances."""
        equal = np.ones(len(self.pairs))
        start = equal * (self.variances(equal) / limits).max()
        amounts = split_for_limits(self.variances, self._jacobian, limits, start)
        return np.asarray(amounts * (self.variances(amounts) / limits).max())


def _sizes(name: str, tree: SetTree, levels: list[str]) -> tuple[FloatArray, IntArray]:
    """Return the mean sizes of the distinct levels, and the index of each given level."""
    used = [level for level in tree.levels if level in levels]
    sizes = np.array(mean_sizes(name, tree, used), dtype=float)
    return sizes, np.array([used.index(level) for level in levels])
