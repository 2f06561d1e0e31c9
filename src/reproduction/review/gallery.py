"""Gallery of the front page: a thumbnail and a sentence for each figure."""

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path

from reproduction.jobs.claims import Claim
from reproduction.jobs.descriptions import Descriptions
from reproduction.review.claims import OURS


def select_pictures(
    folder: Path,
    claims: list[Claim],
    entries: list[Mapping],
    made: Mapping[str, list[str]],
    descriptions: Descriptions,
) -> dict[str, list[dict]]:
    """Select the pictures of each study from the folder of thumbnails, in the order of the claims.

    An entry precedes a claim with the same figure. If a name has several files, such as one per
    state, one file is shown, and `more` counts the others. `label` names the claim or the paper's
    figure that the picture illustrates, and `goal` is its anchor on the page.
    """
    studies = [*(claim.study for claim in claims), *(entry["wing"] for entry in entries)]
    found: dict[str, list[dict]] = {study: [] for study in studies}
    shown: set[str] = set()
    for study, figure, label, goal in _places(claims, entries):
        fresh = [name for name in made.get(figure, []) if name not in shown]
        if fresh:
            # the last of several states has the fewest counties
            name, more = fresh[-1], len(fresh) - 1
            picture = {"name": name, "label": label, "goal": goal, "more": more}
            picture["address"] = embed_png(folder / f"{name}.png")
            picture["title"] = descriptions.title_of("figures", name)
            picture["words"] = descriptions.find("figures", name)[2].gallery
            found[study].append(picture)
            shown.update(fresh)
    return {study: pictures for study, pictures in found.items() if pictures}


def embed_png(png: Path) -> str:
    """Return a PNG file as a data URI."""
    return f"data:image/png;base64,{base64.b64encode(png.read_bytes()).decode()}"


def _places(claims, entries) -> Iterator[tuple[str, str, str, str]]:
    for entry in entries:
        whose = "Ours" if entry["paper"] == OURS else entry["paper"]
        label = f"{whose}, {entry['label']}" + ", with other data" * entry.get("other_data", False)
        for name in entry["figures"]:
            yield entry["wing"], name, label, f"figure-{entry['name']}"
    for claim in claims:
        label = f"Claim of {claim.paper}, {claim.where}"
        for name in claim.figures:
            yield claim.study, name, label, f"claim-{claim.name}"
