"""Small crossing families, and their totals and quadratic forms by plain enumeration of sets."""

from fractions import Fraction

import numpy as np

from isdp import Invariants
from isdp.mechanisms import CrossingGaussian, SetTree


def uneven_states():
    """States of 3, 1 and 2 regions in mixed order, and two groups of 2 cells in mixed order."""
    regions = SetTree.from_columns({"state": list("acabca")}, root="nation")
    groups = SetTree.from_columns({"group": [1, 0, 0, 1]})
    scales = {
        ("nation", "root"): 7,
        ("nation", "cell"): "9/2",
        ("state", "root"): "5/3",
        ("state", "group"): 4,
        ("cell", "root"): "3/4",
        ("cell", "group"): 5,
        ("cell", "cell"): "8/7",
    }
    return CrossingGaussian(regions, groups, scales)


def single_children():
    """A level whose sets all have one child, in both trees, and a level without terms."""
    columns = {"state": list("aab"), "town": list("xyz")}
    regions = SetTree.from_columns(columns, root="nation")
    groups = SetTree.from_columns({"all": [0, 0, 0]})
    scales = {("state", "all"): 2, ("town", "cell"): 3, ("cell", "cell"): "3/2"}
    return CrossingGaussian(regions, groups, scales)


def cells_only():
    """Two regions of 2 x 3 cells, in which only cells have terms."""
    regions = SetTree.from_columns({"state": [0, 1]})
    groups = SetTree.from_columns({"group": [0, 0, 0, 1, 1, 1]})
    return CrossingGaussian(regions, groups, {("cell", "cell"): "4/3"})


FAMILIES = [uneven_states, single_children, cells_only]


def sets_of(tree):
    """The 0/1 vectors of all nodes, by walking up from each cell."""
    found = np.zeros((tree.nodes, tree.cells), dtype=np.int64)
    for cell in range(tree.cells):
        node = cell
        while node >= 0:
            found[node, cell] = 1
            node = tree.parents[node]
    return found


def pairs_of_sets(mechanism):
    """The levels and the 0/1 vector of each pair of sets."""
    for i, a in zip(mechanism.regions.level_of, sets_of(mechanism.regions), strict=True):
        for j, b in zip(mechanism.groups.level_of, sets_of(mechanism.groups), strict=True):
            yield (int(i), int(j)), np.kron(a, b)


def quadratic_form(mechanism):
    """The matrix of the energy in fractions."""
    cells = mechanism.regions.cells * mechanism.groups.cells
    form = np.full((cells, cells), Fraction(0))
    for (i, j), total in pairs_of_sets(mechanism):
        if mechanism.precisions[i][j]:
            inside = np.flatnonzero(total)
            form[np.ix_(inside, inside)] += mechanism.precisions[i][j]
    return form


def held_totals(mechanism, pairs):
    """The totals of all sets of some pairs of levels; a row without cells if there are none."""
    rows = [total for pair, total in pairs_of_sets(mechanism) if pair in pairs]
    return Invariants(rows or [np.zeros(mechanism.regions.cells * mechanism.groups.cells, int)])
