"""What an attacker learns of where a uniquely described household lives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.swapping.attack import accuracy, bayes_factor_loss, location_posterior, log_odds_gain
from isdp.swapping.budget import epsilon_bound
from isdp.swapping.permutation import Strata, draw_permutation


def locations(names: Sequence[str], totals: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Posterior of the county that is seen, beside the prior and the bound.

    Returns
    -------
    DataFrame with a row for each county and rate
        `prior`, `posterior`, `log_odds_gain`, and `bound`, by how much the logarithm of the odds
        of two datasets that differ by an exchange can move: twice the budget.
    """
    totals, parts = np.asarray(totals), []
    for rate in rates:
        parts.append(
            pd.DataFrame(
                {
                    "county": list(names),
                    "rate": rate,
                    "prior": totals / totals.sum(),
                    "posterior": location_posterior(totals, rate),
                    "log_odds_gain": log_odds_gain(totals, rate),
                    "bound": 2 * epsilon_bound(rate, int(totals.sum())),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def whole_state(totals: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Share of all households placed rightly, without data and by believing what is seen.

    Returns
    -------
    DataFrame: `rate`, `without_data` (the largest county for everyone), `accuracy`, `bayes_factor`
    """
    totals = np.asarray(totals)
    rows = [
        (
            rate,
            totals.max() / totals.sum(),
            accuracy(totals, rate),
            bayes_factor_loss(totals, rate).value,
        )
        for rate in rates
    ]
    return pd.DataFrame(rows, columns=["rate", "without_data", "accuracy", "bayes_factor"])


def curves(found: pd.DataFrame, state: pd.DataFrame, advantages: pd.DataFrame) -> pd.DataFrame:
    """Gather what the figure of attacks shows, a row a point.

    Parameters
    ----------
    found, state : DataFrame
        From `locations` and `whole_state`.
    advantages : DataFrame
        From `reproduction.swapping.against_noise.advantages`.

    Returns
    -------
    DataFrame: `panel`, `curve`, `rate`, `chance`, `without_data`
        "where it lives": the smallest and the largest county, and all households; "which of two
        datasets": total variation of swapping and of noise, with nothing in `without_data`.
    """
    prior = found.drop_duplicates("county").set_index("county")["prior"]
    shown = found[found["county"].isin([prior.idxmin(), prior.idxmax()])]
    columns = ["curve", "rate", "chance", "without_data"]
    one = shown[["county", "rate", "posterior", "prior"]].set_axis(columns, axis=1)
    every = state[["rate", "accuracy", "without_data"]].set_axis(columns[1:], axis=1)
    told = advantages.melt("rate", var_name="curve", value_name="chance")
    parts = {
        "where it lives": pd.concat([one, every.assign(curve="all households")]),
        "which of two datasets": told,
    }
    return pd.concat(parts, names=["panel"]).reset_index(level=0).reset_index(drop=True)


def place_simulated(found: pd.DataFrame, simulated: Mapping) -> pd.DataFrame:
    """Put the mean and spread of simulated swaps beside the exact posteriors.

    Parameters
    ----------
    found : DataFrame
        From `locations`.
    simulated : mapping from rate to float64 array, shape (runs, counties)
        From `simulated_posteriors`.

    Returns
    -------
    DataFrame
        `found` with `simulated` and its standard error `simulated_error`, from the runs.
    """
    runs = np.concatenate([simulated[rate] for rate in found["rate"].unique()], axis=1)
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return found.assign(simulated=runs.mean(axis=0), simulated_error=error)


def simulated_posteriors(
    rng: np.random.Generator, totals: np.ndarray, rate: float, runs: int
) -> np.ndarray:
    """Share of the households seen in each county that live there, in simulated swaps.

    Returns
    -------
    float64 array, shape (runs, counties)
    """
    home = np.repeat(np.arange(len(totals)), totals)
    strata = Strata.consecutive([len(home)])
    shares = []
    for _ in range(runs):
        seen = home[draw_permutation(rng, strata, rate)]
        shares.append(np.bincount(home[seen == home], minlength=len(totals)) / totals)
    return np.array(shares)


def by_strata(counts: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Gain of the most exposed exchange if households are told apart by size as well.

    Parameters
    ----------
    counts : int64 array, shape (sizes, counties, tenures)
    rates : iterable of float

    Returns
    -------
    DataFrame with a row a rate
        `bayes_factor`, the largest over sizes; the `size` number that has it, its `records` and
        its `smallest_counties`.
    """
    rows = []
    for rate in rates:
        best = None
        for size, stratum in enumerate(counts.sum(axis=2), start=1):
            totals = np.sort(stratum[stratum > 0])
            if len(totals) < 2:
                continue
            loss = bayes_factor_loss(totals, rate).value
            if best is None or loss > best["bayes_factor"]:
                smallest = " ".join(map(str, totals[:2]))
                best = {
                    "rate": rate,
                    "bayes_factor": loss,
                    "size": size,
                    "records": int(totals.sum()),
                    "smallest_counties": smallest,
                }
        rows.append(best)
    return pd.DataFrame(rows)
