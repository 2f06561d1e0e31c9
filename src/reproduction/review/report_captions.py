"""Captions and overview of Snakemake's report, from the descriptions."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from reproduction.jobs.descriptions import Descriptions, caption_file

REPORT_SUFFIXES = {"tables": ".html", "figures": ".svg"}


def write_captions(descriptions: Descriptions, shown: Iterable[str], folder: Path) -> None:
    """Write the caption of each description and of each name in `shown`, such as figures/NAME."""
    described = {f"{kind}/{name}" for _, kind, name, _ in descriptions.entries()}
    for each in sorted(described.union(shown)):
        kind, name = each.split("/")
        path = folder / kind / caption_file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(descriptions.caption_of(kind, name))


def fill_overview(
    template: str,
    config: Mapping,
    provenance: Mapping,
    descriptions: Descriptions,
    shown: Iterable[str],
    made_by: str,
) -> str:
    """Fill the template of the report's overview. Names in `shown` have the form folder/name."""
    files = [each.split("/") for each in shown]
    patterns = {(kind, descriptions.find(kind, name)[0]) for kind, name in files}
    left_out = [
        f"* ``results/{kind}/{name}{REPORT_SUFFIXES[kind]}``: {entry.title}"
        for _, kind, name, entry in descriptions.entries()
        if not entry.in_report and (kind, name) in patterns
    ]
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template).render(
        config=config, provenance=provenance, left_out="\n".join(left_out), made_by=made_by
    )
