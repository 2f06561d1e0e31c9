"""Coverage of the papers: the claims on every statement, figure, table and printed number.

The folder `coverage` has one CSV file per paper, in the order of the paper. A row names the claims
that judge a statement, or the reason why no claim does.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from isdp.errors import InputError
from reproduction.jobs.claims import Claim
from reproduction.review.claims import PAPERS
from reproduction.review.scorecard import DIFFERS, NOT_CHECKABLE, REPRODUCED, UNDECIDED

FOLDER = Path(__file__).parent / "coverage"
COLUMNS = ("where", "kind", "statement", "claims", "reason", "needs_pdf")
KINDS = ("definition", "theorem", "example", "equation", "figure", "table", "number", "statement")
NO_ASSERTION = "no assertion"  # verdict on a definition without a claim
WORST_FIRST = (DIFFERS, UNDECIDED, NOT_CHECKABLE, REPRODUCED)


def read_coverage(claims: Iterable[Claim], folder: Path = FOLDER) -> pd.DataFrame:
    """Read the statements of all papers, with a column `paper`, in the order of the papers.

    The column `claims` becomes a list of names.

    Raises
    ------
    InputError
        If a row is repeated, or its kind or a claim is unknown. A row must have either claims or a
        reason.
    """
    parts = []
    for paper in PAPERS:
        part = pd.read_csv(folder / f"{paper}.csv", dtype=str, keep_default_na=False)
        if tuple(part.columns) != COLUMNS:
            raise InputError(f"{paper}.csv: the columns must be {', '.join(COLUMNS)}.")
        parts.append(part.assign(paper=paper, claims=part["claims"].str.split()))
    coverage = pd.concat(parts, ignore_index=True)
    own: dict[str, set[str]] = {paper: set() for paper in PAPERS}
    for claim in claims:
        own[claim.paper].add(claim.name)
    for row in coverage.itertuples():
        where = f"{row.paper}.csv: {row.where}: {row.statement}"
        if row.kind not in KINDS:
            raise InputError(f"{where}: the kind {row.kind!r} is unknown. Use {', '.join(KINDS)}.")
        if bool(row.claims) == bool(row.reason):
            raise InputError(f"{where}: give either claims or a reason.")
        if unknown := set(row.claims) - own[row.paper]:
            raise InputError(f"{where}: {', '.join(sorted(unknown))} is no claim of this paper.")
    if (repeated := coverage.duplicated(["paper", "where", "statement"])).any():
        raise InputError(f"coverage: {coverage[repeated].iloc[0]['statement']} is repeated.")
    return coverage


def read_substitutes(claims: Iterable[Claim], folder: Path = FOLDER) -> pd.DataFrame:
    """Read the settings that our text copies of the papers lack, with the values used instead.

    The column `claims` names the claims whose verdicts depend on a setting. Raises InputError if a
    claim does not exist.
    """
    table = pd.read_csv(folder / "substitutes.csv", dtype=str, keep_default_na=False)
    known = {claim.name for claim in claims}
    for row in table.itertuples():
        if unknown := set(row.claims.split()) - known:
            raise InputError(f"substitutes.csv: {row.setting}: {min(unknown)} is no claim.")
    return table


def judge_coverage(coverage: pd.DataFrame, verdicts: Mapping[str, str]) -> pd.DataFrame:
    """Add the verdict on each statement, which is the worst verdict on its claims.

    A definition without a claim asserts nothing. Another statement without a claim is not
    checkable, for the reason in its row.
    """

    def judge(claims: list[str], kind: str) -> str:
        if not claims:
            return NO_ASSERTION if kind == "definition" else NOT_CHECKABLE
        return min((verdicts[name] for name in claims), key=WORST_FIRST.index)

    judged = [judge(*row) for row in zip(coverage["claims"], coverage["kind"], strict=True)]
    table = coverage.assign(claims=coverage["claims"].str.join(" "), verdict=judged)
    return table[
        ["paper", "where", "kind", "statement", "verdict", "claims", "reason", "needs_pdf"]
    ]


def count_statements(table: pd.DataFrame) -> pd.DataFrame:
    """Count the statements of each paper by verdict, with a last row for all papers."""
    counts = pd.crosstab(table["paper"], table["verdict"])
    counts = counts.reindex(index=list(PAPERS), columns=[*WORST_FIRST[::-1], NO_ASSERTION])
    counts = counts.fillna(0).astype(int)
    counts.loc["all papers"] = counts.sum()
    counts.insert(0, "statements", counts.sum(axis=1))
    return counts.rename_axis("paper").rename_axis(columns=None).reset_index()
