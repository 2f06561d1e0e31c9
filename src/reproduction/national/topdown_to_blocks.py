"""Run TopDown from the nation to synthetic blocks, in several jobs.

The first job releases the states, and every other job releases some states down to their blocks.
The random numbers of a region depend only on its name. Therefore the jobs give the same release as
a single run.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from isdp.constraints.hierarchy import Hierarchy
from isdp.streams import stream
from reproduction.data.histogram import CELLS, Histogram
from reproduction.national.sparse_descent import run_sparse, sum_to_regions
from reproduction.national.synthetic_blocks import allocate_blocks, draw_state
from reproduction.topdown.configurations import six_level_plan
from reproduction.topdown.experiment import census_hierarchy

ROOT = "nation"
ERROR_SUMS = ("people_off", "people_off_squared", "cells_off", "cells_off_squared")


def _rng(seed: int) -> np.random.Generator:
    return stream(seed, "national", "six levels")


def release_states(seed: int, histogram: Histogram) -> dict[str, pd.DataFrame]:
    """Release the nation and its states. Return the states' counts and the nation's errors."""
    tree = census_hierarchy(histogram)
    states = Hierarchy.from_columns({"state": tree.units[1]}, root=ROOT)
    table = csr_array(tree.aggregate(histogram.counts)[1])
    found = run_sparse(_rng(seed), table, states, six_level_plan())
    released = pd.DataFrame(found["state"].toarray(), columns=list(CELLS))
    released.insert(0, "state", states.units[1])
    errors = sum_level_errors({ROOT: found[ROOT]}, table, states)
    return {"released": released, "errors": errors.assign(state=ROOT)}


def descend(
    seed: int, histogram: Histogram, blocks: int, released: pd.DataFrame, states: Sequence[str]
) -> pd.DataFrame:
    """Release some states down to their blocks, and return the errors of all levels.

    `histogram` and the number `blocks` refer to all states of the run. `released` is a table of
    `release_states`.
    """
    counties, errors = histogram.counties, []
    for state in states:
        here = np.flatnonzero(counties["state"] == state)
        numbers = allocate_blocks(counties["population"], blocks)[here]
        names = counties["fips"].to_numpy()[here].tolist()
        table, hierarchy = draw_state(seed, state, (names, histogram.counts[here]), numbers)
        own = released.loc[released["state"] == state, list(CELLS)]
        above = csr_array(own.to_numpy(dtype=np.int64))
        found = run_sparse(_rng(seed), table, hierarchy, six_level_plan(), above=[above, above])
        check_sums(found, table, hierarchy)
        del found[ROOT]  # the root of one state is the state
        errors.append(sum_level_errors(found, table, hierarchy).assign(state=state))
    return pd.concat(errors, ignore_index=True)


def check_sums(released: Mapping[str, csr_array], table: csr_array, hierarchy: Hierarchy) -> None:
    """Raise AssertionError if persons are lost, a count is negative, or levels are inconsistent."""
    levels = list(released)
    if int(released[levels[-1]].sum()) != int(table.sum()):
        raise AssertionError(f"{levels[-1]}: the number of persons has changed")
    for depth in range(1, len(levels)):
        below, above = released[levels[depth]], released[levels[depth - 1]]
        if below.data.min(initial=0) < 0:
            raise AssertionError(f"{levels[depth]}: a released count is negative")
        if (sum_to_regions(below, hierarchy.parents[depth], above.shape[0]) != above).nnz:
            raise AssertionError(f"{levels[depth]}: counts do not sum to the level above")


def sum_level_errors(
    released: Mapping[str, csr_array], table: csr_array, hierarchy: Hierarchy
) -> pd.DataFrame:
    """Sum the errors of the released counts of each level, of shape (regions, cells).

    The columns `ERROR_SUMS` are the sums of the absolute and the squared errors of populations and
    of cells. These sums are integers, so that a total over states does not depend on their order.
    """
    rows = []
    for level, got in released.items():
        depth = hierarchy.number(level)
        true = sum_to_regions(table, hierarchy.leaf_units[depth], got.shape[0])
        off = (got - true).tocsr()
        people = off.sum(axis=1)
        sums = (abs(people).sum(), (people**2).sum(), abs(off.data).sum(), (off.data**2).sum())
        row = {"level": level, "regions": got.shape[0], "cells": got.shape[0] * got.shape[1]}
        row |= {"not_zero": int((true.data != 0).sum()), "released_not_zero": int(got.nnz)}
        rows.append(row | dict(zip(ERROR_SUMS, map(int, sums), strict=True)))
    return pd.DataFrame(rows)


def tabulate_levels(errors: pd.DataFrame) -> pd.DataFrame:
    """Compute the table national_levels, which pools the errors of all states by level."""
    counted = ["regions", "cells", "not_zero", "released_not_zero"]
    found = errors.groupby("level", sort=False)[[*counted, *ERROR_SUMS]].sum().reset_index()
    people, people_squared, cells, cells_squared = (found.pop(name) for name in ERROR_SUMS)
    found["mae_total"] = people / found["regions"]
    found["rmse_total"] = np.sqrt(people_squared / found["regions"])
    found["mae_cell"] = cells / found["cells"]
    found["rmse_cell"] = np.sqrt(cells_squared / found["cells"])
    return found
