"""Refusals, before the noise is drawn, of releases that would reveal counts in spite of noise.

Each risk has a name. A user who accepts the risk by its name gets the release. The certificate
records all names that the user gave. It also records risks that the table does not have, because
the presence of a risk may depend on the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isdp.arrays import IntArray
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, implies
from isdp.commands.shared.margins import Margin, probability_unchanged
from isdp.commands.shared.table import Table
from isdp.constraints.blocks import block_sizes
from isdp.constraints.invariants import find_cell_classes
from isdp.errors import InputError
from isdp.lattice.smith import smith_normal_form
from isdp.mechanisms.base import Mechanism

WEAK_NOISE, SORTED_ROWS, MISSING_ROWS = "weak-noise", "sorted-rows", "missing-rows"
NAMES = (WEAK_NOISE, SORTED_ROWS, MISSING_ROWS)
MAX_PROBABILITY_UNCHANGED = 0.95  # noise that is zero with at least this probability is too weak
MIN_SORTED_ROWS = 6  # minimum number of sorted rows; fewer rows are often sorted by coincidence
MULTIPLES = 60  # maximum multiple of a lattice vector; larger multiples are negligible


def read_accepted(accept: str | Iterable[str], known: Sequence[str] = NAMES) -> tuple[str, ...]:
    """Return the different names of accepted risks, in the order of `known`."""
    names = (accept,) if isinstance(accept, str) else tuple(accept)
    for name in names:
        if name not in known:
            raise InputError(f"accept: {name!r} is unknown. Use one of {', '.join(known)}.")
    return tuple(name for name in known if name in names)


def refuse(message: str, name: str) -> None:
    """Raise `InputError` with the name by which a user can accept the risk."""
    raise InputError(
        f"{message}. Nothing was drawn. If you accept this risk, add --accept {name} (in Python "
        f"accept={name!r})."
    )


def refuse_revealing_rows(table: Table, accepted: Sequence[str]) -> None:
    """Refuse a table whose published rows reveal counts."""
    if SORTED_ROWS not in accepted and is_sorted(table.counts):
        refuse(
            f"{table.path}: the rows are sorted by their counts, and their order is published. "
            f"Sort them by name",
            SORTED_ROWS,
        )
    if MISSING_ROWS not in accepted and lists_some_combinations(table):
        refuse(
            f"{table.path}: some combinations of the values of {', '.join(table.names)} have no "
            f"row, and no count is 0. The published rows would reveal which cells are empty. Add a "
            f"row with count 0 for every combination that is possible",
            MISSING_ROWS,
        )


def is_sorted(counts: IntArray) -> bool:
    """Return True if six or more rows with three or more different counts are sorted."""
    if len(counts) < MIN_SORTED_ROWS:
        return False
    steps = np.diff(counts)
    one_way = (steps >= 0).all() or (steps <= 0).all()
    return bool(one_way and len(np.unique(counts)) > 2)


def lists_some_combinations(table: Table) -> bool:
    """Return True if some combinations of values have no row, and no count is 0.

    Two kinds of columns are left out of the combinations. The first kind is a column that another
    column determines, such as the state of a county. The second is a code for a combination of
    other columns, such as a row number. Both are found from the values alone. One column determines
    another if each of its values occurs with a single value of the other.
    """
    if table.counts.min() == 0:
        return False
    columns = [table.columns[name] for name in table.names]
    # a column is never determined by a column with fewer values
    columns = sorted(columns, key=lambda column: -len(column.texts))
    kept: list[NDArray[np.int32]] = []
    combinations = 1
    for place, (codes, texts) in enumerate(columns):
        if any(implies(finer, codes) for finer in kept):
            continue
        if _encodes_others(codes, len(texts), [each.codes for each in columns[place + 1 :]]):
            continue
        kept.append(codes)
        combinations *= len(texts)
        if combinations > len(table):
            return True
    return False


def _encodes_others(codes: NDArray[np.int32], values: int, others: list[NDArray[np.int32]]) -> bool:
    """Return True if a column is a code for the columns in `others` that it determines.

    The column is given by its codes, int32 (cells,), and its number of different values.
    """
    joint, different = np.zeros(values, dtype=np.int64), 1
    for other in others:
        if different == values:
            break
        if implies(codes, other):
            of_value = np.empty(values, dtype=np.int64)
            of_value[codes] = other
            joint, found = pd.factorize(joint * (of_value.max() + 1) + of_value)
            different = len(found)
    return different == values > 1


def refuse_weak_noise(
    margins: Sequence[Margin], free: DegreesOfFreedom, mechanism: Mechanism, accepted: Sequence[str]
) -> None:
    """Refuse noise if some count keeps its value with a probability of 0.95 or more.

    The probability is exact or simulated, as in the margins of error. If the probability is
    unknown, an upper bound on it is used. The counts are not used.
    """
    if WEAK_NOISE in accepted:
        return
    found = probability_unchanged(margins)
    probability = bound_unchanged(free, mechanism) if found is None else found.maximum
    if probability >= MAX_PROBABILITY_UNCHANGED:
        known = "of " if found is not None else "for which only this upper bound is known: "
        refuse(
            f"privatize: the noise is weak: a count stays unchanged with a probability {known}"
            f"{probability:.4f}. Use a smaller epsilon or rho, or a larger sigma",
            WEAK_NOISE,
        )


def bound_unchanged(free: DegreesOfFreedom, mechanism: Mechanism) -> float:
    """Return an upper bound on the probability that a free cell has no noise.

    Let v be a lattice vector whose entry v_i in cell i is not 0, and w(v) its weight in the
    mechanism's distribution. The probability that the noise of the cell is k v_i is at least w(k v)
    times the probability of no noise. This follows from the triangle inequality for Laplace noise,
    and from convexity and the symmetry of u and -u for Gaussian noise. The probabilities of all k
    add up to at most 1.
    """
    if free.blocks is not None:
        sizes = block_sizes(free.blocks)
        vectors = [[1, -1]] * bool((sizes[1:] > 1).any()) + [[1]] * bool(sizes[0])
        return max(bound_along(vector, mechanism) for vector in vectors)
    if free.crossed is not None:
        inside = np.outer(free.crossed.heights, free.crossed.widths) > 1
        vectors = [[1, -1]] * bool(inside.any()) + [[1, 1, -1, -1]] * bool((~inside).any())
        return max(bound_along(vector, mechanism) for vector in vectors)
    classes, first = find_cell_classes(free.invariants)
    bounds = np.where(np.bincount(classes) > 1, bound_along([1, -1], mechanism), 1.0)
    for vector in smith_normal_form(free.invariants.sparse[:, first]).kernel:
        moved = list(vector)
        bound = bound_along(list(vector.values()), mechanism)
        bounds[moved] = np.minimum(bounds[moved], bound)
    return float(bounds[free.steps[first] > 0].max())


def bound_along(vector: Sequence[int], mechanism: Mechanism) -> float:
    """Return an upper bound on the probability of no noise in the cells of a lattice vector.

    The bound is attained if all noise is a multiple of the vector.
    """
    multiples = np.outer(np.arange(1, MULTIPLES + 1), np.array(vector, dtype=float))
    return 1 / (1 + 2 * float(np.exp(mechanism.log_weight(multiples)).sum()))
