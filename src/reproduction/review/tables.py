"""Tables of results as Markdown and as pages."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from isdp.io.files import whole
from reproduction.running.tables import read_csv

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


def render_table(csv, title: str, columns: Mapping[str, str]) -> None:
    """Write the Markdown and the HTML page of a table next to its csv.

    Parameters
    ----------
    csv : path
        From `write_csv`.
    title : str
        Heading of the page.
    columns : mapping
        Meaning and unit of each column, shown below the table.
    """
    csv = Path(csv)
    table = read_csv(csv)
    shown = table.map(_shown)
    sides = ["right" if is_numeric_dtype(kind) else "left" for kind in table.dtypes]
    with whole(csv.with_suffix(".md")) as temporary:
        text = shown.map(lambda cell: cell.replace("|", r"\|")).to_markdown(
            index=False, disable_numparse=True, colalign=sides
        )
        temporary.write_text(text + "\n")
    with whole(csv.with_suffix(".html")) as temporary:
        body = shown.to_html(index=False, border=0, justify="left")
        meanings = "".join(
            f"<dt>{html.escape(name)}</dt><dd>{html.escape(meaning)}</dd>"
            for name, meaning in columns.items()
        )
        heading = html.escape(title)
        page = PAGE.format(title=heading, table=body)
        temporary.write_text(page.replace("</body>", f"<dl>{meanings}</dl>\n</body>"))


def _shown(value) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
