"""Small tables that fit a claim's own queries: rows that it looks at, and rows that it must not."""

import ast
import itertools
import math
import re

import numpy as np
import pandas as pd

OTHER = "none of these"


def rows_for(queries, extra=None):
    """Every combination of values that could make one of the queries true or false.

    Each column that a query names takes the constants that it is compared with, their neighbours,
    and, by how it is used, true and false, no value, or 0, 1 and 2.

    Parameters
    ----------
    queries : iterable of str
        Pandas queries of one table.
    extra : mapping from column to list, optional
        Further values.

    Returns
    -------
    DataFrame
        One row, without columns, where there is no query.
    """
    values = {name: list(some) for name, some in (extra or {}).items()}
    for query in queries:
        for name, some in _values_in(query):
            known = values.setdefault(name, [])
            known += [value for value in some if not _among(value, known)]
    names = list(values)
    combined = list(itertools.product(*(_of_one_kind(values[name]) for name in names)))
    frame = pd.DataFrame(combined, columns=names, index=range(len(combined)))
    return frame.infer_objects()


def _values_in(query):
    quoted = re.findall("`([^`]*)`", query)
    for place, name in enumerate(quoted):
        query = query.replace(f"`{name}`", f"quoted_{place}")
    real = {f"quoted_{place}": name for place, name in enumerate(quoted)}
    tree = ast.parse(query, mode="eval")
    compared = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Call):
            names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
            constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            constants = [value for value in constants if _is_data(node, value)]
            compared.update(names)
            missing = isinstance(node, ast.Call) and node.func.attr == "notna"
            for name in names:
                yield real.get(name, name), _near(constants, missing)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in compared:
            yield real.get(node.id, node.id), [True, False]


def _is_data(node, value):
    """Whether a constant is what a column is compared with, and no option of a method."""
    return not isinstance(node, ast.Call) or value in [
        each.value for each in node.args if isinstance(each, ast.Constant)
    ]


def _near(constants, missing):
    found = [math.nan] if missing else []
    for value in constants:
        if isinstance(value, bool):
            found += [True, False]
        elif isinstance(value, str):
            found += [value, OTHER]
        else:
            found += [value, value - 1, value + 1, value + 100]
    return found if found else [0, 1, 2]


def _among(value, known):
    return any(type(value) is type(each) and str(value) == str(each) for each in known)


def _of_one_kind(values):
    """A column that may be missing has another value as well; true and false are no numbers."""
    if all(isinstance(value, float) and math.isnan(value) for value in values):
        return [1.0, math.nan]
    return values


def chosen(frame, query):
    """Whether a query selects each row; all where there is none."""
    if query is None:
        return np.ones(len(frame), dtype=bool)
    return frame.index.isin(frame.query(query).index)
