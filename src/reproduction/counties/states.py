"""Select the states of a run by regressions of the DAS errors (SDP, Section 1; ISDP, E.4).

ISDP is *Integer Subspace Differential Privacy*, and SDP is *Subspace Differential Privacy*.
"""

import numpy as np
import pandas as pd
import scipy

from isdp.errors import InputError
from reproduction.data.differences import FROM_CONFIG, PAPER_RULE, PAPER_VINTAGE


def regress_das_errors(
    counties: pd.DataFrame, alpha: float = 0.01, min_counties: int = 6
) -> pd.DataFrame:
    """Regress the DAS error of the counties on log population in each state.

    The model is das_error = intercept + slope * ln(population) + noise, fitted by least squares.
    There are 48 states with at least six counties, as in SDP, Section 1 and Figure 1.

    `counties` is a table from `reproduction.data.demonstration.build_county_table`. `alpha` is the
    level of the two-sided t test of slope zero. If an error is missing, the results of its state
    are missing. If all errors of a state are equal, slope and se are 0 and p is 1. Raises
    InputError if a county has no inhabitants, or all counties of a state have the same population.
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
    if counties["das_error"].isna().any():
        return np.nan, np.nan, np.nan
    empty = counties[counties["population"] <= 0]
    if len(empty):
        first = empty.iloc[0]
        raise InputError(
            f"counties: state {state}, county {first['county']}: there are no inhabitants. Remove "
            f"the county or correct its count."
        )
    population = counties["population"].to_numpy(dtype=np.float64)
    if np.ptp(population) == 0:
        raise InputError(
            f"counties: state {state}: all counties have the same population. Remove the state or "
            f"correct the counts."
        )
    error = counties["das_error"].to_numpy(dtype=np.float64)
    if np.ptp(error) == 0:  # the formula of p would give 0 / 0
        return 0.0, 0.0, 1.0
    fit = scipy.stats.linregress(np.log(population), error)
    return fit.slope, fit.stderr, fit.pvalue


def add_slope_intervals(regressions: pd.DataFrame) -> pd.DataFrame:
    """Add the limits `low` and `high` of each slope's 99 % confidence interval."""
    half = scipy.stats.t.ppf(0.995, regressions["counties"] - 2) * regressions["se"]
    return regressions.assign(low=regressions["slope"] - half, high=regressions["slope"] + half)


def select_biased_states(regressions: pd.DataFrame) -> list[str]:
    """List the states with a negative and significant slope, sorted by number of counties."""
    # pandas reads columns of empty cells and booleans as objects or floats
    flags = regressions[["negative", "significant"]].astype("boolean").fillna(False)
    chosen = regressions[flags.all(axis=1)]
    return chosen.sort_values(["counties", "state"], ascending=[False, True])["state"].tolist()


def select_states(
    regressions: pd.DataFrame, vintage: str, asked: str | list[str], stand_in: list[str]
) -> pd.DataFrame:
    """Select the states to run, and return each state with the rule that selected it.

    A list of states in `asked` is used unchanged. The value "paper" applies the paper's rule to the
    paper's vintage, and selects the `stand_in` states for any other vintage.
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
            f"config: counties.states: no state has a negative slope that is significant at 0.01 "
            f"in vintage {vintage}. List the states to run."
        )
    return pd.DataFrame({"state": states, "rule": rule})
