"""Distance between the state of a Markov chain and its target, by iteration."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from isdp.diagnostics.kolmogorov import (
    CELLS,
    FULL,
    NORM,
    detectable_distance,
    kolmogorov_bound,
    kolmogorov_distance,
)
from isdp.exact import EnumeratedDistribution, enumerate_distribution
from isdp.mcmc.metropolis import LatticeWalk
from isdp.mechanisms.generalized_laplace import double_geometric_pmf

MAX_POINTS = 3000  # The maximum number of lattice points that are enumerated.
TAIL_PROBABILITY = 1e-9  # The maximum probability that an enumeration omits.
DISTANCE_COLUMNS = ["t", "statistic", "distance", "error", "detectable"]


def distance_curve(
    rng: np.random.Generator,
    walk: LatticeWalk,
    exact: np.ndarray,
    *,
    chains: int,
    times: Iterable[int],
) -> pd.DataFrame:
    """Measure the distance of chains that start at zero noise from their target.

    Independent chains are compared with exact draws of shape (draw, cell) at the iterations
    `times`, which increase from 0. The table has one row for each time and statistic. A Kolmogorov
    distance minus its sampling error is a lower bound on the total variation distance. If the
    distance equals `detectable`, the measured distance exceeds the sampling error with a
    probability of at least 0.8. The total variation distance itself is added if the lattice can be
    enumerated.
    """
    times = np.asarray(list(times), dtype=np.int64)
    followed = follow_chains(rng, walk, [walk.init()] * chains, times)
    target = walk.mechanism.noise_norm(exact)
    sizes = {NORM: (chains, len(exact), 1), CELLS: (chains, len(exact), walk.cells)}
    limits = {name: (kolmogorov_bound(*n), detectable_distance(*n)) for name, n in sizes.items()}
    rows = []
    for t, states in zip(times.tolist(), followed, strict=True):
        norm = kolmogorov_distance(walk.mechanism.noise_norm(states), target)
        cell = max(kolmogorov_distance(states[:, i], exact[:, i]) for i in range(walk.cells))
        rows += [(t, NORM, norm, *limits[NORM]), (t, CELLS, cell, *limits[CELLS])]
    table = pd.DataFrame(rows, columns=DISTANCE_COLUMNS)
    full = distance_in_full(walk, times)
    return table if full is None else pd.concat([table, full], ignore_index=True)


def follow_chains(rng: np.random.Generator, walk: LatticeWalk, starts, times) -> np.ndarray:
    """Return the states of independent chains at some times, of shape (time, chain, cell)."""
    between = np.diff(times, prepend=0)
    runs = [
        walk.run(own, start, draws=len(times), thin=between)[0]
        for own, start in zip(rng.spawn(len(starts)), starts, strict=True)
    ]
    return np.stack(runs, axis=1)


def distance_in_full(walk: LatticeWalk, times: np.ndarray) -> pd.DataFrame | None:
    """Compute the total variation distance of a chain from its target with the transition matrix.

    Returns None if the lattice cannot be enumerated.
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
        distance = 0.5 * float(np.abs(now - law.pmf).sum())
        rows.append((t, FULL, distance, TAIL_PROBABILITY, TAIL_PROBABILITY))
    return pd.DataFrame(rows, columns=DISTANCE_COLUMNS)


def enumerate_target(walk: LatticeWalk) -> EnumeratedDistribution | None:
    """Enumerate the target except for a tail with a probability below `TAIL_PROBABILITY`.

    Returns None if the enumeration has more than `MAX_POINTS` points.
    """
    d, mechanism = walk.lattice.dimension, walk.mechanism
    radius = 25.0 / mechanism.energy.rate
    volume = (2 * radius / max(d, 1) + 1) ** d  # This approximates the number of points.
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
    """Compute the transition matrix of one sweep over the enumerated points."""
    coordinates = walk.lattice.coordinates(law.points)
    differences = coordinates[None] - coordinates[:, None]  # Axes: from, to, basis vector.
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
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
    return moves
