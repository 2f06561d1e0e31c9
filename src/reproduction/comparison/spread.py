"""Monte Carlo variance of means over a few releases, estimated from the states."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd


def estimate_spreads(
    each: Iterable[np.ndarray],
    classes: np.ndarray,
    states: np.ndarray,
    measures: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> list[pd.DataFrame]:
    """Measure the squared deviation of each release's mean error from the mean over releases.

    Two releases of the nation give only one difference, which estimates a variance poorly. The
    noise of different states is independent. The variance of a national mean is therefore estimated
    by the sum of the variances of the states. For TopDown this sum is too large. The states sum to
    the nation's table, and are therefore negatively correlated.

    The errors of a release have shape (areas, answers) and are NaN if an answer is undefined.
    `classes` gives the size class of each true answer, and `states` the state of each area. Each
    release has a table with one row for all answers, one row for each class, and one column for
    each measure. To estimate the variance of the mean over R releases, sum an entry over the
    releases and divide it by R (R - 1).
    """
    width = classes.max() + 1
    place = (states[:, None] * width + classes).ravel()
    cells = (states.max() + 1, width)
    sums, answers = [], []
    for error in each:
        known = ~np.isnan(error.ravel())
        values = [known, *(measure(np.nan_to_num(error.ravel())) for measure in measures.values())]
        found = np.array([np.bincount(place, of, np.prod(cells)).reshape(cells) for of in values])
        found = np.concatenate([found.sum(axis=2, keepdims=True), found], axis=2)
        answers.append(found[0].sum(axis=0))
        sums.append(found[1:])
    deviations = ((np.array(sums) - np.mean(sums, axis=0)) ** 2).sum(axis=2)
    some = np.append(True, np.bincount(classes.ravel(), minlength=width) > 0)
    return [
        pd.DataFrame((table / np.maximum(number, 1) ** 2)[:, some].T, columns=list(measures))
        for table, number in zip(deviations, answers, strict=True)
    ]


def standard_error(spread: pd.Series, runs: pd.Series) -> pd.Series:
    """Compute the standard error of a mean over runs from the mean of the runs' spreads."""
    return np.sqrt(spread / (runs - 1).where(runs > 1))
