"""Regions of known total that hold some kinds of people and not others (TDA, "Example").

A leaf has a known total; a kind that is present there has at least a known number of people, a kind
that is absent has none. The tables by kind that a leaf can have are the whole points of the base of
a polymatroid with rank cap [the leaf has a kind of S], cap being what its total leaves beyond the
least numbers. Sums of such tables are those of the summed ranks, and every whole point of the sum
splits into whole points of the parts, so the bounds

    x(S) <= least(S) + sum of the caps of the leaves that have a kind of S,   x(all) = total

are necessary and sufficient at every level above, for whole numbers too, although the matrix of
all subsets is not totally unimodular. A maximal flow from kinds to leaves gives the split, a
minimal cut the bound that is broken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

MAX_LISTED_KINDS = 20  # beyond, the subsets are too many to list
MAX_ENUMERATED_KINDS = 8  # whose 255 subsets are looked at before a flow is sought
MAX_FLOW = 2**31 - 1  # scipy's flows are 32-bit


@dataclass(frozen=True, eq=False)
class Presence:
    """Leaves with totals, and which kinds are present in each.

    Parameters
    ----------
    totals : int array, shape (leaves,)
    present : bool array, shape (leaves, kinds)
    least : int array, shape (leaves, kinds), optional
        People that a kind has at least where it is present; 1 by default.

    Raises
    ------
    InputError
        If the parts do not fit together, or a leaf (named) has fewer people than its kinds need,
        or people and no kind.
    """

    totals: np.ndarray
    present: np.ndarray
    least: np.ndarray | None = None

    def __post_init__(self):
        totals = np.asarray(self.totals)
        present = np.asarray(self.present, dtype=bool)
        least = present.astype(np.int64) if self.least is None else np.asarray(self.least)
        if present.ndim != 2 or totals.shape != present.shape[:1] or least.shape != present.shape:
            raise InputError(
                f"presence: shapes {totals.shape}, {present.shape} and {least.shape} of totals, "
                f"presence and least numbers do not fit together"
            )
        if (
            totals.dtype.kind not in "iu"
            or least.dtype.kind not in "iu"
            or least.min(initial=0) < 0
        ):
            raise InputError("presence: totals and least numbers must be whole, the latter from 0")
        least = np.where(present, least, 0)
        for leaf in np.flatnonzero(totals < least.sum(axis=1)):
            raise InputError(
                f"presence: leaf {leaf} has {totals[leaf]} people, but the kinds present there "
                f"need {least[leaf].sum()}"
            )
        for leaf in np.flatnonzero((totals > 0) & ~present.any(axis=1)):
            raise InputError(f"presence: leaf {leaf} has {totals[leaf]} people, but no kind")
        for name, array in (("totals", totals), ("present", present), ("least", least)):
            array = np.array(array, dtype=bool if name == "present" else np.int64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def kinds(self) -> int:
        """Number of kinds."""
        return self.present.shape[1]

    @property
    def caps(self) -> np.ndarray:
        """People of each leaf beyond the least numbers, int64 (leaves,)."""
        return self.totals - self.least.sum(axis=1)

    def most(self, subset) -> int:
        """Most people that the kinds of a subset can have together."""
        subset = list(subset)
        has = self.present[:, subset].any(axis=1)
        return int(self.least[:, subset].sum() + self.caps[has].sum())

    def subset_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """List every subset of kinds and its bound.

        Returns
        -------
        members : bool array, shape (2^kinds - 1, kinds)
            Row i - 1 holds the binary digits of i, kind k that of weight 2^k.
        bounds : int64 array, shape (2^kinds - 1,)

        Raises
        ------
        InputError
            If there are more than 20 kinds.
        """
        if self.kinds > MAX_LISTED_KINDS:
            raise InputError(f"presence: {self.kinds} kinds have too many subsets; use `broken`")
        digits = 1 << np.arange(self.kinds)
        inside = np.zeros(1 << self.kinds, dtype=np.int64)  # caps of leaves with kinds in S only
        np.add.at(inside, self.present @ digits, self.caps)
        for digit in digits:
            pairs = inside.reshape(-1, 2, digit)
            pairs[:, 1] += pairs[:, 0]
        numbers = np.arange(1, 1 << self.kinds)
        members = (numbers[:, None] & digits) > 0
        caps = self.caps.sum() - inside[(1 << self.kinds) - 1 - numbers]
        return members, members @ self.least.sum(axis=0) + caps

    def polytope(self) -> Polytope:
        """Give all the constraints on the kinds' totals, one an upper bound on each subset."""
        members, bounds = self.subset_bounds()
        names = [f"kinds {np.flatnonzero(row).tolist()}" for row in members[:-1]]
        rows = Invariants(-members[:-1].astype(np.int64).reshape(-1, self.kinds), names)
        total = Invariants.total(self.kinds)
        return Polytope(total, np.array([self.totals.sum()]), rows, -bounds[:-1])

    def needed(self) -> list[tuple[int, ...]]:
        """List the subsets whose bounds imply all the others.

        These are the facets. Kinds that no leaf with a cap joins fall into components, each with a
        known total; within a component the bound of S is needed just where the kinds of S hang
        together through shared leaves, and the others through leaves without any kind of S. A
        subset that is a whole component is an equality and not listed.
        """
        needed, joined = [], self._joined(self.caps > 0)
        for component in _components(range(self.kinds), joined):
            for size in range(1, len(component)):
                for subset in combinations(component, size):
                    rest = [kind for kind in component if kind not in subset]
                    own = sum(1 << kind for kind in subset)
                    apart = [kinds for kinds in joined if not kinds & own]
                    if len(_components(subset, joined)) == len(_components(rest, apart)) == 1:
                        needed.append(subset)
        return needed

    def _joined(self, leaves) -> list[int]:
        """List the sets of kinds that are together in one of some leaves, as binary digits."""
        rows = np.unique(self.present[leaves], axis=0)
        return [sum(1 << int(kind) for kind in np.flatnonzero(row)) for row in rows]

    def broken(self, kind_totals) -> tuple[int, ...] | None:
        """Find a bound that these totals by kind break, from a minimal cut.

        Returns
        -------
        tuple of int, or None
            The kinds of the subset; all of them if the grand total is wrong; a single kind if it
            has fewer than its least number; None if the totals can be met.
        """
        if self.kinds <= MAX_ENUMERATED_KINDS and self._bounds_hold(kind_totals):
            return None
        _, subset = self._flow(kind_totals)
        return subset

    def _bounds_hold(self, kind_totals) -> bool:
        """Look at the bound of every subset, which for few kinds takes less than a flow."""
        wanted = self._wanted(kind_totals)
        members, bounds = self.subset_bounds()
        return bool(wanted.sum() == self.totals.sum() and (members @ wanted <= bounds).all())

    def split(self, kind_totals) -> np.ndarray:
        """Split totals by kind among the leaves, in whole numbers.

        Returns
        -------
        int64 array, shape (leaves, kinds)

        Raises
        ------
        InputError
            If a bound is broken, with its kinds.
        """
        table, subset = self._flow(kind_totals)
        if subset is not None:
            raise InputError(
                f"presence: the kinds {list(subset)} cannot have these totals: together they have "
                f"{int(np.asarray(kind_totals)[list(subset)].sum())} people, at most "
                f"{self.most(subset)} and each its least number are possible"
            )
        return table

    def _wanted(self, kind_totals) -> np.ndarray:
        wanted = np.asarray(kind_totals)
        if wanted.shape != (self.kinds,) or wanted.dtype.kind not in "iu":
            raise InputError(f"presence: {self.kinds} whole totals by kind are needed")
        return wanted

    def _flow(self, kind_totals):
        wanted = self._wanted(kind_totals)
        if wanted.sum() != self.totals.sum():
            return None, tuple(range(self.kinds))
        beyond = wanted - self.least.sum(axis=0)
        if (beyond < 0).any():
            return None, (int(np.argmin(beyond)),)
        if beyond.sum() > MAX_FLOW:
            raise InputError(f"presence: a flow of {beyond.sum()} people is beyond 32 bits")
        leaves, kinds = self.present.shape
        leaf, kind = np.nonzero(self.present)
        # nodes: 0 the source, then the kinds, then the leaves, then the sink
        tail = np.concatenate([np.zeros(kinds, int), 1 + kind, 1 + kinds + np.arange(leaves)])
        head = np.concatenate(
            [1 + np.arange(kinds), 1 + kinds + leaf, np.full(leaves, 1 + kinds + leaves)]
        )
        spare = np.concatenate([beyond, np.minimum(beyond[kind], self.caps[leaf]), self.caps])
        size = kinds + leaves + 2
        graph = coo_array((spare.astype(np.int32), (tail, head)), shape=(size, size)).tocsr()
        flow = maximum_flow(graph, 0, size - 1)
        if flow.flow_value < beyond.sum():
            return None, self._cut(graph, flow.flow, kinds, leaf, kind)
        table = self.least.copy()
        table[leaf, kind] += np.asarray(flow.flow[1 + kind, 1 + kinds + leaf]).ravel()
        return table, None

    def _cut(self, graph, flow, kinds, leaf, kind) -> tuple[int, ...]:
        """Kinds on the source's side: those still reached where nothing more can flow."""
        residual = (graph - flow).tocsr()
        residual.eliminate_zeros()
        reached, fresh = {0}, [0]
        while fresh:
            node = fresh.pop()
            for other in residual.indices[residual.indptr[node] : residual.indptr[node + 1]]:
                if int(other) not in reached:
                    reached.add(int(other))
                    fresh.append(int(other))
        return tuple(k for k in range(kinds) if 1 + k in reached)


def _components(kinds, joined: list[int]) -> list[tuple[int, ...]]:
    """Group kinds that are joined, directly or through others; `kinds` ascend."""
    parts = [1 << kind for kind in kinds]
    for together in joined:
        touched = [part for part in parts if part & together]
        if len(touched) > 1:
            parts = [part for part in parts if not part & together] + [sum(touched)]
    return sorted(tuple(kind for kind in kinds if part >> kind & 1) for part in parts)
