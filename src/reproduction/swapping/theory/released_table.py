"""Privacy loss if only the table of county by category is released.

Records of one category and county are then indistinguishable, and the output does not show the
permutation. For one stratum, with x before the swap and w after it,

    P(w | x) = Z sum_u h_{|u|} prod_kl C(x_kl, u_kl) prod_l m_l! prod_k s_k! / prod_kl v_kl! ,

over the numbers u_kl of records that at least stay fixed; v = w - u has the category totals m and
the county totals s, and h is as in `reproduction.swapping.theory.fixed_totals_loss`. Small tables
use exact rational numbers. Other tables have lower bounds, which grow with the stratum if a county
or a category is rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from operator import mul

import numpy as np

from isdp.errors import InputError
from isdp.swapping.mechanism.exact_permutation import RateLike, exact_rate
from isdp.swapping.privacy.bound import check_size
from isdp.swapping.privacy.record_pairs import moved_probability
from reproduction.swapping.theory.fixed_totals_loss import (
    Loss,
    check_totals,
    fixing_weights,
    log_fraction,
)
from reproduction.swapping.theory.location_attack import exchange_log_likelihood_ratio

MAX_TABLES = 400
Table = tuple[tuple[int, ...], ...]


def tables_with(counties, categories) -> list[Table]:
    """List every table with the given row totals and column totals.

    Raises InputError if the sums differ, or if there are more than 400 tables.
    """
    counties, categories = check_totals(counties), check_totals(categories)
    if sum(counties) != sum(categories):
        raise InputError(
            "swapping: counties and categories must have the same sum; correct the totals"
        )
    tables = []
    for table in _fill(counties, categories):
        tables.append(table)
        if len(tables) > MAX_TABLES:
            raise InputError(
                f"swapping: more than {MAX_TABLES} tables have these totals; use smaller totals"
            )
    return tables


def _fill(counties: list[int], categories: list[int]) -> Iterator[Table]:
    if len(counties) == 1:
        yield (tuple(categories),)
        return
    for row in _compositions(counties[0], categories):
        left = [limit - taken for limit, taken in zip(categories, row, strict=True)]
        for rest in _fill(counties[1:], left):
            yield (row, *rest)


def _compositions(total: int, limits: list[int]) -> Iterator[tuple[int, ...]]:
    if len(limits) == 1:
        if total <= limits[0]:
            yield (total,)
        return
    for first in range(min(total, limits[0]) + 1):
        for rest in _compositions(total - first, limits[1:]):
            yield (first, *rest)


def table_distribution(before: Table, tables: list[Table], rate: RateLike) -> list[Fraction]:
    """Compute the exact probability of each table after the swap, in the order of `tables`.

    `before` has rows of counts, one stratum. `tables` are all tables with its totals, from
    `tables_with`.
    """
    rate = exact_rate(rate)
    n = sum(map(sum, before))
    if n == 1:
        return [Fraction(1)]
    scale = (1 - rate) ** n / (1 - n * rate * (1 - rate) ** (n - 1))
    weights = fixing_weights(n, rate)
    common = math.lcm(*(h.denominator for h in weights))
    whole = [int(h * common) for h in weights]
    ways = [sum(map(mul, whole, _ways_by_fixed(before, after))) for after in tables]
    return [scale * number / common for number in ways]


@lru_cache(maxsize=1 << 12)
def _ways_by_fixed(before: Table, after: Table) -> tuple[int, ...]:
    """Sum the terms with |u| = 0, 1, ... without h, which are integers for all rates."""
    x, w = np.array(before), np.array(after)
    limits = np.minimum(x, w).ravel().tolist()
    totals = [0] * (sum(limits) + 1)
    for cells in product(*(range(one + 1) for one in limits)):
        u = np.array(cells).reshape(x.shape)
        fixed = math.prod(map(math.comb, x.ravel().tolist(), cells))
        totals[sum(cells)] += fixed * _arrangements(w - u)
    return tuple(totals)


@lru_cache(maxsize=1 << 16)
def _factorials(numbers: tuple[int, ...]) -> int:
    return math.prod(map(math.factorial, numbers))


def _arrangements(v: np.ndarray) -> int:
    """Count permutations that give the counts v: prod m_l! prod s_k! / prod v_kl!, an integer."""
    margins = tuple(v.sum(axis=0).tolist()) + tuple(v.sum(axis=1).tolist())
    return _factorials(margins) // _factorials(tuple(v.ravel().tolist()))


def table_loss(counties, categories, rate: RateLike) -> Loss:
    """Compute the exact loss per unit of d_HAM if only the table of one stratum is released.

    It is the maximum over all pairs of tables with these totals, at most 400, and all outputs.
    """
    tables = tables_with(counties, categories)
    logs = np.array(
        [[log_fraction(p) for p in table_distribution(x, tables, rate)] for x in tables]
    )
    cells = np.array(tables).reshape(len(tables), -1)
    worst = 0.0
    for one, log_law in zip(cells, logs, strict=True):
        distances = abs(cells - one).sum(axis=1) / 2
        others = distances > 0
        losses = abs(logs[others] - log_law).max(axis=1, initial=0) / distances[others]
        worst = max(worst, float(losses.max(initial=0)))
    return Loss(worst, "exact")


def rare_category_bound(size: int, rate: float) -> Loss:
    """Compute a lower bound if one of two categories and one county have a single record each.

    The record may live in that county or elsewhere, and the table shows its released county. The
    bound is (1/2) ln((n - 1) (1 - q1) / q1) for n = `size` >= 2, which is unbounded in n.
    """
    moved = moved_probability(check_size(size, 2), rate)
    return Loss(abs(math.log((size - 1) * (1 - moved) / moved)) / 2, "lower bound")


def two_counties_bound(size: int, in_category: int, rate: float) -> Loss:
    """Compute a lower bound if two counties have a single record each, of different categories.

    `size` is the number n >= 4 of records, and `in_category` those of one category, from 1 to n -
    1. With t the share of one category the limit as n grows is (1/2) ln[(1 + 1/(o t)) (1 + 1/(o (1
    - t)))].
    """
    n = check_size(size, 4)
    log_odds = exchange_log_likelihood_ratio(n, in_category, n - in_category, rate)
    return Loss(abs(log_odds) / 2, "lower bound")
