"""Exact laws to judge samplers by: enumeration of small lattices, and the law under one total."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy

from isdp.checks import positive, whole
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.kernel import kernel_lattice
from isdp.mechanisms.base import Mechanism, energy_served

MOST_POINTS = 20_000_000


class EnumeratedLaw(NamedTuple):
    """A law on finitely many lattice points.

    `points` is int64 (points, cells), `pmf` float64 (points,) with sum 1, and `left_out` bounds
    the probability of everything beyond the enumerated ball.
    """

    points: np.ndarray
    pmf: np.ndarray
    left_out: float


def enumerate_law(
    invariants: Invariants, mechanism: Mechanism, radius: float | None = None
) -> EnumeratedLaw:
    """Enumerate every lattice point up to a norm, with its exact probability.

    Meant as an oracle for lattices of two or three dimensions.

    Parameters
    ----------
    invariants : Invariants
    mechanism : Mechanism
        Of weight exp(-rate ||u||) in either norm, such as `GeneralizedLaplace`.
    radius : float, optional
        Largest norm to enumerate; by default far enough out to leave less than 1e-9.

    Raises
    ------
    InputError
        For a law of another form, or if the box around the ball holds more than 2e7 points.
    """
    energy = energy_served("exact", mechanism, [(1, False), (2, True)])
    lattice = kernel_lattice(invariants, "lll")
    d = lattice.dimension
    basis = lattice.basis
    if d == 0:
        return EnumeratedLaw(np.zeros((1, invariants.cells), np.int64), np.ones(1), 0.0)
    if radius is None:
        radius = (d + 6 * math.sqrt(d) + 25) / energy.rate
    # |c_j| <= (dual norm of the j-th row of the pseudoinverse) * ||C c||
    inverse = np.linalg.pinv(basis.astype(float))
    dual = np.abs(inverse).max(axis=1)
    if energy.power == 2:
        dual = np.linalg.norm(inverse, axis=1)
    half = np.floor(dual * radius + 1e-9).astype(np.int64)
    box = math.prod(2 * int(h) + 1 for h in half)
    if box > MOST_POINTS:
        raise InputError(
            f"exact: enumerating dimension {d} up to norm {radius:.3g} means looking at {box:.3g} "
            f"points, more than {MOST_POINTS:.0e}; use a smaller lattice or a larger epsilon"
        )
    axes = [np.arange(-h, h + 1) for h in half.tolist()]
    points = np.vstack([_within(basis, axes, c, energy.power, radius) for c in axes[0]])
    norms = mechanism.measure(points)
    points, norms = points[norms <= radius], norms[norms <= radius]
    weights = np.exp(-energy.rate * norms)
    return EnumeratedLaw(
        points, weights / weights.sum(), _tail(dual, radius, energy.rate) / weights.sum()
    )


def _within(basis, axes: list[np.ndarray], first: int, power: int, radius: float) -> np.ndarray:
    """Points of the box with the given first coordinate, up to about `radius`; (points, cells).

    A slice at a time, and cell by cell, so that no array holds the cells of the whole box.
    """
    rest = np.meshgrid(*axes[1:], indexing="ij", sparse=True)
    start = np.zeros([len(axis) for axis in axes[1:]], dtype=np.int64)
    cells = [
        sum(
            (weight * axis for weight, axis in zip(row[1:], rest, strict=True)),
            start + row[0] * first,
        )
        for row in basis.tolist()
    ]
    size = sum(np.abs(cell) ** power for cell in cells)
    inside = size <= radius**power * (1 + 1e-9) + 1e-9
    return np.stack([cell[inside] for cell in cells], axis=1)


def _tail(dual: np.ndarray, radius: float, epsilon: float) -> float:
    """Bound the weight of all points beyond `radius`, by counting a box for each unit shell."""
    shells = radius + np.arange(int(200 / epsilon) + 1)
    counts = np.prod(2 * np.floor(dual[:, None] * (shells + 1)) + 1, axis=0)
    return float(np.sum(counts * np.exp(-epsilon * shells)))


@dataclass(frozen=True)
class TotalLaw:
    """Law of one cell under one total: a double geometric vector conditioned on its sum.

    Attributes
    ----------
    support : int64 array
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


def gaussian_law(variance: Fraction) -> TotalLaw:
    """Law of one discrete Gaussian cell under no total, with the variance at most 1e6."""
    most = math.ceil(9 * math.sqrt(variance)) + 1
    support = np.arange(-most, most + 1)
    pmf = np.exp(-(support**2) / (2 * float(variance)))
    return TotalLaw(support, pmf / pmf.sum())


def gaussian_total_law(cells: int, variance: Fraction) -> TotalLaw:
    """Law of a cell for the discrete Gaussian under one total.

    With F_m the weights of sums of m cells (`isdp.exact.halving`), P(u_i = k) is in
    proportion to F_1(k) F_{m-1}(-k).

    Parameters
    ----------
    cells : int
    variance : Fraction
        Sigma^2, at most 1e6: a larger one is a rescaled law.
    """
    from isdp.exact.halving import period  # compiled code: the other laws do without

    if whole("exact", "cells", cells, 1) == 1:
        return TotalLaw(np.zeros(1, np.int64), np.ones(1))
    narrowed = float(variance) * (cells - 1) / cells
    most = math.ceil(9 * math.sqrt(narrowed)) + 1
    support = np.arange(-most, most + 1)
    pmf = np.exp(-(support**2) / (2 * narrowed)) * period(variance, cells - 1).relative(support)
    return TotalLaw(support, pmf / pmf.sum())


def total_law(cells: int, epsilon: float) -> TotalLaw:
    """Law of a cell for the l1 generalized Laplace mechanism under one total.

    With p the double geometric law for a = exp(-epsilon) and q_m the law of a sum of m such
    variables, P(u_i = k) = p(k) q_{n-1}(-k) / q_n(0). The q are found by inverting the
    characteristic function ((1 - a)^2 / (1 - 2 a cos t + a^2))^m on a grid so fine that what
    wraps around is below rounding.

    Parameters
    ----------
    cells : int
    epsilon : float

    Raises
    ------
    InputError
        If epsilon is so small that the grid would take more than 2^26 points.
    """
    cells = whole("exact", "cells", cells, 1)
    a = math.exp(-positive("epsilon", epsilon))
    if cells == 1:
        return TotalLaw(np.zeros(1, np.int64), np.ones(1))
    reach = 40 / epsilon + 12 * math.sqrt(cells * 2 * a) / (1 - a) + 8
    size = 1 << math.ceil(math.log2(2 * reach))
    if size > 1 << 26:
        raise InputError(
            f"exact: {cells} cells at epsilon {epsilon:g} need a grid of {size} points, more "
            f"than 2^26; use a larger epsilon"
        )
    t = 2 * np.pi * np.arange(size // 2 + 1) / size
    log_phi = 2 * math.log1p(-a) - np.log(1 - 2 * a * np.cos(t) + a * a)
    others = scipy.fft.irfft(np.exp((cells - 1) * log_phi), size)
    transform = np.exp(cells * log_phi)
    at_zero = (2 * transform.sum() - transform[0] - transform[-1]) / size  # the inverse at 0 alone
    most = min(size // 2 - 1, int(40 / epsilon) + 1)
    support = np.arange(-most, most + 1)
    own = (1 - a) / (1 + a) * np.exp(-epsilon * np.abs(support))
    pmf = own * np.clip(others[np.abs(support)], 0, None) / at_zero
    return TotalLaw(support, pmf / pmf.sum())
