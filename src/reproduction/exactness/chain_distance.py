"""Distance of Markov chains from their target by number of iterations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from isdp.diagnostics.kolmogorov import CELLS, FULL, NORM, kolmogorov_bound, kolmogorov_distance
from isdp.exact import EnumeratedDistribution, enumerate_distribution
from isdp.mechanisms.generalized_laplace import double_geometric_pmf

if TYPE_CHECKING:
    from isdp.mcmc.metropolis import LatticeWalk

MAX_POINTS = 3000  # of an enumerated lattice
TAIL_PROBABILITY = 1e-9


def distance_curve(
    rng: np.random.Generator,
    walk: LatticeWalk,
    exact: np.ndarray,
    *,
    chains: int,
    times: Iterable[int],
) -> pd.DataFrame:
    """Measure a chain's actual distance from its target over iterations, from zero noise.

    `exact` has draws of the target, int64 of shape (draw, cell). The states of `chains` independent
    chains at each of `times`, increasing from 0, are compared with them. The columns are t,
    statistic, distance and error. The Kolmogorov distances of the norm and of the worst cell are
    lower bounds on the total variation distance, apart from the sampling error `error`, which is
    exceeded once in a million comparisons. On a lattice that can be enumerated, the total variation
    distance is added.
    """
    times = np.asarray(list(times), dtype=np.int64)
    cells = walk.cells
    at = np.empty((len(times), chains, cells), dtype=np.int64)
    start, between = walk.init(), np.diff(times, prepend=0)
    for chain, stream in enumerate(rng.spawn(chains)):
        at[:, chain], _, _ = walk.run(stream, start, draws=len(times), thin=between)
    target = walk.mechanism.noise_norm(exact)
    norm_error = kolmogorov_bound(chains, len(exact))
    cell_error = kolmogorov_bound(chains, len(exact), cells)
    rows = []
    for t, states in zip(times.tolist(), at, strict=True):
        norm = kolmogorov_distance(walk.mechanism.noise_norm(states), target)
        cell = max(kolmogorov_distance(states[:, i], exact[:, i]) for i in range(cells))
        rows += [(t, NORM, norm, norm_error), (t, CELLS, cell, cell_error)]
    table = pd.DataFrame(rows, columns=["t", "statistic", "distance", "error"])
    full = distance_in_full(walk, times)
    return table if full is None else pd.concat([table, full], ignore_index=True)


def distance_in_full(walk: LatticeWalk, times: np.ndarray) -> pd.DataFrame | None:
    """Compute the total variation distance of a chain from its target by matrix powers.

    The table is like that of `distance_curve`. It is None unless the distribution is a generalized
    Laplace with at most 3000 points that have all but 1e-9 of its probability.
    """
    energy = walk.mechanism.energy
    if not (energy and energy.of_norm) or walk.within is not None:
        return None
    law = enumerate_target(walk)
    if law is None:
        return None
    matrix = transition_matrix(walk, law)
    now = (law.points == 0).all(axis=1).astype(float)
    rows, before = [], 0
    for t in times.tolist():
        for _ in range(t - before):
            now = now @ matrix
        before = t
        rows.append((t, FULL, 0.5 * float(np.abs(now - law.pmf).sum()), TAIL_PROBABILITY))
    return pd.DataFrame(rows, columns=["t", "statistic", "distance", "error"])


def enumerate_target(walk: LatticeWalk) -> EnumeratedDistribution | None:
    """Enumerate the target if it has few points, up to a norm with tail probability below 1e-9."""
    d, mechanism = walk.lattice.dimension, walk.mechanism
    radius = 25.0 / mechanism.energy.rate
    volume = (2 * radius / max(d, 1) + 1) ** d  # approximate number of points
    if not 0 < d <= 3 or volume > 100 * MAX_POINTS:
        return None
    while True:
        law = enumerate_distribution(walk.lattice.invariants, mechanism, radius)
        if len(law.points) > MAX_POINTS:
            return None
        if law.left_out < TAIL_PROBABILITY:
            return law
        radius *= 1.2


def transition_matrix(walk: LatticeWalk, law: EnumeratedDistribution) -> np.ndarray:
    """Tabulate one sweep between all points; jumps to other points are rejected."""
    coordinates = walk.lattice.coordinates(law.points)
    differences = coordinates[None] - coordinates[:, None]  # (from, to, basis vector)
    jump = double_geometric_pmf(differences, walk.proposal)
    with np.errstate(divide="ignore"):
        rise = np.log(law.pmf)[None] - np.log(law.pmf)[:, None]
    accept = np.exp(np.minimum(rise, 0))
    if walk.acceptance == "joint":
        return _fill_diagonal(jump.prod(axis=2) * accept)
    matrix = np.eye(len(law.points))
    for j in range(coordinates.shape[1]):
        others = np.delete(differences, j, axis=2)
        matrix = matrix @ _fill_diagonal(jump[:, :, j] * accept * ~others.any(axis=2))
    return matrix


def _fill_diagonal(moves: np.ndarray) -> np.ndarray:
    """Set the diagonal to the probability of no move."""
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
    return moves
