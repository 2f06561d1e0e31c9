"""Budgets of the slides, exact losses, and a test of sampled permutations.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from isdp.errors import InputError
from isdp.swapping.mechanism.permutation import Strata, draw_permutation
from isdp.swapping.privacy.bound import ROUNDING, epsilon_bound, min_epsilon, rates_with_epsilon
from isdp.swapping.privacy.worst_case import min_worst_case_loss, worst_case_loss
from reproduction.swapping.theory.fixed_totals_loss import universe_loss, universe_lower_bound
from reproduction.swapping.theory.location_attack import bayes_factor_loss
from reproduction.swapping.theory.privacy_profile import (
    epsilon_at_delta,
    exchange_loss_distribution,
)
from reproduction.swapping.theory.released_table import (
    rare_category_bound,
    table_loss,
    tables_with,
    two_counties_bound,
)
from reproduction.swapping.theory.variants import VARIANTS, log_weights, worst_case_loss_of_weights

MAX_LOGIT = 9.0  # maximum absolute log-odds of the swap rates of a curve
EPSILONS_ABOVE_MIN = (0.0, 0.01, 1.0, 5.0, 20.0)  # distances from the smallest epsilon, in nats


def compute_budget_curves(sizes: Iterable[int], points: int = 401) -> pd.DataFrame:
    """Compute the bound and the exact worst case by swap rate, for each size of stratum.

    Rates are evenly spaced in their log-odds and include 1/2, and the rate of the smallest bound of
    each size.
    """
    rates = 1 / (1 + np.exp(-np.linspace(-MAX_LOGIT, MAX_LOGIT, points)))
    parts = [
        compute_exact_losses([largest], np.sort([*rates, min_epsilon(largest)[1].selected]))
        for largest in sizes
    ]
    return pd.concat(parts, ignore_index=True).drop(columns="gap")


def gather_budget_points(curves: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Combine the curves of the figure with the printed numbers and their bounds."""
    marks = printed[["largest", "rate", "epsilon", "computed"]]
    return pd.concat([curves.assign(series="curve"), marks.assign(series="printed")])


def recompute_printed(printed: pd.DataFrame) -> pd.DataFrame:
    """Recompute each printed budget."""
    table = printed.copy()
    table["computed"] = list(map(epsilon_bound, table["rate"], table["largest"]))
    table["exact"] = list(map(worst_case_loss, table["rate"], table["largest"]))
    table["agree"] = table["computed"].round(2) == table["epsilon"]
    smallest = [min_epsilon(largest) for largest in table["largest"]]
    table["smallest"] = [epsilon for epsilon, _ in smallest]
    table["best_rate"] = [rate.selected for _, rate in smallest]
    return table


def check_remarks(sizes: Iterable[int]) -> pd.DataFrame:
    """Check the three remarks of the slides (SWAP) on the figure of budgets."""
    sizes = sorted(sizes)
    smallest = [min_epsilon(largest)[0] for largest in sizes]
    off = [
        max(
            abs(epsilon_bound(rate, largest) - epsilon)
            for epsilon in (minimum + np.array(EPSILONS_ABOVE_MIN)).tolist()
            for rate in rates_with_epsilon(epsilon, largest)
        )
        for largest, minimum in zip(sizes, smallest, strict=True)
    ]
    at_half = [epsilon_bound(0.5, largest) for largest in sizes]
    return pd.DataFrame(
        {
            "largest": sizes,
            "smallest_bound": smallest,
            "smallest_exact": [min_worst_case_loss(largest) for largest in sizes],
            "two_rates_off": off,
            "grows": np.diff(at_half, prepend=0) > 0,
        }
    )


def compare_permutations(
    rng: np.random.Generator,
    sizes: Iterable[int],
    rates: Iterable[float],
    strata: int,
    draw: Callable[..., np.ndarray] = draw_permutation,
) -> pd.DataFrame:
    """Compare sampled permutations with their exact distribution by a chi-square test.

    The test has one cell for each permutation. Therefore sizes must be small.
    """
    rows = []
    for size, rate in product(sizes, rates):
        every = np.array(list(permutations(range(size))))
        moved = (every != np.arange(size)).sum(axis=1)  # never 1; the weight of 1 is NaN
        expected = strata * np.exp(log_weights(rate, size)[moved])
        drawn = draw(rng, Strata.from_sizes(np.full(strata, size)), rate)
        within = drawn.reshape(strata, size) - size * np.arange(strata)[:, None]
        # `every` is in lexicographic order, and therefore its codes increase
        code = size ** np.arange(size)[::-1]
        place = np.searchsorted(every @ code, within @ code)
        seen = np.bincount(place, minlength=len(every))
        statistic = ((seen - expected) ** 2 / expected).sum()
        rows.append((size, rate, len(every), (seen > 0).sum(), expected.min(), statistic))
    columns = ["records", "rate", "permutations", "seen", "expected_least", "chi_square"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(2, "strata", strata)
    degrees = table["permutations"] - 1
    return table.assign(degrees=degrees, p=chdtrc(degrees, table["chi_square"]))


def compute_exact_losses(sizes: Iterable[int], rates: Iterable[float]) -> pd.DataFrame:
    """Compute the bound, the exact worst case and their difference, by size and rate."""
    table = pd.DataFrame(product(sizes, rates), columns=["largest", "rate"])
    table["epsilon_bound"] = list(map(epsilon_bound, table["rate"], table["largest"]))
    table["epsilon_exact"] = list(map(worst_case_loss, table["rate"], table["largest"]))
    table["gap"] = table["epsilon_bound"] - table["epsilon_exact"]
    return table


def compute_universe_losses(
    all_totals: Iterable[Sequence[int]], rates: Iterable[float]
) -> pd.DataFrame:
    """Compute the loss for given county totals. The loss of large strata is a lower bound."""
    rows = []
    for totals, rate in product(all_totals, rates):
        try:
            loss = universe_loss(totals, rate)
        except InputError:  # there are too many classes of outputs
            loss = universe_lower_bound(totals, rate)
        rows.append(
            {
                "universe": " ".join(map(str, totals)),
                "records": sum(totals),
                "rate": rate,
                "loss": loss.value,
                "kind": loss.kind,
                "bayes_factor": bayes_factor_loss(totals, rate).value,
                "worst_universe": worst_case_loss(rate, sum(totals)),
                "epsilon_bound": epsilon_bound(rate, sum(totals)),
            }
        )
    return pd.DataFrame(rows).eval("gap = epsilon_bound - loss")


def compute_table_losses(
    margins: Iterable[tuple[Sequence[int], Sequence[int]]], rates: Iterable[float]
) -> pd.DataFrame:
    """Compute the exact loss if only the table of county by category is released."""
    rows = [
        {
            "counties": " ".join(map(str, counties)),
            "categories": " ".join(map(str, categories)),
            "tables": len(tables_with(counties, categories)),
            "rate": rate,
            "loss": table_loss(counties, categories, rate).value,
            "even_limit": float(np.log1p(2 * (1 - rate) / rate)),
            "epsilon_bound": epsilon_bound(rate, sum(counties)),
        }
        for (counties, categories), rate in product(margins, rates)
    ]
    return pd.DataFrame(rows).eval("gap = epsilon_bound - loss")


def compute_table_bounds(
    sizes: Iterable[int], share: float, rates: Iterable[float]
) -> pd.DataFrame:
    """Compute lower bounds of the loss of a released table with a county or category of one record.

    Sizes are at least 4. `share` is the share of one category in the bound with two counties.
    """
    rows = []
    for n, rate in product(sizes, rates):
        in_one = min(max(round(share * n), 1), n - 1)
        bounds = (rare_category_bound(n, rate), two_counties_bound(n, in_one, rate))
        rows.append((n, rate, *(bound.value for bound in bounds), epsilon_bound(rate, n)))
    columns = ["records", "rate", "one_rare", "two_counties", "epsilon_bound"]
    return pd.DataFrame(rows, columns=columns)


def compute_profile(
    sizes: Iterable[int], rates: Iterable[float], deltas: Iterable[float]
) -> pd.DataFrame:
    """Compute the epsilon of an exchange at each delta, per unit of d_HAM."""
    rows = []
    for n, rate in product(sizes, rates):
        losses, bound = exchange_loss_distribution(n, rate), epsilon_bound(rate, n)
        rows += [(n, rate, delta, epsilon_at_delta(losses, delta), bound) for delta in deltas]
    return pd.DataFrame(rows, columns=["largest", "rate", "delta", "epsilon", "epsilon_bound"])


def compare_variants(sizes: Iterable[int], rates: Iterable[float]) -> pd.DataFrame:
    """Compare the exact worst-case privacy loss of each variant with the bound.

    The algorithm attains the bound at some rates above 1/2. Therefore `within` allows for rounding.
    """
    grid = product(sizes, rates, VARIANTS)
    table = pd.DataFrame(grid, columns=["records", "rate", "variant"])
    table["loss"] = [
        worst_case_loss_of_weights(log_weights(rate, n, variant))
        for n, rate, variant in table.itertuples(index=False)
    ]
    bound = np.array(list(map(epsilon_bound, table["rate"], table["records"])))
    within = table["loss"] <= bound + ROUNDING * (1 + bound)
    return table.assign(epsilon_bound=bound, within=within)


def gather_tightness_points(
    sizes: Iterable[int], rates: Iterable[float], deltas: Iterable[float], largest: int
) -> pd.DataFrame:
    """Combine the points of the figure: gaps by size, and profiles of the largest stratum."""
    gaps = compute_exact_losses(sizes, [0.5]).assign(panel="gap")
    names = {"delta": "x", "epsilon": "profile", "epsilon_bound": "bound"}
    profiles = compute_profile([largest], rates, deltas).rename(columns=names)
    points = profiles.melt(["rate", "x"], ["profile", "bound"], var_name="panel", value_name="y")
    gaps = gaps.rename(columns={"largest": "x", "gap": "y"})
    columns = ["panel", "rate", "x", "y"]
    return pd.concat([gaps[columns], points[columns]], ignore_index=True)
