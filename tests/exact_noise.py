"""Noise for release from another source of bytes than the operating system."""

from collections.abc import Callable

import numpy as np

from isdp import Invariants
from isdp.exact.bits.source import BitSource
from isdp.exact.release_noise import release_sampler
from isdp.mechanisms import Mechanism


def exact_noise(
    mechanism: Mechanism,
    invariants: Invariants,
    n_draws: int = 1,
    *,
    source: Callable[[int], bytes],
) -> np.ndarray:
    sampler = release_sampler(mechanism, invariants, n_draws=n_draws)
    return sampler.draw(BitSource(source), n_draws)
