"""The config's keys and what each means, from the schema, for config/README.md.

    python -m reproduction.running.describe config/README.md

writes the table anew between the page's two marks.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from reproduction.running.config import read_schema

BASE = Path(__file__).parents[3]
START, END = "<!-- keys: written by reproduction.running.describe -->", "<!-- end of keys -->"


def described(schema: Mapping, node: Mapping, path: tuple[str, ...] = ()) -> Iterator:
    """Give dotted key and meaning of all that is described, in the schema's order.

    Where users choose a key's name, the schema's word for it (`called`) stands in its place.
    """
    node = {**referred(schema, node), **node}
    if path and "description" in node:
        yield ".".join(path), node["description"]
    kinds = [referred(schema, kind) | kind for kind in node.get("oneOf", [])]
    for each in (node, *kinds):
        for key, inner in each.get("properties", {}).items():
            if isinstance(inner, Mapping):
                yield from described(schema, inner, (*path, key))
        for inner in each.get("patternProperties", {}).values():
            yield from described(schema, inner, (*path, inner["called"]))


def referred(schema: Mapping, node: Mapping) -> dict:
    """Find what a node refers to among the definitions."""
    name = node.get("$ref", "").removeprefix("#/$defs/")
    return schema["$defs"][name] if name else {}


def table(schema: Mapping) -> str:
    """Write the keys as a Markdown table; a key that several kinds have stands once."""
    rows = dict(described(schema, schema))
    lines = [f"| `{key}` | {' '.join(meaning.split())} |" for key, meaning in rows.items()]
    return "\n".join(["| key | what it means |", "|---|---|", *lines])


def page_with(text: str, rows: str) -> str:
    """Put the table between the marks of a page."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{rows}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(page_with(page.read_text(), table(read_schema(BASE))))
