"""Distributed privatisation: agents with a shared seed each add their own share of the noise.

Every agent holds a few cells, draws the noise of all cells that hang together with its own through
invariants, projects it, and keeps the part that is its own (SDP, Section 4). No agent sees the
count of another, yet the noise adds up to zero in every invariant. The numbers are made from the
raw words of Philox by the inverse distribution function, in one order that depends on nothing but
the seed and the invariants, so that two agents with the same build of numpy and scipy compute the
same bits. The price: whoever has the seed can take everybody's noise away again.
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
    """Laplace noise of one agent's cells, projected with all that it must be projected with.

    Parameters
    ----------
    seed : str
        Shared by the agents and kept from everybody else; a new one for each release.
    cells : sequence of int
        The agent's cells.
    scale : float
        b of the Laplace law.

    Returns
    -------
    float64 array, shape (number of cells,)

    Raises
    ------
    InputError
        If the seed is empty, or a cell does not exist.
    """
    check_positive_float("subspace: scale", scale)
    cells = np.asarray(cells, dtype=np.int64)
    if not seed:
        raise InputError("subspace: the agents need a shared seed that is not empty")
    if cells.size and not 0 <= cells.min() <= cells.max() < invariants.cells:
        raise InputError(f"subspace: cells go from 0 to {invariants.cells - 1}")
    noise = np.empty(len(cells))
    for members, held in independent_parts(invariants):
        mine = np.isin(cells, members)
        if held.constraints:  # a group of cells has one stream, named by its first cell
            part = null_space(held).project(_plain(seed, int(members[0]), len(members)) * scale)
            noise[mine] = part[np.searchsorted(members, cells[mine])]
        else:
            noise[mine] = [_plain(seed, int(cell), 1)[0] * scale for cell in cells[mine]]
    return noise


def central_noise(seed: str, invariants: Invariants, scale: float) -> np.ndarray:
    """Noise of all cells, as a curator with the seed adds it; float64 array, shape (cells,)."""
    return agent_noise(seed, invariants, np.arange(invariants.cells), scale)


def _plain(seed: str, name: int, size: int) -> np.ndarray:
    """Noise of unit scale from 53 bits a cell; no bit pattern gives an infinite number."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    words = np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")).random_raw(size)
    uniform = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform)))
