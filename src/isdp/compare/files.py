"""A comparison as a folder of files, all at the end or none.

With confidential counts every file says so in its name and where it begins.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from isdp.compare.question import CONFIDENTIAL
from isdp.compare.report import GROUP, heading, markdown, why_confidential
from isdp.compare.run import Comparison, compare
from isdp.io.files import write_csv
from isdp.io.together import check_out, write_together

TABLE, PAGE = "comparison.csv", "comparison.md"
PICTURES = ("comparison.svg", "comparison.png")
MARK = "CONFIDENTIAL_"
FILES = tuple(mark + name for mark in ("", MARK) for name in (TABLE, PAGE, *PICTURES))
AGAIN = "same table costs its budget again; a comparison releases none"


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
    """Compare systems, and write what was found.

    Parameters
    ----------
    out : path
        Folder for the table, the page and the picture, which are written together at the end, or
        not at all; each name begins with ``CONFIDENTIAL_`` where the counts are confidential.
    force : bool
        Whether to replace such files, of either kind.
    picture : bool
        Whether to draw one, where matplotlib (the extra `plots`) is there.
    **options
        These as well: as for `isdp.compare.run.compare`.

    Raises
    ------
    InputError
        If anything is wrong; nothing has been written then.
    """
    out = Path(out)
    given = [
        path for path in (cells_path, invariants_path, stand_in, sums_path) if path is not None
    ]
    check_out(out, FILES, given, force, AGAIN)
    found = compare(cells_path, invariants_path, stand_in=stand_in, sums_path=sums_path, **options)
    mark = MARK if found.question.source == CONFIDENTIAL else ""
    figure = _picture(found) if picture else None

    def write(folder: Path) -> None:
        write_csv(table_of(found), folder / (mark + TABLE))
        (folder / (mark + PAGE)).write_text(markdown(found), encoding="utf-8")
        if figure is not None:
            from isdp.plots.style import save

            save(figure, *(folder / (mark + name) for name in PICTURES))
        check_out(out, FILES, given, force, AGAIN)

    write_together(out, FILES, write)
    return found


def table_of(comparison: Comparison) -> pd.DataFrame:
    """Lay the errors out for a file, to six digits; confidential ones are marked in every row."""
    table = comparison.errors.copy()
    for name in table.select_dtypes("float").columns:
        table[name] = [float(f"{value:.6g}") for value in table[name]]
    if comparison.question.source == CONFIDENTIAL:
        table.insert(0, "marking", CONFIDENTIAL.upper())
    return table


def _picture(comparison: Comparison):
    """Draw it; None where matplotlib is not installed, or all that is asked for is held."""
    if not (comparison.errors["rmse"] > 0).any():
        return None
    try:
        from isdp.compare.picture import error_by_query
    except ModuleNotFoundError as missing:
        if missing.name != "matplotlib":
            raise
        return None
    groups = comparison.systems[GROUP].drop_duplicates().itertuples(index=False)
    headings = {tuple(group): heading(*group) for group in groups}
    title = "Error by query; panels are not to be compared with each other"
    if why_confidential(comparison):
        title = f"CONFIDENTIAL (depends on confidential counts). {title}"
    return error_by_query(comparison.errors, headings, title)
