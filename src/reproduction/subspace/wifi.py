"""The campus example (SDP, Section 5.2): which statistic of the noise the printed numbers are.

Fourteen groups, 24 hours, 20 buildings; held are every hour's and every group's person-hours in
each building. The data are not public and not needed: the noise hangs on the constraints alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaincinv

from isdp.constraints.invariants import Invariants
from isdp.exact.choice import choose
from isdp.mechanisms.gaussian import GeneralizedGaussian
from isdp.subspace import NullSpace, null_space

LEVELS = (0.5, 0.05, 0.95)
PRINTED = (0.88, 0.86, 0.91)  # median, 5 % and 95 % quantile (SDP, 5.2)


class Campus(NamedTuple):
    """Sizes of the example."""

    buildings: int = 20
    groups: int = 14
    hours: int = 24

    @property
    def invariants(self) -> Invariants:
        """Both margins of each building's table of groups and hours."""
        return Invariants.margins(self, ((0, 1), (0, 2)))

    @property
    def variance(self) -> float:
        """Variance of every cell's projected noise where that of the plain noise is 1."""
        return (1 - 1 / self.groups) * (1 - 1 / self.hours)


Reading = Callable[[np.ndarray], np.ndarray]

# what "standard deviation over repetitions" may mean: noise (repetition, building, group, hour)
READINGS: dict[str, Reading] = {
    "sd of each cell over repetitions": lambda e: e.std(axis=0, ddof=1),
    "variance of each cell over repetitions": lambda e: e.var(axis=0, ddof=1),
    "root mean square of each cell over repetitions": lambda e: np.sqrt((e**2).mean(axis=0)),
    "mean absolute error of each cell over repetitions": lambda e: np.abs(e).mean(axis=0),
    "sd of each repetition over cells": lambda e: e.std(axis=(1, 2, 3)),
    "variance of each repetition over cells": lambda e: e.var(axis=(1, 2, 3)),
    "variance of each repetition and building": lambda e: e.var(axis=(2, 3)),
    "sd of each repetition and building": lambda e: e.std(axis=(2, 3)),
    "variance of each repetition and group": lambda e: e.var(axis=(1, 3)),
    "variance of each repetition and hour": lambda e: e.var(axis=(1, 2)),
    "variance of each hour": lambda e: e.var(axis=(0, 1, 2)),
    "variance of each group": lambda e: e.var(axis=(0, 1, 3)),
    "variance of each building": lambda e: e.var(axis=(0, 2, 3)),
    "sd of each series": lambda e: e.std(axis=(0, 3)),
    "variance of each series": lambda e: e.var(axis=(0, 3)),
    "sd of each hour": lambda e: e.std(axis=(0, 1, 2)),
}


def constraint_table(campus: Campus) -> pd.DataFrame:
    """Cells, rows, exact rank and largest gap between the cells' variances and the closed form."""
    null = null_space(campus.invariants)
    gap = float(np.abs(null.diagonal() - campus.variance).max())
    row = {
        "cells": null.cells,
        "rows": campus.invariants.constraints,
        "rank": null.rank,
        "dimension": null.dimension,
        "variance": campus.variance,
        "sd": np.sqrt(campus.variance),
        "largest_gap": gap,
    }
    return pd.DataFrame([row])


def repetitions(rng: np.random.Generator, campus: Campus, count: int) -> np.ndarray:
    """Projected standard normal noise; float64 array, shape (repetition, building, group, hour)."""
    plain = rng.standard_normal((count, campus.invariants.cells))
    return null_space(campus.invariants).project(plain).reshape(count, *campus)


def _centred(rng: np.random.Generator, campus: Campus, count: int) -> np.ndarray:
    """Draw the same law by taking the means of rows and columns away: faster, tested equal."""
    noise = rng.standard_normal((count, *campus))
    noise -= noise.mean(axis=2, keepdims=True)
    noise -= noise.mean(axis=3, keepdims=True)
    return noise


def three_numbers(values: np.ndarray) -> np.ndarray:
    """Median, 5 % and 95 % quantile of values, by linear interpolation; shape (3,)."""
    return np.quantile(values, LEVELS)


def matches(numbers: np.ndarray, digits: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Whether three numbers give the printed ones, rounded, and cut off after two digits.

    Parameters
    ----------
    numbers : array, shape (..., 3)

    Returns
    -------
    rounded, cut : bool arrays, shape (...)
    """
    scale = 10**digits
    printed = np.rint(np.array(PRINTED) * scale)
    rounded = (np.rint(numbers * scale) == printed).all(axis=-1)
    return rounded, (np.floor(numbers * scale) == printed).all(axis=-1)


def reading_table(
    rng: np.random.Generator, campus: Campus, count: int, experiments: int
) -> pd.DataFrame:
    """Repeat the paper's experiment, and read each in every way.

    Parameters
    ----------
    rng : numpy.random.Generator
    campus : Campus
    count : int
        Repetitions in one experiment.
    experiments : int

    Returns
    -------
    DataFrame
        One row a reading: median, q05, q95 (means over experiments), their spreads over
        experiments, and the shares of experiments that print what the paper prints, by rounding
        and by cutting off digits.
    """
    found = {name: np.empty((experiments, 3)) for name in READINGS}
    for experiment in range(experiments):
        noise = _centred(rng, campus, count)
        for name, reading in READINGS.items():
            found[name][experiment] = three_numbers(reading(noise).ravel())
    return pd.DataFrame([_reading_row(name, numbers) for name, numbers in found.items()])


def _reading_row(name: str, numbers: np.ndarray) -> dict:
    rounded, cut = matches(numbers)
    means, spreads = numbers.mean(axis=0), numbers.std(axis=0)
    labels = ("median", "q05", "q95")
    return (
        {"reading": name}
        | dict(zip(labels, means.tolist(), strict=True))
        | {f"{label}_sd": float(s) for label, s in zip(labels, spreads, strict=True)}
        | {
            "printed_by_rounding": float(rounded.mean()),
            "printed_by_cutting": float(cut.mean()),
            "off": float(np.abs(means - PRINTED).max()),
        }
    )


def exact_law_table(
    rng: np.random.Generator, campus: Campus, count: int, experiments: int
) -> pd.DataFrame:
    """Two readings whose laws are known: per cell over repetitions, and per repetition.

    A cell's variance over repetitions is chi-square of count - 1 degrees, a repetition's over all
    cells one of as many degrees as the null space has dimensions.

    Returns
    -------
    DataFrame
        reading, median, q05, q95 by quantiles of the exact law; for the repetitions, which are
        independent, also the shares of simulated experiments that print the paper's numbers; off,
        the largest distance of the three numbers from the printed ones.
    """
    null = null_space(campus.invariants)
    per_cell = _chi_square(count - 1) * (campus.variance / (count - 1))
    per_run = _chi_square(null.dimension) * (1 / null.cells)
    rows = [
        _law_row("sd of each cell over repetitions", np.sqrt(per_cell)),
        _law_row("variance of each cell over repetitions", per_cell),
        _law_row("sd of each repetition over cells", np.sqrt(per_run)),
        _law_row("variance of each repetition over cells", per_run),
    ]
    variances = rng.chisquare(null.dimension, (experiments, count)) / null.cells
    for row, values in ((rows[2], np.sqrt(variances)), (rows[3], variances)):
        numbers = np.quantile(values, LEVELS, axis=1).T
        rounded, cut = matches(numbers)
        row |= {"printed_by_rounding": rounded.mean(), "printed_by_cutting": cut.mean()}
    return pd.DataFrame(rows)


def _chi_square(degrees: int) -> np.ndarray:
    """Median, 5 % and 95 % quantile of the chi-square law."""
    return 2 * gammaincinv(degrees / 2, LEVELS)


def _law_row(reading: str, numbers: np.ndarray) -> dict:
    named = dict(zip(("median", "q05", "q95"), numbers.tolist(), strict=True))
    return {"reading": reading} | named | {"off": float(np.abs(numbers - PRINTED).max())}


def integer_table(
    rng: np.random.Generator, campus: Campus, sigma: float, count: int
) -> pd.DataFrame:
    """Integer noise on the same tables, by the exact sampler, one building at a time.

    The constraints fall into one table a building, and Gaussian noise factorises over them.

    Parameters
    ----------
    rng : numpy.random.Generator
    campus : Campus
    sigma : float
    count : int
        Repetitions of the whole campus.

    Returns
    -------
    DataFrame
        One row: sampler, tables, variance of a cell by sigma^2 with its standard error, the
        continuous one, difference, and the seconds of setting up and of drawing.
    """
    start = time.perf_counter()
    sampler = choose(Invariants.margins((campus.groups, campus.hours)), GeneralizedGaussian(sigma))
    sampler.sample(rng, 1)  # compiles
    ready = time.perf_counter()
    means = np.empty((count, campus.buildings))
    for repetition in range(count):  # one campus at a time, so that memory does not grow
        noise = sampler.sample(rng, campus.buildings)
        means[repetition] = np.square(noise / sigma).mean(axis=1)
    end = time.perf_counter()
    means = means.ravel()
    row = {
        "sampler": sampler.method,
        "sigma": sigma,
        "tables": len(means),
        "variance": float(means.mean()),
        "variance_se": float(means.std(ddof=1) / np.sqrt(len(means))),
        "continuous": campus.variance,
        "difference": float(means.mean()) - campus.variance,
        "set_up_seconds": ready - start,
        "draw_seconds": end - ready,
    }
    return pd.DataFrame([row])


def projection_seconds(rng: np.random.Generator, campus: Campus, count: int) -> tuple[float, float]:
    """Seconds to set up the null space of the campus, and to draw and project repetitions."""
    invariants = campus.invariants
    start = time.perf_counter()
    null = NullSpace(invariants)
    null.project(np.zeros(null.cells))
    ready = time.perf_counter()
    null.project(rng.standard_normal((count, null.cells)))
    return ready - start, time.perf_counter() - ready
