"""Write the table of all keys of the configuration into config/README.md.

The command `python -m reproduction.config.describe config/README.md` replaces the text between the
two marks of the page.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from reproduction.config.model import Config
from reproduction.jobs.settings import Block

TABLE_START, TABLE_END = (
    "<!-- keys: written by reproduction.config.describe -->",
    "<!-- end of keys -->",
)


def list_keys(model: type[Block] = Config, path: tuple[str, ...] = ()) -> Iterator[tuple]:
    """Yield the dotted key, the meaning and the source of every key, in the order of the model."""
    for name, field in model.model_fields.items():
        here = (*path, field.alias or name)
        source = (field.json_schema_extra or {}).get("source", "")
        yield ".".join(here), field.description or "", source
        for inner in _blocks(field.annotation):
            # the table has a placeholder for the name of an entry that users choose
            yield from list_keys(inner, (*here, inner.placeholder) if inner.placeholder else here)


def _blocks(annotation: Any) -> Iterator[type[Block]]:
    if isinstance(annotation, type) and issubclass(annotation, Block):
        yield annotation
    for inner in get_args(annotation):
        yield from _blocks(inner)


def format_table() -> str:
    """Format the keys as a Markdown table, in which a key of several models has one row."""
    rows = {"": "| key | meaning | value in `config.yaml` |\n|---|---|---|"}
    for key, meaning, source in list_keys():
        rows.setdefault(key, f"| `{key}` | {meaning} | {source} |")
    return "\n".join(rows.values())


def insert_table(text: str, rows: str) -> str:
    """Replace the text between the marks of a page by the rows of a table."""
    before, rest = text.split(TABLE_START)
    return f"{before}{TABLE_START}\n\n{rows}\n\n{TABLE_END}{rest.split(TABLE_END)[1]}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(insert_table(page.read_text(), format_table()))
