"""How often noisy totals of the slides' dormitories fit no two regions, by enumeration."""

import numpy as np

LEAST, STUDENTS, MOST = np.array([1, 2, 1]), 200, 99  # most of either outer kind


def share_beyond(truth, epsilon, reach):
    """Double geometric noise up to `reach`, the nearest totals with the sum of 200, and rounding.

    All totals above their least are moved by one and the same number. So they have one fraction,
    which is each one's chance to be rounded up.
    """
    k = np.arange(-reach, reach + 1)
    law = np.exp(-epsilon / 2 * np.abs(k))
    noise = np.stack(np.meshgrid(k, k, k, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.multiply.outer(np.multiply.outer(law, law), law).ravel()
    above = np.asarray(truth) + noise - LEAST
    kept = np.ones(above.shape, dtype=bool)
    for _ in kept[0]:  # onto the plane of the sum, and again without those that fall below
        excess = (above * kept).sum(axis=1) - (STUDENTS - LEAST.sum())
        real = np.where(kept, above - (excess / kept.sum(axis=1))[:, None], 0)
        kept &= real > 0
    outer = (LEAST + real)[:, [0, 2]].max(axis=1)
    return weights @ np.clip(outer - MOST, 0, 1) / weights.sum()
