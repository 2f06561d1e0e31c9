"""Rows of the tables of statements that are checked by exact computation, in several studies."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

Row = dict[str, object]
COLUMNS = ["statement", "setting", "value", "bound", "ratio", "cases", "failures"]


def build_table(rows: Iterable[Row]) -> pd.DataFrame:
    """Build the table of statements, with one row per statement and setting."""
    return pd.DataFrame(list(rows), columns=COLUMNS).astype({"cases": "Int64", "failures": "Int64"})


def compare(statement: str, setting: str, values: Iterable[float], bounds: Iterable[float]) -> Row:
    """Return the row of the case with the largest ratio of its value to its bound."""
    values, bounds = np.asarray(list(values), float), np.asarray(list(bounds), float)
    worst = int(np.argmax(values / bounds))
    return {
        "statement": statement,
        "setting": setting,
        "value": values[worst],
        "bound": bounds[worst],
        "ratio": values[worst] / bounds[worst],
        "cases": len(values),
    }


def count_failures(statement: str, setting: str, holds: Iterable[bool]) -> Row:
    """Return a row with the number of cases and the number of failures."""
    cases = np.asarray(list(holds), dtype=bool)
    failures = int((~cases).sum())
    return {"statement": statement, "setting": setting, "cases": cases.size, "failures": failures}
