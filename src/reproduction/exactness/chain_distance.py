"""How far chains are from their target after so many iterations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from isdp.diagnostics.kolmogorov import CELLS, FULL, NORM, kolmogorov, kolmogorov_bound
from isdp.exact import EnumeratedDistribution, enumerate_distribution
from isdp.mechanisms.generalized_laplace import double_geometric_pmf

if TYPE_CHECKING:
    from isdp.mcmc.metropolis import LatticeWalk

MOST_POINTS = 3000  # of a lattice whose law is followed in full
LEFT_OUT = 1e-9


def distance_curve(
    rng: np.random.Generator,
    walk: LatticeWalk,
    exact: np.ndarray,
    *,
    chains: int,
    times: Iterable[int],
) -> pd.DataFrame:
    """Follow a chain's actual distance from its target over iterations, from zero noise.

    Parameters
    ----------
    exact : int64 array, shape (draw, cell)
        Exact draws of the target.
    chains : int
        Independent chains whose states at a time are compared with the exact draws.
    times : iterable of int
        Increasing, from 0.

    Returns
    -------
    DataFrame with columns t, statistic, distance and error
        The norm's and the worst cell's Kolmogorov distance, lower bounds on the total variation
        distance but for `error`, the sampling error exceeded once in a million comparisons.
        Where the lattice can be enumerated, also the distance in full, without error.
    """
    times = np.asarray(list(times), dtype=np.int64)
    cells = walk.cells
    at = np.empty((len(times), chains, cells), dtype=np.int64)
    start, between = walk.init(), np.diff(times, prepend=0)
    for chain, stream in enumerate(rng.spawn(chains)):
        at[:, chain], _, _ = walk.run(stream, start, draws=len(times), thin=between)
    target = walk.mechanism.measure(exact)
    norm_error = kolmogorov_bound(chains, len(exact))
    cell_error = kolmogorov_bound(chains, len(exact), cells)
    rows = []
    for t, states in zip(times.tolist(), at, strict=True):
        norm = kolmogorov(walk.mechanism.measure(states), target)
        cell = max(kolmogorov(states[:, i], exact[:, i]) for i in range(cells))
        rows += [(t, NORM, norm, norm_error), (t, CELLS, cell, cell_error)]
    table = pd.DataFrame(rows, columns=["t", "statistic", "distance", "error"])
    full = distance_in_full(walk, times)
    return table if full is None else pd.concat([table, full], ignore_index=True)


def distance_in_full(walk: LatticeWalk, times: np.ndarray) -> pd.DataFrame | None:
    """Exact total variation distance of a chain from its target, from zero, by matrix powers.

    Returns
    -------
    DataFrame like `distance_curve`'s; None where the law is no generalized Laplace or has more
        than 3000 points within all but 1e-9 of its probability
    """
    energy = walk.mechanism.energy
    if not (energy and energy.of_norm) or walk.within is not None:
        return None
    law = small_law(walk)
    if law is None:
        return None
    matrix = transition_matrix(walk, law)
    now = (law.points == 0).all(axis=1).astype(float)
    rows, before = [], 0
    for t in times.tolist():
        for _ in range(t - before):
            now = now @ matrix
        before = t
        rows.append((t, FULL, 0.5 * float(np.abs(now - law.pmf).sum()), LEFT_OUT))
    return pd.DataFrame(rows, columns=["t", "statistic", "distance", "error"])


def small_law(walk: LatticeWalk) -> EnumeratedDistribution | None:
    """Enumerate the target where it has few points, up to a norm that leaves out below 1e-9."""
    d, mechanism = walk.lattice.dimension, walk.mechanism
    radius = 25.0 / mechanism.energy.rate
    volume = (2 * radius / max(d, 1) + 1) ** d  # of the points, roughly
    if not 0 < d <= 3 or volume > 100 * MOST_POINTS:
        return None
    while True:
        law = enumerate_distribution(walk.lattice.invariants, mechanism, radius)
        if len(law.points) > MOST_POINTS:
            return None
        if law.left_out < LEFT_OUT:
            return law
        radius *= 1.2


def transition_matrix(walk: LatticeWalk, law: EnumeratedDistribution) -> np.ndarray:
    """Tabulate one sweep between all points; jumps that leave them are refused."""
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
    """Keep the chain where it is with the probability that no move is made."""
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
    return moves
