"""Distributed privatisation: agents with a shared seed each add their own part of the noise.

Every agent has a few cells. It draws the noise of all cells that are connected to its own by
invariants, projects it, and keeps the part of its own cells (SDP, Section 4). No agent sees the
count of another, but the noise sums to zero in every invariant. The numbers come from the raw words
of Philox by the inverse distribution function. Their order depends on the seed and the invariants
only, so that agents with the same build of numpy and scipy compute the same bits. The drawback is
that anyone with the seed can subtract all noise.
"""

from __future__ import annotations

import hashlib

import numpy as np

from isdp.checks import check_positive_float
from isdp.constraints.independent_parts import independent_parts
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.null_space import null_space


def agent_noise(seed: str, invariants: Invariants, cells, scale: float) -> np.ndarray:
    """Draw projected Laplace noise of scale b = `scale` for one agent's cells; shape (cells,).

    The agents share the `seed`, keep it secret, and use a new seed for each release. Raises
    InputError if the seed is empty, or if a cell does not exist.
    """
    check_positive_float("subspace: scale", scale)
    cells = np.asarray(cells, dtype=np.int64)
    if not seed:
        raise InputError("subspace: seed: must not be empty; give the agents a shared seed")
    if cells.size and not 0 <= cells.min() <= cells.max() < invariants.cells:
        raise InputError(f"subspace: cells: must be from 0 to {invariants.cells - 1}")
    noise = np.empty(len(cells))
    for members, held in independent_parts(invariants):
        mine = np.isin(cells, members)
        if held.constraints:  # one stream per group of cells, by its first cell
            part = null_space(held).project(_plain(seed, int(members[0]), len(members)) * scale)
            noise[mine] = part[np.searchsorted(members, cells[mine])]
        else:
            noise[mine] = [_plain(seed, int(cell), 1)[0] * scale for cell in cells[mine]]
    return noise


def central_noise(seed: str, invariants: Invariants, scale: float) -> np.ndarray:
    """Draw the noise of all cells, as a curator with the seed adds it; float64 (cells,)."""
    return agent_noise(seed, invariants, np.arange(invariants.cells), scale)


def _plain(seed: str, name: int, size: int) -> np.ndarray:
    """Draw noise of unit scale from 53 bits per cell; it is finite for all bit patterns."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    words = np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")).random_raw(size)
    uniform = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform)))
