"""The front page's pictures: a small one of each figure with a sentence on it, and whole ones."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from PIL import Image

from reproduction.review.claims import OURS, figures_of
from reproduction.running.descriptions import Descriptions

SMALL = 600  # pixels: in the gallery, at half of that, so that it is sharp on a fine screen
LARGE = 1000  # pixels: the width of the page
QUALITY = 60  # lines and letters stay clear, at some 12 kB for each small picture


def gallery(
    folder: Path,
    claims: list[Mapping],
    entries: list[Mapping],
    made: Mapping[str, list[str]],
    descriptions: Descriptions,
) -> dict[str, list[dict]]:
    """Choose the pictures, and say what each shows and where it leads.

    Parameters
    ----------
    folder : Path
        The figures of the run, where each has its PNG.
    claims, entries : lists of mappings
        From `reproduction.review.claims`. An entry goes before a claim that names the same figure.
    made : mapping
        For each name of a figure the figures that the run makes of it. Of several, one per state,
        one is shown.
    descriptions : Descriptions
        They have the title of each figure and the sentence on it.

    Returns
    -------
    dict
        For each study with pictures, in the order of the claims, its pictures: the `name` of the
        file and its `address`, a data URI; its `title`, and `words`, the sentence; `label` and
        `goal`, the claim or the figure of a paper next to which it stands, and its place on the
        page; and `more`, the number of figures of other states.
    """
    found: dict[str, list[dict]] = {each["wing"]: [] for each in (*claims, *entries)}
    shown: set[str] = set()
    for wing, figure, place in _places(claims, entries):
        fresh = [name for name in made.get(figure, []) if name not in shown]
        if fresh:
            name, *others = fresh
            found[wing].append(
                {
                    "name": name,
                    "address": thumbnail(folder / f"{name}.png"),
                    "title": descriptions.title_of("figures", name),
                    "words": descriptions.find("figures", name)[2].gallery,
                    "more": len(others),
                    **place,
                }
            )
            shown.update(fresh)
    return {wing: pictures for wing, pictures in found.items() if pictures}


def thumbnail(png: Path, size: int = SMALL) -> str:
    """Make a copy of a picture that fits into a square of a size in pixels, as a data URI."""
    with Image.open(png) as whole:
        opaque = Image.alpha_composite(
            Image.new("RGBA", whole.size, "white"), whole.convert("RGBA")
        )
    small = opaque.convert("RGB")
    small.thumbnail((size, size), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _places(claims, entries) -> Iterator[tuple[str, str, dict]]:
    """Give each figure named with its wing, and the label and the goal of who names it."""
    for entry in entries:
        whose = "Ours" if entry["paper"] == OURS else entry["paper"]
        label = f"{whose}, {entry['label']}"
        for name in entry["figures"]:
            yield entry["wing"], name, {"label": label, "goal": f"figure-{entry['name']}"}
    for claim in claims:
        label, goal = f"Claim of {claim['paper']}, {claim['where']}", f"claim-{claim['claim']}"
        for name in figures_of(claim):
            yield claim["wing"], name, {"label": label, "goal": goal}
