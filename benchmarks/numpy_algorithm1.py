"""ISDP, Algorithm 1 as one would write it down in NumPy: what the compiled core is measured by.

The whole jump V e is proposed and accepted at once. The weight of the present state is kept, not
computed again, which favours this code.
"""

import numpy as np


def double_geometric(rng, a, size):
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
    cells, dimension = basis.shape
    noise = np.zeros(cells, dtype=np.int64)
    present = log_weight(noise, epsilon)
    kept = np.empty((draws, cells), dtype=np.int64)
    for draw in range(draws):
        for _ in range(thin):
            proposed = noise + basis @ double_geometric(rng, a, dimension)
            weight = log_weight(proposed, epsilon)
            if accepts(weight - present, rng.random()):
                noise, present = proposed, weight
        kept[draw] = noise
    return kept
