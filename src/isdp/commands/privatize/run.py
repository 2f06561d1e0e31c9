"""The release of a noisy table with its certificate and its other files.

Nothing that is computed from the noise drawn, such as its extremes, may be published. The noise and
the noisy table together reveal the confidential table. A checksum of the confidential file is not
published either, because it would confirm guesses. The published files contain the noisy table,
functions of the noisy table, and facts about the noise distribution and the settings.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isdp.arrays import IntArray
from isdp.checks import INT64_MAX
from isdp.commands.disclosure.totals_audit import audit_totals
from isdp.commands.privatize.certificate import describe
from isdp.commands.privatize.nonnegative import (
    BIASED,
    NONNEGATIVE,
    find_held_levels,
    nonnegative_counts,
)
from isdp.commands.shared.code_list import describe_code_lists
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.guarantee import request_for_table
from isdp.commands.shared.invariants_file import (
    HeldTotals,
    group_names,
    read_invariants,
    refuse_equal_names,
)
from isdp.commands.shared.margins import (
    Margin,
    MarginTarget,
    limits_of_cells,
    margin_table,
    margins_of,
    short_margin_table,
    targets_of,
    usual_sums,
)
from isdp.commands.shared.noise import DrawnNoise, draw
from isdp.commands.shared.noise_levels import LEVELS
from isdp.commands.shared.output import output_folder
from isdp.commands.shared.refusals import read_accepted, refuse_revealing_rows, refuse_weak_noise
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import Table, read_table
from isdp.commands.shared.warnings import warnings_of_revealed_residues, warnings_of_table
from isdp.errors import InputError
from isdp.io.certificate import DOCUMENTS, NOT_FOR_RELEASE, now, release_documents
from isdp.io.data_package import data_package
from isdp.io.files import read_bytes
from isdp.io.tables import FORMATS, TableFormat, check_format
from isdp.plots import try_to_draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = ("noisy.svg", "noisy.png")
NAMES = [f"{table}.{extension}" for table in ("noisy", NONNEGATIVE) for extension in FORMATS]
FILES = ("totals.csv", "margins.csv", "margins_full.csv", LEVELS, *NAMES, *DOCUMENTS, *PICTURES)
LOG = logging.getLogger(__name__)
Sampler = Callable[[DegreesOfFreedom, NoiseRequest], DrawnNoise]


def privatize_file(
    table_path: str | Path,
    invariants_path: str | Path,
    request: NoiseRequest,
    out: str | Path,
    *,
    count: str = "count",
    names: list[str] | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    force: bool = False,
    picture: bool = True,
    nonnegative: bool = False,
    out_format: TableFormat = "csv",
    accept: str | Iterable[str] = (),
    sampler: Sampler = draw,
) -> dict[str, Any]:
    """Write a noisy table that keeps the totals, and return its certificate.

    Parameters
    ----------
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    names : list of str, optional
        The columns that name a cell. The default is all columns except the counts.
    hierarchies : mapping of str to path, optional
        Code lists of columns, as in `isdp.commands.shared.code_list.add_regions`.
        The columns of regions are published as well.
    nonnegative : bool
        Also write a table without negative counts, for noise with levels.
    out_format : {"csv", "parquet"}
        The format of the noisy table and of the table without negative counts.
    accept : str or iterable of str
        Names of accepted risks of `isdp.commands.shared.refusals`: "weak-noise", "sorted-rows" or
        "missing-rows".
    sampler : callable
        A function in place of `isdp.commands.shared.noise.draw` for tests. The totals are checked.

    Raises
    ------
    InputError
        If an input is invalid or a risk is refused. Nothing is written in this case.
    """
    started = now()
    accepted = read_accepted(accept)
    check_format(out_format)
    inputs = table_path, invariants_path, *(hierarchies or {}).values()
    folder = output_folder(out, FILES, *inputs, force=force)
    table = read_table(table_path, count, names, hierarchies=hierarchies)
    raw = read_bytes(invariants_path)
    held = read_invariants(invariants_path, table, raw)
    digest = hashlib.sha256(raw).hexdigest()
    rules = (Path(invariants_path).name, digest)
    levels = request.levels if nonnegative else None
    if nonnegative and levels is None:
        raise InputError("--nonnegative: this option needs --levels. Add --levels.")
    exact = find_held_levels(table, levels, held) if levels is not None else ()
    made = make_noisy_table(table, held, rules, request, accepted, started, sampler)
    save = try_to_draw(partial(_picture, held, made, request)) if picture else None
    noisy_name = f"noisy.{out_format}"
    made.certificate["output"]["table"] = noisy_name
    made.certificate["input"]["code_lists"] = describe_code_lists(hierarchies)
    tables: dict[str, Any] = {
        noisy_name: table.replaced(made.noisy),
        "totals.csv": totals_of(table, held, made.noisy),
        "margins.csv": short_margin_table(made.margins),
        "margins_full.csv": margin_table(made.margins),
    }
    if request.levels is not None:
        tables[LEVELS] = pd.DataFrame(made.certificate["levels"]["terms"])
    if levels is not None:
        counts = nonnegative_counts(table, levels, exact, made.noisy)
        check_totals(held, table.counts, counts)
        tables[f"{NONNEGATIVE}.{out_format}"] = table.replaced(counts)
        made.certificate["not_said"].append(BIASED.format(out_format))

    def documents(digests: dict[str, str]) -> Mapping[str, str | Mapping[str, object]]:
        keys = dict.fromkeys(("noisy", NONNEGATIVE), table.names)
        package = data_package(made.certificate, tables, digests, counts=table.count, keys=keys)
        digest = digests.pop(noisy_name)
        output = {"sha256": digest, "others_sha256": digests, "picture": save is not None}
        return release_documents(made.certificate, package, **output)

    folder.write(tables, documents, save, PICTURES, source=table_path)
    return made.certificate


class NoisyTable(NamedTuple):
    """The noisy counts, int64 (cells,), and the certificate without the hashes of files."""

    noisy: IntArray
    certificate: dict[str, Any]
    targets: list[MarginTarget]
    margins: list[Margin]
    free: DegreesOfFreedom


def make_noisy_table(
    table: Table,
    held: list[HeldTotals],
    rules: tuple[str, str],
    request: NoiseRequest,
    accepted: Sequence[str],
    started: str,
    sampler: Sampler = draw,
) -> NoisyTable:
    """Draw the noise, add it to the counts, and build the certificate.

    `rules` has the name and the SHA-256 of the file of invariants.
    """
    refuse_revealing_rows(table, accepted)
    refuse_equal_names(held, table, rules[0])
    free = find_degrees_of_freedom(held)
    if free.degrees == 0:
        raise InputError(
            f"{rules[0]}: these totals determine every cell, so that the table would be published "
            f"unchanged. Hold fewer totals."
        )
    stated, request = request, request_for_table(request, free, table)
    # the margins are computed before the draw, because they take as much memory as a long table
    targets = targets_of(table, free, usual_sums(table), request.levels)
    margins = margins_of(targets, free, request.mechanism)
    refuse_weak_noise(margins, free, request.mechanism, accepted)
    for warning in [*warnings_of_table(table), *warnings_of_revealed_residues(table, free)]:
        LOG.warning("%s", warning)
    drawn = sampler(free, request)
    noisy = drawn.noise  # the addition is in place, because a long table takes much memory
    noisy += table.counts
    certificate = describe(
        table=table,
        rules=rules,
        checks=check_totals(held, table.counts, noisy),
        free=free,
        held=held,
        stated=stated,
        request=request,
        report=drawn.report,
        margins=margins,
        # the noisy counts have the published totals
        audit=audit_totals(free.invariants, free.invariants.apply(noisy)),
        negative=int((noisy < 0).sum()),
        started=started,
        accepted=tuple(accepted),
    )
    return NoisyTable(noisy, certificate, targets, margins, free)


def check_totals(held: list[HeldTotals], counts: IntArray, noisy: IntArray) -> list[dict[str, Any]]:
    """Compare all held totals before and after the noise, in integer arithmetic.

    The result has one entry for each set of totals. A difference raises `InputError`.
    """
    largest = max(int(counts.max()), int(noisy.max()), -int(noisy.min()))
    if largest * len(counts) > INT64_MAX:
        raise InputError(
            f"privatize: sums of {len(counts)} counts could overflow 64-bit integers. Use a larger "
            f"epsilon."
        )
    checks = []
    for one in held:
        difference = int(abs(one.sums(noisy) - one.sums(counts)).max())
        if difference:
            raise InputError(
                f"privatize: {one.name}: a total is off by {difference}, and nothing is written. "
                f"Report this error."
            )
        checks.append({"name": one.name, "totals": one.totals, "largest_difference": difference})
    return checks


def totals_of(
    table: Table, held: list[HeldTotals], counts: IntArray
) -> dict[str, NDArray[np.object_] | IntArray]:
    """Return the columns `name` and `total` of all held totals."""
    names = np.concatenate([group_names(table, one) for one in held])
    return {"name": names, "total": np.concatenate([one.sums(counts) for one in held])}


def _picture(held: list[HeldTotals], made: NoisyTable, request: NoiseRequest) -> Figure:
    from isdp.commands.privatize.picture import NoisySum, plot_relative_margins

    sums = [
        NoisySum(target.name, int(made.noisy[target.rows].sum()), margin.limit.value)
        for target, margin in zip(made.targets, made.margins, strict=True)
        if target.scope == "sum" and target.cells > 1 and not target.held
    ]
    return plot_relative_margins(
        made.noisy,
        limits_of_cells(made.targets, made.margins, made.free),
        sums,
        np.concatenate([one.sums(made.noisy) for one in held]),
        NOT_FOR_RELEASE if request.experiment else "",
    )
