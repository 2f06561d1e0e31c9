import dataclasses
from contextlib import nullcontext as does_not_raise

import numpy as np
import pytest

from isdp import InputError
from isdp.constraints.hierarchy import Hierarchy
from isdp.testing import DistributionError, check_mean
from isdp.topdown import Budget, Plan, Schema, run
from isdp.topdown.margins_of_error import margins_of_error

SCHEMA = Schema(("race", "sex"), (5, 2))
LEVELS = ("nation", "state", "county")
BUDGET = Budget("pure", 3, dict.fromkeys(LEVELS, "1/3"), {level: {"detail": 1} for level in LEVELS})
PLAN = Plan(SCHEMA, BUDGET)
TREE = Hierarchy.from_columns(
    {
        "state": [f"s{i // 12}" for i in range(96)],
        "county": [f"c{i}" for i in range(96)],
    },
    root="nation",
)


def covered(plan, table, level):
    release = run(np.random.default_rng(1), table, TREE, plan)
    found = margins_of_error(np.random.default_rng(2), release, TREE, plan, runs=29, level=level)
    error = np.abs(release.tables["county"] - table)
    assert {name: margin.shape for name, margin in found.items()} == {
        "nation": (1, 10), "state": (8, 10), "county": (96, 10),
    }  # fmt: skip
    return (error <= found["county"]).mean(), (error < np.floor(found["county"])).mean()


@pytest.mark.parametrize(("nonnegative", "total"), [(True, "3"), (True, "3/10"), (False, "3/10")])
def test_as_many_errors_lie_within_the_margins_as_are_said_to(nonnegative, total):
    """Errors are whole, so the level lies between the shares up to and below the margin."""
    budget = dataclasses.replace(BUDGET, total=total)
    plan = dataclasses.replace(PLAN, nonnegative=nonnegative, budget=budget)
    table = np.random.default_rng(3).integers(200, 900, (96, 10))
    # the 24th of 29 errors: a further one is as likely to come in any of 30 places among them
    up_to, below = covered(plan, table, 0.8)
    for wanted, error in ((0.8, does_not_raise()), (0.9, pytest.raises(DistributionError))):
        with error:
            check_mean(np.clip(wanted, below, up_to), wanted, np.sqrt(0.8 * 0.2 / 960))


def test_what_is_held_has_no_error():
    plan = dataclasses.replace(PLAN, held=("state",))
    table = np.random.default_rng(3).integers(0, 60, (96, 10))
    release = run(np.random.default_rng(1), table, TREE, plan)
    one_cell = Plan(Schema(("all",), (1,)), BUDGET, held=("county",))
    totals = table.sum(axis=1, keepdims=True)
    held = run(np.random.default_rng(1), totals, TREE, one_cell)
    found = margins_of_error(np.random.default_rng(5), held, TREE, one_cell, runs=10)
    assert not any(margin.any() for margin in found.values())
    assert margins_of_error(np.random.default_rng(5), release, TREE, plan, runs=10)["state"].any()


def test_too_few_runs_are_refused():
    table = np.ones((96, 10), dtype=int)
    release = run(np.random.default_rng(1), table, TREE, PLAN)
    for change in ({"runs": 3}, {"level": 1.0}, {"runs": 15, "level": 0.95}):
        with pytest.raises(InputError, match="margins"):
            margins_of_error(np.random.default_rng(0), release, TREE, PLAN, **change)


@pytest.mark.parametrize(("runs", "place"), [(10, 10), (15, 15)])
def test_the_stated_share_of_errors_lies_within_margins_of_few_runs(runs, place):
    """Noise is so wide that hardly two errors are equal, which would hide a margin too small."""
    budget = dataclasses.replace(BUDGET, total=0.06)
    plan = dataclasses.replace(PLAN, budget=budget, nonnegative=False)
    table = np.random.default_rng(3).integers(200, 900, (96, 10))
    release = run(np.random.default_rng(1), table, TREE, plan)
    found = margins_of_error(np.random.default_rng(2), release, TREE, plan, runs=runs, level=0.9)
    within = (np.abs(release.tables["county"] - table) <= found["county"]).mean()
    for k, error in ((place, does_not_raise()), (place - 1, pytest.raises(DistributionError))):
        share = k / (runs + 1)
        with error:
            check_mean(within, share, np.sqrt(share * (1 - share) / 960))
