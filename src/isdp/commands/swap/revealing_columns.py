"""Columns that must not be published unchanged together with swapped values.

A column reveals swaps if it determines a column that moves, as a tract determines its county. A
column also reveals swaps if a column that moves determines it, as a county determines its state. A
combination that is not in the input then marks a swapped record. A column identifies the records if
nearly all of its values are different.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isdp.arrays import BoolArray, IntArray
from isdp.commands.swap.records import Records, Roles
from isdp.errors import InputError

MAX_DISTINCT_SHARE = 0.9  # a column with more distinct values per record identifies the records
MIN_RECORDS = 50  # in smaller files no column identifies the records


def refuse_revealing(records: Records, roles: Roles, path: str | Path) -> None:
    """Refuse columns that stay with their records and reveal swaps or identify records.

    Dependence is tested among all records, and among records with equal values of the swap key. A
    column that identifies the records is not tested for dependence, because nearly every value
    occurs once. A column that may be public is also refused if it reveals swaps.
    """
    staying = roles.held(records.columns)
    key = records.groups(roles.match)
    determining: dict[str, str] = {}
    determined: dict[str, str] = {}
    for column in staying:
        if column in roles.match:
            continue
        for moved in roles.moving:
            own, other = records.columns[column].codes, records.columns[moved].codes
            if _determines(own, other, key):
                determining.setdefault(column, moved)
            elif _determines(other, own, key):
                determined.setdefault(column, moved)
    identifying = [
        column
        for column in staying
        if column not in roles.public
        and len(records) >= MIN_RECORDS
        and len(records.columns[column].texts) > MAX_DISTINCT_SHARE * len(records)
    ]
    problems = [
        f"the column {column!r} determines {moved!r}, and would reveal which records were swapped. "
        f"Name {column!r} in --carry, or leave it out. --public does not allow it."
        for column, moved in determining.items()
    ]
    problems += [
        f"the column {column!r} is determined by {moved!r}, and would reveal which records were "
        f"swapped. Name {column!r} in --match or --carry, or leave it out. --public does not allow "
        f"it."
        for column, moved in determined.items()
        if column not in determining
    ]
    problems += [
        f"the column {column!r} identifies records, because nearly all of its values are "
        f"different. Leave it out, name it in --carry, or declare it with --public."
        for column in identifying
    ]
    if problems:
        raise InputError(f"{path}: {' '.join(problems)}")


def _determines(given: NDArray[np.int32], wanted: NDArray[np.int32], key: IntArray) -> bool:
    """Return True if each value of `given`, alone or with its key, has one value of `wanted`.

    Records whose key determines `wanted` are left out, because a swap keeps their values.
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


def _varies(values: NDArray[np.int32], groups: IntArray) -> BoolArray:
    one = np.empty(int(groups.max()) + 1, dtype=values.dtype)
    one[groups] = values
    varies = np.zeros(len(one), dtype=bool)
    varies[groups[one[groups] != values]] = True
    return varies
