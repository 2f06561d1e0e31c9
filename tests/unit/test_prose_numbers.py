"""The typed numbers of the prose are those that are recorded.

`prose_numbers.csv` has a row for each section of a page, each Markdown cell of a notebook, and each
text of a description: its numbers, in digits or in words, and the settings that it shows. A number
that changes by mistake shows as a changed row. After a change that is meant:
`python -m tests.unit.test_prose_numbers`.
"""

import ast
import json
import re

import pandas as pd

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

KNOWN = ROOT / "tests/unit/prose_numbers.csv"
IN_WORDS = (
    "zero two three four five six seven eight nine ten eleven twelve twenty fifty hundred "
    "thousand million half third quarter fifth tenth twice"
)
NUMBER = re.compile(
    rf"{{{{.*?}}}}|\b[\d,.]*\d(?: ?%)?|\b(?:{IN_WORDS.replace(' ', '|')})(?:fold|s|th|ths)?\b",
    re.IGNORECASE,
)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|<[^>]*>", re.MULTILINE | re.DOTALL)


def pages():
    """The path, the section and the text of each piece of prose."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        sections = re.split(r"^#+ (.*)$", CODE.sub("", path.read_text()), flags=re.MULTILINE)
        for heading, text in zip(sections[1::2], sections[2::2], strict=True):
            yield path, heading, text
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code":  # the words around the values of sentences
                found = (
                    each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)
                )
                text = " ".join(each.value for each in found if isinstance(each.value, str))
            yield path, f"cell {cell['id']}", CODE.sub("", text)
    for path in sorted((ROOT / "src/reproduction").glob("*/descriptions.yaml")):
        yield from ((path, place, text) for place, text in texts(read_yaml(path)))


def texts(entry, place=""):
    """All texts of a description with the keys that lead to them."""
    if isinstance(entry, dict):
        for key, each in entry.items():
            yield from texts(each, f"{place}.{key}".strip("."))
    elif isinstance(entry, str):
        yield place, entry


def numbers():
    """A table with the columns of `prose_numbers.csv`."""
    rows = [
        (path.relative_to(ROOT).as_posix(), place, " ".join(NUMBER.findall(text)))
        for path, place, text in pages()
        if path.name != "changes-0.3.md"
    ]
    return pd.DataFrame([row for row in rows if row[-1]], columns=["file", "place", "numbers"])


def test_numbers_in_prose_are_those_that_are_recorded():
    known = pd.read_csv(KNOWN, dtype=str, keep_default_na=False)
    found, known = (set(table.itertuples(index=False, name=None)) for table in (numbers(), known))
    assert sorted(found ^ known) == []


if __name__ == "__main__":  # after a change of a number; then read what the file shows as changed
    numbers().to_csv(KNOWN, index=False, lineterminator="\n")
