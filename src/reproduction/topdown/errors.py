"""Errors of released tables, and their slopes on log population."""

import math

import numpy as np
import pandas as pd
from scipy.special import stdtr

from isdp.topdown import Schema
from isdp.topdown.budget import DETAIL, TOTAL
from reproduction.topdown.configurations import QUERIES

MIN_COUNTIES = 6  # The minimum number of counties in the regression of a state.
# The smallest true count of each class of county cells.
SIZE_CLASSES = dict(
    zip(
        ("0", "1", "2", "3-5", "6-10", "11-50", "51-200", "201-1000", "over 1000"),
        (0, 1, 2, 3, 6, 11, 51, 201, 1001),
        strict=True,
    )
)


def measure_bias(released, true) -> pd.DataFrame:
    """Compute the mean error, the root mean square error and the share of zeros by true count.

    The released and the true counts have shape (units, cells).
    """
    error = np.ravel(released - true).astype(float)
    each = pd.DataFrame({"mean": error, "rmse": error**2, "zeros": np.ravel(released) == 0})
    groups = each.groupby(np.digitize(np.ravel(true), list(SIZE_CLASSES.values())) - 1)
    found = groups.mean().assign(rmse=lambda means: np.sqrt(means["rmse"]))
    found.insert(0, "cell_class", [list(SIZE_CLASSES)[number] for number in found.index])
    found.insert(1, "cells", groups.size())
    return found.reset_index(drop=True)


def measure_margins(schema: Schema, released, true) -> pd.DataFrame:
    """Compute the root mean square error of each margin of a schema."""
    rows = []
    for query in QUERIES:
        if set(query.split("*")) <= {*schema.axes, TOTAL, DETAIL}:
            answers = schema.margins([query])
            error = (answers.apply(released) - answers.apply(true)).astype(float)
            rows.append((query, float(np.sqrt((error**2).mean()))))
    return pd.DataFrame(rows, columns=["query", "rmse"])


def summarise_errors(released, true) -> dict:
    """Summarise the errors of a released county table."""
    error = (released - true).astype(float)
    return {
        "mae_total": float(np.abs(error.sum(axis=1)).mean()),
        "rmse_cell": float(np.sqrt((error**2).mean())),
        "zeros": float((released == 0).mean()),
        "negative": float((released < 0).mean()),
    }


def fit_pooled_slope(counties: pd.DataFrame, errors) -> dict[str, float]:
    """Regress all errors (persons) on natural log population, with an intercept for each state."""
    points = pd.DataFrame({"x": np.log(counties["population"]), "y": np.asarray(errors)})
    groups = points.groupby(counties["state"])
    size = groups["x"].transform("size")
    x, y = (points - groups.transform("mean"))[size >= MIN_COUNTIES].to_numpy().T
    leverage = 1 / size[size >= MIN_COUNTIES].to_numpy()
    states = int((groups.size() >= MIN_COUNTIES).sum())
    slope, plain, robust = fit_slope(x, y, leverage, states)
    return {
        "states": states,
        "pooled_slope": slope,
        "pooled_z": slope / plain,
        "pooled_z_robust": slope / robust,
    }


def fit_slope(x, y, intercept_leverage, intercepts: int) -> tuple[float, float, float]:
    """Fit the slope of centred y on centred x, with plain and robust (HC3) standard errors.

    The intercept leverage of a point is 1 divided by the number of points with the same intercept.
    """
    spread = x @ x
    slope = x @ y / spread
    left = y - slope * x
    leverage = intercept_leverage + x**2 / spread
    plain = math.sqrt(left @ left / (len(x) - intercepts - 1) / spread)
    robust = math.sqrt(((x * left / (1 - leverage)) ** 2).sum()) / spread
    return float(slope), float(plain), float(robust)


def fit_state_slopes(counties: pd.DataFrame, errors) -> pd.DataFrame:
    """Regress the errors on log population in each state with at least `MIN_COUNTIES` counties."""
    points = pd.DataFrame({"x": np.log(counties["population"]), "y": np.asarray(errors, float)})
    centred = points - points.groupby(counties["state"]).transform("mean")
    products = (centred**2).assign(xy=centred["x"] * centred["y"], counties=1)
    sums = products.groupby(counties["state"]).sum().query("counties >= @MIN_COUNTIES")
    slope = sums["xy"] / sums["x"]
    left = np.maximum(sums["y"] - slope * sums["xy"], 0)
    free = sums["counties"] - 2
    # z is 0 for constant errors and infinite for an exact line.
    z = np.where(slope == 0, 0, np.inf)
    np.divide(abs(slope), np.sqrt(left / free / sums["x"]), out=z, where=left > 0)
    return sums[["counties"]].assign(slope=slope, p=2 * stdtr(free, -z)).reset_index()
