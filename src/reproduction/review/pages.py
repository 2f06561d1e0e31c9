"""The templates of the pages, with the marks and colours of the verdicts."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reproduction.review.scorecard import DIFFERS, NOT_CHECKABLE, REPRODUCED, UNDECIDED, sentence

MARKS = {REPRODUCED: "✓", DIFFERS: "≠", UNDECIDED: "~", NOT_CHECKABLE: "?"}
COLOURS = {
    REPRODUCED: "#1b7837",
    DIFFERS: "#b2182b",
    UNDECIDED: "#8a5a00",
    NOT_CHECKABLE: "#6b6b6b",
}
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(marks=MARKS, colours=COLOURS, sentence=sentence)
PARTS = TEMPLATES.get_template("parts.html.j2").module
