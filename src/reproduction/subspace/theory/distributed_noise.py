"""Distributed noise: agents with a shared seed each add the noise of their own cells.

An agent draws the noise of all cells that invariants connect with its own. It projects this noise
and keeps the part of its own cells (SDP, Section 4). No agent sees the count of another agent, but
the noise sums to zero in every invariant. The uniform numbers come from Philox, and the inverse
distribution function maps them to Laplace noise. They depend only on the seed and the invariants.
Agents with the same build of numpy and scipy therefore compute the same bits. The drawback is that
anyone with the seed can subtract all noise.

SDP is *Subspace Differential Privacy*.
"""

import hashlib

import numpy as np

from isdp.constraints.independent_parts import independent_parts
from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import null_space


def agent_noise(seed: str, invariants: Invariants, cells, scale: float) -> np.ndarray:
    """Draw projected Laplace noise of scale b = `scale` for one agent's cells, of shape (cells,).

    All agents must use the same `seed`, keep it secret, and change it for each release.
    """
    cells = np.asarray(cells, dtype=np.int64)
    noise = np.empty(len(cells))
    for members, held in independent_parts(invariants):
        mine = np.isin(cells, members)
        if held.constraints:  # each group has a random stream
            part = null_space(held).project(_plain(seed, int(members[0]), len(members)) * scale)
            noise[mine] = part[np.searchsorted(members, cells[mine])]
        else:
            noise[mine] = [_plain(seed, int(cell), 1)[0] * scale for cell in cells[mine]]
    return noise


def central_noise(seed: str, invariants: Invariants, scale: float) -> np.ndarray:
    """Draw the noise of all cells, of shape (cells,), as a curator with the seed does."""
    return agent_noise(seed, invariants, np.arange(invariants.cells), scale)


def _plain(seed: str, name: int, size: int) -> np.ndarray:
    """Draw Laplace noise of scale 1 from 53 bits per cell. It is finite for all bit patterns."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    words = np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")).random_raw(size)
    uniform = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform)))
