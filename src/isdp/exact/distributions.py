"""Laws of cells and of sums of cells under totals of disjoint blocks, by characteristic functions.

Let p be the law of a free cell and q_m that of a sum of m of them. Given that n cells add up to
zero, m of them add up to s with the chance q_m(s) q_(n-m)(-s) / q_n(0). The q are found from the
characteristic function of p to the power m, on a grid so fine that what wraps around is below
rounding. Blocks are independent of one another, so that their parts of a sum are convolved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from isdp.checks import check_integer, check_positive, refuse_overflow
from isdp.errors import InputError
from isdp.mechanisms.base import Energy

MAX_GRID_POINTS = 1 << 20
TAIL = 40  # in units of the law's scale: what lies beyond has a chance below 1e-15


@dataclass(frozen=True)
class TotalDistribution:
    """Law of one cell under one total: a double geometric vector conditioned on its sum.

    Attributes
    ----------
    pmf : float64 array
        P(u_i = k) for each k in `support`; the same for every cell. The probability left out
        on either side is below 1e-15.
    """

    support: np.ndarray
    pmf: np.ndarray

    @property
    def sd(self) -> float:
        """Standard deviation; the mean is zero by symmetry."""
        return float(np.sqrt(np.sum(self.pmf * self.support.astype(float) ** 2)))

    def within(self, bound: int) -> float:
        """P(|u_i| <= bound)."""
        return float(self.pmf[np.abs(self.support) <= bound].sum())


def gaussian_distribution(variance: Fraction) -> TotalDistribution:
    """Law of one discrete Gaussian cell under no total, with the variance at most 1e6."""
    most = math.ceil(9 * math.sqrt(variance)) + 1
    support = np.arange(-most, most + 1)
    pmf = np.exp(-(support**2) / (2 * float(variance)))
    return TotalDistribution(support, pmf / pmf.sum())


def total_distribution(cells: int, epsilon: float) -> TotalDistribution:
    """Law of a cell for the l1 generalized Laplace mechanism under one total.

    With p the double geometric law for a = exp(-epsilon) and q_m the law of a sum of m such
    variables, P(u_i = k) = p(k) q_{n-1}(-k) / q_n(0).

    Raises
    ------
    InputError
        If epsilon is so small that the grid would take more than 2^26 points.
    """
    cells = check_integer("exact", "cells", cells, 1)
    energy = Energy(1, False, check_positive("epsilon", epsilon))
    if cells == 1:
        return TotalDistribution(np.zeros(1, np.int64), np.ones(1))
    spread = math.sqrt(cells / 2) / math.sinh(epsilon / 2)
    size = 1 << math.ceil(math.log2(2 * (TAIL / epsilon + 12 * spread + 8)))
    if size > 1 << 26:
        raise InputError(
            f"exact: {cells} cells at epsilon {epsilon:g} need a grid of {size} points, more "
            f"than 2^26; use a larger epsilon"
        )
    most = min(size // 2 - 1, int(TAIL / epsilon) + 1)
    support = np.arange(-most, most + 1)
    pmf = _weights(energy, support) * _sum_of(energy, size, cells - 1)[np.abs(support)].clip(0)
    return TotalDistribution(support, pmf / pmf.sum())


class Part(NamedTuple):
    """So many of a block's cells, and how often this comes in a sum.

    Attributes
    ----------
    cells : int
        Of the block, whose total is held; 0 for cells that are free.
    chosen : int
        Cells of it in the sum.
    times : int
        Number of such blocks.
    """

    cells: int
    chosen: int
    times: int = 1


class SumDistribution(NamedTuple):
    """Law of a sum of noise.

    Attributes
    ----------
    pmf : float64 array, shape (2 w + 1,)
        Chance of each value from -w to w, within 1e-9 with what lies beyond; it is symmetric.
    sd : float
        Standard deviation; the mean is zero by symmetry.
    """

    pmf: np.ndarray
    sd: float

    def beyond(self, size: int) -> float:
        """P(|sum| > size)."""
        middle = len(self.pmf) // 2
        return 2 * float(self.pmf[: max(0, middle - size)].sum())

    def below(self, size: int) -> float:
        """P(sum < -size), for a size from 0 up."""
        return self.beyond(size) / 2


def free_variance(energy: Energy) -> float:
    """Variance of a cell under no total."""
    pmf = _cell(energy)
    values = np.arange(len(pmf)) - len(pmf) // 2
    return float(np.sum(pmf * values.astype(float) ** 2))


def sum_variance(energy: Energy, parts: Sequence[Part]) -> float:
    """Variance of a sum; cells of a block are exchangeable and add up to zero.

    Parameters
    ----------
    energy : Energy
        Of a product over cells.

    Raises
    ------
    InputError
        If a block is so large, and the noise so wide, that no grid holds its law.
    """
    total = 0.0
    for cells, chosen, times in parts:
        if cells == 0:
            total += times * chosen * free_variance(energy)
        elif 0 < chosen < cells:
            each = _cell_variance(energy, cells)
            total += times * each * chosen * (cells - chosen) / (cells - 1)
    return total


def sum_distribution(energy: Energy, parts: Sequence[Part]) -> SumDistribution:
    """Law of a sum of noise over some cells of each block.

    Parameters
    ----------
    energy : Energy
        Of a product over cells.

    Raises
    ------
    InputError
        If it takes a grid of more than 2^20 points.

    Examples
    --------
    >>> law = sum_distribution(Energy(1, False, 0.25), [Part(cells=10, chosen=10)])
    >>> law.sd, law.beyond(0)
    (0.0, 0.0)
    """
    sd = math.sqrt(sum_variance(energy, parts))
    moving = [part for part in parts if part.cells == 0 or 0 < part.chosen < part.cells]
    if not moving:
        return SumDistribution(np.ones(1), 0.0)
    width = int(_scale(energy) * TAIL + 12 * sd) + 2
    size = _grid(2 * width)
    transform = np.ones(size // 2 + 1)
    for cells, chosen, times in moving:
        pmf = _part(energy, cells, chosen, width)
        at = np.zeros(size)
        at[np.arange(-width, width + 1)] = pmf
        transform *= scipy.fft.rfft(at).real ** times
    pmf = scipy.fft.irfft(transform, size)[np.arange(-width, width + 1)].clip(0)
    return SumDistribution(pmf / pmf.sum(), sd)


def _scale(energy: Energy) -> float:
    """Distance over which a cell's law falls off, so that 40 of it leave next to nothing."""
    return 1 / energy.rate if energy.power == 1 else 1 / math.sqrt(2 * energy.rate)


@lru_cache(maxsize=8)
def _cell(energy: Energy) -> np.ndarray:
    """Law of a free cell on the values from -w to w."""
    width = int(TAIL * _scale(energy)) + 1
    refuse_overflow("exact", "the grid of a cell's law", 2 * width, 26, "use less noise")
    weights = _weights(energy, np.arange(-width, width + 1))
    return weights / weights.sum()


def _weights(energy: Energy, values: np.ndarray) -> np.ndarray:
    return np.exp(-energy.rate * np.abs(values).astype(float) ** energy.power)


def _grid(least: float) -> int:
    if not least <= MAX_GRID_POINTS:
        raise InputError(
            f"exact: the law of this sum takes a grid of {least:.2g} points, more than "
            f"{MAX_GRID_POINTS:,}"
        )
    return 1 << max(3, math.ceil(math.log2(least)) + 1)


def _characteristic(energy: Energy, size: int) -> np.ndarray:
    """Logarithm of a free cell's characteristic function on half a circle of `size` points."""
    if energy.power == 1:
        a = math.exp(-energy.rate)
        t = 2 * np.pi * np.arange(size // 2 + 1) / size
        # (1 - a)^2 / ((1 - a)^2 + 2 a (1 - cos t)), without the difference of near numbers
        return -np.log1p(4 * a * np.sin(t / 2) ** 2 / np.expm1(-energy.rate) ** 2)
    pmf = _cell(energy)
    at = np.zeros(size)
    np.add.at(at, (np.arange(len(pmf)) - len(pmf) // 2) % size, pmf)
    return np.log(scipy.fft.rfft(at).real.clip(1e-300))


def _sum_of(energy: Energy, size: int, cells: int) -> np.ndarray:
    """Law of the sum of so many free cells, on a circle of `size` points."""
    return scipy.fft.irfft(np.exp(cells * _characteristic(energy, size)), size)


def _part(energy: Energy, cells: int, chosen: int, width: int) -> np.ndarray:
    """Law of a sum over a part of a block on the values from -width to width."""
    most = max(chosen, cells - chosen)
    spread = 12 * math.sqrt(most * free_variance(energy))
    size = _grid(2 * max(width + 1.0, TAIL * _scale(energy) + spread))
    at = np.abs(np.arange(-width, width + 1))
    pmf = _sum_of(energy, size, chosen)[at].clip(0)
    if cells:
        pmf *= _sum_of(energy, size, cells - chosen)[at].clip(0)
    return pmf / pmf.sum()


@lru_cache(maxsize=4096)
def _cell_variance(energy: Energy, cells: int) -> float:
    """Variance of one cell among those that add up to zero."""
    width = int(TAIL * _scale(energy)) + 1
    pmf = _part(energy, cells, 1, width)
    return float(np.sum(pmf * np.arange(-width, width + 1.0) ** 2))
