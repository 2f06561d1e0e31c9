"""The release of swapped records with a certificate.

The guarantee covers the assignment of swapped values to records. All other facts about the records
are published: the swap key, the swapped values of each key, and the held columns. Only the swapped
records depend on the permutation drawn. For example, the share of records that moved is not
published. Together with the records it could rule out a dataset, and the privacy loss would be
infinite. The records are sorted by their columns, because the order of the input would reveal
swaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from isdp.arrays import IntArray
from isdp.checks import ExactNumber
from isdp.commands.shared.output import output_folder
from isdp.commands.swap.certificate import describe
from isdp.commands.swap.records import (
    Records,
    Roles,
    read_records,
    refuse_missing,
    refuse_weights,
)
from isdp.commands.swap.revealing_columns import refuse_revealing
from isdp.errors import InputError
from isdp.io.certificate import DOCUMENTS, now, release_documents
from isdp.io.csv_files import quoted_names
from isdp.io.data_package import data_package
from isdp.io.tables import FORMATS, TableFormat, check_format
from isdp.swapping.mechanism.exact_permutation import exact_rate, permutation_for_release
from isdp.swapping.mechanism.permutation import Strata

FILES = (*[f"swapped.{extension}" for extension in FORMATS], *DOCUMENTS)


def swap_file(
    path: str | Path,
    out: str | Path,
    *,
    match: Sequence[str],
    swap: Sequence[str],
    rate: ExactNumber,
    carry: Sequence[str] = (),
    public: Sequence[str] = (),
    force: bool = False,
    out_format: TableFormat = "csv",
    permute: Callable[[Strata, Fraction], IntArray] = permutation_for_release,
) -> dict[str, Any]:
    """Write the swapped records of a file for release, and return their certificate.

    Parameters
    ----------
    path : path
        A CSV file in UTF-8 or a Parquet file, with one row per record. The certificate states the
        name of this file.
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    match : sequence of str
        Columns of the swap key. If there are none, all records are in one stratum.
    swap : sequence of str
        Columns that are swapped together, at least one.
    rate : Fraction, int, str or float
        The swap rate, as in `isdp.swapping.mechanism.exact_permutation.exact_rate`.
    carry : sequence of str
        Columns that move with the swapped columns.
    public : sequence of str
        Columns that may be published unchanged although they identify records.
    out_format : {"csv", "parquet"}
        The format of the swapped records.
    permute : callable
        A function in place of `isdp.swapping.mechanism.exact_permutation.permutation_for_release`
        for tests. The totals are checked.

    Raises
    ------
    InputError
        If an input is invalid, no record could change, or a column that is published unchanged
        would reveal swaps or identify records. In these cases nothing is drawn or written.
    """
    started = now()
    path, rate = Path(path), exact_rate(rate)
    check_format(out_format)
    roles = Roles(tuple(match), tuple(swap), tuple(carry), tuple(public))
    folder = output_folder(out, FILES, path, force=force, cost="same records costs epsilon again")
    records = read_records(path)
    _check_roles(records, roles, path)
    refuse_weights(records, path)
    refuse_missing(records, roles.match + roles.moving, path)
    key, value = records.groups(roles.match), records.groups(roles.moving)
    strata = Strata.from_labels(key)
    _refuse_fixed(strata, key, value, path)
    refuse_revealing(records, roles, path)
    sources = permute(strata, rate)
    swapped = records.taken(roles.moving, sources).in_order()
    checks = [
        compare(records, swapped, roles.held(records.columns), "the held columns"),
        compare(records, swapped, roles.match + roles.moving, "the swap key by the moving columns"),
    ]
    certificate = describe(path.name, records, swapped, roles, rate, key, value, checks, started)
    name = f"swapped.{out_format}"
    tables = {name: swapped.columns}
    folder.write(
        tables,
        lambda digests: release_documents(
            certificate,
            data_package(certificate, tables, digests),
            file=name,
            sha256=digests[name],
        ),
        source=path,
    )
    return certificate


def _check_roles(records: Records, roles: Roles, path: Path) -> None:
    if not roles.swap:
        raise InputError("--swap: no column is named. Name the columns to swap.")
    named = roles.match + roles.moving
    for column in named + roles.public:
        if column not in records.columns:
            raise InputError(
                f"{path}: there is no column {column!r}. Use one of "
                f"{quoted_names(records.columns)}."
            )
        if named.count(column) > 1:
            raise InputError(
                f"--match, --swap, --carry: the column {column!r} is named twice. Name it once."
            )
        if column in roles.public and column in roles.moving:
            raise InputError(
                f"--public: the column {column!r} is swapped or carried. Leave it out of --public."
            )


def _refuse_fixed(strata: Strata, key: IntArray, value: IntArray, path: Path) -> None:
    pairs = len(np.unique(key * (value.max() + 1) + value))
    if strata.max_size == 1:
        raise InputError(f"{path}: every record is alone in its stratum. Match on fewer columns.")
    if pairs == len(strata.sizes):
        raise InputError(
            f"{path}: all records of each stratum have the same value to swap, and would be "
            f"published unchanged. Match on fewer columns."
        )


def compare(
    before: Records, after: Records, columns: Sequence[str], name: str
) -> dict[str, object]:
    """Compare the number of records of each combination of values before and after the swap."""
    groups, size = before.followed_by(after).groups(columns), len(before)
    totals = int(groups.max()) + 1
    old, new = (np.bincount(part, minlength=totals) for part in (groups[:size], groups[size:]))
    largest = int(abs(new - old).max())
    if largest:
        raise InputError(
            f"swap: a total of {name} is off by {largest}, and nothing is written. Report this "
            f"error."
        )
    return {
        "name": name,
        "columns": list(columns),
        "totals": totals,
        "largest_difference": largest,
    }
