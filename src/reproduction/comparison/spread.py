"""The variance of few releases of one table by chance, estimated from each of its states."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd


def estimate_spreads(
    each: Iterable[np.ndarray],
    classes: np.ndarray,
    states: np.ndarray,
    measures: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> list[pd.DataFrame]:
    """Measure how far each release's mean error is from that of all releases, state by state.

    Two releases alone say little of their variance: one difference, for a mean over all states.
    But states are released independently of each other, so that the variance of the mean is the
    sum of theirs, and each state has a difference of its own. TopDown's states are tied by the
    nation's table, which they add up to: where one has more, others have less, so that adding
    their variances overstates rather than understates.

    Errors of a release have shape (areas, answers) and are missing where an answer is not
    defined; so have the classes of the true answers, from 0 up. States have shape (areas,), and
    measures are functions of the errors. Each release's table has a row for all classes together
    and one for each that has answers, with a column for each measure. For R releases the variance
    of the mean over them is the sum of such a column's entries, divided by R (R - 1).
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
    apart = ((np.array(sums) - np.mean(sums, axis=0)) ** 2).sum(axis=2)
    some = np.append(True, np.bincount(classes.ravel(), minlength=width) > 0)
    return [
        pd.DataFrame((table / np.maximum(number, 1) ** 2)[:, some].T, columns=list(measures))
        for table, number in zip(apart, answers, strict=True)
    ]


def standard_error(spread: pd.Series, runs: pd.Series) -> pd.Series:
    """Compute the standard error of a mean over runs from the mean of their spreads."""
    return np.sqrt(spread / (runs - 1).where(runs > 1))
