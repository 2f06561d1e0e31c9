"""Refusals of releases that would reveal counts in spite of the noise, before any is drawn.

Each risk has a name. A user who accepts the risk by its name gets the release. The certificate
records all names that were given, even if the table does not have the risk, because the presence
of a risk may depend on the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, implies
from isdp.commands.shared.margins import Margin, probability_unchanged
from isdp.commands.shared.table import Table
from isdp.constraints.invariants import find_cell_classes
from isdp.errors import InputError
from isdp.exact.disjoint.blocks import block_sizes
from isdp.lattice.smith import smith_normal_form
from isdp.mechanisms.base import Mechanism

WEAK_NOISE, SORTED_ROWS, MISSING_ROWS = "weak-noise", "sorted-rows", "missing-rows"
NAMES = (WEAK_NOISE, SORTED_ROWS, MISSING_ROWS)
MAX_PROBABILITY_UNCHANGED = 0.95  # of a count; the noise is too weak if it is reached
MIN_SORTED_ROWS = 6  # fewer rows are often sorted by coincidence
MULTIPLES = 60  # of a lattice vector; the terms of further ones do not matter near 0.95


def read_accepted(accept: str | Iterable[str], known: Sequence[str] = NAMES) -> tuple[str, ...]:
    """Return the different names of accepted risks, in the order of `known`.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    names = (accept,) if isinstance(accept, str) else tuple(accept)
    for name in names:
        if name not in known:
            raise InputError(f"accept: {name!r} is unknown; the names are {', '.join(known)}")
    return tuple(name for name in known if name in names)


def refuse(message: str, name: str) -> None:
    """Raise `InputError`, and name the risk that a user may accept."""
    raise InputError(
        f"{message}. Nothing was drawn. If you accept this, add --accept {name} (in Python "
        f"accept={name!r})"
    )


def refuse_revealing_rows(table: Table, accepted: Sequence[str]) -> None:
    """Refuse a table whose list of rows, which is published, reveals counts.

    Raises
    ------
    InputError
        If the rows are sorted by their counts, or some combinations of values are not listed and
        no count is 0.
    """
    if SORTED_ROWS not in accepted and is_sorted(table.counts):
        refuse(
            f"{table.path}: the rows are in the order of their counts, and their order is "
            f"published; sort them by name",
            SORTED_ROWS,
        )
    if MISSING_ROWS not in accepted and lists_some_combinations(table):
        refuse(
            f"{table.path}: some combinations of the values of {', '.join(table.names)} have no "
            f"row, and no count is 0, so that the published rows reveal which cells are empty; add "
            f"a row with count 0 for every combination that is possible",
            MISSING_ROWS,
        )


def is_sorted(counts: np.ndarray) -> bool:
    """Return whether six rows or more, of three different counts or more, are in their order."""
    if len(counts) < MIN_SORTED_ROWS:
        return False
    steps = np.diff(counts)
    one_way = (steps >= 0).all() or (steps <= 0).all()
    return bool(one_way and len(np.unique(counts)) > 2)


def lists_some_combinations(table: Table) -> bool:
    """Return whether the rows are some of all combinations of values, and no count is 0.

    A column that another one determines, such as the state where there is a county, is left out of
    the combinations. So is a code for a combination of other columns, such as a row number. Both
    are found from the values alone: one column determines another if each of its values occurs
    with a single value of the other.
    """
    if table.counts.min() == 0:
        return False
    columns = [table.columns[name] for name in table.names]
    # a column with more values is never determined by one with fewer
    columns = sorted(columns, key=lambda column: -len(column.texts))
    kept, combinations = [], 1
    for place, (codes, texts) in enumerate(columns):
        if any(implies(finer, codes) for finer in kept):
            continue
        if _stands_for_others(codes, len(texts), [each.codes for each in columns[place + 1 :]]):
            continue
        kept.append(codes)
        combinations *= len(texts)
        if combinations > len(table):
            return True
    return False


def _stands_for_others(codes: np.ndarray, values: int, others: list[np.ndarray]) -> bool:
    """Return whether a column and the columns that it determines determine each other."""
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
    """Refuse noise that leaves some count as it is with a probability of 0.95 or more.

    The probability is exact or simulated, as in the margins of error. If neither is known, its
    upper bound has to be below 0.95. The counts are not used.

    Parameters
    ----------
    margins : sequence of Margin
        Of all targets.

    Raises
    ------
    InputError
    """
    if WEAK_NOISE in accepted:
        return
    found = probability_unchanged(margins)
    most = bound_unchanged(free, mechanism) if found is None else found.maximum
    if most >= MAX_PROBABILITY_UNCHANGED:
        known = "of " if found is not None else "that is only known to be at most "
        refuse(
            f"privatize: the noise is weak: a count stays unchanged with a probability {known}"
            f"{most:.4f}; use a smaller epsilon or rho, or a larger sigma",
            WEAK_NOISE,
        )


def bound_unchanged(free: DegreesOfFreedom, mechanism: Mechanism) -> float:
    """Bound the probability that a free cell has no noise, from above.

    Let v be a lattice vector that moves cell i, and w(v) its weight at the mechanism. Then the
    probability of noise k v_i in the cell is at least w(k v) times that of no noise: by the
    triangle inequality for Laplace noise, and by convexity and the symmetry of u and -u for
    Gaussian noise. All of them add up to at most 1.
    """
    if free.blocks is not None:
        sizes = block_sizes(free.blocks)
        vectors = [[1, -1]] * bool((sizes[1:] > 1).any()) + [[1]] * bool(sizes[0])
        return max(bound_along(vector, mechanism) for vector in vectors)
    kind, first = find_cell_classes(free.invariants)
    bounds = np.where(np.bincount(kind) > 1, bound_along([1, -1], mechanism), 1.0)
    for vector in smith_normal_form(free.invariants.sparse[:, first]).kernel:
        moved = list(vector)
        bound = bound_along(list(vector.values()), mechanism)
        bounds[moved] = np.minimum(bounds[moved], bound)
    return float(bounds[free.steps[first] > 0].max())


def bound_along(vector: Sequence[int], mechanism: Mechanism) -> float:
    """Bound the probability of no noise in the cells that a lattice vector moves.

    It is that probability where all noise is a multiple of the vector.
    """
    multiples = np.outer(np.arange(1, MULTIPLES + 1), np.array(vector, dtype=float))
    return 1 / (1 + 2 * float(np.exp(mechanism.log_weight(multiples)).sum()))
