"""Captions of Snakemake's report, from the descriptions, and its overview."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from reproduction.review.shown import ENDINGS
from reproduction.running.descriptions import Descriptions, caption_file


def write_captions(descriptions: Descriptions, shown: Iterable[str], folder: Path) -> None:
    """Write the caption of each table and figure, one file each.

    Parameters
    ----------
    descriptions : Descriptions
    shown : iterable of str
        Tables and figures of the run, as folder/name. Descriptions of several files, such as
        `counties_{state}`, have a caption too.
    folder : Path
    """
    described = {
        f"{kind}/{name}"
        for study in descriptions.studies.values()
        for kind in ENDINGS
        for name in getattr(study, kind)
    }
    for kind, name in map(_split, sorted(described.union(shown))):
        path = folder / kind / caption_file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(descriptions.caption_of(kind, name))


def overview(
    template: str,
    config: Mapping,
    provenance: Mapping,
    descriptions: Descriptions,
    shown: Iterable[str],
    made_by: str,
) -> str:
    """Fill the overview of the report, in reStructuredText.

    Parameters
    ----------
    template : str
        In Jinja's language.
    config, provenance : mapping
        Settings of the run, and the source of its data.
    descriptions : Descriptions
    shown : iterable of str
        Tables and figures of the run, as folder/name.
    made_by : str
        From `reproduction.running.origin.made_by`.
    """
    patterns = {(kind, descriptions.find(kind, name)[0]) for kind, name in map(_split, shown)}
    left_out = [
        f"* ``{path}``: {title}"
        for path, title in descriptions.left_out()
        if (Path(path).parent.name, Path(path).stem) in patterns
    ]
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template).render(
        config=config, provenance=provenance, left_out="\n".join(left_out), made_by=made_by
    )


def _split(path: str) -> tuple[str, str]:
    kind, _, name = path.partition("/")
    return kind, name
