"""Elimination orders: pairwise merges of sets of cells with small frontiers.

The frontier of a set S of cells is the space of sums A_S u_S that it shares with the other cells.
The dimension of the frontier is rank(A_S) + rank(A_rest) - rank(A). Each dimension multiplies the
cost of a merge by the width of a truncation window, so that the order determines the memory and the
time. The search uses floating point. The exact lattices are computed later, so that a wrong rank
costs only time.
"""

from collections.abc import Callable
from functools import reduce

import numpy as np

from isdp.arrays import FloatArray, IntArray
from isdp.io.progress import progress, tracked

WIDTH = 32.0  # the nominal width of a window, for the comparison of costs
MEMORY_IN_DIMENSIONS = 1.5  # a stored number costs as much as WIDTH^1.5 products
TOLERANCE = 1e-8
MAX_CHEAP_COST = WIDTH**5.5  # in products; annealing takes more time than it saves below it
ROTATIONS = 6000

Tie = Callable[[int, int], tuple[float, float]]


class _Frontiers:
    """Cached orthogonal coordinates of the frontiers of sets of cell classes.

    Let Q be an orthonormal basis of the row space of A, with one row per cell. The eigenvalues of
    Q_S' Q_S are squared cosines of angles. The eigenvalues are strictly between 0 and 1 for sums in
    the frontier. They are 1 for sums that the set S does not share with other cells.
    """

    def __init__(self, columns: FloatArray, counts: IntArray):
        u, s, _ = np.linalg.svd((columns * np.sqrt(counts)).T, full_matrices=False)
        q = u[:, s > TOLERANCE * s.max(initial=1.0)]
        self._factors = {1 << t: self._open_part(q[t][:, None])[0] for t in range(len(q))}
        self._inner: dict[tuple[int, int], int] = {}

    @staticmethod
    def _open_part(factor: FloatArray) -> tuple[FloatArray, int]:
        u, s, _ = np.linalg.svd(factor, full_matrices=False)
        kept = (s > TOLERANCE) & (s**2 < 1 - TOLERANCE)
        return u[:, kept] * s[kept], int((s > TOLERANCE).sum())

    def dimension(self, group: int) -> int:
        return int(self._factors[group].shape[1])

    def merge(self, first: int, second: int) -> tuple[int, int]:
        """Return the dimension of the union's frontier, and the dimension of its splits."""
        union = first | second
        key = (min(first, second), union)
        if key not in self._inner:
            both = np.hstack([self._factors[first], self._factors[second]])
            factor, rank = self._open_part(both)
            self._factors.setdefault(union, factor)
            self._inner[key] = both.shape[1] - rank
        return self.dimension(union), self._inner[key]

    def cost(self, first: int, second: int) -> float:
        """Compute the cost of a merge in products and memory."""
        union, inner = self.merge(first, second)
        return float(WIDTH ** (union + inner) + WIDTH ** (union + MEMORY_IN_DIMENSIONS))


def find_elimination_order(columns: FloatArray, counts: IntArray) -> list[tuple[int, int]]:
    """Find an order of pairwise merges of cell classes with a small cost.

    The search is greedy, as for the contraction of tensor networks: it merges the pair with the
    smallest frontier. Ties are frequent and affect the cost. Several searches break ties by
    different rules, some of them at random. The order with the smallest cost is kept. An order with
    a large cost is improved by simulated annealing with rotations of the tree. The same arguments
    always give the same order.

    The merge with the index t unites two sets into the set ``classes + t``. The sets 0 to ``classes
    - 1`` are the classes.

    Parameters
    ----------
    columns : float array, shape (constraints, classes)
        The distinct columns of A.
    counts : int array, shape (classes,)
        The number of cells with each column.
    """
    n_classes = columns.shape[1]
    frontiers = _Frontiers(columns, counts)
    rng = np.random.default_rng(0)
    n_random = int(np.clip(5000 // n_classes**2, 0, 40))
    ties: list[Tie] = [
        lambda inner, size: (-inner, size),
        lambda inner, size: (inner, size),
        lambda inner, size: (size, inner),
        *[lambda inner, size: (-inner, rng.random())] * (n_random // 2),
        *[lambda inner, size: (rng.random(), size)] * (n_random // 2),
    ]
    with progress("searching for an order", len(ties) * (n_classes - 1)) as report:
        found = [
            _greedy(frontiers, n_classes, tie, report, i * (n_classes - 1))
            for i, tie in enumerate(ties)
        ]
    cost, order = min(found, key=lambda pair: pair[0])
    if cost > MAX_CHEAP_COST:
        order = _rotated(frontiers, n_classes, order, rng)
    return order


def order_by_totals(columns: IntArray) -> list[tuple[int, int]]:
    """Merge the cell classes of each total, and then merge these sets pairwise.

    Totals with few classes come first. The frontier of a table of r x c cells with both margins
    then has a dimension of at most min(r, c) - 1. Equal sets share their messages. `columns` and
    the result are those of `find_elimination_order`. No column is zero.
    """
    held = columns != 0
    order: list[tuple[int, int]] = []
    sets, free = [], np.ones(columns.shape[1], dtype=bool)

    def merge(i: int, j: int) -> int:
        order.append((i, j))
        return int(columns.shape[1]) + len(order) - 1

    for row in np.argsort(held.sum(axis=1), kind="stable"):
        classes = np.flatnonzero(held[row] & free).tolist()
        free[classes] = False
        if classes:
            sets.append(reduce(merge, classes))
    while len(sets) > 1:
        merged = [merge(*sets[i : i + 2]) for i in range(0, len(sets) - 1, 2)]
        sets = merged + sets[len(sets) - len(sets) % 2 :]
    return order


def _greedy(
    frontiers: _Frontiers,
    n_classes: int,
    tie: Tie,
    report: Callable[[float], None],
    earlier_merges: int,
) -> tuple[float, list[tuple[int, int]]]:
    groups = {t: 1 << t for t in range(n_classes)}
    scores: list[tuple[float, tuple[float, float], int, int]] = []

    def score(i: int, j: int) -> None:
        first, second = groups[i], groups[j]
        union, inner = frontiers.merge(first, second)
        growth: float = WIDTH**union
        growth -= WIDTH ** frontiers.dimension(first) + WIDTH ** frontiers.dimension(second)
        scores.append((growth, tie(inner, (first | second).bit_count()), i, j))

    for j in range(n_classes):
        for i in range(j):
            score(i, j)
    cost = 0.0
    order: list[tuple[int, int]] = []
    while scores:
        *_, i, j = min(scores)
        cost += frontiers.cost(groups[i], groups[j])
        order.append((i, j))
        report(earlier_merges + len(order))
        union = n_classes + len(order) - 1
        groups[union] = groups.pop(i) | groups.pop(j)
        scores = [each for each in scores if each[2] in groups and each[3] in groups]
        for other in groups:
            if other != union:
                score(other, union)
    return cost, order


def _rotated(
    frontiers: _Frontiers,
    n_classes: int,
    order: list[tuple[int, int]],
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Improve a tree by simulated annealing.

    A move exchanges the sibling of a set with one of the two parts of the set.
    """
    groups = [1 << t for t in range(n_classes)]
    parts, parent = {}, {}
    for i, j in order:
        groups.append(groups[i] | groups[j])
        parts[groups[-1]] = (groups[i], groups[j])
        parent[groups[i]] = parent[groups[j]] = groups[-1]
    root = groups[-1]
    cost = {union: frontiers.cost(*pair) for union, pair in parts.items()}
    total = sum(cost.values())
    best, kept = total, dict(parts)
    inner = [union for union in parts if union != root]
    for move in tracked("improving the order", range(ROTATIONS)):
        at = int(rng.integers(len(inner)))
        old = inner[at]
        top = parent[old]
        sibling = top ^ old
        stays, leaves = parts[old] if rng.random() < 0.5 else parts[old][::-1]
        new = stays | sibling
        costs = frontiers.cost(stays, sibling), frontiers.cost(new, leaves)
        after = total - cost[old] - cost[top] + sum(costs)
        heat = 2.0 * (1 - move / ROTATIONS)
        if after > total and rng.random() >= (total / after) ** (1 / max(heat, 1e-3)):
            continue
        for dictionary in (parts, cost):
            del dictionary[old]
        parts[new], parts[top] = (stays, sibling), (new, leaves)
        cost[new], cost[top] = costs
        parent[stays] = parent[sibling] = new
        parent[new] = parent[leaves] = top
        inner[at] = new
        total = sum(cost.values())
        if total < best:
            best, kept = total, dict(parts)
    return _in_order(kept, n_classes)


def _in_order(parts: dict[int, tuple[int, int]], n_classes: int) -> list[tuple[int, int]]:
    """List the merges of a tree, with each part before its union."""
    number = {1 << t: t for t in range(n_classes)}
    order: list[tuple[int, int]] = []
    for union in sorted(parts, key=int.bit_count):
        left, right = parts[union]
        order.append((number[left], number[right]))
        number[union] = n_classes + len(order) - 1
    return order
