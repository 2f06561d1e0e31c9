"""States of the run, selected by regressions of the DAS errors (SDP, Section 1; ISDP, E.4)."""

import numpy as np
import pandas as pd
import scipy

from isdp.errors import InputError
from reproduction.data.differences import FROM_CONFIG, PAPER_RULE, PAPER_VINTAGE


def regress_das_errors(
    counties: pd.DataFrame, alpha: float = 0.01, min_counties: int = 6
) -> pd.DataFrame:
    """Regress the DAS error of the counties on log population, in each state.

    The model is das_error = intercept + slope * ln(population) + noise, by least squares. With six
    counties or more these are the 48 regressions of SDP, Section 1 and Figure 1.

    `counties` are from `reproduction.data.demonstration.build_county_table`. `alpha` is the level
    of the two-sided t test that the slope is zero. The results of a state with a missing error are
    missing. Where all errors are equal, slope and se are 0 and p is 1. Raises InputError for a
    county without inhabitants, or a state whose counties all have the same population.
    """
    rows = [
        (state, len(group), *_regression(state, group))
        for state, group in counties.groupby("state")
        if len(group) >= min_counties
    ]
    table = pd.DataFrame(rows, columns=["state", "counties", "slope", "se", "p"])
    known = table["slope"].notna()
    return table.assign(
        negative=(table["slope"] < 0).astype("boolean").where(known),
        significant=(table["p"] < alpha).astype("boolean").where(known),
    )


def _regression(state: str, counties: pd.DataFrame) -> tuple[float, float, float]:
    """Return the slope, its standard error, and the p-value."""
    if counties["das_error"].isna().any():
        return np.nan, np.nan, np.nan
    empty = counties[counties["population"] <= 0]
    if len(empty):
        first = empty.iloc[0]
        raise InputError(
            f"counties: state {state}, county {first['county']}: the population must be positive "
            f"for its logarithm; remove the county or correct its count"
        )
    population = counties["population"].to_numpy(dtype=np.float64)
    if np.ptp(population) == 0:
        raise InputError(
            f"counties: state {state}: all counties have the same population, so that no slope "
            f"exists; remove the state or correct the counts"
        )
    error = counties["das_error"].to_numpy(dtype=np.float64)
    if np.ptp(error) == 0:  # a constant fits exactly; the general formula is 0 / 0
        return 0.0, 0.0, 1.0
    fit = scipy.stats.linregress(np.log(population), error)
    return fit.slope, fit.stderr, fit.pvalue


def add_slope_intervals(regressions: pd.DataFrame, level: float = 0.99) -> pd.DataFrame:
    """Add each slope's confidence interval, from low to high, to the table of regressions."""
    reach = scipy.stats.t.ppf((1 + level) / 2, regressions["counties"] - 2) * regressions["se"]
    return regressions.assign(low=regressions["slope"] - reach, high=regressions["slope"] + reach)


def select_biased_states(regressions: pd.DataFrame) -> list[str]:
    """List the states with a negative and significant slope, by number of counties, then name."""
    # CSV files return columns of blanks and booleans as objects or floats
    flags = regressions[["negative", "significant"]].astype("boolean").fillna(False)
    chosen = regressions[flags.all(axis=1)]
    return chosen.sort_values(["counties", "state"], ascending=[False, True])["state"].tolist()


def select_states(
    regressions: pd.DataFrame, vintage: str, asked: str | list[str], stand_in: list[str]
) -> pd.DataFrame:
    """Select the states to run, in order, each with the rule that selected it.

    A list of states in `asked` is used unchanged. "paper" applies the paper's rule if the
    regressions have the paper's vintage, and selects the `stand_in` states otherwise.
    """
    if asked != "paper":
        states, rule = list(asked), FROM_CONFIG
    elif vintage == PAPER_VINTAGE:
        states, rule = select_biased_states(regressions), PAPER_RULE
    else:
        states = list(stand_in)
        rule = (
            f"stand-in: the paper's list follows only from vintage {PAPER_VINTAGE}, so these are "
            f"the config's"
        )
    if not states:
        raise InputError(
            f"counties: no state has a negative slope that is significant at 0.01 in vintage "
            f"{vintage}; list the states in the config (counties.states)"
        )
    return pd.DataFrame({"state": states, "rule": rule})
