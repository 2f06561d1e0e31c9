"""Tables of results as Markdown and as HTML pages."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from isdp.io.files import write_atomically
from reproduction.jobs.tables import read_csv
from reproduction.review.pages import TEMPLATES


def render_table(csv, title: str, columns: Mapping[str, str]) -> None:
    """Write the Markdown and the HTML page of a table next to its CSV file."""
    table = read_csv(csv)
    sides = ["right" if is_numeric_dtype(kind) else "left" for kind in table.dtypes]
    text = table.map(lambda cell: format_cell(cell).replace("|", r"\|")).to_markdown(
        index=False, disable_numparse=True, colalign=sides
    )
    page = TEMPLATES.get_template("table.html.j2").render(
        title=title, table=convert_to_html(table), columns=columns
    )
    for suffix, content in ((".md", text + "\n"), (".html", page + "\n")):
        with write_atomically(Path(csv).with_suffix(suffix)) as temporary:
            temporary.write_text(content)


def convert_to_html(table: pd.DataFrame) -> str:
    """Convert a table to HTML, with numbers rounded to four significant digits."""
    return table.map(format_cell).to_html(index=False, border=0, justify="left")


def format_cell(value) -> str:
    """Round a float to four significant digits, or to a whole number from 10,000 on."""
    if pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)
