"""Totals of rows and of columns of small tables, in which rows and columns share several cells."""

import numpy as np

from isdp import Invariants

FAMILIES = {  # the numbers a_i and b_j: row i and column j share a_i b_j cells
    "2 x 3": ([1, 1], [1, 1, 1]),
    "a class of two cells": ([1, 1], [1, 2]),
    "a row of two regions": ([1, 2], [1, 1]),
    "both": ([2, 1], [1, 2]),
    "three classes of unequal sizes": ([1, 1, 1], [1, 3, 2]),
}


def labels_of(name, seed=3):
    """The row and the column of each cell, with the cells in random order."""
    heights, widths = FAMILIES[name]
    rows, columns = np.indices((len(heights), len(widths)))
    numbers = np.outer(heights, widths).ravel()
    order = np.random.default_rng(seed).permutation(numbers.sum())
    return [np.repeat(each.ravel(), numbers)[order] for each in (rows, columns)]


def crossed_invariants(name):
    """The totals of all rows and columns."""
    return Invariants(
        np.vstack([np.eye(labels.max() + 1, dtype=int)[:, labels] for labels in labels_of(name)])
    )
