"""Privacy loss of swapping if only the table of county by category is released.

Records of one category and county are then indistinguishable, and the output does not show the
permutation. For one stratum, with the table x before the swap and w after it,

    P(w | x) = Z sum_u h_{|u|} prod_kl C(x_kl, u_kl) prod_l m_l! prod_k s_k! / prod_kl v_kl! ,

where u_kl records are selected to stay fixed, and other records may stay fixed too. The table v = w
- u has the category totals m and the county totals s. The weights h are those of
`fixed_totals_loss`. Losses of small tables are exact. Other tables have lower bounds, which grow
with the stratum if a county or a category is rare.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from operator import mul

import numpy as np

from isdp.checks import ExactNumber
from isdp.errors import InputError
from isdp.swapping.mechanism.exact_permutation import exact_rate
from isdp.swapping.privacy.bound import check_size
from isdp.swapping.privacy.record_pairs import moved_probability
from reproduction.swapping.theory.fixed_totals_loss import Loss, fixing_weights, log_fraction
from reproduction.swapping.theory.location_attack import exchange_log_likelihood_ratio

MAX_TABLES = 400  # maximum number of tables with given totals
Table = tuple[tuple[int, ...], ...]


def tables_with(counties, categories) -> list[Table]:
    """List every table with the given county totals (rows) and category totals (columns).

    Raises InputError if there are more than `MAX_TABLES` tables.
    """
    tables = []
    for table in _fill(counties, categories):
        tables.append(table)
        if len(tables) > MAX_TABLES:
            raise InputError(
                f"swapping: counties and categories: there are more than {MAX_TABLES} tables. Use "
                f"smaller totals."
            )
    return tables


def _fill(counties: Sequence[int], categories: Sequence[int]) -> Iterator[Table]:
    if not counties:
        yield ()
        return
    for row in product(*(range(total + 1) for total in categories)):
        if sum(row) == counties[0]:
            remaining = [total - count for total, count in zip(categories, row, strict=True)]
            for rows in _fill(counties[1:], remaining):
                yield (row, *rows)


def table_distribution(before: Table, tables: list[Table], rate: ExactNumber) -> list[Fraction]:
    """Compute the exact probability of each of `tables` after a swap of the table `before`.

    `tables` are all tables with the totals of `before`, from `tables_with`.
    """
    rate = exact_rate(rate)
    n = sum(map(sum, before))
    scale = (1 - rate) ** n / (1 - n * rate * (1 - rate) ** (n - 1))
    weights = fixing_weights(n, rate)
    common = math.lcm(*(h.denominator for h in weights))
    integers = [int(h * common) for h in weights]
    sums = [sum(map(mul, integers, _terms_by_fixed(before, after))) for after in tables]
    return [scale * number / common for number in sums]


@lru_cache(maxsize=1 << 12)
def _terms_by_fixed(before: Table, after: Table) -> tuple[int, ...]:
    """Sum the terms by |u| = 0, 1, ... without the factor h. The sums are integers."""
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
    margins = tuple(v.sum(axis=0).tolist()) + tuple(v.sum(axis=1).tolist())
    return _factorials(margins) // _factorials(tuple(v.ravel().tolist()))


def table_loss(counties, categories, rate: ExactNumber) -> Loss:
    """Compute the exact loss, the maximum over all pairs of tables with these totals.

    Raises InputError in the cases of `tables_with`.
    """
    tables = tables_with(counties, categories)
    logs = np.array(
        [[log_fraction(p) for p in table_distribution(x, tables, rate)] for x in tables]
    )
    cells = np.array(tables).reshape(len(tables), -1)
    worst = 0.0
    for one, log_probabilities in zip(cells, logs, strict=True):
        distances = abs(cells - one).sum(axis=1) / 2
        others = distances > 0
        losses = abs(logs[others] - log_probabilities).max(axis=1, initial=0) / distances[others]
        worst = max(worst, float(losses.max(initial=0)))
    return Loss(worst, "exact")


def rare_category_bound(size: int, rate: float) -> Loss:
    """Compute a lower bound if one of two categories and one county have a single record each.

    In the first dataset the record of this category is in this county, and in the second dataset it
    is in another county. The bound is (1/2) ln((n - 1) (1 - q1) / q1) for n = `size` >= 2, where q1
    is the probability of a move. It grows without limit with n.
    """
    moved = moved_probability(check_size(size, 2), rate)
    return Loss(abs(math.log((size - 1) * (1 - moved) / moved)) / 2, "lower bound")


def two_counties_bound(size: int, in_category: int, rate: float) -> Loss:
    """Compute a lower bound if two counties have a single record each, of different categories.

    `size` is the number of records, at least 4, and `in_category` is the number of records of one
    category. For large sizes the bound is (1/2) ln[(1 + 1/(o t)) (1 + 1/(o (1 - t)))], with the
    share t of the category and the odds o of the rate.
    """
    n = check_size(size, 4)
    log_odds = exchange_log_likelihood_ratio(n, in_category, n - in_category, rate)
    return Loss(abs(log_odds) / 2, "lower bound")
