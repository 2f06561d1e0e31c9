"""Shortest vectors of a kernel lattice under totals that form a bipartite graph."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csc_array
from scipy.sparse.csgraph import connected_components


def shortest_cycle(incidence: csc_array) -> NDArray[np.int64] | None:
    """Find the shortest vector that leaves totals unchanged, if the totals form a bipartite graph.

    The totals are the vertices of a graph, and the cells are its edges. A cell joins its two
    totals. A cell with one total joins it to an additional vertex, whose total is not held. If the
    graph without this vertex is bipartite, the shortest vector alternately adds and removes one
    person along a shortest cycle. The graph of both margins of a two-way table is bipartite, and
    its shortest cycle has four cells.

    Parameters
    ----------
    incidence : csc_array of int64, shape (totals, cells)
        The entries are 1, each cell has a total, and no two cells have the same totals.

    Returns
    -------
    int64 array, shape (cells,), or None
        The vector is 0 if there is no cycle. The result is None if a cell has three totals or more,
        or the graph is not bipartite.
    """
    degrees = np.diff(incidence.indptr)
    if (incidence.data != 1).any() or degrees.max() > 2 or not _is_bipartite(incidence, degrees):
        return None
    not_held, cells = incidence.shape
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(not_held + 1)]
    for cell, totals in enumerate(np.split(incidence.indices, incidence.indptr[1:-1])):
        first, second = [*totals.tolist(), not_held][:2]
        neighbours[first].append((second, cell))
        neighbours[second].append((first, cell))
    min_length = 3 if (degrees == 1).any() else 4
    shortest: list[int] | None = None
    for start in [not_held, *range(not_held)]:
        found = _cycle_through(neighbours, start)
        if found is not None and (shortest is None or len(found) < len(shortest)):
            shortest = found
        if shortest is not None and len(shortest) == min_length:
            break
    vector = np.zeros(cells, dtype=np.int64)
    if shortest is not None:
        vector[shortest] = 1 - 2 * (np.arange(len(shortest)) % 2)
    return vector


def _is_bipartite(incidence: csc_array, degrees: NDArray[np.integer]) -> bool:
    # the double cover of a bipartite graph has two components for each component of the graph
    incidence = incidence[:, degrees == 2]
    adjacency = incidence @ incidence.T
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    cover = block_array([[None, adjacency], [adjacency, None]])
    return bool(connected_components(cover)[0] == 2 * connected_components(adjacency)[0])


def _cycle_through(neighbours: list[list[tuple[int, int]]], start: int) -> list[int] | None:
    """Find a closed walk from `start` by breadth-first search, as a list of its cells.

    The walk begins and ends at `start`. It is a shortest cycle if a shortest cycle contains it.
    """
    depth = {start: 0}
    parent: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue, shortest, ends = deque([start]), math.inf, (-1, -1, -1)
    while queue:
        vertex = queue.popleft()
        if 2 * depth[vertex] + 1 >= shortest:
            break
        for other, cell in neighbours[vertex]:
            if other not in depth:
                depth[other], parent[other] = depth[vertex] + 1, (vertex, cell)
                queue.append(other)
            elif cell != parent[vertex][1] and depth[vertex] + depth[other] + 1 < shortest:
                shortest, ends = depth[vertex] + depth[other] + 1, (vertex, cell, other)
    if math.isinf(shortest):
        return None
    halves: list[list[int]] = []
    for vertex in (ends[0], ends[2]):
        halves.append([])
        while vertex != start:
            vertex, cell = parent[vertex]
            halves[-1].append(cell)
    return [*reversed(halves[0]), ends[1], *halves[1]]
