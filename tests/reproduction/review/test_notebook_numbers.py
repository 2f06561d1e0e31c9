"""The numbers in the sentences of the notebooks: each column next to the words that name it.

`notebook_numbers.csv` has a row for each number that a sentence takes from a table: its page, the
words before it, and its columns with what is made of them. A row changes where a sentence shows
another column than before, so that an exchange of two columns is seen. To record a sentence that
has changed: `python -m tests.reproduction.review.test_notebook_numbers`.
"""

import ast
import json
import re

import pandas as pd

from tests import ROOT

KNOWN = ROOT / "tests/reproduction/review/notebook_numbers.csv"
WORDS = 4  # before a number


def shown(expression):
    """The columns that an expression takes, and what is made of them."""
    nodes = list(ast.walk(expression))
    places = [n for node in nodes if isinstance(node, ast.Subscript) for n in ast.walk(node.slice)]
    columns = [n.value for n in places if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    columns += [n.id for n in places if columns and isinstance(n, ast.Name)]  # of rows
    methods = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    return " ".join([*columns, *methods]) if columns else ""


def numbers(source):
    """The words before each number in the sentences of a cell, and its columns."""
    for sentence in ast.walk(ast.parse(source)):
        words = []
        for part in sentence.values if isinstance(sentence, ast.JoinedStr) else ():
            if isinstance(part, ast.Constant):
                words += re.findall(r"[\w|^]+", part.value)
            elif columns := shown(part.value):
                yield " ".join(words[-WORDS:]), columns


def numbers_of_all_pages():
    """A table with the columns of `notebook_numbers.csv`, from the notebooks as they are now."""
    rows = [
        (path.stem, *row)
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "code"
        for row in numbers("".join(cell["source"]))
    ]
    return pd.DataFrame(rows, columns=["page", "words", "columns"])


def test_sentences_show_the_columns_that_they_name():
    known = pd.read_csv(KNOWN, dtype=str, keep_default_na=False)
    assert numbers_of_all_pages().values.tolist() == known.values.tolist()


if __name__ == "__main__":  # after a change of a sentence; then read what the file shows as changed
    numbers_of_all_pages().to_csv(KNOWN, index=False, lineterminator="\n")
