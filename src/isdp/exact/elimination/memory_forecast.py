"""A lower bound on the memory of the messages, which is computed before the search for a tree.

The search for a good tree of hundreds of cells takes minutes. The bound takes less than a second,
and shows whether every tree would be too large.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.sparse.csgraph import connected_components, laplacian
from scipy.sparse.linalg import eigsh

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.elimination.truncation import MAX_WINDOW, TruncationPlan, truncation_factor
from isdp.exact.sampler import USE_CHAIN
from isdp.lattice.smith import smith_normal_form

MAX_BYTES = 2e9
TOLERANCE = 1e-8
MAX_CELLS = 2000  # limits the memory for the weights of all pairs of cells
ADVICE = "Use less noise, fewer overlapping totals or a Markov chain (isdp.mcmc.draw_chains)."


def min_frontier(invariants: Invariants) -> int:
    """Compute a lower bound on the maximum dimension of a frontier in every elimination tree.

    Let P be the projection onto the row space of A. The dimension of the frontier of a set S is the
    number of eigenvalues of P_SS strictly between 0 and 1. An eigenvalue x satisfies x (1 - x) <=
    1/4. The cut of S is the sum of P_ij^2 over i in S and j outside S. The cut is equal to the sum
    of x (1 - x). Four times the cut is therefore a lower bound on the dimension.

    Consider P_ij^2 as the edge weights of a graph of m nodes. The cut is at least the second
    eigenvalue of the graph's Laplacian times |S| (m - |S|) / m. Every binary tree of m leaves has a
    set S with between m/3 and 2m/3 leaves.
    """
    u, s, _ = np.linalg.svd(invariants.sparse.toarray().T.astype(float), full_matrices=False)
    rows = u[:, s > TOLERANCE * s.max(initial=1.0)]
    weights = (rows @ rows.T) ** 2
    np.fill_diagonal(weights, 0.0)
    _, part = connected_components(weights > TOLERANCE**2, directed=False)
    bound = 0
    for label in np.flatnonzero(np.bincount(part) > 2):
        cells = np.flatnonzero(part == label)
        second = _second_eigenvalue(laplacian(weights[np.ix_(cells, cells)]))
        bound = max(bound, math.ceil(8 / 9 * len(cells) * second - TOLERANCE * len(cells)))
    return bound


def _second_eigenvalue(graph: np.ndarray) -> float:
    # the smallest eigenvalue belongs to the constant vector and is shifted above all others
    shifted = graph + 2.0 * graph.diagonal().max() / len(graph)
    start = np.random.default_rng(0).normal(size=len(graph))  # for reproducible results
    return float(eigsh(shifted, 1, which="SA", v0=start, return_eigenvectors=False)[0])


def min_message_bytes(
    invariants: Invariants, power: int, rate: float, log_left_out: float
) -> tuple[float, int]:
    """Compute lower bounds on the bytes of all messages and on the maximum frontier.

    Every basis of the lattice has a vector that changes a given coordinate of a set's sums. The
    width of the coordinate's window is therefore at least the width of the noise divided by the
    maximum norm of the basis vectors. The arguments are those of
    `isdp.exact.elimination.truncation.truncation_factor`.
    """
    if invariants.cells > MAX_CELLS:
        raise InputError(
            f"exact: variable elimination supports at most {MAX_CELLS:,} cells under overlapping "
            f"totals, got {invariants.cells:,}. {USE_CHAIN}"
        )
    sums, dimension, longest = _lattice_sizes(invariants, power)
    if not sums or not dimension:
        return 0.0, 0
    factor = truncation_factor(power, rate, dimension, 1, log_left_out)
    half = math.floor(min(factor / longest ** (1 / power), MAX_WINDOW))
    log_bytes = math.log(8) + sums * math.log(2 * half + 1)
    return math.exp(log_bytes) if log_bytes < 700 else math.inf, sums


def refuse_memory(n_bytes: float, frontier: int) -> None:
    """Raise `InputError` if the messages for a frontier of this dimension need more than 2 GB."""
    if n_bytes > MAX_BYTES:
        raise InputError(
            f"exact: the messages of variable elimination would take {n_bytes / 1e9:.3g} GB, and "
            f"the maximum is {MAX_BYTES / 1e9:.3g} GB. The frontier has {frontier} sums. {ADVICE}"
        )


def refuse_plan(plan: TruncationPlan, max_products: float) -> None:
    """Raise `InputError` if a plan needs more than 2 GB, or more products than `max_products`."""
    frontier = max((len(planned.half) for tree in plan.trees for planned in tree), default=0)
    refuse_memory(plan.bytes, frontier)
    if plan.products > max_products:
        raise InputError(
            f"exact: the messages of variable elimination would take up to {plan.products:.1e} "
            f"products, and the maximum is {max_products:.0e}. The frontier has {frontier} sums. "
            f"{ADVICE}"
        )


@lru_cache(maxsize=16)
def _lattice_sizes(invariants: Invariants, power: int) -> tuple[int, int, int]:
    """Return the result of `min_frontier`, the dimension and the maximum norm of a basis."""
    kernel = smith_normal_form(invariants.sparse).kernel
    lengths = (sum(abs(x) ** power for x in vector.values()) for vector in kernel)
    return min_frontier(invariants), len(kernel), max(lengths, default=0)
