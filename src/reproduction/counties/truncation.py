"""Truncating released county counts at zero: whether it bites, and what that takes (ISDP, E.4)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import scipy

from isdp.exact import TotalLaw, total_law

SMALLEST, LARGEST = 1e-3, 20.0  # epsilons between which the threshold is looked for
ONE_IN_1000 = 1e-3


def below_zero(law: TotalLaw, population) -> np.ndarray:
    """P(population + noise < 0) for each population, by the exact law of a county's noise."""
    tail = np.concatenate([[0.0], np.cumsum(law.pmf)])
    reach = int(law.support[-1])
    return tail[np.clip(reach - np.asarray(population), 0, len(tail) - 1)]


def county_chances(counties: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Chance that truncation changes a county's count; one row a county of every state.

    Parameters
    ----------
    counties : DataFrame
        Columns state, fips, county and population.
    epsilon : float
        Of the l1 generalized Laplace mechanism under each state's total.
    """
    table = counties[["state", "fips", "county", "population"]].copy()
    table["p_below_zero"] = 0.0
    for _, part in table.groupby("state", sort=False):
        law = total_law(len(part), epsilon)
        table.loc[part.index, "p_below_zero"] = below_zero(law, part["population"])
    return table


def expected_truncated(populations: np.ndarray, epsilon: float) -> float:
    """Give the expected number of counties that a state's release would show below zero."""
    if len(populations) < 2:
        return 0.0  # a state of one county has no noise
    return float(below_zero(total_law(len(populations), epsilon), populations).sum())


def truncation_curves(counties: pd.DataFrame, epsilons: list[float]) -> pd.DataFrame:
    """Tabulate the expected truncated counties a release: state, epsilon, expected."""
    rows = [
        (state, epsilon, expected_truncated(part["population"].to_numpy(), epsilon))
        for state, part in counties.groupby("state", sort=True)
        for epsilon in epsilons
    ]
    return pd.DataFrame(rows, columns=["state", "epsilon", "expected"])


def truncation_states(
    counties: pd.DataFrame, epsilon: float, sampled: pd.DataFrame
) -> pd.DataFrame:
    """One row a state: what truncation did to our draws, and what it would take.

    Parameters
    ----------
    counties : DataFrame
        Columns state, county and population.
    epsilon : float
    sampled : DataFrame
        Table counties_states: state, chains, draws and releases_truncated of the states run.

    Returns
    -------
    DataFrame
        `least_county` and `least_population`; `expected` truncated counties a release by the exact
        law; `releases` drawn and `releases_truncated`, blank for states that were not run;
        `epsilon_to_bite` (to 1 %), at which 1000 releases truncate one county (blank where
        that is below 0.001, or where a state of one county has no noise).
    """
    seen = sampled.set_index("state")
    rows = []
    for state, part in counties.groupby("state", sort=True):
        least = part.loc[part["population"].idxmin()]
        populations = part["population"].to_numpy()
        run = seen.loc[state] if state in seen.index else None
        rows.append(
            {
                "state": state,
                "counties": len(part),
                "least_county": least["county"],
                "least_population": least["population"],
                "expected": expected_truncated(populations, epsilon),
                "releases": None if run is None else run["chains"] * run["draws"],
                "releases_truncated": None if run is None else run["releases_truncated"],
                "epsilon_to_bite": _epsilon_to_bite(populations),
            }
        )
    whole = {"releases": "Int64", "releases_truncated": "Int64"}
    return pd.DataFrame(rows).astype(whole)


def needed_populations(
    epsilons: list[float], chances: tuple[float, ...] = (1e-3, 1e-6), cells: int = 100
) -> pd.DataFrame:
    """Least population whose chance of truncation is below each level.

    Parameters
    ----------
    epsilons : list of float
    chances : tuple of float
    cells : int
        Counties under the total; the law hardly depends on it from ten up.

    Returns
    -------
    DataFrame with columns epsilon, chance and population
    """
    rows = []
    for epsilon in epsilons:
        law = total_law(cells, epsilon)
        tail = below_zero(law, np.arange(law.support[-1] + 1))
        rows += [(epsilon, chance, int(np.argmax(tail < chance))) for chance in chances]
    return pd.DataFrame(rows, columns=["epsilon", "chance", "population"])


def _epsilon_to_bite(populations: np.ndarray) -> float:
    @cache  # both ends are asked for again
    def above(log_epsilon: float) -> float:
        expected = expected_truncated(populations, math.exp(log_epsilon))
        return math.log(max(expected, 1e-300) / ONE_IN_1000)

    if len(populations) < 2:
        return math.nan
    # the tail falls like exp(-epsilon * population); small epsilons are slow, so look there first
    guess = -math.log(ONE_IN_1000) / max(populations.min(), 1)
    everywhere = SMALLEST, LARGEST
    ends = np.log(np.clip((guess / 4, guess * 4), *everywhere))
    if not above(ends[0]) >= 0 >= above(ends[1]):
        ends = np.log(everywhere)
        if above(ends[0]) < 0:
            return math.nan
    return math.exp(scipy.optimize.brentq(above, *ends, xtol=1e-2))
