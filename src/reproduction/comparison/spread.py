"""Monte Carlo variance of means over few releases of one table, estimated by state."""

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

    With two releases, the mean over all states gives one difference and a poor estimate of
    variance. States are released independently, so that the variance of the mean is the sum over
    states of their variances, and each state contributes a difference. The states of TopDown sum to
    the nation's table and are negatively correlated, so that the sum overstates their variance.

    The errors of a release have shape (areas, answers) and are NaN where an answer is undefined.
    `classes` of the true answers, from 0, have the same shape; `states` has shape (areas,). Each
    release's table has one row for all classes and one for each class with answers, and one column
    per measure. The variance of the mean over R releases is the sum of a column's entries over the
    releases, divided by R (R - 1).
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
    """Compute the standard error of a mean over runs from the mean of their spreads."""
    return np.sqrt(spread / (runs - 1).where(runs > 1))
