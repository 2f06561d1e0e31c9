"""A comparison in words and tables, for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from isdp.accounting import as_zcdp, upper_decimal
from isdp.commands.compare.question import CELLS, CONFIDENTIAL, NO_COUNTS
from isdp.commands.compare.run import ALL, PERSON, Comparison
from isdp.commands.shared.margins import BOUNDED, SIMULATED
from isdp.compare.systems import PER_MOVE, IntegerLaplace
from isdp.io.csv_files import on_one_line
from isdp.io.wording import counted

GROUP = ["flavour", "unit"]
NOISE = (
    "Where a law is known errors are computed from it, or bounded from above (*at most*). All else "
    "is simulated: ± stands before two standard errors."
)

OVERLAP = (
    "The totals held overlap, so that it may be that nobody can change cell alone: tables that "
    "agree in them then differ in several people. Of a pure loss k people have at most k times "
    "that of one, of a zero-concentrated loss at most k squared times."
)


def why_confidential(comparison: Comparison) -> str:
    """Say in one line that all of it is confidential, and why; "" where it is not."""
    question = comparison.question
    if question.source != CONFIDENTIAL:
        return ""
    return (
        f"CONFIDENTIAL: sizes and simulated errors here are functions of the counts in "
        f"{question.from_file}, and no guarantee covers them. For a comparison that may be shown "
        f"leave the counts out, or give a public table as --stand-in."
    )


def markdown(comparison: Comparison) -> str:
    """Write the comparison for people."""
    marked = why_confidential(comparison)
    lines = [f"**{marked}**", ""] * bool(marked) + ["# Which system gives which error", ""]
    lines += [*_asked(comparison), ""]
    for (flavour, unit), part in comparison.errors.groupby(GROUP, sort=False):
        lines += [f"## {heading(flavour, unit)}", "", *_group(comparison, part)]
    lines += ["## What each protects", "", *_protected(comparison), ""]
    if len(comparison.left_out):
        lines += ["## Systems that do not apply", "", *_left_out(comparison), ""]
    lines += ["## Across flavours and units", "", *_across(comparison), ""]
    return "\n".join(lines)


def budget_told(parameter: str, budget: float) -> str:
    """Write a budget, and never a loss that is less than it."""
    return (
        f"{parameter} {budget:g}" if parameter == "rate" else f"{parameter} {upper_decimal(budget)}"
    )


def heading(flavour: str, unit: str) -> str:
    """Name what systems of one group privacy_guarantee, such as "pure, for one person who ..."."""
    return f"{flavour}, for one {unit.removeprefix('one ')}"


def _asked(comparison: Comparison) -> Iterator[str]:
    question = comparison.question
    held = "; ".join(one.name for one in question.held)
    yield (
        f"{counted(question.cells, 'cell')} of {question.table.path.name}; held exactly, and not "
        f"protected: {_plain(held)}. Errors are the root mean squared error of an answer, in "
        f"persons."
    )
    yield ""
    if question.source == NO_COUNTS:
        yield "No count was looked at: what is said here may be shown."
    elif question.source != CONFIDENTIAL:
        yield (
            f"No count of {question.table.path.name} was used: sizes and simulated errors are "
            f"those of the stand-in {question.from_file}, and differ as far as the two tables do."
        )
    yield f"{NOISE} {comparison.simulations} runs each." if _any(comparison, SIMULATED) else NOISE
    if question.free.blocks is None:
        yield OVERLAP
    yield ""
    bounded = " A figure *at most* ranks as if it were attained." * _any(comparison, BOUNDED)
    yield (
        f"Ranks, in brackets, are among systems of one flavour, unit and budget, and shared where "
        f"two standard errors do not tell the errors apart.{bounded} Between the tables below "
        f"there is no rank."
    )


def _any(comparison: Comparison, how: str) -> bool:
    """Whether an error was found so."""
    return bool((comparison.errors["rmse_is"] == how).any())


def _group(comparison: Comparison, part: pd.DataFrame) -> Iterator[str]:
    for (parameter, budget), some in part.groupby(["parameter", "budget"], sort=False):
        yield f"### {budget_told(parameter, budget)}"
        yield ""
        yield from _table(some, _error)
        biased = [
            row["system"]
            for _, row in comparison.systems.iterrows()
            if not row["unbiased"] and row["system"] in set(some["system"])
        ]
        tilted = some[some["system"].isin(biased) & (some["query"] == CELLS)]
        if (tilted["size"] != ALL).any():
            yield "Mean error (bias) of cells by their true size:"
            yield ""
            yield from _table(tilted[tilted["size"] != ALL], _bias)


def _table(part: pd.DataFrame, shown) -> Iterator[str]:
    names = list(dict.fromkeys(part["system"]))
    part = part.assign(ranked=len(names) > 1)
    yield f"| error of | answers | {' | '.join(names)} |"
    yield "|---|---|" + "---|" * len(names)
    for (query, size), rows in part.groupby(["query", "size"], sort=False):
        words = query if size == ALL else f"{query} of {size}"
        cells = {row["system"]: shown(row) for _, row in rows.iterrows()}
        told = " | ".join(cells.get(name, "") for name in names)
        yield f"| {_plain(words)} | {rows['answers'].iloc[0]:,} | {told} |"
    yield ""


def _error(row: pd.Series) -> str:
    if row["rmse"] == 0 and row["rmse_is"] != SIMULATED:
        return "0, held"
    rank = f" ({row['rank']})" if row["ranked"] else ""
    bounded = row["rmse_is"] == BOUNDED
    words = f"at most {_from_above(row['rmse'])}" if bounded else _number(row["rmse"])
    if row["rmse_is"] == SIMULATED:
        words += f" ± {_number(row['rmse_error'])}"
    return words + rank


def _bias(row: pd.Series) -> str:
    words = f"{row['bias']:+.3g}"
    return words + (f" ± {_number(row['bias_error'])}" if row["bias_is"] == SIMULATED else "")


def _number(value: float) -> str:
    """Three digits, and no fewer than those of a whole number."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _from_above(value: float) -> str:
    """As `_number`, and never less than the value."""
    return f"{math.ceil(value):,}" if value >= 1000 else upper_decimal(value, 3)


def _exactly(value: float) -> str:
    """All digits of a setting that a command is to be given: rounded up it would cost more."""
    return repr(float(value)).removesuffix(".0")


def _plain(text: str) -> str:
    """Make a text of a user safe within a line of a table."""
    return on_one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _protected(comparison: Comparison) -> Iterator[str]:
    for _, row in comparison.systems.iterrows():
        kinds = [
            "whole counts" if row["whole"] else "fractional counts, for study and not for release",
            "none below zero" if row["nonnegative"] else "some may be below zero",
            "unbiased" if row["unbiased"] else "biased",
        ]
        yield (
            f"- **{row['system']}** ({row['paper']}) at "
            f"{budget_told(row['parameter'], row['budget'])}: "
            f"{_safe(row['guarantee'])}. Releases {'; '.join(kinds)}. {_how(comparison, row)}"
        )


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def _how(comparison: Comparison, row: pd.Series) -> str:
    """Say which command or function releases a table so."""
    budget, nested = row["budget"], comparison.question.nested
    if row["paper"] == "ISDP" and row["parameter"] == "epsilon":
        half = _exactly(budget / PER_MOVE)
        return f"`isdp privatize --per-unit --epsilon {half}`, which is for a unit of l1."
    if row["paper"] == "ISDP":
        half = _exactly(budget / PER_MOVE)
        return f"`isdp privatize --per-unit --rho {half}`, for a unit of squared l2."
    if row["paper"] == "TDA":
        return (
            f"`isdp topdown --levels {nested.region},{nested.area} --held {nested.region} "
            f"--{row['parameter']} {_exactly(budget)}`."
        )
    if row["paper"] == "SWAP":
        roles = f"--match {nested.region} --swap {nested.area}"
        return f"`isdp swap {roles} --rate {_exactly(budget)}`, on records."
    return "From Python alone: `isdp.compare.systems`."


def _left_out(comparison: Comparison) -> Iterator[str]:
    for (system, parameter, reason), rows in comparison.left_out.groupby(
        ["system", "parameter", "reason"], sort=False
    ):
        budgets = ", ".join(budget_told(parameter, budget) for budget in rows["budget"])
        yield f"- **{system}** at {budgets}: {_safe(reason)}."


def _across(comparison: Comparison) -> Iterator[str]:
    """Say what would have to be believed to set the tables beside one another."""
    groups = comparison.systems[[*GROUP, "parameter"]].drop_duplicates()
    if len(groups) == 1:
        yield "All systems here have one flavour and one unit."
        return
    yield "No ranking goes across the tables above."
    people = comparison.systems[comparison.systems["unit"] == PERSON]
    if {"pure", "zCDP"} <= set(people["flavour"]):
        pairs = []
        for epsilon in people.loc[people["flavour"] == "pure", "budget"].unique():
            rho = as_zcdp(IntegerLaplace().noise_guarantee(epsilon)).loss_per_person
            pairs.append(f"{budget_told('epsilon', epsilon)} is rho {upper_decimal(rho)}")
        yield ""
        yield (
            f"- **pure and zCDP.** One way there is a theorem (Bun and Steinke 2016, Proposition "
            f"1.4): what is pure with epsilon is zCDP with rho = epsilon^2 / 2, so for one person "
            f"{'; '.join(pairs)}. A pure system may stand beside zCDP ones at that rho, and gives "
            f"more than they do. The other way there is none: no rho gives an epsilon without a "
            f"delta. Who sets a pure system beside zCDP at another rho has to believe that losses "
            f"beyond epsilon, of a chance delta that somebody has to choose, harm nobody."
        )
    if len(people) and len(people) < len(comparison.systems):
        yield ""
        yield (
            "- **swapping and all others.** No theorem turns its epsilon into one for a person, "
            "nor the other way. It is for a record, between sets of records that agree in the "
            "total of each area and in all cells of each region, and the nearest of these differ "
            "by twice its unit. Who sets it beside the others has to believe that those totals, "
            "which it publishes as they are, tell nothing that needs protection, and that where a "
            "record is, among the areas of its region, is all that does."
        )
