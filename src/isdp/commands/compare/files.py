"""The output folder of a comparison.

If the counts are confidential, the name and the content of each file state this.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from isdp.commands.compare.question import CONFIDENTIAL
from isdp.commands.compare.report import GROUP, heading, markdown, why_confidential
from isdp.commands.compare.run import Comparison, compare
from isdp.commands.shared.output import output_folder
from isdp.plots import try_to_draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, PAGE = "comparison.csv", "comparison.md"
PICTURES = ("comparison.svg", "comparison.png")
MARK = "CONFIDENTIAL_"
FILES = tuple(mark + name for mark in ("", MARK) for name in (TABLE, PAGE, *PICTURES))
COST = "same table costs its budget again. A comparison releases none"


def compare_files(
    cells_path: str | Path,
    invariants_path: str | Path,
    out: str | Path,
    *,
    force: bool = False,
    picture: bool = True,
    stand_in: str | Path | None = None,
    sums_path: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems, and write the result.

    Parameters
    ----------
    out : path
        Folder for the table, the page and the picture, which are written together at the end, or
        not at all. Each name begins with ``CONFIDENTIAL_`` if the counts are confidential.
    **options
        Other options of `isdp.commands.compare.run.compare`.

    Raises
    ------
    InputError
        If an input is invalid. Nothing is written in this case.
    """
    code_lists = (options.get("hierarchies") or {}).values()
    inputs = cells_path, invariants_path, stand_in, sums_path, *code_lists
    folder = output_folder(out, FILES, *inputs, force=force, cost=COST)
    found = compare(cells_path, invariants_path, stand_in=stand_in, sums_path=sums_path, **options)
    mark = MARK if found.question.source == CONFIDENTIAL else ""
    has_errors = (found.errors["rmse"] > 0).any()
    save = try_to_draw(partial(_picture, found)) if picture and has_errors else None
    folder.write(
        {mark + TABLE: table_of(found)},
        lambda _: {mark + PAGE: markdown(found)},
        save,
        [mark + name for name in PICTURES],
    )
    return found


def table_of(comparison: Comparison) -> pd.DataFrame:
    """Return the table of errors with six digits, and mark the rows if they are confidential."""
    table = comparison.errors.copy()
    for name in table.select_dtypes("float").columns:
        table[name] = [float(f"{value:.6g}") for value in table[name]]
    if comparison.question.source == CONFIDENTIAL:
        table.insert(0, "marking", CONFIDENTIAL.upper())
    return table


def _picture(comparison: Comparison) -> Figure:
    from isdp.commands.compare.picture import error_by_query

    groups = comparison.systems[GROUP].drop_duplicates().itertuples(index=False)
    headings = {tuple(group): heading(*group) for group in groups}
    title = "Error by query. Do not compare the panels with each other."
    if why_confidential(comparison):
        title = f"CONFIDENTIAL (depends on confidential counts). {title}"
    return error_by_query(comparison.errors, headings, title)
