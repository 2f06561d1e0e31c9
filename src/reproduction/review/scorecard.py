"""The scorecard: what the papers claim against what this run found, with computed verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pandas as pd

from isdp.errors import InputError

REPRODUCED, DIFFERS, NOT_CHECKABLE = "reproduced", "differs", "not checkable"
COLUMNS = (
    "claim",
    "wing",
    "experiment",
    "page",
    "paper",
    "where",
    "statement",
    "paper_value",
    "our_value",
    "tolerance",
    "verdict",
    "note",
)
TAKES: dict[str, Callable[[pd.Series], object]] = {
    "max": lambda column: column.max(),
    "min": lambda column: column.min(),
    "max_abs": lambda column: column.abs().max(),
    "mean": lambda column: column.mean(),
    "sum": lambda column: column.sum(),
    "rows": len,
    "values": lambda column: sorted(set(column)),
}


def scorecard(
    claims: list[Mapping], tables: Mapping[str, pd.DataFrame], provenance: Mapping
) -> pd.DataFrame:
    """Judge every claim by the tables alone.

    Parameters
    ----------
    claims : list of mappings
        From `reproduction.review.claims.read_claims`: what is measured (a table, rows, a column,
        a way to take one value of it), the tolerance that the value must meet, and the vintage of
        the demonstration data without which the claim cannot be checked.
    tables : mapping from name to DataFrame
    provenance : mapping
        Of the demonstration data; see `reproduction.data.fetch.Provenance`.

    Returns
    -------
    DataFrame with the columns claim, wing, experiment, page (the notebook that argues it), paper,
    where, statement, paper_value, our_value, tolerance, verdict and note

    Raises
    ------
    InputError
        If a claim measures a column or row that does not exist.
    """
    return pd.DataFrame([_judge(claim, tables, provenance) for claim in claims], columns=COLUMNS)


def _judge(claim: Mapping, tables: Mapping[str, pd.DataFrame], provenance: Mapping) -> dict:
    notes = [claim["note"]] if claim.get("note") else []
    value, verdict = None, NOT_CHECKABLE
    needed, table = claim.get("needs_vintage"), claim["measure"]["table"]
    if table not in tables:
        notes.append(f"this run does not make the table {table}")
    elif not needed or provenance["das_available"]:
        value = measure(claim["claim"], claim["measure"], tables)
    if value is not None and not _missing(value):
        verdict = REPRODUCED if meets(value, claim["tolerance"]) else DIFFERS
    elif not needed and table in tables:
        notes.append("the measure has no value in this run")
    if needed and provenance["vintage"] != needed:
        verdict = NOT_CHECKABLE
        have = (
            f"this run has vintage {provenance['vintage']}, whose value is shown"
            if value is not None
            else "this run has no demonstration data"
        )
        notes.append(f"needs the demonstration data of vintage {needed}; {have}")
    return {
        **{name: claim[name] for name in COLUMNS[: COLUMNS.index("our_value")]},
        "our_value": _shown(value),
        "tolerance": _tolerance_shown(claim["tolerance"]),
        "verdict": verdict,
        "note": "; ".join(notes),
    }


def measure(claim: str, how: Mapping, tables: Mapping[str, pd.DataFrame]):
    """Take the one value of the tables that a claim is about.

    Parameters
    ----------
    claim : str
        Name of the claim, for messages.
    how : mapping
        `table`; `rows`, an optional pandas query; `column`; `take`, one of max, min, max_abs,
        mean, sum, rows (their number) and values (the sorted set). Of no rows at all there is
        no value, nan, but their number and their set.
    tables : mapping from name to DataFrame
    """
    table = tables[how["table"]]
    if "rows" in how:
        try:
            table = table.query(how["rows"])
        except Exception as error:
            raise InputError(
                f"scorecard: claim {claim}: rows {how['rows']!r} cannot be selected in table "
                f"{how['table']} ({error})"
            ) from error
    column = how.get("column", table.columns[0])
    if column not in table:
        raise InputError(f"scorecard: claim {claim}: table {how['table']} has no column {column!r}")
    if table.empty and how["take"] not in ("rows", "values"):
        return math.nan
    value = TAKES[how["take"]](table[column])
    return value.item() if hasattr(value, "item") else value


def meets(value, tolerance: Mapping) -> bool:
    """Whether a value meets every condition: equals, at_least, at_most, contains."""
    judges = {
        "equals": lambda bound: value == bound,
        "at_least": lambda bound: value >= bound,
        "at_most": lambda bound: value <= bound,
        "contains": lambda bound: bound in value,
    }
    return all(judges[name](bound) for name, bound in tolerance.items())


def summary(card: pd.DataFrame) -> str:
    """Say in a line or more what the scorecard found; each claim that differs is named."""
    counts = card["verdict"].value_counts()
    parts = (f"{counts.get(v, 0)} {v}" for v in (REPRODUCED, DIFFERS, NOT_CHECKABLE))
    lines = [f"Scorecard of {len(card)} claims: " + ", ".join(parts) + "."]
    for _, row in card[card["verdict"] == DIFFERS].iterrows():
        lines.append(
            f"  differs: {row['claim']} ({row['paper']} {row['where']}): paper "
            f"{row['paper_value']}, here {row['our_value']}, tolerance {row['tolerance']}"
        )
    return "\n".join(lines)


def _missing(value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _shown(value) -> str:
    if value is None or _missing(value):
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def _tolerance_shown(tolerance: Mapping) -> str:
    words = {"equals": "=", "at_least": ">=", "at_most": "<=", "contains": "contains"}
    return ", ".join(f"{words[name]} {bound}" for name, bound in tolerance.items())
