"""Regressions of the errors of the Census DAS on the population of the counties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from isdp.errors import InputError

_MISSING = {"slope": np.nan, "se": np.nan, "p": np.nan, "negative": pd.NA, "significant": pd.NA}
_DTYPES = {
    "counties": "int64",
    "slope": "float64",
    "se": "float64",
    "p": "float64",
    "negative": "boolean",
    "significant": "boolean",
}


def das_regressions(
    counties: pd.DataFrame, alpha: float = 0.01, min_counties: int = 6
) -> pd.DataFrame:
    """Regress the DAS error of the counties on log population, in each state.

    The model is das_error = intercept + slope * ln(population) + noise, by least squares.

    Parameters
    ----------
    counties : DataFrame
        Columns state, county, population (persons) and das_error (persons, may be missing), as
        from `reproduction.data.demonstration.county_table`.
    alpha : float
        Level of the two-sided t test that the slope is zero.
    min_counties : int
        States with fewer counties are left out; at least 3.

    Returns
    -------
    DataFrame
        One row a state, sorted by state: state, counties (their number), slope (persons per unit
        of natural log population) with its standard error se, p (two-sided), negative (slope < 0)
        and significant (p < alpha), the last two of dtype boolean. In a state where an error is
        missing they are all missing; where all errors are equal, slope and se are 0 and p is 1.

    Raises
    ------
    InputError
        If a county to regress has no inhabitants, all counties of a state have the same
        population, or `alpha` or `min_counties` is out of range.

    Notes
    -----
    Gao, Gong, Yu: Subspace Differential Privacy, Section 1 and Figure 1: with six counties or
    more these are 48 regressions, in the states without Delaware, Hawaii and Rhode Island, and
    in Puerto Rico.
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha: {alpha} will not do; give a number between 0 and 1")
    if min_counties < 3:
        raise InputError(f"min_counties: {min_counties} will not do; a line needs 3 counties")
    rows = [
        {"state": state, "counties": len(group), **_regression(state, group, alpha)}
        for state, group in counties.groupby("state", sort=True)
        if len(group) >= min_counties
    ]
    return pd.DataFrame(rows, columns=["state", *_DTYPES]).astype(_DTYPES)


def _regression(state: str, counties: pd.DataFrame, alpha: float) -> dict:
    if counties["das_error"].isna().any():
        return _MISSING
    empty = counties[counties["population"] <= 0]
    if len(empty):
        first = empty.iloc[0]
        raise InputError(
            f"counties: state {state}, county {first['county']}: a population of "
            f"{first['population']} has no logarithm; leave the county out or correct its count"
        )
    population = counties["population"].to_numpy(dtype=np.float64)
    if np.ptp(population) == 0:
        raise InputError(
            f"counties: state {state}: all counties have the population {population[0]:.0f}, so "
            f"there is no slope; leave the state out or correct the counts"
        )
    error = counties["das_error"].to_numpy(dtype=np.float64)
    if np.ptp(error) == 0:  # a flat line fits exactly, where the general formula is 0 / 0
        return {"slope": 0.0, "se": 0.0, "p": 1.0, "negative": False, "significant": False}
    fit = scipy.stats.linregress(np.log(population), error)
    return {
        "slope": fit.slope,
        "se": fit.stderr,
        "p": fit.pvalue,
        "negative": fit.slope < 0,
        "significant": fit.pvalue < alpha,
    }


def slope_intervals(regressions: pd.DataFrame, level: float = 0.99) -> pd.DataFrame:
    """Give each slope its confidence interval.

    Parameters
    ----------
    regressions : DataFrame
        From `das_regressions`.
    level : float
        Probability that the interval covers the slope; 1 - alpha makes an interval exclude zero
        just where the slope is significant.

    Returns
    -------
    DataFrame
        The regressions with two more columns, low and high (persons per unit of natural log
        population); missing where the slope is.

    Raises
    ------
    InputError
        If `level` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise InputError(f"level: {level} will not do; give a number between 0 and 1")
    reach = scipy.stats.t.ppf((1 + level) / 2, regressions["counties"] - 2) * regressions["se"]
    return regressions.assign(low=regressions["slope"] - reach, high=regressions["slope"] + reach)


def biased_states(regressions: pd.DataFrame) -> list[str]:
    """List the states with a negative and significant slope.

    Parameters
    ----------
    regressions : DataFrame
        From `das_regressions`, or read back from a CSV file of it.

    Returns
    -------
    list of str
        In descending number of counties, ties by name.
    """
    # a column of blanks and booleans comes back from CSV as objects or floats
    flags = regressions[["negative", "significant"]].astype("boolean").fillna(False)
    chosen = regressions[flags["negative"] & flags["significant"]]
    order = chosen.sort_values(["counties", "state"], ascending=[False, True])
    return order["state"].tolist()
