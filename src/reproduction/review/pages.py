"""Templates of the pages, with the marks and colours of the verdicts."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reproduction.review.scorecard import VERDICTS, describe_cells

MARKS = dict(zip(VERDICTS, "✓≠~?", strict=True))
COLOURS = dict(zip(VERDICTS, ("#1b7837", "#b2182b", "#8a5a00", "#6b6b6b"), strict=True))
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(marks=MARKS, colours=COLOURS, cells=describe_cells)
PARTS = TEMPLATES.get_template("parts.html.j2").module
