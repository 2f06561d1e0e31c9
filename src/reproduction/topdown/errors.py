"""Errors of released tables: by true size of the cell, and of the margins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from isdp.topdown import Schema
from isdp.topdown.budget import DETAIL, TOTAL

# first sizes of the classes of true county cells
CLASSES = {
    "0": 0,
    "1": 1,
    "2": 2,
    "3-5": 3,
    "6-10": 6,
    "11-50": 11,
    "51-200": 51,
    "201-1000": 201,
    "over 1000": 1001,
}
MARGINS = (
    "total",
    "race",
    "hispanic",
    "adult",
    "race*hispanic",
    "race*adult",
    "hispanic*adult",
    "detail",
)


def bias_by_size(released, true) -> pd.DataFrame:
    """Mean and root mean square error of the cells, by their true size.

    Parameters
    ----------
    released, true : int array, shape (units, cells)

    Returns
    -------
    DataFrame
        Columns cell_class, cells, mean, rmse (persons) and zeros (share released as zero).
    """
    error = (released - true).ravel().astype(float)
    which = np.digitize(np.ravel(true), list(CLASSES.values())) - 1
    zero = np.ravel(released) == 0
    rows = []
    for number, name in enumerate(CLASSES):
        some = which == number
        if some.any():
            squared = float(np.sqrt((error[some] ** 2).mean()))
            rows.append((name, int(some.sum()), error[some].mean(), squared, zero[some].mean()))
    return pd.DataFrame(rows, columns=["cell_class", "cells", "mean", "rmse", "zeros"])


def margin_errors(schema: Schema, released, true) -> pd.DataFrame:
    """Root mean square errors of the margins that a schema has, over all units and answers.

    Returns
    -------
    DataFrame
        Columns query and rmse (persons).
    """
    rows = []
    for query in MARGINS:
        if not set(query.split("*")) <= {*schema.axes, TOTAL, DETAIL}:
            continue
        answers = schema.margins([query])
        error = (answers.apply(released) - answers.apply(true)).astype(float)
        rows.append((query, float(np.sqrt((error**2).mean()))))
    return pd.DataFrame(rows, columns=["query", "rmse"])


def summary(released, true) -> dict:
    """Sum a released table of the counties up in a few figures.

    Returns
    -------
    dict
        mae_total and rmse_cell (persons), zeros and negative (shares of all cells).
    """
    error = (released - true).astype(float)
    return {
        "mae_total": float(np.abs(error.sum(axis=1)).mean()),
        "rmse_cell": float(np.sqrt((error**2).mean())),
        "zeros": float((released == 0).mean()),
        "negative": float((released < 0).mean()),
    }
