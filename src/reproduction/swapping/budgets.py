"""Budgets of the slides, and how far each is from the exact loss: one function a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.swapping.attack import bayes_factor_loss
from isdp.swapping.budget import ROUNDING, epsilon_bound, rates_for, smallest_epsilon
from isdp.swapping.loss import VARIANTS, log_weights, smallest_worst_loss, worst_loss, worst_loss_of
from isdp.swapping.profile import epsilon_of, exchange_loss_law
from isdp.swapping.released_table import (
    rare_category_bound,
    table_loss,
    tables_with,
    two_counties_bound,
)
from isdp.swapping.universe import universe_loss, universe_lower_bound

LOGIT_REACH = 9.0  # curves run over swap rates from 0.0001 to 0.9999


def curves(sizes: Iterable[int], points: int = 401) -> pd.DataFrame:
    """Epsilon by swap rate for some largest strata, the bound and the exact worst case.

    Returns
    -------
    DataFrame: `largest`, `rate`, `epsilon_bound`, `epsilon_exact`
        Rates are evenly spaced in their log-odds, 1/2 in the middle; and the rate of the smallest
        bound of each size is among them.
    """
    rates = 1 / (1 + np.exp(-np.linspace(-LOGIT_REACH, LOGIT_REACH, points)))
    rows = []
    for largest in sizes:
        for rate in np.sort(np.append(rates, smallest_epsilon(largest)[1].selected)):
            bound, exact = epsilon_bound(rate, largest), worst_loss(rate, largest)
            rows.append((largest, rate, bound, exact))
    return pd.DataFrame(rows, columns=["largest", "rate", "epsilon_bound", "epsilon_exact"])


def printed_budgets(printed: pd.DataFrame) -> pd.DataFrame:
    """Compute each printed budget anew.

    Parameters
    ----------
    printed : DataFrame
        From `reproduction.swapping.printed.read_budgets`.

    Returns
    -------
    DataFrame
        The printed columns, `computed` by the bound, `exact` in the worst universe, whether the
        digits `agree`, the `smallest` bound that any rate has and the `best_rate` that has it.
    """
    table = printed.copy()
    pairs = list(zip(table["rate"], table["largest"], strict=True))
    table["computed"] = [epsilon_bound(rate, largest) for rate, largest in pairs]
    table["exact"] = [worst_loss(rate, largest) for rate, largest in pairs]
    table["agree"] = table["computed"].round(2) == table["epsilon"]
    smallest = [smallest_epsilon(largest) for largest in table["largest"]]
    table["smallest"] = [epsilon for epsilon, _ in smallest]
    table["best_rate"] = [rate.selected for _, rate in smallest]
    return table


def remarks(sizes: Iterable[int]) -> pd.DataFrame:
    """Check the slides' three remarks on the figure, for the bound and for the exact loss.

    Returns
    -------
    DataFrame with a row a size
        `smallest_bound` > 0; `smallest_exact`, 0 for two records; `two_rates_off`, the largest
        error of epsilon over both rates for epsilons above the smallest; `grows`, whether the
        bound at p = 1/2 is above that of the size before.
    """
    rows, previous = [], 0.0
    for largest in sorted(sizes):
        least, _ = smallest_epsilon(largest)
        goals = least + np.array([0.0, 0.01, 1.0, 5.0, 20.0])
        off = max(
            abs(epsilon_bound(rate, largest) - goal)
            for goal in goals.tolist()
            for rate in rates_for(goal, largest)
        )
        at_half = epsilon_bound(0.5, largest)
        rows.append((largest, least, smallest_worst_loss(largest), off, at_half > previous))
        previous = at_half
    names = ["largest", "smallest_bound", "smallest_exact", "two_rates_off", "grows"]
    return pd.DataFrame(rows, columns=names)


def exact_losses(sizes: Iterable[int], rates: Iterable[float]) -> pd.DataFrame:
    """Bound and exact worst case by size and rate, and the gap between them."""
    rows = [
        (largest, rate, epsilon_bound(rate, largest), worst_loss(rate, largest))
        for largest in sizes
        for rate in rates
    ]
    table = pd.DataFrame(rows, columns=["largest", "rate", "epsilon_bound", "epsilon_exact"])
    table["gap"] = table["epsilon_bound"] - table["epsilon_exact"]
    return table


def universes(all_totals: Iterable[Sequence[int]], rates: Iterable[float]) -> pd.DataFrame:
    """Loss within universes of given county totals: exact where that can be, else from below.

    Returns
    -------
    DataFrame with a row for each universe and rate
        `loss` and its `kind`; `bayes_factor`, what an observer gains from the likely output;
        the bound and the exact worst case over all universes of that size; and `gap`, the bound
        less the loss.
    """
    rows = []
    for totals in all_totals:
        for rate in rates:
            loss, bound = _universe(totals, rate), epsilon_bound(rate, sum(totals))
            rows.append(
                {
                    "universe": " ".join(map(str, totals)),
                    "records": sum(totals),
                    "rate": rate,
                    "loss": loss.value,
                    "kind": loss.kind,
                    "bayes_factor": bayes_factor_loss(totals, rate).value,
                    "worst_universe": worst_loss(rate, sum(totals)),
                    "epsilon_bound": bound,
                    "gap": bound - loss.value,
                }
            )
    return pd.DataFrame(rows)


def _universe(totals: Sequence[int], rate: float):
    try:
        return universe_loss(totals, rate)
    except InputError:  # too large to try all pairs
        return universe_lower_bound(totals, rate)


def table_only(
    margins: Iterable[tuple[Sequence[int], Sequence[int]]], rates: Iterable[float]
) -> pd.DataFrame:
    """Exact loss if the table of county by category alone is released, for small tables.

    Returns
    -------
    DataFrame with a row for each pair of margins and rate
        `loss`, exact; `even_limit` ln(1 + 2/o), which tables with even margins tend to and which
        is no bound; the bound, and `gap`, the bound less the loss.
    """
    rows = []
    for counties, categories in margins:
        for rate in rates:
            loss, bound = table_loss(counties, categories, rate), epsilon_bound(rate, sum(counties))
            rows.append(
                {
                    "counties": " ".join(map(str, counties)),
                    "categories": " ".join(map(str, categories)),
                    "tables": len(tables_with(counties, categories)),
                    "rate": rate,
                    "loss": loss.value,
                    "even_limit": float(np.log1p(2 * (1 - rate) / rate)),
                    "epsilon_bound": bound,
                    "gap": bound - loss.value,
                }
            )
    return pd.DataFrame(rows)


def table_only_bounds(sizes: Iterable[int], share: float, rates: Iterable[float]) -> pd.DataFrame:
    """Lower bounds of the same loss where a county or a category is rare, by size and rate.

    Parameters
    ----------
    sizes : iterable of int
        Records, at least 4.
    share : float
        Of the records that are in one of two categories, for the second bound.
    rates : iterable of float

    Returns
    -------
    DataFrame: `records`, `rate`, `one_rare`, `two_counties`, `epsilon_bound`
    """
    rows = []
    for n in sizes:
        inside = min(max(round(share * n), 1), n - 1)
        for rate in rates:
            rows.append(
                (
                    n,
                    rate,
                    rare_category_bound(n, rate).value,
                    two_counties_bound(n, inside, rate).value,
                    epsilon_bound(rate, n),
                )
            )
    names = ["records", "rate", "one_rare", "two_counties", "epsilon_bound"]
    return pd.DataFrame(rows, columns=names)


def profile(sizes: Iterable[int], rates: Iterable[float], deltas: Iterable[float]) -> pd.DataFrame:
    """Find epsilon if the loss of an exchange may exceed it with a small weight delta.

    Returns
    -------
    DataFrame: `largest`, `rate`, `delta`, `epsilon` for each unit, `epsilon_bound` at delta 0
    """
    rows = []
    for n, rate in product(sizes, rates):
        law, bound = exchange_loss_law(n, rate), epsilon_bound(rate, n)
        rows += [(n, rate, delta, epsilon_of(law, delta), bound) for delta in deltas]
    return pd.DataFrame(rows, columns=["largest", "rate", "delta", "epsilon", "epsilon_bound"])


def variants(sizes: Iterable[int], rates: Iterable[float]) -> pd.DataFrame:
    """Exact worst case of the listing, without its redraw, and with a plain permutation.

    Returns
    -------
    DataFrame: `records`, `rate`, `variant`, `loss`, `epsilon_bound` (of the listing) and whether
    the loss is `within` that bound, up to rounding: above p = 1/2 the listing can attain it
    """
    rows = []
    for n in sizes:
        for rate in rates:
            bound = epsilon_bound(rate, n)
            most = bound + ROUNDING * (1 + bound)
            for variant in VARIANTS:
                loss = worst_loss_of(log_weights(rate, n, variant))
                rows.append((n, rate, variant, loss, bound, loss <= most))
    names = ["records", "rate", "variant", "loss", "epsilon_bound", "within"]
    return pd.DataFrame(rows, columns=names)


def tightness(
    sizes: Iterable[int], rates: Iterable[float], deltas: Iterable[float], largest: int
) -> pd.DataFrame:
    """How near the bound is to the exact worst case, and what a small delta makes of it.

    Parameters
    ----------
    sizes : iterable of int
        Largest strata for the first panel.
    rates, deltas : iterable of float
    largest : int
        The largest stratum of the second panel.

    Returns
    -------
    DataFrame: `panel`, `rate`, `x`, `y`
        "gap": x a size, y the bound less the exact worst case; "profile": x a delta, y the epsilon
        of an exchange for each unit; "bound": the same at delta 0, once for each delta.
    """
    rates, deltas = list(rates), list(deltas)
    gaps = exact_losses(sizes, [0.5])
    parts = [("gap", 0.5, *row) for row in gaps[["largest", "gap"]].itertuples(index=False)]
    found = profile([largest], rates, deltas)
    for panel, column in (("profile", "epsilon"), ("bound", "epsilon_bound")):
        columns = found[["rate", "delta", column]]
        parts += [(panel, *row) for row in columns.itertuples(index=False)]
    return pd.DataFrame(parts, columns=["panel", "rate", "x", "y"])
