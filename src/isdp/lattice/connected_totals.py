"""Distances of the nearest and the farthest move of one person, under connected totals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from isdp.constraints.factorial import FactorialTable, find_factorial_table
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.lattice.null_lattice import Basis, kernel_lattice
from isdp.lattice.shortest_cycles import shortest_cycle
from isdp.lattice.shortest_vectors import (
    MAX_PROGRAM_ENTRY,
    Metric,
    ShortestVector,
    norm_of,
    shortest_vector,
)

MAX_CLASSES_OF_PAIRS = 150  # maximum number of cell classes for a search over pairs of cells
MAX_WORK = 30_000  # maximum work for one distance, in columns of linear programs
WORK_PER_PROGRAM = 50  # work of a program in addition to its columns
WORK_PER_BRANCHING = 10_000  # additional work of branch and bound, which may take seconds
MAX_BRANCHING_COLUMNS = 120  # maximum number of columns for branch and bound
MAX_AXES = 5  # maximum number of axes for the farthest move of a factorial table
PROGRAMMING = "integer programming"


@dataclass(frozen=True)
class MoveDistance:
    """A distance between two tables with equal invariants, or bounds on it.

    Attributes
    ----------
    lower : int
        A proved lower bound.
    upper : int or None
        A proved upper bound. None means that no bound was found.
    changes : mapping of int to int
        The difference of two tables at the distance `upper`, as a map from cell to change. It is
        empty if `upper` is None.
    method : str
        The method. Bounds by integer programming are proved in floating point arithmetic (HiGHS).
    """

    lower: int
    upper: int | None
    changes: Mapping[int, int]
    method: str

    @property
    def value(self) -> int | None:
        """The distance, or None if only bounds are known."""
        return self.upper if self.lower == self.upper else None


def farthest_of(moves: Sequence[MoveDistance]) -> MoveDistance | None:
    """Return the maximum of several distances, or None if there are none."""
    if not moves:
        return None
    farthest = max(moves, key=lambda found: (found.upper or math.inf, found.lower))
    return replace(farthest, lower=max(found.lower for found in moves))


def same_totals(up: int, down: int) -> MoveDistance:
    """Return the distance of a move between two cells of one class."""
    return MoveDistance(2, 2, {down: -1, up: 1}, "two cells have the same totals")


@dataclass
class WorkLimit:
    """The work that is left for integer programs, which does not depend on the machine."""

    work: int = MAX_WORK

    def search(
        self,
        a: csc_array,
        sizes: NDArray[np.int64],
        down: int | None,
        arrival: bool,
        metric: Metric,
        cutoff: int | None,
    ) -> ShortestVector:
        """Call `shortest_vector` for the column 0, if the work suffices."""
        steps = 1 if metric == "l1" else math.isqrt(cutoff or 0)
        columns = a.shape[1] * steps
        if self.work <= 0:
            return ShortestVector(1, None, False)
        found = shortest_vector(
            a,
            sizes,
            0,
            down,
            metric=metric,
            cutoff=cutoff,
            arrival=arrival,
            branch=columns <= MAX_BRANCHING_COLUMNS,
        )
        self.work -= WORK_PER_PROGRAM + columns + WORK_PER_BRANCHING * found.branched
        return found


class ConnectedTotals:
    """Cells and totals that are connected, with one column for each cell class."""

    def __init__(self, invariants: Invariants) -> None:
        self.class_of, first = find_cell_classes(invariants)
        self.sizes = np.bincount(self.class_of)
        order = np.argsort(self.class_of, kind="stable")
        self.members = np.split(order, np.cumsum(self.sizes)[:-1])
        self.a: csc_array = invariants.sparse[:, first].tocsc()
        self.n = len(first)

    @cached_property
    def step(self) -> int:
        """A known common divisor of all norms: 1 or 2.

        If all columns have the same sum, the changes of the counts add up to 0, and the norms are
        even.
        """
        sums = self.a.sum(axis=0)
        return 2 if sums[0] != 0 and (sums == sums[0]).all() else 1

    @cached_property
    def is_signed(self) -> bool:
        """True if each change must have a positive and a negative entry."""
        rows = self.a.tocsr()
        covered = np.zeros(self.n, dtype=bool)
        for start, stop in pairwise(rows.indptr):
            if (rows.data[start:stop] > 0).all():
                covered[rows.indices[start:stop]] = True
        return bool(covered.all())

    @cached_property
    def factorial(self) -> FactorialTable | None:
        """The axes and margins, if the cell classes are a table with all combinations."""
        return find_factorial_table(Invariants(self.a))

    @cached_property
    def basis(self) -> NDArray[np.int64]:
        """A basis of the lattice of the class sums, shape (classes, dimension)."""
        kind: Basis = "lll" if self.n <= MAX_CLASSES_OF_PAIRS else "smith"
        return kernel_lattice(Invariants(self.a), kind).basis

    def program(
        self,
        budget: WorkLimit,
        up: int,
        down: int | None,
        metric: Metric,
        *,
        cutoff: int | None = None,
        active: NDArray[np.bool_] | None = None,
        place: Mapping[int, int] | None = None,
        arrival: bool = False,
    ) -> MoveDistance | None:
        """Find the shortest change with a rise in one class and a fall in another class.

        Parameters
        ----------
        cutoff : int, optional
            The maximum norm of a change.
        active : bool array, shape (classes,), optional
            The classes that may change.
        place : mapping of int to int, optional
            The cell that changes in each of the two classes. The default is the first cell of the
            class.
        """
        chosen = [up] if down is None else [up, down]
        own = [int(self.members[k][0]) if place is None else place[k] for k in chosen]
        rest = self.sizes.copy()
        rest[chosen] -= 1
        others = np.flatnonzero(rest > 0 if active is None else (rest > 0) & active)
        columns = np.array([*chosen, *others])
        sizes = np.array([*(1 for _ in chosen), *rest[others]])
        if abs(self.a.data).max(initial=0) > MAX_PROGRAM_ENTRY:
            return MoveDistance(1, None, {}, PROGRAMMING)
        a, below = self.a[:, columns], None if down is None else 1
        found = budget.search(a, sizes, below, arrival, "l1", cutoff)
        if found.lower is None:
            return None
        lower, vector = found.lower, found.vector
        if metric != "l1" and vector is not None:
            longest = norm_of(vector, sizes, metric)
            if cutoff is not None:
                longest = min(longest, cutoff)
            if longest > lower:
                second = budget.search(a, sizes, below, arrival, metric, longest)
                if second.lower is None:
                    return None
                lower = max(lower, second.lower)
                vector = vector if second.vector is None else second.vector
        if vector is None:
            return MoveDistance(lower, None, {}, PROGRAMMING)
        upper = norm_of(vector, sizes, metric)
        changes: dict[int, int] = {}
        for position, k in enumerate(columns.tolist()):
            cells = own[position : position + 1] if position < len(chosen) else self.members[k]
            changes |= _shared(int(vector[position]), [c for c in cells if c not in changes])
        return MoveDistance(min(lower, upper), upper, changes, PROGRAMMING)

    def nearest(self, budget: WorkLimit, metric: Metric) -> MoveDistance | None:
        """Find the shortest change with a negative and a positive entry."""
        large = np.flatnonzero(self.sizes > 1)
        if len(large):
            return same_totals(*self.members[large[0]][1::-1].tolist())
        if self.n == 1:
            return None
        if self.is_signed:
            cycle = shortest_cycle(self.a)
            if cycle is not None:
                return self._exact(cycle, "shortest cycle") if cycle.any() else None
            if self.factorial is not None:
                return self._tensor(self.factorial)
        return self._shortest(budget, metric, moves=True)

    def nearest_change(self, budget: WorkLimit, metric: Metric) -> MoveDistance | None:
        """Find the shortest change."""
        if self.n == 1 and not self.a.nnz:
            return MoveDistance(1, 1, {0: 1}, "a cell has no total")
        return self._shortest(budget, metric, moves=False)

    def _exact(self, vector: NDArray[np.int64], method: str) -> MoveDistance:
        """Return the distance of a change with entries from -1 to 1, for one cell per class."""
        changes = {int(self.members[k][0]): int(vector[k]) for k in np.flatnonzero(vector)}
        return MoveDistance(len(changes), len(changes), changes, method)

    def _tensor(self, table: FactorialTable) -> MoveDistance | None:
        """Return the shortest change of a table with all combinations of categories.

        Let s be the size of the smallest margin that is not held. A change along two categories of
        each of its axes has 2^s entries of 1 or -1. No change is shorter, by induction over s. Two
        slices of the change along some axis are not 0. In each of these slices, all margins of
        s - 2 axes are 0.
        """
        axes = table.free_axes()
        if axes is None:
            return None
        codes = np.zeros((len(table.shape), 2 ** len(axes)), dtype=np.int64)
        codes[list(axes)] = np.indices((2,) * len(axes)).reshape(len(axes), -1)
        vector = np.zeros(self.n, dtype=np.int64)
        vector[table.cells(codes)] = 1 - 2 * (codes.sum(axis=0) % 2)
        return self._exact(vector, "smallest margin that is not held")

    def _shortest(self, budget: WorkLimit, metric: Metric, moves: bool) -> MoveDistance | None:
        """Find the shortest change of each class in turn, with the classes before it fixed."""
        best: MoveDistance | None = None
        open_bounds: list[int] = []
        cutoff: int | None = None
        active = np.ones(self.n, dtype=bool)
        for up in range(self.n):
            downs: Iterable[int | None] = [None]
            if moves and not self.is_signed:
                downs = range(up + 1, self.n)
            for down in downs:
                found = self.program(budget, up, down, metric, cutoff=cutoff, active=active)
                if found is None:
                    continue
                if found.value is None:
                    open_bounds.append(found.lower)
                if found.upper is not None and (cutoff is None or found.upper <= cutoff):
                    best, cutoff = found, found.upper - self.step
            if budget.work <= 0:
                break
            active[up] = False
        if best is None and open_bounds:
            best = self._in_basis(metric, moves)
        if best is None:
            return None
        # no two cells have the same totals, so that a move changes more than two counts
        least = (4 if self.step == 2 else 3) if moves else 1
        bounds = open_bounds if best.upper is None else [*open_bounds, best.upper]
        return replace(best, lower=max(least, min(bounds)))

    def _in_basis(self, metric: Metric, moves: bool) -> MoveDistance:
        """Return the shortest vector of a basis as an upper bound."""
        try:
            vectors = self.basis.T
        except InputError:  # the entries of the basis are too large
            return MoveDistance(1, None, {}, PROGRAMMING)
        signed = [
            vector
            for vector in vectors
            if not moves or (vector.min(initial=0) < 0 < vector.max(initial=0))
        ]
        if not signed:
            return MoveDistance(1, None, {}, PROGRAMMING)
        vector = min(signed, key=lambda vector: norm_of(vector, self.sizes, metric))
        changes: dict[int, int] = {}
        for k in np.flatnonzero(vector):
            changes |= _shared(int(vector[k]), self.members[k].tolist())
        upper = norm_of(vector, self.sizes, metric)
        return MoveDistance(1, upper, changes, "shortest vector of a basis")

    def farthest(self, budget: WorkLimit, metric: Metric) -> MoveDistance | None:
        """Find the maximum distance of a move over all pairs of cells."""
        single = self.n == self.sizes.sum()
        if single and self.factorial is not None and len(self.factorial.shape) <= MAX_AXES:
            return self._farthest_of_table(self.factorial, budget, metric)
        if self.n == 1:
            return self.nearest(budget, metric)
        if self.sizes.min() > 1 and self.step == 2:
            (a, b), (c, d) = (self.members[k][:2].tolist() for k in (0, 1))
            return MoveDistance(4, 4, {a: -1, b: 1, c: 1, d: -1}, "exchange of two people")
        return self._farthest_by_programs(budget, metric, moves=True)

    def farthest_change(self, budget: WorkLimit, metric: Metric) -> MoveDistance | None:
        """Find the maximum over all cells of the norm of the shortest change of the cell."""
        if not self.a.nnz:
            return MoveDistance(1, 1, {0: 1}, "a cell has no total")
        if self.sizes.min() > 1 or (self.n == self.sizes.sum() and self.factorial is not None):
            return self.nearest(budget, metric)
        return self._farthest_by_programs(budget, metric, moves=False)

    def _farthest_of_table(
        self, table: FactorialTable, budget: WorkLimit, metric: Metric
    ) -> MoveDistance | None:
        """Find the farthest move by the axes in which the two cells differ.

        For the l1 distance, three categories per axis suffice: the categories of both cells, and
        one for all others. Merging the other categories keeps the held margins at 0 and does not
        increase the norm.
        """
        found: list[MoveDistance] = []
        axes = range(len(table.shape))
        for different in chain.from_iterable(
            combinations(axes, r) for r in range(1, len(axes) + 1)
        ):
            shape = [min(2 + (k in different), size) for k, size in enumerate(table.shape)]
            small = ConnectedTotals(Invariants.margins(shape, table.held))
            codes = np.array([[k in different for k in axes]], dtype=np.int64).T
            up = int(np.ravel_multi_index(tuple(codes), shape)[0])
            best = small.program(budget, up, 0, metric)
            if best is None:
                continue
            if best.upper is None:
                found.append(best)
                continue
            places = table.cells(np.array(np.unravel_index(list(best.changes), shape)))
            values = best.changes.values()
            cells = (int(self.members[k][0]) for k in places)
            best = replace(best, changes=dict(zip(cells, values, strict=True)))
            if metric != "l1" and shape != list(table.shape):
                flat = small.program(budget, up, 0, "l1")
                best = replace(best, lower=1 if flat is None else flat.lower)
                if best.value is None:
                    end, start = (int(table.cells(code)[0]) for code in (codes, 0 * codes))
                    larger = self.program(budget, end, start, metric)
                    best = larger if larger is not None and larger.upper is not None else best
            found.append(best)
        return farthest_of(found)

    def _farthest_by_programs(
        self, budget: WorkLimit, metric: Metric, moves: bool
    ) -> MoveDistance | None:
        """Find the farthest move or change by programs, for the pairs with the largest bounds.

        Each vector that is found bounds the distances of all pairs of classes in which it has
        opposite signs. Pairs whose bounds are at most the largest distance so far need no program.
        """
        if self.n > MAX_CLASSES_OF_PAIRS:
            return MoveDistance(2 if moves else 1, None, {}, PROGRAMMING)
        basis = self.basis if self.basis.shape[1] else np.zeros((self.n, 1), dtype=np.int64)
        if moves:
            upper = _unbounded_pairs(basis, self.sizes)
        else:
            changed = basis.any(axis=1) | (self.sizes > 1)
            upper = np.where(changed, math.inf, -math.inf)[:, None]
        for vector in _short_vectors(basis) if moves else basis.T:
            _bound_pairs(upper, vector, norm_of(vector, self.sizes, metric))
        if moves and metric == "l1":
            self._bound_by_exchanges(upper, basis)
        solved: list[MoveDistance] = []
        if moves and self.sizes.max() > 1:
            solved.append(same_totals(*self.members[int(self.sizes.argmax())][1::-1].tolist()))
        while upper.max() > max((found.lower for found in solved), default=0):
            row, column = map(int, np.unravel_index(upper.argmax(), upper.shape))
            down = column if moves else None
            found = self.program(budget, row, down, metric)
            if budget.work <= 0 or found is None:
                largest = upper.max()
                bound = None if math.isinf(largest) else int(largest)
                solved.append(MoveDistance(1, bound, {}, PROGRAMMING))
                break
            bound = upper[row, column]
            if found.upper is None and math.isfinite(bound):
                found = replace(found, upper=int(bound))
            solved.append(found)
            vector = np.zeros(self.n, dtype=np.int64)
            for cell, change in found.changes.items():
                vector[self.class_of[cell]] += change
            if found.changes and found.upper is not None:
                _bound_pairs(upper, vector, found.upper)
            upper[row, column] = -math.inf
            if moves:
                upper[column, row] = -math.inf
        return farthest_of(solved)

    def _bound_by_exchanges(self, upper: NDArray[np.float64], basis: NDArray[np.int64]) -> None:
        """Lower, in place, the l1 bounds of pairs in which one class has several cells.

        Two people in different cells of this class exchange their cells, which adds at most 2 to
        the norm.
        """
        norms = np.where(basis != 0, abs(basis).sum(axis=0), np.inf).min(axis=1)
        several = self.sizes > 1
        norms[several] = 2
        joint = np.where(several[:, None], norms + 2, np.inf)
        np.minimum(upper, np.minimum(joint, joint.T), out=upper)


def _unbounded_pairs(basis: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return infinity for pairs of classes between which a move is possible, and else -infinity.

    No move is possible between two classes of one cell if all vectors change both with equal signs.
    Their rows of the basis are then positive multiples of each other. The row of a class is zero if
    no vector changes this class.
    """
    divisors = np.maximum(np.gcd.reduce(basis, axis=1), 1)
    kinds = np.unique(basis // divisors[:, None], axis=0, return_inverse=True)[1].ravel()
    upper = np.full((len(sizes), len(sizes)), math.inf)
    single = sizes == 1
    alike = (kinds[:, None] == kinds) & single & single[:, None]
    fixed = ~basis.any(axis=1) & single
    upper[alike | fixed | fixed[:, None]] = -math.inf
    np.fill_diagonal(upper, -math.inf)
    return upper


def _short_vectors(basis: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the vectors of a basis, and the sums and differences of any two of them."""
    yield from basis.T
    for first, second in combinations(basis.T, 2):
        yield first + second
        yield first - second


def _bound_pairs(upper: NDArray[np.float64], vector: NDArray[np.int64], norm: int) -> None:
    """Lower the bounds of all pairs with opposite signs, or of all classes, in place."""
    if upper.shape[1] == 1:
        changed = (vector != 0)[:, None]
    else:
        changed = (vector[:, None] > 0) & (vector < 0) | (vector[:, None] < 0) & (vector > 0)
    upper[changed] = np.minimum(upper[changed], norm)


def _shared(total: int, cells: Sequence[int]) -> dict[int, int]:
    """Share a change equally between cells."""
    each, rest = divmod(abs(total), len(cells)) if total else (0, 0)
    sign = 1 if total > 0 else -1
    chosen = cells if each else cells[:rest]
    return {int(cell): sign * (each + (k < rest)) for k, cell in enumerate(chosen)}
