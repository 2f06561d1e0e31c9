"""Columns that must not be published unchanged together with swapped values.

A column reveals swaps if it determines a column that moves, as a tract determines its county, or is
determined by one, as the state of a county: a combination that the input does not have then marks a
swapped record. A column with a different value in nearly every record identifies the records.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from isdp.commands.swap.records import Records
from isdp.errors import InputError

MAX_DISTINCT_SHARE = 0.9  # of the records; above it a column identifies them
MIN_RECORDS = 50  # of a file in which a column can identify them


def refuse_revealing(
    records: Records,
    match: Sequence[str],
    moving: Sequence[str],
    public: Sequence[str],
    path,
) -> None:
    """Refuse columns that reveal swaps, or identify records, and stay with their records.

    Dependence is tested among all records and among records of equal matched values. Identifiers
    are no evidence of a dependence, as nearly every value occurs once.

    The determined column is tested as well as the determining one: a county in the wrong state
    reveals a swap just as a tract in the wrong county does.

    Parameters
    ----------
    match, moving : sequence of str
        Columns of the swap key, and columns whose values move.
    public : sequence of str
        Columns that may identify records. They must still not reveal swaps.
    path : path
        Name of the file in messages.

    Raises
    ------
    InputError
        If there are such columns; the message names them all.
    """
    staying = [column for column in records.columns if column not in moving]
    key = records.groups(match)
    determining: dict[str, str] = {}
    determined: dict[str, str] = {}
    for column in staying:
        if column in match:
            continue
        for moved in moving:
            own, other = records.columns[column].codes, records.columns[moved].codes
            if _determines(own, other, key):
                determining.setdefault(column, moved)
            elif _determines(other, own, key):
                determined.setdefault(column, moved)
    identifying = [
        column
        for column in staying
        if column not in public
        and len(records) >= MIN_RECORDS
        and len(records.columns[column].texts) > MAX_DISTINCT_SHARE * len(records)
    ]
    problems = [
        f"the column {column!r} determines {moved!r}, and would reveal which records were swapped; "
        f"name {column!r} in --carry, or leave it out (--public does not allow it)"
        for column, moved in determining.items()
    ]
    problems += [
        f"the column {column!r} is determined by {moved!r}, and would reveal which records were "
        f"swapped; name {column!r} in --match or --carry, or leave it out (--public does not allow "
        f"it)"
        for column, moved in determined.items()
        if column not in determining
    ]
    problems += [
        f"the column {column!r} identifies records, as nearly all of its values are different; "
        f"leave it out, name it in --carry, or declare it with --public"
        for column in identifying
    ]
    if problems:
        raise InputError(f"{path}: {'. '.join(problems)}.")


def _determines(given: np.ndarray, wanted: np.ndarray, key: np.ndarray) -> bool:
    """Test whether each value of `given`, alone or with its `key`, has one value of `wanted`.

    Records whose key determines `wanted` are left out, because a swap cannot contradict it there.
    """
    informative = _varies(wanted, key)[key]
    if not informative.any():
        return False
    given, wanted, key = given[informative], wanted[informative], key[informative]
    for combined in (given, key * (int(given.max()) + 1) + given):
        groups, different = pd.factorize(combined)
        identifier = len(different) > MAX_DISTINCT_SHARE * len(groups)
        if not identifier and not _varies(wanted, groups).any():
            return True
    return False


def _varies(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Test for each group whether its values differ; bool (groups,)."""
    one = np.empty(int(groups.max()) + 1, dtype=values.dtype)
    one[groups] = values
    varies = np.zeros(len(one), dtype=bool)
    varies[groups[one[groups] != values]] = True
    return varies
