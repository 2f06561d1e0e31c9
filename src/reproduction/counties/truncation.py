"""Truncation of released county counts at zero: its probability, and the epsilon it needs (E.4)."""

import math

import numpy as np
import pandas as pd
import scipy

from isdp.exact import TotalLaw, total_law

EPSILON_RANGE = 1e-3, 20.0  # the range in which the epsilon of 1 truncated county in 1000 is sought
TARGET_TRUNCATED = 1e-3


def negative_probability(law: TotalLaw, population) -> np.ndarray:
    """P(population + noise < 0) for each population, by the exact law of a county's noise."""
    tail = np.concatenate([[0.0], np.cumsum(law.pmf)])
    reach = int(law.support[-1])
    return tail[np.clip(reach - np.asarray(population), 0, len(tail) - 1)]


def expected_truncated(populations: np.ndarray, epsilon: float) -> float:
    """Give the expected number of counties that a state's release would show below zero."""
    if len(populations) < 2:
        return 0.0  # a state of one county has no noise
    return float(negative_probability(total_law(len(populations), epsilon), populations).sum())


def tabulate_curves(counties: pd.DataFrame, epsilons: list[float]) -> pd.DataFrame:
    """Tabulate the expected truncated counties per release: state, epsilon, expected."""
    rows = [
        (state, epsilon, expected_truncated(populations, epsilon))
        for state, populations in counties.groupby("state")["population"]
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["state", "epsilon", "expected"])


def tabulate_truncation(
    counties: pd.DataFrame, epsilon: float, sampled: pd.DataFrame
) -> pd.DataFrame:
    """Make the table truncation; `sampled` is the table counties_states of the states run."""
    populations = counties.groupby("state")["population"]
    least = counties.loc[populations.idxmin()].set_index("state")
    run = sampled.set_index("state").reindex(least.index).astype({"releases_truncated": "Int64"})
    table = pd.DataFrame(
        {
            "counties": populations.size(),
            "least_county": least["county"],
            "least_population": least["population"],
            "expected": populations.apply(expected_truncated, epsilon),
            "releases": (run["chains"] * run["draws"]).astype("Int64"),
            "releases_truncated": run["releases_truncated"],
            "epsilon_to_bite": populations.apply(_epsilon_to_bite),
        }
    )
    return table.reset_index()


def tabulate_needed(
    epsilons: list[float], chances: tuple[float, ...] = (1e-3, 1e-6), cells: int = 100
) -> pd.DataFrame:
    """Tabulate the smallest population whose probability of truncation is below each level.

    `cells` is the number of counties under the total; the law hardly depends on it from ten up.
    """
    rows = []
    for epsilon in epsilons:
        law = total_law(cells, epsilon)
        tail = negative_probability(law, np.arange(law.support[-1] + 1))
        rows += [(epsilon, chance, int(np.argmax(tail < chance))) for chance in chances]
    return pd.DataFrame(rows, columns=["epsilon", "chance", "population"])


def tabulate_figure(counties: pd.DataFrame, epsilons: list[float]) -> pd.DataFrame:
    """Gather what both panels of the figure show, one below the other."""
    curves = tabulate_curves(counties, epsilons).assign(series="expected truncated")
    needed = tabulate_needed(epsilons).assign(series="population needed")
    return pd.concat([curves, needed])


def _epsilon_to_bite(populations: pd.Series) -> float:
    def excess(log_epsilon: float) -> float:
        expected = expected_truncated(populations, math.exp(log_epsilon))
        return math.log(max(expected, 1e-300) / TARGET_TRUNCATED)

    if len(populations) < 2:
        return math.nan
    # the tail falls like exp(-epsilon * population); small epsilons are slow, so look there first
    guess = -math.log(TARGET_TRUNCATED) / max(populations.min(), 1)
    for around in (np.clip((guess / 4, guess * 4), *EPSILON_RANGE), EPSILON_RANGE):
        low, high = np.log(around)
        if excess(low) >= 0 >= excess(high):
            return math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-2))
    return math.nan
