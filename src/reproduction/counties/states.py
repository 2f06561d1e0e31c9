"""The states that are run, and the counties of each (ISDP, E.4)."""

from __future__ import annotations

import pandas as pd

from isdp.errors import InputError
from reproduction.counties.das_errors import biased_states
from reproduction.data.differences import NAMED, PAPER_RULE, PAPER_VINTAGE


def select_states(
    regressions: pd.DataFrame, vintage: str, asked: str | list[str], stand_in: list[str]
) -> pd.DataFrame:
    """Choose the states to run, in order, each with the rule that chose it.

    Parameters
    ----------
    regressions : DataFrame
        From `reproduction.counties.das_errors.das_regressions`.
    vintage : str
        Vintage of the demonstration data behind them; "" when there are none.
    asked : "paper" or list of str
        A list is taken as it is. "paper" follows the rule of the paper where the vintage is
        the paper's, and takes `stand_in` elsewhere.
    stand_in : list of str
    """
    if asked != "paper":
        states, rule = list(asked), NAMED
    elif vintage == PAPER_VINTAGE:
        states, rule = biased_states(regressions), PAPER_RULE
    else:
        states = list(stand_in)
        rule = (
            f"stand-in: the paper's list follows only from vintage {PAPER_VINTAGE}, so these are "
            f"the config's"
        )
    if not states:
        raise InputError(
            f"counties: no state has a negative slope that is significant at 0.01 in vintage "
            f"{vintage}; name the states in the config (counties.states)"
        )
    return pd.DataFrame({"state": states, "rule": rule})


def counties_of(counties: pd.DataFrame, state: str) -> pd.DataFrame:
    """Return the rows of one state in increasing population, ties by FIPS code."""
    rows = counties[counties["state"] == state]
    if rows.empty:
        known = " ".join(sorted(counties["state"].unique()))
        raise InputError(f"counties: there is no state {state!r}; there are {known}")
    return rows.sort_values(["population", "fips"]).reset_index(drop=True)
