"""From a table and the totals to hold to a noisy table and its certificate.

Nothing that comes from the noise drawn may be published beside the noisy table, as the two give
the confidential table: not its sum, nor its extremes, nor a checksum of the confidential file, by
which guesses could be confirmed. What is published is the noisy table, functions of it, and facts
about the law and the settings.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isdp.constraints.invariants import INT64_MAX
from isdp.errors import InputError
from isdp.io.certificate import certificate_files
from isdp.io.files import read_bytes
from isdp.io.together import OutputFolder
from isdp.plots import can_draw
from isdp.privatize.cautions import cautions_of_freedom, cautions_of_table
from isdp.privatize.certificate import describe
from isdp.privatize.draw import draw
from isdp.privatize.freedom import find_freedom
from isdp.privatize.held import Held, group_names, read_invariants, refuse_equal_names
from isdp.privatize.margins import (
    Margin,
    margin_table,
    margins_of,
    targets_of,
    unchanged_of,
    usual_sums,
)
from isdp.privatize.refusals import read_accepted, refuse_revealing_rows, refuse_weak_noise
from isdp.privatize.request import Request
from isdp.privatize.spread import Spread
from isdp.privatize.table import Table, read_table

PICTURES = ("noisy.svg", "noisy.png")
FILES = ("noisy.csv", "totals.csv", "margins.csv", "certificate.json", "certificate.md", *PICTURES)
AGAIN = "same table costs epsilon again"
LOG = logging.getLogger(__name__)


def privatize(
    table_path,
    invariants_path,
    request: Request,
    out,
    *,
    count: str = "count",
    names: list[str] | None = None,
    force: bool = False,
    picture: bool = True,
    accept: str | Iterable[str] = (),
) -> dict:
    """Write a noisy table that keeps the totals, with its certificate and picture.

    Parameters
    ----------
    out : path
        Folder for `FILES`. They are written together at the end, or not at all.
    count : str
        The column of counts.
    names : list of str, optional
        The columns that name a cell.
    force : bool
        Whether to replace such files.
    picture : bool
        Whether to draw one, where matplotlib (the extra `plots`) is there.
    accept : str or iterable of str
        Names of risks that are refused otherwise: "weak-noise", "sorted-rows" and "missing-rows".

    Returns
    -------
    dict
        The certificate.

    Raises
    ------
    InputError
        If anything is wrong; nothing has been written then.
    """
    started = datetime.now(UTC).replace(microsecond=0).isoformat()
    accepted = read_accepted(accept)
    folder = OutputFolder(Path(out), FILES, [table_path, invariants_path], force, AGAIN)
    table = read_table(table_path, count, names)
    rules = read_bytes(invariants_path)
    held = read_invariants(invariants_path, table, rules)
    digest = hashlib.sha256(rules).hexdigest()
    made = make(table, held, (Path(invariants_path).name, digest), request, accepted, started)
    drawn = picture and can_draw()
    save = _draw_picture(table, made.noisy, made.spread, request) if drawn else None
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


class Made(NamedTuple):
    """A noisy table before anything is written.

    Attributes
    ----------
    noisy : int64 array, shape (cells,)
    certificate : dict
        Without the hashes of files.
    spread : Spread or None
    """

    noisy: np.ndarray
    certificate: dict
    margins: list[Margin]
    spread: Spread | None


def make(
    table: Table,
    held: list[Held],
    rules: tuple[str, str],
    request: Request,
    accepted: Sequence[str],
    started: str,
) -> Made:
    """Draw the noise, add it and describe it.

    Parameters
    ----------
    rules : tuple of str
        What the file of invariants is called, and its SHA-256.
    accepted : sequence of str
        Names of risks, as `isdp.privatize.refusals.read_accepted` returns them.
    started : str
        When the run began, in UTC.

    Raises
    ------
    InputError
        If anything is wrong.
    """
    refuse_revealing_rows(table, accepted)
    refuse_equal_names(held, table, rules[0])
    free = find_freedom(held)
    if free.degrees == 0:
        raise InputError(
            f"{rules[0]}: these totals settle every cell, so that the table would be published as "
            f"it is; hold fewer"
        )
    # before the draw and the spread: a long table does not fit into memory together with both
    targets = targets_of(table, free, usual_sums(table))
    margins = margins_of(targets, free, request.mechanism)
    refuse_weak_noise(targets, margins, free, request.mechanism, accepted)
    for warning in [*cautions_of_table(table), *cautions_of_freedom(table, free)]:
        LOG.warning("%s", warning)
    drawn = draw(free, request)
    spread = drawn.spread()
    unchanged = unchanged_of(margins, spread, free)
    noisy = drawn.noise  # of a long table there is no room for three
    noisy += table.counts
    certificate = describe(
        table=table,
        rules=rules,
        checks=check_totals(held, table.counts, noisy),
        free=free,
        request=request,
        report=drawn.report,
        unchanged=unchanged,
        negative=int((noisy < 0).sum()),
        started=started,
        accepted=tuple(accepted),
    )
    return Made(noisy, certificate, margins, spread)


def check_totals(held: list[Held], counts: np.ndarray, noisy: np.ndarray) -> list[dict]:
    """Compare all totals of both tables in integers.

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


def totals_of(table: Table, held: list[Held], counts: np.ndarray) -> dict[str, np.ndarray]:
    """Columns `name` and `total` of all totals that are held."""
    parts = [(group_names(table, one), one.sums(counts)) for one in held]
    names = np.concatenate([names for names, _ in parts])
    return {"name": names, "total": np.concatenate([sums for _, sums in parts])}


def _draw_picture(table: Table, noisy: np.ndarray, spread: Spread | None, request: Request):
    """Draw the noisy counts, and return what saves the picture."""
    from isdp.plots.style import save
    from isdp.privatize.picture import picture_of

    title = "Noisy counts, all named totals exact"
    if request.experiment:
        title += " (for experiments, NOT FOR RELEASE)"
    return partial(save, picture_of(table, noisy, spread, title))
