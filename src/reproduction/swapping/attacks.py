"""Information that an attacker gains about the county of a uniquely described household."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from isdp.swapping.mechanism.permutation import Strata, draw_permutation
from isdp.swapping.privacy.bound import epsilon_bound
from reproduction.swapping.theory.location_attack import (
    accuracy,
    bayes_factor_loss,
    location_posterior,
    log_odds_gain,
)


def compute_locations(
    names: Sequence[str], totals: np.ndarray, rates: Iterable[float]
) -> pd.DataFrame:
    """Compute the prior and posterior probability of the observed county, and the bound."""
    parts = [
        pd.DataFrame(
            {
                "county": names,
                "rate": rate,
                "prior": totals / totals.sum(),
                "posterior": location_posterior(totals, rate),
                "log_odds_gain": log_odds_gain(totals, rate),
                # an exchange changes two records
                "bound": 2 * epsilon_bound(rate, int(totals.sum())),
            }
        )
        for rate in rates
    ]
    return pd.concat(parts, ignore_index=True)


def compute_accuracy(totals: np.ndarray, rates: Iterable[float]) -> pd.DataFrame:
    """Compute the share of households whose county an attacker finds, without and with data."""
    rows = [(rate, accuracy(totals, rate), bayes_factor_loss(totals, rate).value) for rate in rates]
    table = pd.DataFrame(rows, columns=["rate", "accuracy", "bayes_factor"])
    table.insert(1, "without_data", totals.max() / totals.sum())
    return table


def gather_attack_curves(
    found: pd.DataFrame, state: pd.DataFrame, advantages: pd.DataFrame
) -> pd.DataFrame:
    """Combine the points of the figure of attacks.

    Locations are shown for the smallest and the largest county, and for all households.
    """
    prior = found.drop_duplicates("county").set_index("county")["prior"]
    shown = found[found["county"].isin([prior.idxmin(), prior.idxmax()])]
    columns = ["curve", "rate", "chance", "without_data"]
    single = shown[["county", "rate", "posterior", "prior"]].set_axis(columns, axis=1)
    overall = state[["rate", "accuracy", "without_data"]].set_axis(columns[1:], axis=1)
    parts = {
        "where it lives": pd.concat([single, overall.assign(curve="all households")]),
        "which of two datasets": advantages.melt("rate", var_name="curve", value_name="chance"),
    }
    return pd.concat(parts, names=["panel"]).reset_index(level=0).reset_index(drop=True)


def add_simulated(found: pd.DataFrame, simulated: Mapping[float, pd.DataFrame]) -> pd.DataFrame:
    """Add the mean of `simulate_posteriors` at each rate and county, with its standard error.

    The tables of `simulated` have one row for each run and one column for each county.
    """
    runs = pd.concat(simulated, axis=1)
    keys = pd.MultiIndex.from_frame(found[["rate", "county"]])
    error = runs.std() / np.sqrt(len(runs))
    return found.assign(
        simulated=runs.mean()[keys].to_numpy(), simulated_error=error[keys].to_numpy()
    )


def simulate_posteriors(
    rng: np.random.Generator, totals: np.ndarray, rate: float, runs: int
) -> np.ndarray:
    """Simulate the share of the households observed in each county that are from this county.

    The shape is (runs, counties).
    """
    home = np.repeat(np.arange(len(totals)), totals)
    strata = Strata.from_sizes([len(home)])
    shares = []
    for _ in range(runs):
        seen = home[draw_permutation(rng, strata, rate)]
        shares.append(np.bincount(home[seen == home], minlength=len(totals)) / totals)
    return np.array(shares)


def find_exposed_strata(counts: np.ndarray, rates: Sequence[float]) -> pd.DataFrame:
    """Compute the maximum log Bayes factor of an attacker if the swap key contains household size.

    `counts` have shape (sizes, counties, tenures). There is one row for each rate.
    """
    rows = []
    for size, stratum in enumerate(counts.sum(axis=2), start=1):
        totals = np.sort(stratum[stratum > 0])
        if len(totals) >= 2:
            known = (size, totals.sum(), " ".join(map(str, totals[:2])))
            rows += [(rate, bayes_factor_loss(totals, rate).value, *known) for rate in rates]
    columns = ["rate", "bayes_factor", "size", "records", "smallest_counties"]
    table = pd.DataFrame(rows, columns=columns)
    worst = table.groupby("rate", sort=False)["bayes_factor"].idxmax()
    return table.loc[worst].reset_index(drop=True)
