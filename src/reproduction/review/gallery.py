"""The front page's pictures: a small one of each figure with a sentence on it, and whole ones."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from PIL import Image

from reproduction.review.claims import figures_of

WIDTH = 600  # pixels, shown at half of that: sharp on fine screens too
QUALITY = 60  # lines and letters stay clear, at some 12 kB a picture


def gallery(
    folder: Path,
    claims: list[Mapping],
    entries: list[Mapping],
    made: Mapping[str, list[Mapping]],
    pictures: Mapping[str, str],
) -> dict[str, list[dict]]:
    """Choose the pictures, and say what each shows and where it leads.

    Parameters
    ----------
    folder : Path
        The figures of the run, where each has its PNG.
    claims, entries : lists of mappings
        From `reproduction.review.claims`. An entry goes before a claim that names the same figure.
    made : mapping
        For each name of a figure the files that the run makes of it; of several, one a state, one
        is shown.
    pictures : mapping
        What each figure shows, by the names in the claims and entries. None is needed: a figure
        without a sentence stands with its label alone.

    Returns
    -------
    dict
        For each wing that has any, in the claims' order, its pictures: the `name` of the file and
        its `address`, a data URI; `label` and `words`; `goal`, the place on the page that it leads
        to; and `more`, how many there are for other states.
    """
    found: dict[str, list[dict]] = {each["wing"]: [] for each in (*claims, *entries)}
    shown: set[str] = set()
    for wing, figure, place in _places(claims, entries):
        fresh = [file["name"] for file in made.get(figure, []) if file["name"] not in shown]
        if fresh:
            name, *others = fresh
            address = thumbnail(folder / f"{name}.png")
            words = pictures.get(figure, "")
            found[wing].append(
                {"name": name, "address": address, "words": words, "more": len(others), **place}
            )
            shown.update(fresh)
    return {wing: pictures for wing, pictures in found.items() if pictures}


def thumbnail(png: Path) -> str:
    """Make a small copy of a picture, as a data URI."""
    with Image.open(png) as whole:
        opaque = Image.alpha_composite(
            Image.new("RGBA", whole.size, "white"), whole.convert("RGBA")
        )
    small = opaque.convert("RGB")
    small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def svg_address(svg: Path) -> str:
    """Give a whole figure as a data URI."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.read_bytes()).decode()}"


def _places(claims, entries) -> Iterator[tuple[str, str, dict]]:
    """Give each figure named with its wing, and the label and the goal of who names it."""
    for entry in entries:
        label = f"{entry['paper']}, {entry['label']}: {entry['about']}"
        for name in entry["figures"]:
            yield entry["wing"], name, {"label": label, "goal": f"figure-{entry['name']}"}
    for claim in claims:
        label, goal = f"{claim['paper']}, {claim['where']}", f"claim-{claim['claim']}"
        for name in figures_of(claim):
            yield claim["wing"], name, {"label": label, "goal": goal}
