"""File `results/claims.json`: every claim with its evidence and the run that judged it.

`workflow/schemas/claims.schema.json` describes the file.
"""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from reproduction.jobs.claims import Claim, Evidence, Quantity

FORMAT = "1"
# columns of the scorecard that are copied for each claim, in addition to its evidence
COLUMNS = ("paper", "where", "statement", "paper_value", "unit", "verdict", "who_is_right", "note")


def describe_claims(
    claims: Iterable[Claim], card: pd.DataFrame, evidence: Mapping[str, Evidence | None]
) -> list[dict]:
    """Describe claims with their rows of the scorecard and their evidence, which may be missing."""
    rows = card.set_index("claim")
    return [_describe(claim, rows.loc[claim.name], evidence[claim.name]) for claim in claims]


def _describe(claim: Claim, row: pd.Series, found: Evidence | None) -> dict:
    about = {"claim": claim.name, "study": claim.study, "transcription": claim.transcription}
    about |= {key: row[key] for key in COLUMNS} | {"tables": list(claim.tables)}
    if found is None:
        return about | {"evidence": None}
    statistic = found.statistic and {"name": found.statistic_name, **_numbers(found.statistic)}
    conditions = [
        {"relation": relation, "bound": _json(bound)}
        for relation, bound in found.criterion.conditions
    ]
    evidence = {
        "ours": _numbers(found.ours),
        "statistic": statistic,
        "criterion": {"conditions": conditions, "whose": found.criterion.whose},
    }
    return about | {"evidence": evidence}


def _numbers(quantity: Quantity) -> dict:
    keys = ("values", "errors", "limits", "exact", "table", "rows", "column")
    return {key: _json(getattr(quantity, key)) for key in keys}


def _json(value):
    """Convert a value to JSON. A missing number becomes null, and an infinite number "infinite"."""
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "infinite"
    return value
