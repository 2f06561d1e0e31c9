"""Exact distributions on small lattices by enumeration, for comparison with samplers."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms.base import Mechanism, check_energy

MAX_POINTS = 20_000_000


class EnumeratedDistribution(NamedTuple):
    """A distribution on finitely many lattice points.

    Attributes
    ----------
    points : int64 array, shape (points, cells)
    pmf : float64 array, shape (points,)
        The probabilities of the points. They add up to 1.
    left_out : float
        A bound on the probability outside the enumerated ball.
    """

    points: NDArray[np.int64]
    pmf: NDArray[np.float64]
    left_out: float


def enumerate_distribution(
    invariants: Invariants, mechanism: Mechanism, radius: float | None = None
) -> EnumeratedDistribution:
    """Enumerate all lattice points within a ball, and compute their probabilities.

    Enumeration is practical for lattices of two or three dimensions.

    Parameters
    ----------
    mechanism : Mechanism
        Its weight must be exp(-rate ||u||) in the l1 or l2 norm, as for `GeneralizedLaplace`.
    radius : float, optional
        The maximum norm. By default, the probability of larger norms is below 1e-9.

    Raises
    ------
    InputError
        If the weight has another form, or the box around the ball has more than 2e7 points.
    """
    energy = check_energy("exact", mechanism, [(1, False), (2, True)])
    lattice = kernel_lattice(invariants, "lll")
    d = lattice.dimension
    basis = lattice.basis
    if d == 0:
        return EnumeratedDistribution(np.zeros((1, invariants.cells), np.int64), np.ones(1), 0.0)
    if radius is None:
        radius = (d + 6 * math.sqrt(d) + 25) / energy.rate
    # Let C be the basis and C c a point. Then |c_j| is at most ||C c|| times the dual norm of row j
    # of the pseudoinverse of C.
    inverse = np.linalg.pinv(basis.astype(float))
    dual = np.abs(inverse).max(axis=1)
    if energy.power == 2:
        dual = np.linalg.norm(inverse, axis=1)
    half = np.floor(dual * radius + 1e-9).astype(np.int64)
    box = math.prod(2 * int(h) + 1 for h in half)
    if box > MAX_POINTS:
        raise InputError(
            f"exact: an enumeration of dimension {d} up to norm {radius:.3g} has {box:.3g} points, "
            f"and the maximum is {MAX_POINTS:.0e}. Use a smaller lattice or a larger epsilon."
        )
    axes = [np.arange(-h, h + 1) for h in half.tolist()]
    points = np.vstack([_within(basis, axes, c, energy.power, radius) for c in axes[0]])
    norms = mechanism.noise_norm(points)
    points, norms = points[norms <= radius], norms[norms <= radius]
    weights = np.exp(-float(energy.rate) * norms)
    return EnumeratedDistribution(
        points, weights / weights.sum(), _tail(dual, radius, float(energy.rate)) / weights.sum()
    )


def _within(
    basis: NDArray[np.int64], axes: list[NDArray[np.int64]], first: int, power: int, radius: float
) -> NDArray[np.int64]:
    """List the points of the box with the given first coordinate and norms up to about `radius`.

    The cells are computed one after the other, so that no array has all cells of the box.
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


def _tail(dual: NDArray[np.float64], radius: float, epsilon: float) -> float:
    """Bound the weight of all points beyond `radius` by a box around each shell of width 1."""
    shells = radius + np.arange(int(200 / epsilon) + 1)
    counts = np.prod(2 * np.floor(dual[:, None] * (shells + 1)) + 1, axis=0)
    return float(np.sum(counts * np.exp(-epsilon * shells)))
