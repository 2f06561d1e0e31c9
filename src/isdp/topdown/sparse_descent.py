"""TopDown on tables of very many small regions, hardly a cell of which is not zero.

A cell that is zero at the parent is zero in all its children, so that an answer that counts such
cells alone is never looked at. Noise is independent from answer to answer: drawing it only where it
is looked at changes no law of the result, and the guarantee is that of all measurements. What is
kept in memory are the counts that are not zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array

from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.topdown.descent import Descent, check_zeros, held_levels, node_streams
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.run_plan import Plan


def run_sparse(
    rng: np.random.Generator,
    table: csr_array,
    hierarchy: Hierarchy,
    plan: Plan,
    noise: Callable[..., np.ndarray] = draw_noise,
    above: Sequence[csr_array] = (),
) -> dict[str, csr_array]:
    """Make a private version of a sparse table at all levels, as `isdp.topdown.run` does.

    The measurements are not kept. Children of one parent share a stream of randomness, so that the
    draws are not those of `isdp.topdown.run`.

    Parameters
    ----------
    table : csr_array, int64, shape (leaves, cells)
        Confidential counts, from 0 up.
    plan : Plan
        Without negatives.
    noise : function
        As `isdp.topdown.measurement_noise.draw_noise`; for confidential data
        `draw_noise_for_release`.
    above : sequence of csr_array, int64, shape (units, cells), optional
        Tables of the first levels, from the root down, that a run with this plan has released
        already: nothing is drawn for them, and the run goes on below. A part of a hierarchy, with
        the tables released for its upper levels and a generator in the same state, comes out as
        it does within the whole, as long as each parent has all of its children there.

    Returns
    -------
    dict from level to csr_array, int64, shape (units, cells)

    Raises
    ------
    InputError
        If table, hierarchy, plan and what is above do not fit together, or the plan allows
        negatives.
    """
    _check(table, hierarchy, plan)
    _check_above(above, hierarchy, plan)
    levels = [
        summed(table, member, len(units))
        for units, member in zip(hierarchy.units, hierarchy.leaf_units, strict=True)
    ]
    held = held_levels(hierarchy, plan)
    descent = Descent(plan, hierarchy, node_streams(rng), noise)
    possible = np.flatnonzero(plan.possible)
    check_zeros(levels[0].toarray()[0], plan)
    released = list(above)
    if not released:
        root = levels[0]
        whole = _measured_and_split(descent, 0, "", root, possible, None, root.sum(axis=1))
        released.append(_gather([(np.zeros(1, dtype=np.int64), possible, whole)], root.shape))
    for depth in range(len(released), len(levels)):
        above, parts = released[-1], []
        for parent, children in enumerate(hierarchy.children(depth - 1)):
            place = slice(above.indptr[parent], above.indptr[parent + 1])
            kept, sums = above.indices[place], above.data[place]
            if not len(kept):
                continue
            if len(children) == 1:  # the only child is its parent
                parts.append((children, kept, sums[None, :]))
                continue
            true = levels[depth][children]
            totals = true.sum(axis=1) if depth in held else None
            name = hierarchy.units[depth - 1][parent]
            split = _measured_and_split(descent, depth, name, true, kept, sums, totals)
            parts.append((children, kept, split))
        released.append(_gather(parts, levels[depth].shape))
    return dict(zip(hierarchy.levels, released, strict=True))


def _check(table, hierarchy: Hierarchy, plan: Plan) -> None:
    leaves = len(hierarchy.leaf_units[0])
    if table.shape != (leaves, plan.schema.cells):
        raise InputError(
            f"topdown: the table has shape {table.shape}, but there are {leaves} leaves of "
            f"{plan.schema.cells} cells"
        )
    if table.dtype.kind not in "iu" or table.data.min(initial=0) < 0:
        raise InputError("topdown: counts must be whole numbers from 0 up")
    if plan.known is not None:
        raise InputError("topdown: what is known of kinds is not kept here; use `run`")
    if not plan.nonnegative:
        raise InputError("topdown: with negatives allowed no cell is zero for good; use `run`")


def _check_above(above, hierarchy: Hierarchy, plan: Plan) -> None:
    # strict would refuse the levels that are still to come
    for level, units, table in zip(hierarchy.levels, hierarchy.units, above, strict=False):
        if table.shape != (len(units), plan.schema.cells) or table.data.min(initial=0) < 0:
            raise InputError(
                f"topdown: what is released of level {level!r} must be counts from 0 up, of shape "
                f"{(len(units), plan.schema.cells)}; it has shape {table.shape}"
            )


def summed(table: csr_array, member, units: int) -> csr_array:
    """Sum rows to the regions that they lie in, exactly.

    Parameters
    ----------
    table : csr_array, int64, shape (rows, cells)
    member : int array, shape (rows,)
        The region of each row.
    units : int
        How many regions there are.

    Returns
    -------
    csr_array, int64, shape (units, cells)
    """
    ones = np.ones(len(member), dtype=np.int64)
    into = coo_array((ones, (member, np.arange(len(member)))), shape=(units, len(member)))
    return (into.tocsr() @ table).tocsr()


def _measured_and_split(descent: Descent, depth, name, true, kept, sums, totals) -> np.ndarray:
    """Measure a parent's children where it matters, and find their tables on the cells kept."""
    level = descent.hierarchy.levels[depth]
    work = descent.work[level].on(kept)
    answers = np.ascontiguousarray((work.rows @ true.T).toarray().T)
    children = len(answers)
    rng = descent.streams(f"measurements of {level} within", name)
    counts = [count * children for count in work.counts]
    drawn = descent.noise(rng, descent.plan.budget.flavour, work.losses, counts)
    first = np.cumsum([0, *work.counts])
    for query, part in enumerate(np.split(drawn, np.cumsum(counts)[:-1])):
        answers[:, first[query] : first[query + 1]] += part.reshape(children, -1)
    return descent.split(depth, name, work, answers, kept, sums, totals)


def _gather(parts, shape) -> csr_array:
    """Put the tables of all parents together, without their zeros."""
    rows, columns, entries = [], [], []
    for children, kept, tables in parts:
        j, x = np.nonzero(tables)
        rows.append(children[j].astype(np.int32))
        columns.append(kept[x].astype(np.int32))
        entries.append(tables[j, x])
    if not parts:
        return csr_array(shape, dtype=np.int64)
    places = np.concatenate(rows), np.concatenate(columns)
    found = coo_array((np.concatenate(entries), places), shape=shape).tocsr()
    found.sort_indices()
    return found
