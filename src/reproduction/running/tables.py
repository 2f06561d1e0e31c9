"""Tables of results: csv in full precision, and Markdown and HTML for people."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from isdp.io.files import whole, write_csv

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title><style>
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 1.5em; color: #222; }}
h1 {{ line-height: 1.2; overflow-wrap: anywhere; }}
.wide {{ overflow: auto; max-height: 88vh; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th {{ position: sticky; top: 0; background: #fff; border-bottom: 2px solid #666; }}
th, td {{ text-align: left; vertical-align: top; padding: .3em .8em .3em 0; }}
td {{ border-bottom: 1px solid #ddd; min-width: 3em; max-width: 28em; }}
@media (max-width: 40em) {{ body {{ margin: .8em; }} h1 {{ font-size: 1.4em; }} }}
@media print {{ .wide {{ overflow: visible; max-height: none; }} }}
</style></head><body><h1>{title}</h1>
<div class="wide" tabindex="0" role="region" aria-label="{title}">
{table}
</div>
</body></html>
"""


def write_table(table: pd.DataFrame, csv, title: str, bold: pd.DataFrame | None = None) -> None:
    """Write a table three times: `csv` in full precision, and beside it .md and .html to read.

    Parameters
    ----------
    table : DataFrame
    csv : path
    title : str
        Heading of the HTML page.
    bold : DataFrame of bool, optional
        Cells to set in bold where people read them, in the table's shape.
    """
    csv = Path(csv)
    write_csv(table, csv)
    shown = table.map(_shown)
    sides = ["right" if is_numeric_dtype(kind) else "left" for kind in table.dtypes]
    with whole(csv.with_suffix(".md")) as temporary:
        cells = shown.map(lambda cell: cell.replace("|", r"\|"))
        text = _marked(cells, bold, "**", "**").to_markdown(
            index=False, disable_numparse=True, colalign=sides
        )
        temporary.write_text(text + "\n")
    with whole(csv.with_suffix(".html")) as temporary:
        cells = shown.map(html.escape)
        body = _marked(cells, bold, "<b>", "</b>").to_html(
            index=False, border=0, escape=False, justify="left"
        )
        # HTML leaves the ends of rows and cells away, and these are half of a long page
        body = re.sub(r"(?<=>)\s+(?=<)|</t[dhr]>", "", body)
        heading = html.escape(title)
        temporary.write_text(PAGE.format(title=heading, table=body))


def _marked(cells: pd.DataFrame, bold: pd.DataFrame | None, start: str, end: str) -> pd.DataFrame:
    return cells if bold is None else cells.mask(bold, start + cells + end)


def _shown(value) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def read_csv(path, **options) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; FIPS codes and names stay text."""
    text = {"fips": str, "name": str}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""], **options)


def read_csvs(paths) -> pd.DataFrame:
    """Read one table, or several of the same columns put one below the other."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return pd.concat([read_csv(path) for path in paths], ignore_index=True)
