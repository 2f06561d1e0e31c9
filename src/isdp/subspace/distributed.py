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

from isdp.checks import positive_float
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.elimination import row_components
from isdp.subspace.nullspace import null_space


def cell_components(invariants: Invariants) -> np.ndarray:
    """Name the groups of cells that hang together through invariants.

    Returns
    -------
    int64 array, shape (cells,)
        A group is named by its first cell; a cell in no invariant is alone.
    """
    names = np.arange(invariants.cells)
    coo = invariants.sparse.tocoo()
    first = np.full(invariants.constraints, invariants.cells)
    component = row_components(invariants.sparse)
    np.minimum.at(first, component[coo.row], coo.col)
    names[coo.col] = first[component[coo.row]]
    return names


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
    positive_float("subspace: scale", scale)
    cells = np.asarray(cells, dtype=np.int64)
    if not seed:
        raise InputError("subspace: the agents need a shared seed that is not empty")
    if cells.size and not 0 <= cells.min() <= cells.max() < invariants.cells:
        raise InputError(f"subspace: cells go from 0 to {invariants.cells - 1}")
    names = cell_components(invariants)
    held = np.zeros(invariants.cells, dtype=bool)
    held[invariants.sparse.indices] = True
    noise = np.empty(len(cells))
    for name in np.unique(names[cells]):
        members = np.flatnonzero(names == name)
        part = _plain(seed, int(name), len(members)) * scale
        if held[name]:
            part = null_space(_restricted(invariants, members)).project(part)
        mine = names[cells] == name
        noise[mine] = part[np.searchsorted(members, cells[mine])]
    return noise


def central_noise(seed: str, invariants: Invariants, scale: float) -> np.ndarray:
    """Noise of all cells, as a curator with the seed adds it; float64 array, shape (cells,)."""
    return agent_noise(seed, invariants, np.arange(invariants.cells), scale)


def _restricted(invariants: Invariants, members: np.ndarray) -> Invariants:
    part = invariants.sparse[:, members]
    return Invariants(part[np.diff(part.indptr) > 0])


def _plain(seed: str, name: int, size: int) -> np.ndarray:
    """Noise of unit scale from 53 bits a cell; no bit pattern gives an infinite number."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    words = np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")).random_raw(size)
    uniform = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform)))
