"""Scorecard: the papers' claims and the values of this run, with computed verdicts."""

import math
import operator
from collections.abc import Mapping

import pandas as pd

from reproduction.review.claims import list_claim_tables
from reproduction.review.measure import Measured, measure

VERDICTS = ("reproduced", "differs", "undecided", "not checkable")
REPRODUCED, DIFFERS, UNDECIDED, NOT_CHECKABLE = VERDICTS
CLAIM_COLUMNS = ("claim", "wing", "experiment", "page", "paper", "where", "statement")
VALUE_COLUMNS = ("paper_value", "our_value", "our_error", "unit", "statistic")
COLUMNS = (*CLAIM_COLUMNS, *VALUE_COLUMNS, "bar", "bar_of", "verdict", "note")
NO_NUMBER = "no number in the paper"
READ_OFF = ", read off its figure"  # a value in a figure of the paper only
EXACT = "exact"  # instead of an error
UNKNOWN = "unknown"  # the error of a single run
CONDITIONS = {
    "equals": ("=", operator.eq),
    "at_least": (">=", operator.ge),
    "at_most": ("<=", operator.le),
    "contains": ("contains", operator.contains),
}


def build_scorecard(
    claims: list[Mapping], tables: Mapping[str, pd.DataFrame], provenance: Mapping
) -> pd.DataFrame:
    """Judge every claim by the tables and the provenance of the demonstration data alone.

    Raises InputError if a claim measures a missing column or row.
    """
    return pd.DataFrame([_judge(claim, tables, provenance) for claim in claims], columns=COLUMNS)


def _judge(claim: Mapping, tables: Mapping[str, pd.DataFrame], provenance: Mapping) -> dict:
    notes = [claim["note"]] if claim.get("note") else []
    found = judged = None
    verdict, needed = NOT_CHECKABLE, claim.get("needs_vintage")
    missing = [name for name in list_claim_tables(claim) if name not in tables]
    if missing:
        notes.append(f"this run does not make the table {missing[0]}")
    elif not needed or provenance["das_available"]:
        found = measure(claim["claim"], claim["ours"], tables)
        judged = measure(claim["claim"], claim["judged"], tables) if "judged" in claim else found
        if judged.missing:
            notes.append("the measure has no value in this run")
        elif lacking := _lacking(claim, "needs", tables):
            notes.append(lacking)
        else:
            verdict, why = decide(judged, claim["bar"], _lacking(claim, "tells", tables))
            notes += [why] if why else []
    if needed and provenance["vintage"] != needed:
        verdict = NOT_CHECKABLE
        have = "no demonstration data"
        if found is not None:
            have = f"vintage {provenance['vintage']}, whose value is shown"
        notes.append(f"needs the demonstration data of vintage {needed}; this run has {have}")
    value, error = format_value(found) if found is not None and not found.missing else ("", "")
    bar = claim["bar"].items()
    return {key: claim[key] for key in (*CLAIM_COLUMNS, "bar_of")} | {
        "paper_value": _of_paper(claim, found) + (READ_OFF if claim.get("read_off") else ""),
        "our_value": value,
        "our_error": EXACT if value and claim.get("exact") else error,
        "unit": claim.get("unit", ""),
        "statistic": _statistic(claim, judged),
        "bar": ", ".join(f"{CONDITIONS[name][0]} {_bound(bound)}" for name, bound in bar),
        "verdict": verdict,
        "note": "; ".join(notes),
    }


def _of_paper(claim: Mapping, found: Measured | None) -> str:
    """Return the paper's value in words, with the value of its formula or its error if known."""
    words = claim["paper_value"] or NO_NUMBER
    if found is None:
        return words
    if found.formulas:
        return f"{words}, {' and '.join(map(_text, found.formulas))}"
    if len(found.paper_errors) == len(words.split(" and ")):
        return _with_errors(words, [f"{each:.{_places(each)}f}" for each in found.paper_errors])
    return words


def _lacking(claim: Mapping, key: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Describe the shortfall of this run from the claim's requirement; "" if there is none."""
    if key not in claim:
        return ""
    how = claim[key]
    found = measure(claim["claim"], how, tables)
    have = math.nan if found.missing else found.one
    if have >= how["at_least"]:
        return ""
    number = "does not state its number of" if math.isnan(have) else f"has {_text(float(have))}"
    return f"this run {number} {how['what']}, and {_text(float(how['at_least']))} are needed"


def decide(judged: Measured, bar: Mapping, lacking: str = "") -> tuple[str, str]:
    """Return the verdict on a value, and the reason for "undecided".

    The bar, which is the criterion, has the conditions equals, at_least, at_most and contains. A
    value is undecided if the bar lies within its Monte Carlo range. It is also undecided if it
    fails the bar in a run that is too small, as `lacking` describes.
    """
    ends = [judged.values, *zip(*judged.ranges, strict=True)]
    met = [all(meets_bar(value, bar) for value in end) for end in ends]
    if all(met):
        return REPRODUCED, ""
    if lacking and not met[0]:
        return UNDECIDED, lacking
    if all(_reaches(within, bar) for within in judged.ranges):
        within = "the bar lies within the Monte Carlo error"
        return UNDECIDED, f"{within}{_parts(judged, bar)}{_draws_wanted(judged, bar)}"
    return DIFFERS, ""


def _reaches(within: tuple, bar: Mapping) -> bool:
    """Return True if a value of a range meets every condition; an unknown end is unlimited."""
    low, high = within
    if isinstance(low, str | list) or "contains" in bar:
        return meets_bar(low, bar)
    low, high = -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high
    low_bar = max(bar.get(name, -math.inf) for name in ("at_least", "equals"))
    high_bar = min(bar.get(name, math.inf) for name in ("at_most", "equals"))
    return max(low, low_bar) <= min(high, high_bar)


def _parts(judged: Measured, bar: Mapping) -> str:
    """Describe which of several values have the bar within their Monte Carlo error."""
    if len(judged.values) == 1:
        return ""
    names = judged.names or list(map(str, range(1, len(judged.values) + 1)))
    sure = [all(meets_bar(end, bar) for end in within) for within in judged.ranges]
    doubtful = [name for name, is_sure in zip(names, sure, strict=True) if not is_sure]
    if len(doubtful) == len(names):
        return f" of all {len(names)}"
    which = " and ".join(doubtful)
    return f" of {len(doubtful)} of {len(names)} ({which}), and the others meet it"


def _draws_wanted(judged: Measured, bar: Mapping) -> str:
    """Estimate the number of draws that would separate the value from the bar."""
    if judged.draws is None or len(judged.values) != 1:
        return ""
    gap = min(abs(judged.one - bound) for name, bound in bar.items() if name != "contains")
    if not gap > 0:
        return ""
    reach = max(abs(judged.one - end) for end in judged.ranges[0])
    wanted = judged.draws * (reach / gap) ** 2
    much = f"{float(f'{wanted:.1g}'):,.0f} {judged.counted}"
    return f", and about {much} would decide, if the value stays the same"


def meets_bar(value, bar: Mapping) -> bool:
    """Return True if a value meets every condition: equals, at_least, at_most, contains."""
    return all(CONDITIONS[name][1](value, bound) for name, bound in bar.items())


def format_value(found: Measured) -> tuple[str, str]:
    """Format values and errors: errors to two digits and values to the same places, or limits."""
    if found.errors:
        pairs = [(*pair, _places(pair[1])) for pair in zip(found.values, found.errors, strict=True)]
        values = [f"{value:,.{n}f}" for value, _, n in pairs]
        errors = [UNKNOWN if math.isnan(error) else f"{error:,.{n}f}" for _, error, n in pairs]
        return " and ".join(values), " and ".join(errors)
    within = [f"{_text(low)} to {_text(high)}" for low, high in found.ranges if low != high]
    return " and ".join(map(_text, found.values)), " and ".join(within)


def _places(error: float) -> int:
    """Decimal places at which an error has two figures."""
    if not (error > 0 and math.isfinite(error)):
        return 2
    return max(0, 1 - math.floor(math.log10(error)))


def _number(value: float, digits: int) -> str:
    """Format a number with some significant digits, without powers of ten."""
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if 10**digits <= abs(value) < 1e12 else text


def _text(value) -> str:
    if isinstance(value, float):
        return "infinite" if math.isinf(value) else _number(value, 4)
    if isinstance(value, int) and abs(value) >= 10**4:
        return f"{value:,}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _bound(bound) -> str:
    return str(bound) if isinstance(bound, float) and math.isfinite(bound) else _text(bound)


def _statistic(claim: Mapping, judged: Measured | None) -> str:
    if "judged" not in claim or judged is None or judged.missing:
        return ""
    values = [_number(x, 3) if isinstance(x, float) else _text(x) for x in judged.values]
    ranges = [pair for pair in judged.ranges if pair[0] != pair[1]]
    within = " and ".join(f"{_number(low, 3)} to {_number(high, 3)}" for low, high in ranges)
    return f"{' and '.join(values)}{f' ({within})' if within else ''} {claim['judged']['what']}"


def describe_row(row: Mapping) -> str:
    """Describe the paper's value, the value of this run, and the criterion in one sentence."""
    ours = row["our_value"] or "no value"
    if " to " in row["our_error"]:
        ours += f" ({row['our_error']})"
    elif row["our_error"] not in ("", EXACT):
        ours = _with_errors(ours, row["our_error"].split(" and "))
    unit = f" {row['unit']}" if row["unit"] and row["our_value"] else ""
    paper = row["paper_value"]
    words = paper.removesuffix(READ_OFF)
    first = paper if paper == NO_NUMBER else f"{words} in the paper{paper[len(words) :]}"
    whose = {"paper": "the paper's", "ours": "ours"}[row["bar_of"]]
    bar = f"bar {row['bar']}, {whose}"
    last = f"; {row['statistic']} ({bar})" if row["statistic"] else f" ({bar})"
    exactly = ", exactly" if row["our_error"] == EXACT else ""
    return f"{first}; {ours}{unit} here{exactly}{last}"


def _with_errors(values: str, errors: list[str]) -> str:
    pairs = zip(values.split(" and "), errors, strict=True)
    return " and ".join(f"{value} ± {error}" for value, error in pairs)


def summarise_scorecard(card: pd.DataFrame) -> str:
    """Summarise the scorecard; claims that differ or are undecided are named."""
    counts = card["verdict"].value_counts()
    parts = (f"{counts.get(verdict, 0)} {verdict}" for verdict in VERDICTS)
    lines = [f"Scorecard of {len(card)} claims: " + ", ".join(parts) + "."]
    for verdict in (DIFFERS, UNDECIDED):
        for _, row in card[card["verdict"] == verdict].iterrows():
            why = f"; {row['note'].rsplit('; ', 1)[-1]}" if verdict == UNDECIDED else ""
            where = f"{row['claim']} ({row['paper']} {row['where']})"
            lines.append(f"  {verdict}: {where}: {describe_row(row)}{why}")
    return "\n".join(lines)
