"""ISDP, Algorithm 1 as one would write it down in NumPy: what the compiled core is measured by.

The whole jump V e is proposed and accepted at once. `run` builds it as the algorithm is stated, in
a sweep over the coordinates of e; `run_vectorised` draws all of e in one call, which the paper
says may be done as well. The weight of the present state is kept, not computed again, which
favours this code.
"""

import numpy as np


def double_geometric(rng, a, size=None):
    """Draw integers with P(k) proportional to a^|k|."""
    return rng.geometric(1 - a, size) - rng.geometric(1 - a, size)


def log_weight(noise, epsilon):
    """Log of the unnormalised l1 law."""
    return -epsilon * np.abs(noise).sum()


def accepts(log_ratio, uniform):
    """Tell whether a jump is accepted whose log-weight is higher by `log_ratio`."""
    return uniform < np.exp(min(log_ratio, 0.0))


def run(rng, basis, epsilon, a, draws, thin=1):
    """Run one chain from zero noise; keep every `thin`-th state, int64 (draws, cells)."""
    return walk(rng, basis, epsilon, a, draws, thin, jump_by_coordinates)


def run_vectorised(rng, basis, epsilon, a, draws, thin=1):
    """Run the same chain with jumps in one call each."""
    return walk(rng, basis, epsilon, a, draws, thin, jump_at_once)


def jump_by_coordinates(rng, basis, a):
    """Sum of a double geometric number of times each basis vector, one after the other."""
    cells, dimension = basis.shape
    jump = np.zeros(cells, dtype=np.int64)
    for j in range(dimension):
        jump += double_geometric(rng, a) * basis[:, j]
    return jump


def jump_at_once(rng, basis, a):
    """Draw the same jump as a product of a matrix and a vector."""
    return basis @ double_geometric(rng, a, basis.shape[1])


def walk(rng, basis, epsilon, a, draws, thin, draw_jump):
    """Run the chain with a given way to draw jumps."""
    noise = np.zeros(len(basis), dtype=np.int64)
    present = log_weight(noise, epsilon)
    kept = np.empty((draws, len(basis)), dtype=np.int64)
    for draw in range(draws):
        for _ in range(thin):
            proposed = noise + draw_jump(rng, basis, a)
            weight = log_weight(proposed, epsilon)
            if accepts(weight - present, rng.random()):
                noise, present = proposed, weight
        kept[draw] = noise
    return kept
