"""The report on a comparison in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

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
    "If the distribution of an error is known, the error is computed from it or bounded from above "
    "(*at most*). All other errors are simulated and have two standard errors after ±."
)

OVERLAP = (
    "The held totals overlap. If one person cannot change cell alone, tables with equal totals "
    "differ in several people. The loss of k people is at most k times the loss of one person if "
    "it is pure, and at most k squared times if it is zero-concentrated."
)


def why_confidential(comparison: Comparison) -> str:
    """Return the reason why the comparison is confidential, or "" if it is not."""
    question = comparison.question
    if question.source != CONFIDENTIAL:
        return ""
    return (
        f"CONFIDENTIAL: the sizes and the simulated errors depend on the counts in "
        f"{question.from_file}, and no guarantee covers them. To publish a comparison, leave the "
        f"counts out, or give a public table as --stand-in."
    )


def markdown(comparison: Comparison) -> str:
    """Return the report in Markdown."""
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


def format_budget(parameter: str, budget: float) -> str:
    """Write a budget with its parameter, and never round a loss down."""
    return (
        f"{parameter} {budget:g}" if parameter == "rate" else f"{parameter} {upper_decimal(budget)}"
    )


def heading(flavour: str, unit: str) -> str:
    """Return the heading of a group of systems, such as "pure, for one person who ..."."""
    return f"{flavour}, for one {unit.removeprefix('one ')}"


def _asked(comparison: Comparison) -> Iterator[str]:
    question = comparison.question
    held = "; ".join(one.name for one in question.held)
    yield (
        f"{counted(question.cells, 'cell')} of {question.table.path.name}; held exactly, and not "
        f"protected: {_plain(held)}. Errors are the root mean square error of an answer, in "
        f"persons."
    )
    yield ""
    if question.source == NO_COUNTS:
        yield "No count was used, so that this page may be published."
    elif question.source != CONFIDENTIAL:
        yield (
            f"No count of {question.table.path.name} was used. The sizes and the simulated errors "
            f"are computed from the stand-in {question.from_file}. They would be different for "
            f"{question.table.path.name}."
        )
    yield f"{NOISE} {comparison.simulations} runs each." if _any(comparison, SIMULATED) else NOISE
    if question.free.blocks is None:
        yield OVERLAP
    yield ""
    bounded = " An upper bound is ranked as if it were the error." * _any(comparison, BOUNDED)
    yield (
        f"Ranks are in brackets, and compare systems of one flavour, unit and budget. Systems "
        f"share a rank if their errors differ by less than two standard errors.{bounded} The "
        f"tables below are not ranked against each other."
    )


def _any(comparison: Comparison, method: str) -> bool:
    return bool((comparison.errors["rmse_is"] == method).any())


def _group(comparison: Comparison, part: pd.DataFrame) -> Iterator[str]:
    for (parameter, budget), some in part.groupby(["parameter", "budget"], sort=False):
        yield f"### {format_budget(parameter, budget)}"
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


def _table(part: pd.DataFrame, shown: Callable[[pd.Series], str]) -> Iterator[str]:
    names = list(dict.fromkeys(part["system"]))
    part = part.assign(ranked=len(names) > 1)
    yield f"| error of | answers | {' | '.join(names)} |"
    yield "|---|---|" + "---|" * len(names)
    for (query, size), rows in part.groupby(["query", "size"], sort=False):
        words = query if size == ALL else f"{query} of {size}"
        cells = {row["system"]: shown(row) for _, row in rows.iterrows()}
        written = " | ".join(cells.get(name, "") for name in names)
        yield f"| {_plain(words)} | {rows['answers'].iloc[0]:,} | {written} |"
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
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _from_above(value: float) -> str:
    return f"{math.ceil(value):,}" if value >= 1000 else upper_decimal(value, 3)


def _exactly(value: float) -> str:
    """Write all digits of a command's budget, because a rounded budget would have another loss."""
    return repr(float(value)).removesuffix(".0")


def _plain(text: str) -> str:
    return on_one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _protected(comparison: Comparison) -> Iterator[str]:
    for _, row in comparison.systems.iterrows():
        counts = [
            "whole counts" if row["whole"] else "fractional counts, for study and not for release",
            "none below zero" if row["nonnegative"] else "some may be below zero",
            "unbiased" if row["unbiased"] else "biased",
        ]
        yield (
            f"- **{row['system']}** ({row['paper']}) at "
            f"{format_budget(row['parameter'], row['budget'])}: "
            f"{_safe(row['guarantee'])}. Releases {'; '.join(counts)}. {_command(comparison, row)}"
        )


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def _command(comparison: Comparison, row: pd.Series) -> str:
    budget, nested = row["budget"], comparison.question.nested
    if row["paper"] == "ISDP":
        unit = "a unit of l1" if row["parameter"] == "epsilon" else "a unit of squared l2"
        half = _exactly(budget / PER_MOVE)
        return f"`isdp privatize --per-unit --{row['parameter']} {half}`, which is for {unit}."
    if nested is not None and row["paper"] == "TDA":
        return (
            f"`isdp topdown --levels {nested.region},{nested.area} --held {nested.region} "
            f"--{row['parameter']} {_exactly(budget)}`."
        )
    if nested is not None and row["paper"] == "SWAP":
        roles = f"--match {nested.region} --swap {nested.area}"
        return f"`isdp swap {roles} --rate {_exactly(budget)}`, on records."
    if row["paper"] == "ours":
        return f"`isdp privatize --{row['parameter']} {_exactly(budget)}`, with the same levels."
    return "From Python alone: `isdp.compare.systems`."


def _left_out(comparison: Comparison) -> Iterator[str]:
    for (system, parameter, reason), rows in comparison.left_out.groupby(
        ["system", "parameter", "reason"], sort=False
    ):
        budgets = ", ".join(format_budget(parameter, budget) for budget in rows["budget"])
        yield f"- **{system}** at {budgets}: {_safe(reason)}."


def _across(comparison: Comparison) -> Iterator[str]:
    groups = comparison.systems[[*GROUP, "parameter"]].drop_duplicates()
    if len(groups) == 1:
        yield "All systems here have one flavour and one unit."
        return
    yield "The tables above are not ranked against each other."
    people = comparison.systems[comparison.systems["unit"] == PERSON]
    if {"pure", "zCDP"} <= set(people["flavour"]):
        pairs = []
        for epsilon in people.loc[people["flavour"] == "pure", "budget"].unique():
            rho = as_zcdp(IntegerLaplace().noise_guarantee(epsilon)).loss_per_person or 0
            pairs.append(f"{format_budget('epsilon', epsilon)} is rho {upper_decimal(rho)}")
        yield ""
        yield (
            f"- **pure and zCDP.** A pure guarantee with epsilon implies zCDP with rho = "
            f"epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4). For one person "
            f"{'; '.join(pairs)}. A pure system may be compared with zCDP systems at that rho, and "
            f"its guarantee is stronger. There is no theorem in the other direction, because no "
            f"rho gives an epsilon without a delta. A comparison of a pure system with zCDP at "
            f"another rho assumes that losses beyond epsilon, with a chosen probability delta, do "
            f"no harm."
        )
    if len(people) and len(people) < len(comparison.systems):
        yield ""
        yield (
            "- **swapping and all others.** No theorem converts the epsilon of swapping into an "
            "epsilon for a person, nor the reverse. It is for a record, between sets of records "
            "that agree in the total of each area and in all cells of each region. The nearest two "
            "sets have a distance of two units. A comparison with the others assumes that these "
            "totals, which swapping publishes exactly, need no protection, and that only the area "
            "of a record within its region needs it."
        )
