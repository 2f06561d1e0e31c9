"""Slopes of county errors on log population: state by state, and one for all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtr


@dataclass(frozen=True)
class Pooled:
    """One slope within all states, persons per unit of natural log population.

    Attributes
    ----------
    slope : float
    z : float
        Slope over its standard error, equal variances taken for granted.
    z_robust : float
        The same with the robust error HC3.
    areas : int
    """

    slope: float
    z: float
    z_robust: float
    areas: int


def pooled_slope(counties: pd.DataFrame, errors, least: int = 6) -> Pooled:
    """Regress all errors at once on log population, with an intercept for each state.

    Parameters
    ----------
    counties : DataFrame
        Columns state and population.
    errors : array, shape (counties,)
        Persons.
    least : int
        Counties that a state has at least to be taken in, 2 or more.
    """
    frame = pd.DataFrame(
        {"state": counties["state"], "x": np.log(counties["population"]), "y": np.asarray(errors)}
    )
    states = frame.groupby("state")["x"].transform("size")
    frame, states = frame[states >= least], states[states >= least].to_numpy()
    means = frame.groupby("state")[["x", "y"]].transform("mean")
    x, y = (frame["x"] - means["x"]).to_numpy(), (frame["y"] - means["y"]).to_numpy()
    areas = frame["state"].nunique()
    slope, plain, robust = slope_and_errors(x, y, 1 / states, areas)
    return Pooled(slope, slope / plain, slope / robust, areas)


def slope_and_errors(x, y, intercept_leverage, intercepts: int) -> tuple[float, float, float]:
    """Slope of y on x, both centred, with its standard error, plain and robust (HC3).

    Parameters
    ----------
    x, y : float array, shape (points,)
    intercept_leverage : float array, shape (points,), or float
        What the intercepts add to each point's leverage: one over the points that share its own.
    intercepts : int
    """
    spread = x @ x
    slope = x @ y / spread
    left = y - slope * x
    leverage = intercept_leverage + x**2 / spread
    plain = math.sqrt(left @ left / (len(x) - intercepts - 1) / spread)
    robust = math.sqrt(((x * left / (1 - leverage)) ** 2).sum()) / spread
    return float(slope), float(plain), float(robust)


def state_slopes(counties: pd.DataFrame, errors, least: int = 6) -> pd.DataFrame:
    """Regress the errors on log population in each state with enough counties.

    Returns
    -------
    DataFrame
        Columns state, counties, slope and p (two-sided), a row a state.
    """
    state, names = pd.factorize(counties["state"], sort=True)
    number = np.bincount(state)
    log_population = np.log(counties["population"].to_numpy(dtype=float))
    errors = np.asarray(errors, dtype=float)
    x, y = (
        values - (np.bincount(state, values) / number)[state] for values in (log_population, errors)
    )
    regressed = number >= least
    xx, xy, yy = (np.bincount(state, product)[regressed] for product in (x * x, x * y, y * y))
    free = number[regressed] - 2
    slope = xy / xx
    left = np.maximum(yy - slope * xy, 0)
    # errors that are all alike have no slope, and a perfect line leaves no doubt of its own
    z = np.divide(
        abs(slope), np.sqrt(left / free / xx), out=np.where(slope == 0, 0, np.inf), where=left > 0
    )
    return pd.DataFrame(
        {
            "state": names[regressed],
            "counties": number[regressed],
            "slope": slope,
            "p": 2 * stdtr(free, -z),
        }
    )
