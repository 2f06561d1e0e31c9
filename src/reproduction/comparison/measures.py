"""Errors of a released table: by true size, for every query, and of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from isdp.errors import InputError


def errors_by_size(released, true, first_sizes: Mapping[str, int]) -> pd.DataFrame:
    """Measure the errors of answers to one query, of all together and by their true size.

    `released` and `true` have one shape. `first_sizes` maps the name of each class to its smallest
    true answer, ascending from 0. The table has one row for "all" and one for each class with
    answers: size, answers, bias (mean error), mae and rmse (all in persons), negative (answers
    below zero). Raises InputError if the shapes differ.
    """
    if np.shape(released) != np.shape(true):
        raise InputError(f"compare: the shapes differ: {np.shape(released)} and {np.shape(true)}")
    error = (np.asarray(released) - true).ravel().astype(float)
    below = np.ravel(released) < 0
    classes = np.digitize(np.ravel(true), list(first_sizes.values()))  # from 1
    # class 0 will have the sums over all classes
    values = (np.ones(error.size), error, np.abs(error), error**2, below)
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
    """Persons in some cells as a share of all persons."""

    name: str
    cells: Sequence[int]

    def of(self, table) -> np.ndarray:
        """Compute the share in each area from a table of shape (areas, cells), without clipping.

        It is NaN where the number of persons is not positive.
        """
        table = np.asarray(table)
        part = table[:, list(self.cells)].sum(axis=1)
        whole = table.sum(axis=1)
        return np.divide(part, whole, out=np.full(len(table), np.nan), where=whole > 0)


def share_errors(
    released, true, share: Share, sizes, first_sizes: Mapping[str, int]
) -> pd.DataFrame:
    """Measure the errors of a share, by true size of the area.

    `released` and `true` have shape (areas, cells), `sizes` are the persons of each area, and
    `first_sizes` is as in `errors_by_size`. The table has one row for "all" and one for each class:
    size, areas (where the true share is defined), undefined (where the released share is not),
    out_of_range (released below 0 or above 1), bias and mae (percentage points, over the defined
    shares), and off_by_1 (areas with an error above one percentage point).
    """
    want, got = share.of(true), share.of(released)
    known = ~np.isnan(want)
    rows = []
    classes = np.digitize(sizes, list(first_sizes.values())) - 1
    for number, name in [(None, "all"), *enumerate(first_sizes)]:
        some = known if number is None else known & (classes == number)
        if not some.any():
            continue
        defined = some & ~np.isnan(got)
        error = 100 * (got[defined] - want[defined])
        rows.append(
            {
                "size": name,
                "areas": int(some.sum()),
                "undefined": int((some & ~defined).sum()),
                "out_of_range": int(((got[defined] < 0) | (got[defined] > 1)).sum()),
                "bias": float(error.mean()) if error.size else np.nan,
                "mae": float(np.abs(error).mean()) if error.size else np.nan,
                "off_by_1": int((np.abs(error) > 1).sum()),
            }
        )
    return pd.DataFrame(rows)


def summary(released, true) -> dict:
    """Count impossible values of a released table, and exact ones.

    Returns negative and fractional (numbers of cells), exact_areas and exact_cells (shares of the
    areas' totals and of the cells that are released without error), and people_moved (half of the
    l1 error).
    """
    released = np.asarray(released)
    totals = released.sum(axis=1) - true.sum(axis=1)
    exact = 1e-6 if released.dtype.kind == "f" else 0
    return {
        "negative": int((released < 0).sum()),
        "fractional": int((released != np.round(released)).sum()),
        "exact_areas": float((np.abs(totals) <= exact).mean()),
        "exact_cells": float((released == true).mean()),
        "people_moved": float(np.abs(released - true).sum()) / 2,
    }
