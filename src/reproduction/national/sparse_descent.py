"""TopDown on sparse tables of many small regions.

A cell that is zero at the parent is zero in all its children. Answers that count only these cells
are therefore not used. The noise of the answers is independent, so the noise of unused answers is
not drawn. This does not change the distribution of the result or the guarantee. Memory holds only
nonzero counts.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array

from isdp.constraints.hierarchy import Hierarchy
from isdp.topdown.budget import Workload
from isdp.topdown.descent import (
    Descent,
    Family,
    NoiseSampler,
    check_zeros,
    held_levels,
    node_streams,
)
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.run_plan import Plan


def run_sparse(
    rng: np.random.Generator,
    table: csr_array,
    hierarchy: Hierarchy,
    plan: Plan,
    noise: NoiseSampler = draw_noise,
    above: Sequence[csr_array] = (),
) -> dict[str, csr_array]:
    """Run TopDown on a sparse table, like `isdp.topdown.run`, without keeping the measurements.

    Tables have the shape (units, cells) and int64 entries. `table` has one row per leaf. The
    children of one parent share a random stream, so the draws differ from those of
    `isdp.topdown.run`. The plan has neither negative counts nor known groups.

    `above` has the tables of the first levels, from the root down, that a run with this plan has
    released. The run continues below them. A run on a part of a hierarchy gives the same tables as
    a run on the whole hierarchy. This holds if each parent has all of its children and the
    generator is in the same state.
    """
    levels = [
        sum_to_regions(table, member, len(units))
        for units, member in zip(hierarchy.units, hierarchy.leaf_units, strict=True)
    ]
    held = held_levels(hierarchy, plan)
    descent = Descent(plan, hierarchy, node_streams(rng), noise)
    possible = np.flatnonzero(plan.possible)
    check_zeros(levels[0].toarray()[0], plan)
    released = list(above)
    if not released:
        root = levels[0]
        family = _measured_family(descent, 0, "", root, possible, None, root.sum(axis=1))
        part = np.zeros(1, dtype=np.int64), possible, descent.split(family).table
        released.append(_gather([part], root.shape))
    for depth in range(len(released), len(levels)):
        last, parts = released[-1], []
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            place = slice(last.indptr[parent], last.indptr[parent + 1])
            cells, sums = last.indices[place], last.data[place]
            if not len(cells):
                continue
            if len(children) == 1:  # an only child has the counts of its parent
                parts.append((children, cells, sums[None, :]))
                continue
            true = levels[depth][children]
            totals = true.sum(axis=1) if depth in held else None
            name = hierarchy.units[depth - 1][parent]
            family = _measured_family(descent, depth, name, true, cells, sums, totals)
            parts.append((children, cells, descent.split(family).table))
        released.append(_gather(parts, levels[depth].shape))
    return dict(zip(hierarchy.levels, released, strict=True))


def sum_to_regions(table: csr_array, member: np.ndarray, units: int) -> csr_array:
    """Sum the rows of each region exactly, where row i belongs to region `member[i]`.

    The result has the shape (units, cells) and int64 entries.
    """
    ones = np.ones(len(member), dtype=np.int64)
    into = coo_array((ones, (member, np.arange(len(member)))), shape=(units, len(member)))
    return (into.tocsr() @ table).tocsr()


def restrict_workload(work: Workload, cells: np.ndarray) -> Workload:
    """Keep the answers that count at least one of the given cells."""
    counted = np.zeros(work.rows.shape[1], dtype=np.int64)
    counted[cells] = 1
    stays = work.rows @ counted > 0
    counts = tuple(int(part.sum()) for part in np.split(stays, np.cumsum(work.counts)[:-1]))
    return Workload(
        work.queries, work.rows[np.flatnonzero(stays)], work.losses, counts, work.weights[stays]
    )


def _measured_family(
    descent: Descent,
    depth: int,
    parent: str,
    true: csr_array,
    cells: np.ndarray,
    cell_sums: np.ndarray | None,
    totals: np.ndarray | None,
) -> Family:
    """Measure, for the children of a parent, the answers that count some of `cells`."""
    level = descent.hierarchy.levels[depth]
    work = restrict_workload(descent.workloads[depth], cells)
    answers = np.ascontiguousarray((work.rows @ true.T).toarray().T)
    children = len(answers)
    rng = descent.streams(f"measurements of {level} within", parent)
    counts = [count * children for count in work.counts]
    drawn = descent.noise(rng, descent.plan.budget.flavour, work.losses, counts)
    first = np.cumsum([0, *work.counts])
    for query, part in enumerate(np.split(drawn, np.cumsum(counts)[:-1])):
        answers[:, first[query] : first[query + 1]] += part.reshape(children, -1)
    return Family(depth, parent, work, answers, cells, cell_sums, totals)


def _gather(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], shape: tuple[int, int]
) -> csr_array:
    rows, columns, entries = [], [], []
    for children, cells, tables in parts:
        j, x = np.nonzero(tables)
        rows.append(children[j].astype(np.int32))
        columns.append(cells[x].astype(np.int32))
        entries.append(tables[j, x])
    if not parts:
        return csr_array(shape, dtype=np.int64)
    places = np.concatenate(rows), np.concatenate(columns)
    found = coo_array((np.concatenate(entries), places), shape=shape).tocsr()
    found.sort_indices()
    return found
