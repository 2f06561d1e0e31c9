"""Distributions of cells, and of sums of cells, under totals of disjoint blocks.

The distributions are computed from characteristic functions. Let p be the distribution of a free
cell, and q_m that of a sum of m free cells. Given that n cells add up to zero, m of these cells add
up to s with the probability q_m(s) q_(n-m)(-s) / q_n(0). The inverse Fourier transform of the m-th
power of the characteristic function of p gives q_m. On a sufficiently large grid, aliasing errors
are below rounding errors. Blocks are independent, so that the distributions of their parts of a sum
are convolved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from isdp.checks import check_integer, check_positive, refuse_overflow
from isdp.errors import InputError
from isdp.mechanisms.base import Energy

MAX_GRID_POINTS = 1 << 20
TAIL_IN_SCALES = 40  # the probability of larger noise is below 1e-15


@dataclass(frozen=True)
class TotalDistribution:
    """The distribution of the noise u_i of one cell, which is the same for all cells.

    Attributes
    ----------
    support : int64 array
        The probability beyond either end is below 1e-15.
    pmf : float64 array
        P(u_i = k) for each k in `support`.
    """

    support: NDArray[np.int64]
    pmf: NDArray[np.float64]

    @property
    def sd(self) -> float:
        """The standard deviation. The mean is zero by symmetry."""
        return float(np.sqrt(np.sum(self.pmf * self.support.astype(float) ** 2)))

    def within(self, bound: int) -> float:
        """Compute P(|u_i| <= bound)."""
        return float(self.pmf[np.abs(self.support) <= bound].sum())


def total_distribution(cells: int, epsilon: float) -> TotalDistribution:
    """Compute the distribution of a cell of l1 generalized Laplace noise under one total.

    Let p be the discrete Laplace distribution, with p(k) proportional to exp(-epsilon |k|). Let q_m
    be the distribution of a sum of m independent variables of this distribution. Then, for n cells,
    P(u_i = k) = p(k) q_{n-1}(-k) / q_n(0).

    Raises
    ------
    InputError
        If epsilon is so small that the grid would need more than 2^26 points.
    """
    cells = check_integer("exact", "cells", cells, 1)
    energy = Energy(1, False, check_positive("epsilon", epsilon))
    if cells == 1:
        return TotalDistribution(np.zeros(1, np.int64), np.ones(1))
    spread = math.sqrt(cells / 2) / math.sinh(epsilon / 2)
    size = 1 << math.ceil(math.log2(2 * (TAIL_IN_SCALES / epsilon + 12 * spread + 8)))
    if size > 1 << 26:
        raise InputError(
            f"epsilon: the distribution of {cells} cells at epsilon {epsilon:g} needs a grid of "
            f"{size} points, and the maximum is 2^26. Use a larger epsilon."
        )
    width = min(size // 2 - 1, int(TAIL_IN_SCALES / epsilon) + 1)
    support = np.arange(-width, width + 1)
    pmf = _weights(energy, support) * _sum_of(energy, size, cells - 1)[np.abs(support)].clip(0)
    return TotalDistribution(support, pmf / pmf.sum())


class Part(NamedTuple):
    """The cells of a block that are in a sum, and the number of equal blocks.

    Attributes
    ----------
    cells : int
        The number of cells of the block, whose total is fixed. The number is 0 for free cells.
    chosen : int
        The number of cells of the block, or of free cells, that are in the sum.
    times : int
        The number of blocks with the same `cells` and `chosen`.
    """

    cells: int
    chosen: int
    times: int = 1


class SumDistribution(NamedTuple):
    """The distribution of a sum of noise, which is symmetric around zero.

    Attributes
    ----------
    pmf : float64 array, shape (2 w + 1,)
        The probability of each value from -w to w. The error of the distribution, which includes
        truncation, is below 1e-9.
    sd : float
        The standard deviation.
    """

    pmf: NDArray[np.float64]
    sd: float

    def beyond(self, size: int) -> float:
        """Compute P(|sum| > size)."""
        middle = len(self.pmf) // 2
        return 2 * float(self.pmf[: max(0, middle - size)].sum())

    def below(self, size: int) -> float:
        """Compute P(sum < -size), for a size of 0 or more."""
        return self.beyond(size) / 2


def free_variance(energy: Energy) -> float:
    """Compute the variance of a cell without a fixed total."""
    pmf = _cell(energy)
    values = np.arange(len(pmf)) - len(pmf) // 2
    return float(np.sum(pmf * values.astype(float) ** 2))


def sum_variance(energy: Energy, parts: Sequence[Part]) -> float:
    """Compute the variance of a sum of noise over some cells of each block.

    The cells of a block are exchangeable and add up to zero. The weight exp(-energy) must be a
    product over cells. Raise `InputError` if the distribution of a cell needs a grid of more than
    2^20 points.
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
    """Compute the distribution of a sum of noise over some cells of each block.

    The weight exp(-energy) must be a product over cells. Raise `InputError` if the distribution
    needs a grid of more than 2^20 points.

    Examples
    --------
    >>> distribution = sum_distribution(Energy(1, False, 0.25), [Part(cells=10, chosen=10)])
    >>> distribution.sd, distribution.beyond(0)
    (0.0, 0.0)
    """
    sd = math.sqrt(sum_variance(energy, parts))
    moving = [part for part in parts if part.cells == 0 or 0 < part.chosen < part.cells]
    if not moving:
        return SumDistribution(np.ones(1), 0.0)
    width = int(_scale(energy) * TAIL_IN_SCALES + 12 * sd) + 2
    size = _grid(2 * width)
    transform = np.ones(size // 2 + 1)
    for cells, chosen, times in moving:
        pmf = _part(energy, cells, chosen, width)
        circle = np.zeros(size)
        circle[np.arange(-width, width + 1)] = pmf
        transform *= scipy.fft.rfft(circle).real ** times
    pmf = scipy.fft.irfft(transform, size)[np.arange(-width, width + 1)].clip(0)
    return SumDistribution(pmf / pmf.sum(), sd)


def _scale(energy: Energy) -> float:
    """Return the scale of a cell's noise, for which values above 40 scales are negligible."""
    return 1 / energy.rate if energy.power == 1 else 1 / math.sqrt(2 * energy.rate)


@lru_cache(maxsize=8)
def _cell(energy: Energy) -> NDArray[np.float64]:
    """Compute the distribution of a free cell on the values from -w to w, for a fixed w."""
    width = int(TAIL_IN_SCALES * _scale(energy)) + 1
    refuse_overflow("exact", "the grid of a cell's distribution", 2 * width, 26, "Use less noise.")
    weights = _weights(energy, np.arange(-width, width + 1))
    return np.asarray(weights / weights.sum())


def _weights(energy: Energy, values: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-float(energy.rate) * np.abs(values).astype(float) ** energy.power))


def _grid(min_points: float) -> int:
    if not min_points <= MAX_GRID_POINTS:
        raise InputError(
            f"exact: the distribution of this sum needs a grid of {min_points:.2g} points, and "
            f"the maximum is {MAX_GRID_POINTS:,}. Use less noise or smaller sums."
        )
    return 1 << max(3, math.ceil(math.log2(min_points)) + 1)


def _characteristic(energy: Energy, size: int) -> NDArray[np.float64]:
    """Compute the logarithm of a free cell's characteristic function on half of `size` points."""
    if energy.power == 1:
        a = math.exp(-energy.rate)
        t = 2 * np.pi * np.arange(size // 2 + 1) / size
        # this form of (1 - a)^2 / ((1 - a)^2 + 2 a (1 - cos t)) avoids cancellation
        return np.asarray(
            -np.log1p(4 * a * np.sin(t / 2) ** 2 / np.expm1(-float(energy.rate)) ** 2)
        )
    pmf = _cell(energy)
    circle = np.zeros(size)
    np.add.at(circle, (np.arange(len(pmf)) - len(pmf) // 2) % size, pmf)
    return np.asarray(np.log(scipy.fft.rfft(circle).real.clip(1e-300)))


def _sum_of(energy: Energy, size: int, cells: int) -> NDArray[np.float64]:
    """Compute the distribution of a sum of free cells on a circular grid of `size` points."""
    return np.asarray(scipy.fft.irfft(np.exp(cells * _characteristic(energy, size)), size))


def _part(energy: Energy, cells: int, chosen: int, width: int) -> NDArray[np.float64]:
    """Compute the distribution of a sum over a part of a block, from -width to width."""
    spread = 12 * math.sqrt(max(chosen, cells - chosen) * free_variance(energy))
    size = _grid(2 * max(width + 1.0, TAIL_IN_SCALES * _scale(energy) + spread))
    values = np.abs(np.arange(-width, width + 1))
    pmf = _sum_of(energy, size, chosen)[values].clip(0)
    if cells:
        pmf *= _sum_of(energy, size, cells - chosen)[values].clip(0)
    return np.asarray(pmf / pmf.sum())


@lru_cache(maxsize=4096)
def _cell_variance(energy: Energy, cells: int) -> float:
    """Compute the variance of one of `cells` cells that add up to zero."""
    width = int(TAIL_IN_SCALES * _scale(energy)) + 1
    pmf = _part(energy, cells, 1, width)
    return float(np.sum(pmf * np.arange(-width, width + 1.0) ** 2))
