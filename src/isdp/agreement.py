"""How far samples lie from an exact law: Kolmogorov's distance of the norm and of the cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from isdp.diagnostics import convergence
from isdp.exact import EnumeratedLaw, enumerate_law
from isdp.mechanisms import GeneralizedLaplace, Mechanism
from isdp.metropolis import LatticeWalk

ALPHA = 1e-6  # false alarms for each distance
MOST_POINTS = 3000  # of a lattice whose law is followed in full
LEFT_OUT = 1e-9
NORM, CELLS, FULL = "norm", "cells", "in full"


def kolmogorov(one, two) -> float:
    """Largest difference of the distribution functions of two samples.

    It never exceeds the total variation distance of the laws by more than sampling error.
    """
    one, two = np.sort(np.ravel(one)), np.sort(np.ravel(two))
    values = np.concatenate([one, two])
    below = [np.searchsorted(each, values, side="right") / len(each) for each in (one, two)]
    return float(np.abs(below[0] - below[1]).max())


def kolmogorov_bound(first: float, second: float, comparisons: int = 1) -> float:
    """Distance that two samples of one law exceed with probability below ALPHA at most.

    The two-sample bound of Dvoretzky, Kiefer, Wolfowitz and Massart, split over comparisons.

    Parameters
    ----------
    first, second : float
        Independent (or effective) draws of each; infinite for a law that is known.
    comparisons : int
    """
    spread = sum(
        math.sqrt(math.log(4 * comparisons / ALPHA) / (2 * n))
        for n in (first, second)
        if n < math.inf
    )
    return min(1.0, spread)


def agreement_rows(
    noise: np.ndarray, exact: np.ndarray, mechanism: Mechanism, labels: dict
) -> pd.DataFrame:
    """Compare a sample with exact draws of its target.

    Parameters
    ----------
    noise : int64 array, shape (chain, draw, cell)
        From a Markov chain: its effective sample size counts. With one chain it is taken as
        independent draws.
    exact : int64 array, shape (draw, cell)
    mechanism : Mechanism
    labels : dict
        Columns that tell the row: experiment, norm, sampler.

    Returns
    -------
    DataFrame with two rows, for the norm and for the cell that is furthest off: the labels,
        draws, effective, statistic, distance and bound, which two samples of one law exceed once
        in a million comparisons
    """
    flat = noise.reshape(-1, noise.shape[-1])
    norms = mechanism.measure(noise).astype(float)
    moving = np.flatnonzero((flat != flat[0]).any(axis=0) | (exact != exact[0]).any(axis=0))
    rows = []
    for statistic, values, others in (
        (NORM, norms[..., None], mechanism.measure(exact)[:, None]),
        (CELLS, noise[..., moving], exact[:, moving]),
    ):
        count = values.shape[-1]
        effective = np.full(count, float(len(flat)))
        if len(noise) > 1 and count:
            table = convergence(values)
            effective = np.fmin(effective, table[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy())
        sample = values.reshape(len(flat), count)
        distances = [kolmogorov(sample[:, i], others[:, i]) for i in range(count)]
        bounds = [kolmogorov_bound(n, len(exact), count) for n in effective]
        worst = max(range(count), key=lambda i: distances[i] / bounds[i], default=None)
        rows.append(
            {
                **labels,
                "draws": len(flat),
                "effective": math.nan if worst is None else effective[worst],
                "statistic": statistic,
                "distance": 0.0 if worst is None else distances[worst],
                "bound": 0.0 if worst is None else bounds[worst],
            }
        )
    return pd.DataFrame(rows)


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
    rng : numpy.random.Generator
    walk : LatticeWalk
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
    at = np.zeros((len(times), chains, cells), dtype=np.int64)
    for chain, stream in enumerate(rng.spawn(chains)):
        state, before = walk.init(), 0
        for i, t in enumerate(times):
            if t > before:
                _, state, _ = walk.run(stream, state, draws=1, thin=int(t - before))
                before = t
            at[i, chain] = state.noise
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
    if not isinstance(walk.mechanism, GeneralizedLaplace) or walk.within is not None:
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


def small_law(walk: LatticeWalk) -> EnumeratedLaw | None:
    """Enumerate the target where it has few points, up to a norm that leaves out below 1e-9."""
    d, mechanism = walk.lattice.dimension, walk.mechanism
    radius = 25.0 / mechanism.epsilon
    volume = (2 * radius / max(d, 1) + 1) ** d  # of the points, roughly
    if not 0 < d <= 3 or volume > 100 * MOST_POINTS:
        return None
    while True:
        law = enumerate_law(walk.lattice.invariants, mechanism, radius)
        if len(law.points) > MOST_POINTS:
            return None
        if law.left_out < LEFT_OUT:
            return law
        radius *= 1.2


def transition_matrix(walk: LatticeWalk, law: EnumeratedLaw) -> np.ndarray:
    """Tabulate one sweep between all points; jumps that leave them are refused."""
    coordinates = np.array([walk.lattice.coordinates(point) for point in law.points])
    differences = coordinates[None] - coordinates[:, None]  # (from, to, basis vector)
    a = walk.proposal
    jump = (1 - a) / (1 + a) * a ** np.abs(differences).astype(float)
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


def quantile_table(named: dict[str, np.ndarray], cells: list[str]) -> pd.DataFrame:
    """Quantiles of every cell for several samples: sampler, cell, name and q05 to q95."""
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    parts = []
    for name, noise in named.items():
        quantiles = np.quantile(noise.reshape(-1, noise.shape[-1]), levels, axis=0)
        table = pd.DataFrame(quantiles.T, columns=[f"q{round(100 * q):02d}" for q in levels])
        parts.append(table.assign(sampler=name, cell=range(len(cells)), name=cells))
    return pd.concat(parts, ignore_index=True)


def norm_histogram(
    named: dict[str, np.ndarray], measure: Callable[[np.ndarray], np.ndarray], bins: int = 40
) -> pd.DataFrame:
    """Shares of the norm in equal bins for several samples: sampler, low, high and share."""
    norms = {name: np.ravel(measure(noise)).astype(float) for name, noise in named.items()}
    largest = max(float(each.max()) for each in norms.values())
    width = max(1, math.ceil((largest + 1) / bins))
    if all((values % 2 == 0).all() for values in norms.values()):
        width += width % 2  # l1 norms are even where totals are held; odd bins would look ragged
    edges = np.arange(0, largest + width + 1, width) - 0.5
    parts = []
    for name, values in norms.items():
        counts, _ = np.histogram(values, edges)
        share = counts / len(values)
        parts.append(
            pd.DataFrame({"sampler": name, "low": edges[:-1], "high": edges[1:], "share": share})
        )
    return pd.concat(parts, ignore_index=True)
