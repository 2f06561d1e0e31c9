"""Errors of released tables: by true size of the cell, and of the margins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from isdp.topdown import Schema
from isdp.topdown.budget import DETAIL, TOTAL
from reproduction.topdown.configurations import QUERIES

# first sizes of the classes of true county cells
CLASSES = dict(
    zip(
        ("0", "1", "2", "3-5", "6-10", "11-50", "51-200", "201-1000", "over 1000"),
        (0, 1, 2, 3, 6, 11, 51, 201, 1001),
        strict=True,
    )
)


def bias_by_size(released, true) -> pd.DataFrame:
    """Mean and root mean square error of the cells by true size, and the share released as zero.

    The released and the true counts have the shape (units, cells).
    """
    error = np.ravel(released - true).astype(float)
    each = pd.DataFrame({"mean": error, "rmse": error**2, "zeros": np.ravel(released) == 0})
    groups = each.groupby(np.digitize(np.ravel(true), list(CLASSES.values())) - 1)
    found = groups.mean().assign(rmse=lambda means: np.sqrt(means["rmse"]))
    found.insert(0, "cell_class", [list(CLASSES)[number] for number in found.index])
    found.insert(1, "cells", groups.size())
    return found.reset_index(drop=True)


def margin_errors(schema: Schema, released, true) -> pd.DataFrame:
    """Root mean square errors of the margins that a schema has, over all units and answers."""
    rows = []
    for query in QUERIES:
        if set(query.split("*")) <= {*schema.axes, TOTAL, DETAIL}:
            answers = schema.margins([query])
            error = (answers.apply(released) - answers.apply(true)).astype(float)
            rows.append((query, float(np.sqrt((error**2).mean()))))
    return pd.DataFrame(rows, columns=["query", "rmse"])


def summary(released, true) -> dict:
    """Sum a released table of the counties up: mae_total, rmse_cell (persons), and two shares."""
    error = (released - true).astype(float)
    return {
        "mae_total": float(np.abs(error.sum(axis=1)).mean()),
        "rmse_cell": float(np.sqrt((error**2).mean())),
        "zeros": float((released == 0).mean()),
        "negative": float((released < 0).mean()),
    }
