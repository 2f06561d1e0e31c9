"""The queries and invariants that several tests go through, by name."""

from isdp import Invariants
from isdp.subspace import Query
from reproduction.subspace.theory.joint_invariants import consistency, together

TREE = Query.hierarchy((4, 4))
ROOT = Invariants.subsets([[0]], 21)
MARGINS = Query.margins((4, 3, 2), ((0, 1), (0, 2), (1, 2)))

WORKLOADS = {
    "histogram of 3": (Query.histogram(3), Invariants.total(3)),
    "histogram of 16": (Query.histogram(16), Invariants.total(16)),
    "2 x 2 margins": (Query.histogram(4), Invariants.margins((2, 2))),
    "2 x 3 margins": (Query.histogram(6), Invariants.margins((2, 3))),
    "3 x 3 margins": (Query.histogram(9), Invariants.margins((3, 3))),
    "4 x 4 margins": (Query.histogram(16), Invariants.margins((4, 4))),
    "3 x 5 margins": (Query.histogram(15), Invariants.margins((3, 5))),
    "blocks of 3 and 5": (Query.histogram(8), Invariants.partition([0] * 3 + [1] * 5)),
    "ranges of 8": (Query.ranges(8), Invariants.subsets([[7]], 36)),
    "ranges of 16": (Query.ranges(16), Invariants.subsets([[15]], 136)),
    "tree of 4 x 4": (TREE, ROOT),
    "consistent tree": (TREE, together(ROOT, consistency(TREE))),
    "two-way margins": (MARGINS, Invariants.subsets([range(12)], 26)),
}
