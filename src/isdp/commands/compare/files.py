"""Folder of files of a comparison, which are all written at the end.

If the counts are confidential, the names and the first lines of all files say so.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd

from isdp.commands.compare.question import CONFIDENTIAL
from isdp.commands.compare.report import GROUP, heading, markdown, why_confidential
from isdp.commands.compare.run import Comparison, compare
from isdp.io.output_folder import OutputFolder
from isdp.plots import can_draw

TABLE, PAGE = "comparison.csv", "comparison.md"
PICTURES = ("comparison.svg", "comparison.png")
MARK = "CONFIDENTIAL_"
FILES = tuple(mark + name for mark in ("", MARK) for name in (TABLE, PAGE, *PICTURES))
COST_OF_ANOTHER_RUN = "same table costs its budget again; a comparison releases none"


def compare_files(
    cells_path,
    invariants_path,
    out,
    *,
    force: bool = False,
    picture: bool = True,
    stand_in=None,
    sums_path=None,
    **options,
) -> Comparison:
    """Compare systems, and write the result.

    Parameters
    ----------
    out : path
        Folder for the table, the page and the picture, which are written together at the end, or
        not at all; each name begins with ``CONFIDENTIAL_`` where the counts are confidential.
    **options
        Further options of `isdp.commands.compare.run.compare`.

    Raises
    ------
    InputError
        If an input is invalid; nothing is written then.
    """
    given = [
        path for path in (cells_path, invariants_path, stand_in, sums_path) if path is not None
    ]
    folder = OutputFolder(Path(out), FILES, given, force, COST_OF_ANOTHER_RUN)
    found = compare(cells_path, invariants_path, stand_in=stand_in, sums_path=sums_path, **options)
    mark = MARK if found.question.source == CONFIDENTIAL else ""
    something = (found.errors["rmse"] > 0).any()  # otherwise all answers are exact
    save = _picture(found) if picture and something and can_draw() else None
    folder.write(
        {mark + TABLE: table_of(found)},
        lambda _: {mark + PAGE: markdown(found)},
        save,
        [mark + name for name in PICTURES],
    )
    return found


def table_of(comparison: Comparison) -> pd.DataFrame:
    """Return the table of errors to six digits; each row of a confidential one is marked."""
    table = comparison.errors.copy()
    for name in table.select_dtypes("float").columns:
        table[name] = [float(f"{value:.6g}") for value in table[name]]
    if comparison.question.source == CONFIDENTIAL:
        table.insert(0, "marking", CONFIDENTIAL.upper())
    return table


def _picture(comparison: Comparison):
    """Draw the figure, and return a function that saves it."""
    from isdp.commands.compare.picture import error_by_query
    from isdp.plots.style import save

    groups = comparison.systems[GROUP].drop_duplicates().itertuples(index=False)
    headings = {tuple(group): heading(*group) for group in groups}
    title = "Error by query; panels are not to be compared with each other"
    if why_confidential(comparison):
        title = f"CONFIDENTIAL (depends on confidential counts). {title}"
    return partial(save, error_by_query(comparison.errors, headings, title))
