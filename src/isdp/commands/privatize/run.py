"""Noise for a table under held totals: the noisy table, its certificate and its other files.

Nothing that is computed from the noise drawn may be published, such as its sum or its extremes:
noise and noisy table together give the confidential table. A checksum of the confidential file is
not published either, because it would confirm guesses. The published files are the noisy table,
functions of it, and facts about the noise distribution and the settings.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isdp.commands.privatize.certificate import describe
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.guarantee import request_per_unit
from isdp.commands.shared.invariants_file import (
    HeldTotals,
    group_names,
    read_invariants,
    refuse_equal_names,
)
from isdp.commands.shared.margins import (
    Margin,
    MarginTarget,
    margin_table,
    margins_of,
    probability_unchanged,
    spread_of_cells,
    targets_of,
    usual_sums,
)
from isdp.commands.shared.noise import DrawnNoise, draw
from isdp.commands.shared.refusals import read_accepted, refuse_revealing_rows, refuse_weak_noise
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import Table, read_table
from isdp.commands.shared.warnings import warnings_of_revealed_residues, warnings_of_table
from isdp.constraints.hierarchy import INT64_MAX
from isdp.errors import InputError
from isdp.io.certificate import certificate_files, now
from isdp.io.files import read_bytes
from isdp.io.output_folder import OutputFolder
from isdp.plots import can_draw

PICTURES = ("noisy.svg", "noisy.png")
FILES = ("noisy.csv", "totals.csv", "margins.csv", "certificate.json", "certificate.md", *PICTURES)
COST_OF_ANOTHER_RUN = "same table costs epsilon again"
LOG = logging.getLogger(__name__)
Sampler = Callable[[DegreesOfFreedom, NoiseRequest], DrawnNoise]


def privatize_file(
    table_path,
    invariants_path,
    request: NoiseRequest,
    out,
    *,
    count: str = "count",
    names: list[str] | None = None,
    force: bool = False,
    picture: bool = True,
    accept: str | Iterable[str] = (),
    sampler: Sampler = draw,
) -> dict:
    """Write a noisy table that keeps the totals, with its certificate and picture.

    Parameters
    ----------
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    names : list of str, optional
        The columns that name a cell.
    accept : str or iterable of str
        Names of accepted risks, see `isdp.commands.shared.refusals`: "weak-noise", "sorted-rows"
        and "missing-rows".
    sampler : callable
        For tests, a replacement of `isdp.commands.shared.noise.draw`; its totals are checked.

    Returns
    -------
    dict
        The certificate.

    Raises
    ------
    InputError
        If an input is invalid or a risk is refused; nothing is written then.
    """
    started = now()
    accepted = read_accepted(accept)
    folder = OutputFolder(
        Path(out), FILES, [table_path, invariants_path], force, COST_OF_ANOTHER_RUN
    )
    table = read_table(table_path, count, names)
    raw = read_bytes(invariants_path)
    held = read_invariants(invariants_path, table, raw)
    digest = hashlib.sha256(raw).hexdigest()
    rules = (Path(invariants_path).name, digest)
    made = make_noisy_table(table, held, rules, request, accepted, started, sampler)
    drawn = picture and can_draw()
    save = _draw_picture(table, made, request) if drawn else None
    tables = {
        "noisy.csv": table.replaced(made.noisy),
        "totals.csv": totals_of(table, held, made.noisy),
        "margins.csv": margin_table(made.margins),
    }

    def documents(digests: dict[str, str]) -> dict:
        digest = digests.pop("noisy.csv")
        output = {"sha256": digest, "others_sha256": digests, "picture": drawn}
        return certificate_files(made.certificate, **output)

    folder.write(tables, documents, save, PICTURES)
    return made.certificate


class NoisyTable(NamedTuple):
    """A noisy table before its files are written.

    Attributes
    ----------
    noisy : int64 array, shape (cells,)
    certificate : dict
        Certificate without the hashes of files.
    """

    noisy: np.ndarray
    certificate: dict
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
    """Draw the noise, add it and describe it.

    Parameters
    ----------
    rules : tuple of str
        Name and SHA-256 of the file of invariants.
    accepted : sequence of str
        Names of risks, as `isdp.commands.shared.refusals.read_accepted` returns them.
    """
    refuse_revealing_rows(table, accepted)
    refuse_equal_names(held, table, rules[0])
    free = find_degrees_of_freedom(held)
    if free.degrees == 0:
        raise InputError(
            f"{rules[0]}: these totals determine every cell, so that the table would be published "
            f"unchanged; hold fewer"
        )
    stated, request = request, request_per_unit(request, free)
    # before the draw: a long table does not fit into memory with both
    targets = targets_of(table, free, usual_sums(table))
    margins = margins_of(targets, free, request.mechanism)
    refuse_weak_noise(margins, free, request.mechanism, accepted)
    for warning in [*warnings_of_table(table), *warnings_of_revealed_residues(table, free)]:
        LOG.warning("%s", warning)
    drawn = sampler(free, request)
    noisy = drawn.noise  # in place, because a long table has no memory for three arrays
    noisy += table.counts
    certificate = describe(
        table=table,
        rules=rules,
        checks=check_totals(held, table.counts, noisy),
        free=free,
        stated=stated,
        request=request,
        report=drawn.report,
        unchanged=probability_unchanged(margins),
        negative=int((noisy < 0).sum()),
        started=started,
        accepted=tuple(accepted),
    )
    return NoisyTable(noisy, certificate, targets, margins, free)


def check_totals(held: list[HeldTotals], counts: np.ndarray, noisy: np.ndarray) -> list[dict]:
    """Compare all totals of both tables in integer arithmetic.

    Raises
    ------
    InputError
        If a total differs, or sums could leave 64-bit integers.
    """
    largest = max(int(counts.max()), int(noisy.max()), -int(noisy.min()))
    if largest * len(counts) > INT64_MAX:
        raise InputError(
            f"privatize: sums of {len(counts)} counts could leave 64-bit integers; use a larger "
            f"epsilon"
        )
    checks = []
    for one in held:
        difference = int(abs(one.sums(noisy) - one.sums(counts)).max())
        if difference:
            raise InputError(f"privatize: {one.name}: a total is off by {difference}; not written")
        checks.append({"name": one.name, "totals": one.totals, "largest_difference": difference})
    return checks


def totals_of(table: Table, held: list[HeldTotals], counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns `name` and `total` of all held totals."""
    parts = [(group_names(table, one), one.sums(counts)) for one in held]
    names = np.concatenate([names for names, _ in parts])
    return {"name": names, "total": np.concatenate([sums for _, sums in parts])}


def _draw_picture(table: Table, made: NoisyTable, request: NoiseRequest):
    """Draw the noisy counts, and return a function that saves the figure."""
    from isdp.commands.privatize.picture import picture_of
    from isdp.plots.style import save

    title = "Noisy counts, all named totals exact"
    if request.experiment:
        title += " (for experiments, NOT FOR RELEASE)"
    spread = partial(spread_of_cells, made.targets, made.margins, made.free)
    return partial(save, picture_of(table, made.noisy, spread, title))
