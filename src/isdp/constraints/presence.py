"""Regions with known totals in which some groups of people are present.

The example is from the slides *The TopDown algorithm and invariants*. Each leaf region has a known
total. A group that is present in a leaf has a minimum count there, and an absent group has no
people. The surplus of a leaf is its total minus the sum of its minimum counts.

The surplus of a leaf defines a polymatroid. The rank of a set S of groups is the surplus if a group
of S is present in the leaf, and 0 otherwise. The integer points of the base polytope are the
possible counts above the minimum counts. The sum of the polymatroids of all leaves has the sum of
the ranks. Its integer points are sums of integer points of the leaves. Let x(S) be the total of the
groups of S in all leaves. The following constraints are therefore necessary and sufficient:

    x(S) <= minimum(S) + sum of the surpluses of the leaves with a group of S,   x(all) = total

A maximum flow from groups to leaves finds the split, and a minimum cut finds a violated bound.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from isdp.checks import check_integer_array
from isdp.constraints.invariants import Invariants
from isdp.constraints.polytope import Polytope
from isdp.errors import InputError

MAX_LISTED_GROUPS = 20  # 2^20 subsets
MAX_ENUMERATED_GROUPS = 8  # a check of 255 subsets is quicker than a flow
MAX_FLOW = 2**31 - 1  # scipy computes flows in 32-bit integers


@dataclass(frozen=True, eq=False)
class Presence:
    """Leaves with known totals, and the groups that are present in each leaf.

    Parameters
    ----------
    totals : int array, shape (leaves,)
    present : bool array, shape (leaves, groups)
    minimums : int array, shape (leaves, groups), optional
        Minimum counts of the present groups, by default 1. Entries of absent groups are ignored.

    Raises
    ------
    InputError
        If the arrays are invalid, a leaf has fewer people than the minimum counts, or a leaf has
        people but no group. The message names the leaf.
    """

    totals: np.ndarray
    present: np.ndarray
    minimums: np.ndarray | None = None

    def __post_init__(self):
        present = np.array(self.present, dtype=bool)
        if present.ndim != 2:
            raise InputError(
                f"presence: present has shape {present.shape}. Give an array (leaves, groups)"
            )
        totals = check_integer_array("presence: totals", self.totals, present.shape[:1], 0)
        given = present.astype(int) if self.minimums is None else self.minimums
        minimums = check_integer_array("presence: minimums", given, present.shape, 0)
        minimums[~present] = 0
        for leaf in np.flatnonzero(totals < minimums.sum(axis=1)):
            raise InputError(
                f"presence: leaf {leaf} has fewer people than the minimum counts of its groups. "
                f"Correct its total or its groups"
            )
        for leaf in np.flatnonzero((totals > 0) & ~present.any(axis=1)):
            raise InputError(
                f"presence: leaf {leaf} has people but no group. Correct its total or its groups"
            )
        for name, array in (("totals", totals), ("present", present), ("minimums", minimums)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return self.present.shape[1]

    @property
    def surpluses(self) -> np.ndarray:
        """The total of each leaf minus its minimum counts, an int64 array of shape (leaves,)."""
        return self.totals - self.minimums.sum(axis=1)

    def max_people(self, subset) -> int:
        """Return the maximum possible total of a subset of the groups."""
        subset = list(subset)
        has = self.present[:, subset].any(axis=1)
        return int(self.minimums[:, subset].sum() + self.surpluses[has].sum())

    def subset_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """List every nonempty subset of the groups with the bound on its total.

        The first result is a bool array of shape (2^groups - 1, groups). Its row i - 1 contains the
        binary digits of i, in which group k has the digit of weight 2^k. The second result has the
        bounds. Raise `InputError` if there are more than 20 groups.
        """
        if self.groups > MAX_LISTED_GROUPS:
            raise InputError(
                f"presence: the subsets of {self.groups} groups are too many to list. Use "
                f"violated_bound, or at most {MAX_LISTED_GROUPS} groups"
            )
        digits = 1 << np.arange(self.groups)
        # inside[S] is the sum of the surpluses of the leaves whose groups all belong to S
        inside = np.zeros(1 << self.groups, dtype=np.int64)
        np.add.at(inside, self.present @ digits, self.surpluses)
        for digit in digits:
            pairs = inside.reshape(-1, 2, digit)
            pairs[:, 1] += pairs[:, 0]
        numbers = np.arange(1, 1 << self.groups)
        members = (numbers[:, None] & digits) > 0
        surpluses = self.surpluses.sum() - inside[(1 << self.groups) - 1 - numbers]
        return members, members @ self.minimums.sum(axis=0) + surpluses

    def polytope(self) -> Polytope:
        """Return the polytope of the group totals, with one inequality per proper subset."""
        members, bounds = self.subset_bounds()
        names = [f"groups {np.flatnonzero(row).tolist()}" for row in members[:-1]]
        rows = Invariants(-members[:-1].astype(np.int64).reshape(-1, self.groups), names)
        total = Invariants.total(self.groups)
        return Polytope(total, np.array([self.totals.sum()]), rows, -bounds[:-1])

    def irredundant_subsets(self) -> list[tuple[int, ...]]:
        """List the subsets whose bounds are facets and therefore imply all other bounds.

        Two groups are connected if both are present in a leaf with a surplus. Each connected
        component of the groups has a known total. Within a component, the bound of S is a facet
        under two conditions. S is connected, and the other groups are connected through leaves
        without a group of S.
        """
        found, joined = [], self._joined(self.surpluses > 0)
        for component in _components(range(self.groups), joined):
            for size in range(1, len(component)):
                for subset in combinations(component, size):
                    rest = [group for group in component if group not in subset]
                    own = sum(1 << group for group in subset)
                    without = [groups for groups in joined if not groups & own]
                    if len(_components(subset, joined)) == len(_components(rest, without)) == 1:
                        found.append(subset)
        return found

    def _joined(self, leaves) -> list[int]:
        rows = np.unique(self.present[leaves], axis=0)
        return [sum(1 << int(group) for group in np.flatnonzero(row)) for row in rows]

    def violated_bound(self, group_totals) -> tuple[int, ...] | None:
        """Return the groups of a bound that group totals of shape (groups,) violate.

        The bound is from a minimum cut. The result contains all groups if the grand total is wrong,
        and one group if its total is below its minimum count. The result is None if the totals are
        possible.
        """
        if self.groups <= MAX_ENUMERATED_GROUPS:
            wanted = check_integer_array("presence: group_totals", group_totals, (self.groups,))
            members, bounds = self.subset_bounds()
            if wanted.sum() == self.totals.sum() and (members @ wanted <= bounds).all():
                return None
        return self._flow(group_totals)[1]

    def split(self, group_totals) -> np.ndarray:
        """Split group totals of shape (groups,) into an integer array of shape (leaves, groups).

        Raise `InputError` if the group totals violate a bound. The message names its groups.
        """
        table, subset = self._flow(group_totals)
        if subset is not None:
            raise InputError(
                f"presence: the totals of the groups {list(subset)} are not possible. Correct "
                f"these totals or the groups that are present"
            )
        return table

    def _flow(self, group_totals):
        wanted = check_integer_array("presence: group_totals", group_totals, (self.groups,))
        if wanted.sum() != self.totals.sum():
            return None, tuple(range(self.groups))
        beyond = wanted - self.minimums.sum(axis=0)
        if (beyond < 0).any():
            return None, (int(np.argmin(beyond)),)
        if beyond.sum() > MAX_FLOW:
            raise InputError("presence: the totals exceed 32-bit integers. Split the regions")
        leaves, groups = self.present.shape
        leaf, group = np.nonzero(self.present)
        # nodes: the source 0, then the groups, then the leaves, then the sink
        tail = np.concatenate([np.zeros(groups, int), 1 + group, 1 + groups + np.arange(leaves)])
        head = np.concatenate(
            [1 + np.arange(groups), 1 + groups + leaf, np.full(leaves, 1 + groups + leaves)]
        )
        surpluses = self.surpluses
        capacity = np.concatenate([beyond, np.minimum(beyond[group], surpluses[leaf]), surpluses])
        size = groups + leaves + 2
        graph = coo_array((capacity.astype(np.int32), (tail, head)), shape=(size, size)).tocsr()
        flow = maximum_flow(graph, 0, size - 1)
        if flow.flow_value < beyond.sum():
            return None, self._minimum_cut(graph - flow.flow)
        table = self.minimums.copy()
        table[leaf, group] += np.asarray(flow.flow[1 + group, 1 + groups + leaf]).ravel()
        return table, None

    def _minimum_cut(self, residual) -> tuple[int, ...]:
        residual = residual.tocsr()
        residual.eliminate_zeros()
        reached = breadth_first_order(residual, 0, return_predecessors=False)
        return tuple(np.sort(reached[(reached > 0) & (reached <= self.groups)] - 1).tolist())


def _components(groups, joined: list[int]) -> list[tuple[int, ...]]:
    """Return the sorted connected components of groups that the sets in `joined` connect."""
    parts = [1 << group for group in groups]
    for together in joined:
        touched = [part for part in parts if part & together]
        if len(touched) > 1:
            parts = [part for part in parts if not part & together] + [sum(touched)]
    return sorted(tuple(group for group in groups if part >> group & 1) for part in parts)
