"""Errors of the counts and shares of a released table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


def errors_by_size(released, true, first_sizes: Mapping[str, int]) -> pd.DataFrame:
    """Measure the errors (persons) of the answers to one query, by the size of the true answer.

    `first_sizes` gives the smallest true answer of each size class, in ascending order from 0. The
    table has one row for all answers, and one row for each class with answers.
    """
    error = (np.asarray(released) - true).ravel().astype(float)
    classes = np.digitize(np.ravel(true), list(first_sizes.values()))
    # The classes are numbered from 1. Column 0 of the sums is for all answers.
    values = (np.ones(error.size), error, np.abs(error), error**2, np.ravel(released) < 0)
    sums = np.array([np.bincount(classes, each, len(first_sizes) + 1) for each in values])
    sums[:, 0] = sums.sum(axis=1)
    some = sums[0] > 0
    names = [name for name, kept in zip(("all", *first_sizes), some, strict=True) if kept]
    answers, bias, mae, rmse, negative = sums[:, some]
    return pd.DataFrame(
        {
            "size": pd.array(names, dtype="str"),
            "answers": answers.astype(int),
            "bias": bias / answers,
            "mae": mae / answers,
            "rmse": np.sqrt(rmse / answers),
            "negative": negative.astype(int),
        }
    )


@dataclass(frozen=True)
class Share:
    """The share of an area's persons who are in certain cells."""

    name: str
    cells: Sequence[int]

    def of(self, table) -> np.ndarray:
        """Compute the share of `cells` in each area's total, for a table of shape (areas, cells).

        The share is NaN if the area's total is not positive. It is not clipped to [0, 1].
        """
        table = np.asarray(table)
        part = table[:, list(self.cells)].sum(axis=1)
        whole = table.sum(axis=1)
        return np.divide(part, whole, out=np.full(len(table), np.nan), where=whole > 0)


def share_errors(released, true, share: Share, first_sizes: Mapping[str, int]) -> pd.DataFrame:
    """Measure the errors (percentage points) of a share, by the true population of the area.

    The tables have shape (areas, cells). `first_sizes` gives the smallest population of each size
    class. The column undefined counts areas without a released share. The column out_of_range
    counts released shares outside [0, 1].
    """
    want, got = share.of(true), share.of(released)
    error = 100 * (got - want)
    columns = {
        "areas": np.ones(len(want), dtype=int),
        "undefined": np.isnan(got),
        "out_of_range": (got < 0) | (got > 1),
        "bias": error,
        "mae": np.abs(error),
        "off_by_1": np.abs(error) > 1,
    }
    known = ~np.isnan(want)
    each = pd.DataFrame(columns)[known]
    classes = np.digitize(true.sum(axis=1), list(first_sizes.values()))[known]
    measures = dict.fromkeys(columns, "sum") | {"bias": "mean", "mae": "mean"}
    found = pd.concat([each.groupby(by).agg(measures) for by in (0 * classes, classes)])
    found.insert(0, "size", [("all", *first_sizes)[number] for number in found.index])
    return found.reset_index(drop=True)


def summary(released, true) -> dict:
    """Count the impossible values and the exact values of a released table.

    The value people_moved is half of the l1 error (persons).
    """
    released = np.asarray(released)
    totals = released.sum(axis=1) - true.sum(axis=1)
    exact = 1e-6 if released.dtype.kind == "f" else 0  # tolerance in persons
    return {
        "negative": int((released < 0).sum()),
        "fractional": int((released != np.round(released)).sum()),
        "exact_areas": float((np.abs(totals) <= exact).mean()),
        "exact_cells": float((released == true).mean()),
        "people_moved": float(np.abs(released - true).sum()) / 2,
    }
