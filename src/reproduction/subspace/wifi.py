"""The WiFi example (SDP, Section 5.2) and possible readings of its printed numbers.

A campus has 20 buildings. Each building has a table of 14 groups by 24 hours, whose cells are
person-hours. The invariants are both margins of each table. The data are not public. The study does
not need them, because the noise depends on the invariants alone.

SDP is *Subspace Differential Privacy*.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaincinv

from isdp.constraints.invariants import Invariants
from isdp.exact.selection import select_sampler
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.subspace import null_space

QUANTILE_LEVELS = (0.5, 0.05, 0.95)
QUANTILE_COLUMNS = ["median", "q05", "q95"]  # in the order of QUANTILE_LEVELS
PRINTED_NUMBERS = (0.88, 0.86, 0.91)  # SDP, 5.2


class Campus(NamedTuple):
    """Sizes of the example."""

    buildings: int = 20
    groups: int = 14
    hours: int = 24

    @property
    def invariants(self) -> Invariants:
        """The margins of each building's table of groups by hours."""
        return Invariants.margins(self, ((0, 1), (0, 2)))

    @property
    def variance(self) -> float:
        """The variance of a cell of projected noise, for noise of variance 1 before projection."""
        return (1 - 1 / self.groups) * (1 - 1 / self.hours)


# Readings of "standard deviation over repetitions". The noise e has the axes (repetition, building,
# group, hour).
READINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
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


def tabulate_constraints(campus: Campus) -> pd.DataFrame:
    """Count cells and constraints, and compare the variances of cells with the closed form."""
    null = null_space(campus.invariants)
    row = {
        "cells": null.cells,
        "rows": campus.invariants.constraints,
        "rank": null.rank,
        "dimension": null.dimension,
        "variance": campus.variance,
        "sd": np.sqrt(campus.variance),
        "largest_gap": float(np.abs(null.diagonal() - campus.variance).max()),
    }
    return pd.DataFrame([row])


def draw_repetitions(rng: np.random.Generator, campus: Campus, count: int) -> np.ndarray:
    """Draw projected standard normal noise of shape (repetition, building, group, hour).

    The projection subtracts the means of the rows and columns of each table.
    """
    noise = rng.standard_normal((count, *campus))
    noise -= noise.mean(axis=2, keepdims=True)
    noise -= noise.mean(axis=3, keepdims=True)
    return noise


def match_printed(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compare triples of numbers, of shape (..., 3), with the three printed numbers.

    The first result is True if all three are equal after rounding to two decimals. The second
    result is True if they are equal after truncation to two decimals.
    """
    printed = np.rint(np.array(PRINTED_NUMBERS) * 100)
    rounded = (np.rint(numbers * 100) == printed).all(axis=-1)
    return rounded, (np.floor(numbers * 100) == printed).all(axis=-1)


def simulate_readings(
    rng: np.random.Generator, campus: Campus, count: int, experiments: int
) -> pd.DataFrame:
    """Simulate the paper's experiment of `count` repetitions many times, with all readings."""
    found = np.empty((experiments, len(READINGS), len(QUANTILE_LEVELS)))
    for experiment in range(experiments):
        noise = draw_repetitions(rng, campus, count)
        for row, reading in enumerate(READINGS.values()):
            found[experiment, row] = np.quantile(reading(noise), QUANTILE_LEVELS)
    means, spreads = found.mean(axis=0), found.std(axis=0)
    rounded, cut = match_printed(found)
    table = pd.DataFrame(means, columns=QUANTILE_COLUMNS)
    table.insert(0, "reading", list(READINGS))
    table[[f"{name}_sd" for name in QUANTILE_COLUMNS]] = spreads
    table["printed_by_rounding"] = rounded.mean(axis=0)
    table["printed_by_cutting"] = cut.mean(axis=0)
    table["off"] = np.abs(means - PRINTED_NUMBERS).max(axis=1)
    return table


def compute_readings(
    rng: np.random.Generator, campus: Campus, count: int, experiments: int
) -> pd.DataFrame:
    """Compute the readings whose distributions are known, for cells and for repetitions.

    The variance of a cell over repetitions is a multiple of a chi-square variable with count - 1
    degrees of freedom. For the variance of a repetition over its cells, the degrees of freedom are
    the dimension of the null space. Repetitions are independent, so that their variances in an
    experiment are drawn directly.
    """
    null = null_space(campus.invariants)
    levels = np.array(QUANTILE_LEVELS)
    per_cell = 2 * gammaincinv((count - 1) / 2, levels) * (campus.variance / (count - 1))
    per_run = 2 * gammaincinv(null.dimension / 2, levels) * (1 / null.cells)
    quantiles = {
        "sd of each cell over repetitions": np.sqrt(per_cell),
        "variance of each cell over repetitions": per_cell,
        "sd of each repetition over cells": np.sqrt(per_run),
        "variance of each repetition over cells": per_run,
    }
    table = pd.DataFrame(quantiles, index=QUANTILE_COLUMNS).T
    table["off"] = (table - np.array(PRINTED_NUMBERS)).abs().max(axis=1)
    variances = rng.chisquare(null.dimension, (experiments, count)) / null.cells
    for statistic, values in (("sd", np.sqrt(variances)), ("variance", variances)):
        shares = [
            each.mean() for each in match_printed(np.quantile(values, QUANTILE_LEVELS, axis=1).T)
        ]
        row = f"{statistic} of each repetition over cells"
        table.loc[row, ["printed_by_rounding", "printed_by_cutting"]] = shares
    return table.reset_index(names="reading")


def simulate_integers(
    rng: np.random.Generator, campus: Campus, sigma: float, count: int
) -> pd.DataFrame:
    """Compare the variance of exact integer noise with that of real-valued noise.

    The noise of the buildings is independent, because no invariant connects two buildings.
    """
    sampler = select_sampler(
        GeneralizedGaussian(sigma), Invariants.margins((campus.groups, campus.hours))
    )
    sampler.sample(rng, 1)  # discarded, so that equal seeds give the results of earlier versions
    means = np.empty((count, campus.buildings))
    for repetition in range(count):  # one campus at a time, to limit memory
        noise = sampler.sample(rng, campus.buildings)
        means[repetition] = np.square(noise / sigma).mean(axis=1)
    row = {
        "sampler": sampler.method,
        "sigma": sigma,
        "tables": means.size,
        "variance": means.mean(),
        "variance_se": means.std(ddof=1) / np.sqrt(means.size),
        "continuous": campus.variance,
        "difference": means.mean() - campus.variance,
    }
    return pd.DataFrame([row])
