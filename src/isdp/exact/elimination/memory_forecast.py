"""A lower bound on the memory of the messages, before the search for a tree.

The search for a good tree of hundreds of cells takes minutes, in vain if every tree is far too
large. The bound takes a fraction of a second.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.sparse.csgraph import connected_components, laplacian
from scipy.sparse.linalg import eigsh

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.truncation import MAX_WINDOW, truncation_factor
from isdp.lattice.smith import smith_normal_form

TOLERANCE = 1e-8
MAX_CELLS = 2000  # one weight per pair of cells


def min_frontier(invariants: Invariants) -> int:
    """Bound the largest frontier of any elimination order from below.

    Returns
    -------
    int
        Every tree of pairwise merges has a set of cells with a frontier of at least this dimension.

    Notes
    -----
    Let P project onto the row space of A. The dimension of the frontier between a set S and the
    rest is the number of eigenvalues of P_SS strictly between 0 and 1. An eigenvalue x gives x (1 -
    x) <= 1/4, and these add up to the sum of P_ij^2 over i in S, j outside. So four times this cut
    bounds the dimension from below. In a graph of m nodes the cut is at least the Laplacian's
    second eigenvalue times |S| (m - |S|) / m, and every binary tree has a set S of m/3 to 2m/3 of
    its m leaves.
    """
    u, s, _ = np.linalg.svd(invariants.sparse.toarray().T.astype(float), full_matrices=False)
    rows = u[:, s > TOLERANCE * s.max(initial=1.0)]
    weights = (rows @ rows.T) ** 2
    np.fill_diagonal(weights, 0.0)
    _, part = connected_components(weights > TOLERANCE**2, directed=False)
    most = 0
    for label in np.flatnonzero(np.bincount(part) > 2):
        cells = np.flatnonzero(part == label)
        second = _second_eigenvalue(laplacian(weights[np.ix_(cells, cells)]))
        most = max(most, math.ceil(8 / 9 * len(cells) * second - TOLERANCE * len(cells)))
    return most


def _second_eigenvalue(graph: np.ndarray) -> float:
    """Find the second smallest eigenvalue of a connected graph's Laplacian.

    The smallest one, of the constant vector, is shifted above all others.
    """
    top = 2.0 * graph.diagonal().max()
    moved = graph + top / len(graph)
    start = np.random.default_rng(0).normal(size=len(graph))  # for equal results each time
    return float(eigsh(moved, 1, which="SA", v0=start, return_eigenvectors=False)[0])


def min_message_bytes(
    invariants: Invariants, power: int, rate: float, log_left_out: float
) -> tuple[float, int]:
    """Bound the memory of the messages, and the largest frontier, from below.

    A coordinate of a set's sums is an integer that some vector of any basis changes. So the width
    of its window is at least that of the noise over the longest vector's norm.

    Parameters
    ----------
    power, rate, log_left_out
        As in `isdp.exact.elimination.truncation.truncation_factor`.

    Returns
    -------
    float
        Bytes.
    int
        The result of `min_frontier`.

    Raises
    ------
    InputError
        If there are more than 2000 cells.
    """
    if invariants.cells > MAX_CELLS:
        raise InputError(
            f"exact: {invariants.cells:,} cells under overlapping totals are too many for "
            f"variable elimination, which takes up to {MAX_CELLS:,}"
        )
    sums, dimension, longest = _lattice_sizes(invariants, power)
    if not sums or not dimension:
        return 0.0, 0
    factor = truncation_factor(power, rate, dimension, 1, log_left_out)
    half = math.floor(min(factor / longest ** (1 / power), MAX_WINDOW))
    log_bytes = math.log(8) + sums * math.log(2 * half + 1)
    return math.exp(log_bytes) if log_bytes < 700 else math.inf, sums


@lru_cache(maxsize=16)
def _lattice_sizes(invariants: Invariants, power: int) -> tuple[int, int, int]:
    """Return the frontier's bound, the dimension and the longest vector's norm."""
    kernel = smith_normal_form(invariants.sparse).kernel
    lengths = (sum(abs(x) ** power for x in vector.values()) for vector in kernel)
    return min_frontier(invariants), len(kernel), max(lengths, default=0)
