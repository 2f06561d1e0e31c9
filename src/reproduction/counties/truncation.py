"""Truncation of released county counts at zero (ISDP, Section E.4).

ISDP is *Integer Subspace Differential Privacy*.
"""

import math

import numpy as np
import pandas as pd
import scipy

from isdp.exact import TotalDistribution, total_distribution

EPSILON_RANGE = 1e-3, 20.0  # range of the search for the column epsilon_to_bite
TARGET_TRUNCATED = 1e-3  # expected number of truncated counties per release at that epsilon


def negative_probability(noise: TotalDistribution, population) -> np.ndarray:
    """Compute P(population + noise < 0) for each population by the exact distribution."""
    tail = np.concatenate([[0.0], np.cumsum(noise.pmf)])
    limit = int(noise.support[-1])
    return tail[np.clip(limit - np.asarray(population), 0, len(tail) - 1)]


def truncation_bias(populations: np.ndarray, epsilon: float) -> float:
    """Compute the largest bias of a county's count after truncation at zero (persons).

    Truncation adds -(population + noise) to a negative count, whose expectation is the sum of
    P(population + noise < -k) over k = 0, 1, ...
    """
    if len(populations) < 2:
        return 0.0
    noise = total_distribution(len(populations), epsilon)
    beyond = np.arange(min(populations), int(noise.support[-1]) + 1)
    return float(negative_probability(noise, beyond).sum())


def expected_truncated(populations: np.ndarray, epsilon: float) -> float:
    """Compute the expected number of counties with a negative count in a state's release."""
    if len(populations) < 2:
        return 0.0  # the total determines the count of the only county
    noise = total_distribution(len(populations), epsilon)
    return float(negative_probability(noise, populations).sum())


def tabulate_curves(counties: pd.DataFrame, epsilons: list[float]) -> pd.DataFrame:
    """Tabulate the expected number of truncated counties in a release by state and epsilon."""
    rows = [
        (state, epsilon, expected_truncated(populations, epsilon))
        for state, populations in counties.groupby("state")["population"]
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["state", "epsilon", "expected"])


def tabulate_truncation(
    counties: pd.DataFrame, epsilon: float, sampled: pd.DataFrame
) -> pd.DataFrame:
    """Compute the table `truncation`. `sampled` is the table counties_states."""
    populations = counties.groupby("state")["population"]
    smallest = counties.loc[populations.idxmin()].set_index("state")
    run = sampled.set_index("state").reindex(smallest.index).astype({"releases_truncated": "Int64"})
    table = pd.DataFrame(
        {
            "counties": populations.size(),
            "least_county": smallest["county"],
            "least_population": smallest["population"],
            "expected": populations.apply(expected_truncated, epsilon),
            "bias": populations.apply(truncation_bias, epsilon),
            "releases": (run["chains"] * run["draws"]).astype("Int64"),
            "releases_truncated": run["releases_truncated"],
            "epsilon_to_bite": populations.apply(_epsilon_to_bite),
        }
    )
    return table.reset_index()


def tabulate_needed(
    epsilons: list[float], levels: tuple[float, ...] = (1e-3, 1e-6), cells: int = 100
) -> pd.DataFrame:
    """Tabulate the smallest population whose probability of truncation is below each level.

    `cells` is the number of counties under the total. With ten counties or more, the result hardly
    depends on it.
    """
    rows = []
    for epsilon in epsilons:
        noise = total_distribution(cells, epsilon)
        tail = negative_probability(noise, np.arange(noise.support[-1] + 1))
        rows += [(epsilon, level, int(np.argmax(tail < level))) for level in levels]
    return pd.DataFrame(rows, columns=["epsilon", "chance", "population"])


def tabulate_figure(counties: pd.DataFrame, epsilons: list[float]) -> pd.DataFrame:
    """Tabulate the values that both panels of the figure show."""
    curves = tabulate_curves(counties, epsilons).assign(series="expected truncated")
    needed = tabulate_needed(epsilons).assign(series="population needed")
    return pd.concat([curves, needed])


def _epsilon_to_bite(populations: pd.Series) -> float:
    def excess(log_epsilon: float) -> float:
        expected = expected_truncated(populations, math.exp(log_epsilon))
        return math.log(max(expected, 1e-300) / TARGET_TRUNCATED)

    if len(populations) < 2:
        return math.nan
    # The tail decays like exp(-epsilon * population), which gives a guess. The first search is near
    # the guess, because distributions at small epsilons are slow to compute.
    guess = -math.log(TARGET_TRUNCATED) / max(populations.min(), 1)
    for interval in (np.clip((guess / 4, guess * 4), *EPSILON_RANGE), EPSILON_RANGE):
        low, high = np.log(interval)
        if excess(low) >= 0 >= excess(high):
            return math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-2))
    return math.nan
