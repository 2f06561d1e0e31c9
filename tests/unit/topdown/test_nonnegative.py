"""The nearest non-negative tables of a noisy table."""

from itertools import product

import numpy as np
import pytest

from isdp.errors import InputError
from isdp.topdown import Hierarchy
from isdp.topdown.nonnegative import nonnegative_tables

STATES = Hierarchy.from_columns({"state": list("AABBB"), "county": list("vwxyz")}, root="all")
ONE = Hierarchy.from_columns({"county": ["v"]}, root="all")


def project(noisy, tree=STATES, held=()):
    return nonnegative_tables(np.random.default_rng(1), np.asarray(noisy), tree, held)


@pytest.mark.parametrize("noisy", [[5, -2, 1], [3, 3, 0, -6, 4], [0, 0, 7], [9, -1, -1, -1]])
def test_one_region_gets_the_nearest_counts_of_its_total(noisy):
    """The nearest of all integer tables with the same total is found by enumeration."""
    total = sum(noisy)
    tables = [x for x in product(range(total + 1), repeat=len(noisy)) if sum(x) == total]
    distances = [sum((a - b) ** 2 for a, b in zip(x, noisy, strict=True)) for x in tables]
    found = project([noisy], ONE)["county"][0]
    assert ((found - noisy) ** 2).sum() == min(distances)


def test_tables_add_up_and_keep_the_held_totals():
    rng = np.random.default_rng(7)
    for held in ((), ("state",), ("county",)):
        counts = rng.poisson(3, (5, 6))
        noise = rng.integers(-3, 4, (5, 6))
        noise[:, -1] -= noise.sum(axis=1)  # every total of a county is that of the counts
        noisy = counts + noise
        found = project(noisy, held=held)
        assert min(table.min() for table in found.values()) >= 0
        for depth, units in enumerate(STATES.leaf_units):
            level = STATES.levels[depth]
            sums = np.zeros_like(found[level])
            np.add.at(sums, units, found["county"])
            assert (sums == found[level]).all()
        assert found["county"].sum() == noisy.sum()
        for level in held:
            leaves = STATES.leaf_units[STATES.number(level)]
            totals = np.bincount(leaves, weights=noisy.sum(axis=1))
            assert found[level].sum(axis=1).tolist() == totals.tolist()


def test_a_table_without_negative_counts_does_not_change():
    noisy = np.arange(30).reshape(5, 6)
    assert (project(noisy)["county"] == noisy).all()


@pytest.mark.parametrize(
    ("noisy", "held"),
    [
        (np.ones((4, 2), int), ()),
        (np.ones((5, 2)), ()),
        (np.ones((5, 2), int), ("town",)),
        (-np.ones((5, 2), int), ()),
        ([[5, 1], [-9, 0], [3, 3], [3, 3], [9, 9]], ("county",)),
    ],
)
def test_tables_that_are_refused(noisy, held):
    with pytest.raises(InputError, match="topdown"):
        project(noisy, held=held)
