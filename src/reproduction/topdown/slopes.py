"""Slopes of county errors on log population: state by state, and one for all."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import stdtr

MIN_COUNTIES = 6  # of a state that is regressed


def pooled_slope(counties: pd.DataFrame, errors) -> dict[str, float]:
    """Regress all errors at once on log population, with an intercept for each state.

    Returns
    -------
    dict
        states (their number), pooled_slope (persons per unit of natural log population), and it
        over its standard errors: pooled_z for equal variances, pooled_z_robust with HC3.
    """
    points = pd.DataFrame({"x": np.log(counties["population"]), "y": np.asarray(errors)})
    groups = points.groupby(counties["state"])
    size = groups["x"].transform("size")
    x, y = (points - groups.transform("mean"))[size >= MIN_COUNTIES].to_numpy().T
    leverage = 1 / size[size >= MIN_COUNTIES].to_numpy()
    states = int((groups.size() >= MIN_COUNTIES).sum())
    slope, plain, robust = slope_and_errors(x, y, leverage, states)
    return {
        "states": states,
        "pooled_slope": slope,
        "pooled_z": slope / plain,
        "pooled_z_robust": slope / robust,
    }


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


def state_slopes(counties: pd.DataFrame, errors) -> pd.DataFrame:
    """Regress the errors on log population in each state with enough counties."""
    points = pd.DataFrame({"x": np.log(counties["population"]), "y": np.asarray(errors, float)})
    centred = points - points.groupby(counties["state"]).transform("mean")
    products = (centred**2).assign(xy=centred["x"] * centred["y"], counties=1)
    sums = products.groupby(counties["state"]).sum().query("counties >= @MIN_COUNTIES")
    slope = sums["xy"] / sums["x"]
    left = np.maximum(sums["y"] - slope * sums["xy"], 0)
    free = sums["counties"] - 2
    # errors that are all alike have no slope, and a perfect line leaves no doubt of its own
    z = np.where(slope == 0, 0, np.inf)
    np.divide(abs(slope), np.sqrt(left / free / sums["x"]), out=z, where=left > 0)
    return sums[["counties"]].assign(slope=slope, p=2 * stdtr(free, -z)).reset_index()
