"""File `results/claims.json`: every claim with its evidence and the run that judged it.

`workflow/schemas/claims.schema.json` describes the file.
"""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from reproduction.jobs.claims import Claim, Quantity

FORMAT = "1"
# columns of the scorecard, in words, next to the numbers of the evidence
COLUMNS = ("paper", "where", "statement", "paper_value", "unit", "verdict", "who_is_right", "note")


def describe_claims(
    claims: Iterable[Claim],
    card: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    run: Mapping,
) -> dict:
    """Describe the claims of a run, with `run` as the identity of the run.

    A claim of which a table is missing has no evidence.
    """
    rows = card.set_index("claim")
    return {
        "format": FORMAT,
        "run": dict(run),
        "claims": [_describe(claim, rows.loc[claim.name], tables) for claim in claims],
    }


def _describe(claim: Claim, row: pd.Series, tables: Mapping[str, pd.DataFrame]) -> dict:
    about = {"claim": claim.name, "study": claim.study, "transcription": claim.transcription}
    about |= {key: row[key] for key in COLUMNS} | {"tables": list(claim.tables)}
    if claim.missing_tables(tables):
        return about | {"evidence": None}
    found = claim.evidence(tables)
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
    """Convert to JSON: a missing number becomes null, and an infinite one the word `infinite`."""
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "infinite"
    return value
