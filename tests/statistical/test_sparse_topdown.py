"""TopDown on sparse tables draws fewer answers and has the law of the full run."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isdp.constraints.hierarchy import Hierarchy
from isdp.testing import DistributionError, check_mean
from isdp.topdown import Budget, Plan, Schema, run
from reproduction.national.sparse_descent import run_sparse

SCHEMA = Schema(("race", "sex"), (4, 2))
LEVELS = ("root", "county", "block")
RUNS = 50


def make_plan(loss):
    queries = {"total": "1/4", "race": "1/4", "detail": "1/2"}
    budget = Budget("pure", loss, dict.fromkeys(LEVELS, "1/3"), dict.fromkeys(LEVELS, queries))
    return Plan(SCHEMA, budget, held=("county",))


def sizes(make, counts, hierarchy, runs=RUNS):
    """l1 errors of counties and blocks, and empty cells of blocks, of each run; (runs, 3)."""
    true = hierarchy.aggregate(counts)
    rows = []
    for _ in range(runs):
        county, block = make()
        rows.append(
            (np.abs(county - true[1]).sum(), np.abs(block - true[2]).sum(), (block == 0).sum())
        )
    return np.array(rows, dtype=float)


def compare(ones, others):
    for one, other in zip(ones.T, others.T, strict=True):
        gap = one - other
        check_mean(gap, 0.0)


def test_the_sparse_run_has_the_law_of_the_full_one():
    rng = np.random.default_rng(1)
    counts = rng.poisson(20, (4, 8)) * (rng.random((4, 8)) < 0.3)
    names = [f"{i // 2}" for i in range(4)], [f"block {i}" for i in range(4)]
    hierarchy = Hierarchy.from_columns(dict(zip(LEVELS[1:], names, strict=True)))

    def sparse(loss):
        found = run_sparse(rng, csr_array(counts), hierarchy, make_plan(loss))
        return found["county"].toarray(), found["block"].toarray()

    def full():
        tables = run(rng, counts, hierarchy, make_plan(1.0)).tables
        return tables["county"], tables["block"]

    wanted = sizes(full, counts, hierarchy)
    compare(sizes(lambda: sparse(1.0), counts, hierarchy), wanted)
    with pytest.raises(DistributionError):  # each level's third of the loss is taken twice
        compare(sizes(lambda: sparse(1 / 3), counts, hierarchy, runs=40), wanted[:40])
