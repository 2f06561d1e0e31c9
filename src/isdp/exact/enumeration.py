"""Exact laws by enumeration of small lattices, to judge samplers by."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms.base import Mechanism, check_energy

MAX_POINTS = 20_000_000


class EnumeratedDistribution(NamedTuple):
    """A law on finitely many lattice points.

    `points` is int64 (points, cells), `pmf` float64 (points,) with sum 1, and `left_out` bounds
    the probability of everything beyond the enumerated ball.
    """

    points: np.ndarray
    pmf: np.ndarray
    left_out: float


def enumerate_distribution(
    invariants: Invariants, mechanism: Mechanism, radius: float | None = None
) -> EnumeratedDistribution:
    """Enumerate every lattice point up to a norm, with its exact probability.

    Meant as an oracle for lattices of two or three dimensions.

    Parameters
    ----------
    mechanism : Mechanism
        Of weight exp(-rate ||u||) in either norm, such as `GeneralizedLaplace`.
    radius : float, optional
        Largest norm to enumerate; by default far enough out to leave less than 1e-9.

    Raises
    ------
    InputError
        For a law of another form, or if the box around the ball holds more than 2e7 points.
    """
    energy = check_energy("exact", mechanism, [(1, False), (2, True)])
    lattice = kernel_lattice(invariants, "lll")
    d = lattice.dimension
    basis = lattice.basis
    if d == 0:
        return EnumeratedDistribution(np.zeros((1, invariants.cells), np.int64), np.ones(1), 0.0)
    if radius is None:
        radius = (d + 6 * math.sqrt(d) + 25) / energy.rate
    # |c_j| <= (dual norm of the j-th row of the pseudoinverse) * ||C c||
    inverse = np.linalg.pinv(basis.astype(float))
    dual = np.abs(inverse).max(axis=1)
    if energy.power == 2:
        dual = np.linalg.norm(inverse, axis=1)
    half = np.floor(dual * radius + 1e-9).astype(np.int64)
    box = math.prod(2 * int(h) + 1 for h in half)
    if box > MAX_POINTS:
        raise InputError(
            f"exact: enumerating dimension {d} up to norm {radius:.3g} means looking at {box:.3g} "
            f"points, more than {MAX_POINTS:.0e}; use a smaller lattice or a larger epsilon"
        )
    axes = [np.arange(-h, h + 1) for h in half.tolist()]
    points = np.vstack([_within(basis, axes, c, energy.power, radius) for c in axes[0]])
    norms = mechanism.measure(points)
    points, norms = points[norms <= radius], norms[norms <= radius]
    weights = np.exp(-energy.rate * norms)
    return EnumeratedDistribution(
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
