"""Release of swapped records with a certificate, from a csv of records.

No other published file depends on the permutation. Even the share of records that moved could rule
out a dataset, given the records, and the privacy loss would be infinite. The records are sorted by
their columns, because the order of the input would reveal the place of a record. The key, the
swapped values of each key and all held columns are published unchanged. The guarantee covers the
assignment of records to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isdp.commands.swap.certificate import describe
from isdp.commands.swap.records import Records, read_records, refuse_missing, refuse_weights
from isdp.commands.swap.revealing_columns import refuse_revealing
from isdp.errors import InputError
from isdp.io.certificate import certificate_files, now
from isdp.io.output_folder import OutputFolder
from isdp.swapping.mechanism.exact_permutation import exact_rate, permutation_for_release
from isdp.swapping.mechanism.permutation import Strata

FILES = ("swapped.csv", "certificate.json", "certificate.md")
COST_OF_ANOTHER_RUN = "same records costs epsilon again"


@dataclass(frozen=True)
class Roles:
    """Roles of the columns.

    Attributes
    ----------
    match : tuple of str
        The swap key V_Match: records are swapped with others of equal values.
    swap : tuple of str
        The swapping variable V_Swap.
    carry : tuple of str
        Columns that go with the swapping variable, such as the tract of a county.
    public : tuple of str
        Columns that stay with their records and may identify them.
    """

    match: tuple[str, ...]
    swap: tuple[str, ...]
    carry: tuple[str, ...] = ()
    public: tuple[str, ...] = ()

    @property
    def moving(self) -> tuple[str, ...]:
        """The columns whose values move together."""
        return self.swap + self.carry

    def held(self, columns: Sequence[str]) -> tuple[str, ...]:
        """All columns except those that move: V_Hold."""
        return tuple(column for column in columns if column not in self.moving)


def swap_file(
    path,
    out,
    *,
    match: Sequence[str],
    swap: Sequence[str],
    rate,
    carry: Sequence[str] = (),
    public: Sequence[str] = (),
    force: bool = False,
    permute: Callable[..., np.ndarray] = permutation_for_release,
) -> dict:
    """Swap the records of a csv for release, and write them with a certificate.

    Parameters
    ----------
    path : path
        A csv in UTF-8 with one row for each record. Only its file name is published.
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    match : sequence of str
        Columns of the swap key; none for one stratum of all records.
    swap : sequence of str
        Columns that are swapped together, at least one.
    rate : Fraction, int, str or float
        Swap rate, as in `isdp.swapping.mechanism.exact_permutation.exact_rate`.
    carry : sequence of str
        Columns that go with the swapped ones.
    public : sequence of str
        Columns that may be published unchanged although nearly all of their values are different.
    permute : callable
        For tests, a replacement of `permutation_for_release` of
        `isdp.swapping.mechanism.exact_permutation`; its totals are checked.

    Returns
    -------
    dict
        The certificate.

    Raises
    ------
    InputError
        If an input is invalid, no record could change, or a column that is published unchanged
        would reveal swaps or identify records; nothing is drawn or written then.
    """
    started = now()
    path, rate = Path(path), exact_rate(rate)
    roles = Roles(tuple(match), tuple(swap), tuple(carry), tuple(public))
    folder = OutputFolder(Path(out), FILES, [path], force, COST_OF_ANOTHER_RUN)
    records = read_records(path)
    _check_roles(records, roles, path)
    refuse_weights(records, path)
    refuse_missing(records, roles.match + roles.moving, path)
    key, value = records.groups(roles.match), records.groups(roles.moving)
    strata = Strata.from_labels(key)
    _refuse_fixed(strata, key, value, path)
    refuse_revealing(records, roles.match, roles.moving, roles.public, path)
    sources = permute(strata, rate)
    swapped = records.taken(roles.moving, sources).in_order()
    checks = [
        compare(records, swapped, roles.held(records.columns), "what is held"),
        compare(records, swapped, roles.match + roles.moving, "the swap key by what is swapped"),
    ]
    certificate = describe(path.name, records, roles, rate, key, value, checks, started)
    folder.write(
        {"swapped.csv": swapped.columns},
        lambda digests: certificate_files(certificate, sha256=digests["swapped.csv"]),
    )
    return certificate


def _check_roles(records: Records, roles: Roles, path: Path) -> None:
    if not roles.swap:
        raise InputError("--swap: no column is named; name the columns to swap")
    named = roles.match + roles.moving
    for column in named + roles.public:
        if column not in records.columns:
            raise InputError(
                f"{path}: no column {column!r}; there are {', '.join(map(repr, records.columns))}"
            )
        if named.count(column) > 1:
            raise InputError(f"swapping: the column {column!r} is named twice; it has one role")
        if column in roles.public and column in roles.moving:
            raise InputError(
                f"swapping: --public {column!r}: this column is swapped or carried; drop the option"
            )


def _refuse_fixed(strata: Strata, key: np.ndarray, value: np.ndarray, path: Path) -> None:
    """Refuse records that no swap can change."""
    pairs = len(np.unique(key * (value.max() + 1) + value))
    if strata.max_size == 1:
        raise InputError(f"{path}: every record is alone in its stratum; match on fewer columns")
    if pairs == len(strata.sizes):
        raise InputError(
            f"{path}: within each stratum all records have the same value to swap, so that they "
            f"would be published unchanged; match on fewer columns"
        )


def compare(before: Records, after: Records, columns: Sequence[str], name: str) -> dict:
    """Compare the number of records of each combination of values before and after the swap.

    Returns
    -------
    dict
        The name, the columns, the number of totals and their largest difference, which is 0.

    Raises
    ------
    InputError
        If a total differs.
    """
    groups, size = before.followed_by(after).groups(columns), len(before)
    totals = int(groups.max()) + 1
    old, new = (np.bincount(part, minlength=totals) for part in (groups[:size], groups[size:]))
    largest = int(abs(new - old).max())
    if largest:
        raise InputError(f"swapping: a total of {name} is off by {largest}; nothing is written")
    return {
        "name": name,
        "columns": list(columns),
        "totals": totals,
        "largest_difference": largest,
    }
