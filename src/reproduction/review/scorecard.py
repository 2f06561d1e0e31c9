"""The scorecard: what the papers claim against what this run found, with computed verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from reproduction.review.claims import tables_of
from reproduction.review.measure import Measured, measure

REPRODUCED, DIFFERS, UNDECIDED, NOT_CHECKABLE = VERDICTS = (
    "reproduced",
    "differs",
    "undecided",
    "not checkable",
)
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
    "our_error",
    "unit",
    "statistic",
    "bar",
    "bar_of",
    "verdict",
    "note",
)
NO_NUMBER = "no number in the paper"
READ_OFF = ", read off its figure"  # what a paper shows and does not print
EXACT = "exact"  # in the place of an error
UNKNOWN = "unknown"  # that of a single run
SIGNS = {"equals": "=", "at_least": ">=", "at_most": "<=", "contains": "contains"}


def scorecard(
    claims: list[Mapping], tables: Mapping[str, pd.DataFrame], provenance: Mapping
) -> pd.DataFrame:
    """Judge every claim by the tables alone.

    Parameters
    ----------
    claims : list of mappings
        From `reproduction.review.claims.read_claims`: `ours`, what this run found, in the claim's
        own unit and with its Monte Carlo error; `judged`, a number that stands for the distance
        from the paper (the value itself where it is left out); `read_off`, whether the paper's
        value is read off its figure and not printed; the `bar` that it must meet, and
        whose that is; `tells`, how large a run must be for a bar that is not met to say anything;
        `needs`, what a run must have for its value to bear on the claim at all; and the vintage of
        the demonstration data without which the claim cannot be checked.
    tables : mapping from name to DataFrame
    provenance : mapping
        Of the demonstration data; see `reproduction.data.fetch.Provenance`.

    Returns
    -------
    DataFrame with the columns `COLUMNS`

    Raises
    ------
    InputError
        If a claim measures a column or row that does not exist.
    """
    return pd.DataFrame([_judge(claim, tables, provenance) for claim in claims], columns=COLUMNS)


def _judge(claim: Mapping, tables: Mapping[str, pd.DataFrame], provenance: Mapping) -> dict:
    notes = [claim["note"]] if claim.get("note") else []
    found = judged = None
    verdict, needed = NOT_CHECKABLE, claim.get("needs_vintage")
    missing = [name for name in tables_of(claim) if name not in tables]
    if missing:
        notes.append(f"this run does not make the table {missing[0]}")
    elif not needed or provenance["das_available"]:
        found = measure(claim["claim"], claim["ours"], tables)
        judged = measure(claim["claim"], claim["judged"], tables) if "judged" in claim else found
        if judged.missing:
            notes.append("the measure has no value in this run")
        else:
            verdict, why = decide(judged, claim["bar"], _size(claim, "tells", tables))
            lacking = _lacking(_size(claim, "needs", tables))
            if lacking:
                verdict, why = NOT_CHECKABLE, lacking
            notes += [why] if why else []
    if needed and provenance["vintage"] != needed:
        verdict = NOT_CHECKABLE
        have = (
            f"this run has vintage {provenance['vintage']}, whose value is shown"
            if found is not None
            else "this run has no demonstration data"
        )
        notes.append(f"needs the demonstration data of vintage {needed}; {have}")
    value, error = shown(found) if found is not None and not found.missing else ("", "")
    if value and claim.get("exact"):
        error = EXACT
    return {key: claim[key] for key in COLUMNS[: COLUMNS.index("paper_value")]} | {
        "paper_value": _of_paper(claim, found) + (READ_OFF if claim.get("read_off") else ""),
        "our_value": value,
        "our_error": error,
        "unit": claim.get("unit", ""),
        "statistic": _statistic(claim, judged),
        "bar": ", ".join(f"{SIGNS[name]} {_bound(bound)}" for name, bound in claim["bar"].items()),
        "bar_of": claim["bar_of"],
        "verdict": verdict,
        "note": "; ".join(notes),
    }


def _of_paper(claim: Mapping, found: Measured | None) -> str:
    """Give the paper's words, and what its formula comes to where our value was found."""
    words = claim["paper_value"] or NO_NUMBER
    if found is None:
        return words
    if found.formulas:
        return f"{words}, {' and '.join(map(_text, found.formulas))}"
    if len(found.paper_errors) == len(words.split(" and ")):
        return _with_errors(words, [f"{each:.{_places(each)}f}" for each in found.paper_errors])
    return words


def _size(
    claim: Mapping, key: str, tables: Mapping[str, pd.DataFrame]
) -> tuple[float, float, str] | None:
    """How much this run has, how much it would have to have, and of what."""
    how = claim.get(key)
    if how is None:
        return None
    found = measure(claim["claim"], how, tables)
    return math.nan if found.missing else found.one, how["at_least"], how["what"]


def _lacking(size: tuple[float, float, str] | None) -> str:
    """Say what a run lacks whose value does not bear on the claim; nothing where it does."""
    if size is None or size[0] >= size[1]:
        return ""
    return f"{_have(size[0])} {size[2]}, and {_text(float(size[1]))} would be needed"


def _have(number: float) -> str:
    how_many = "does not say how many" if math.isnan(number) else f"has {_text(float(number))}"
    return f"this run {how_many}"


def decide(
    judged: Measured, bar: Mapping, size: tuple[float, float, str] | None = None
) -> tuple[str, str]:
    """Verdict on a value, and why none could be reached.

    A bar that lies within the value's Monte Carlo range is neither met nor missed, and one that a
    run misses that is too small to tell says nothing.

    Parameters
    ----------
    judged : Measured
    bar : mapping
        Conditions: equals, at_least, at_most, contains.
    size : (have, wanted, what), optional

    Returns
    -------
    verdict, reason : str
        The reason is empty unless the verdict is "undecided".
    """
    ends = [judged.values, *zip(*judged.ranges, strict=True)]
    met = [all(meets(value, bar) for value in end) for end in ends]
    if all(met):
        return REPRODUCED, ""
    if size is not None and not met[0] and not size[0] >= size[1]:
        return UNDECIDED, f"{_have(size[0])} {size[2]}, and {_text(float(size[1]))} would tell"
    if all(map(_reaches, judged.ranges, [bar] * len(judged.ranges))):
        within = "the bar lies within the Monte Carlo error"
        return UNDECIDED, f"{within}{_parts(judged, bar)}{_draws_wanted(judged, bar)}"
    return DIFFERS, ""


def _reaches(within: tuple, bar: Mapping) -> bool:
    """Whether some value of a range meets every condition; an end that is not known is anywhere."""
    low, high = within
    if isinstance(low, str | list) or "contains" in bar:
        return meets(low, bar)
    least = [-math.inf, *(bar[name] for name in ("at_least", "equals") if name in bar)]
    most = [math.inf, *(bar[name] for name in ("at_most", "equals") if name in bar)]
    low, high = -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high
    return max(low, *least) <= min(high, *most)


def _parts(judged: Measured, bar: Mapping) -> str:
    """Say of how many of several values the error reaches over the bar, and of which."""
    if len(judged.values) == 1:
        return ""
    told = [meets(low, bar) and meets(high, bar) for low, high in judged.ranges]
    names = judged.names or [str(place) for place, _ in enumerate(told, start=1)]
    which = " and ".join(name for name, known in zip(names, told, strict=True) if not known)
    if not any(told):
        return f" of all {len(told)}"
    return f" of {told.count(False)} of {len(told)} ({which}), and the others meet it"


def _draws_wanted(judged: Measured, bar: Mapping) -> str:
    """Say at how many draws the error would tell the value from the bar, if it stayed there."""
    if judged.draws is None or len(judged.values) != 1:
        return ""
    gap = min(abs(judged.one - bound) for name, bound in bar.items() if name != "contains")
    if not gap > 0:
        return ""
    reach = max(abs(judged.one - end) for end in judged.ranges[0])
    wanted = judged.draws * (reach / gap) ** 2
    much = f"{float(f'{wanted:.1g}'):,.0f} {judged.counted}"
    return f", and about {much} would tell, where it stays as it is"


def meets(value, bar: Mapping) -> bool:
    """Whether a value meets every condition: equals, at_least, at_most, contains."""
    judges = {
        "equals": lambda bound: value == bound,
        "at_least": lambda bound: value >= bound,
        "at_most": lambda bound: value <= bound,
        "contains": lambda bound: bound in value,
    }
    return all(judges[name](bound) for name, bound in bar.items())


def shown(found: Measured) -> tuple[str, str]:
    """Values and errors as people write them: errors in two figures, values no finer than these.

    Where the table has limits in place of an error, these.
    """
    if found.errors:
        places = [_places(error) for error in found.errors]
        pairs = list(zip(found.values, found.errors, places, strict=True))
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
    """Write a number in so many digits, a large one without powers of ten."""
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
    values = " and ".join(
        _number(x, 3) if isinstance(x, float) else _text(x) for x in judged.values
    )
    within = [
        f"{_number(low, 3)} to {_number(high, 3)}" for low, high in judged.ranges if low != high
    ]
    reach = f" ({' and '.join(within)})" if within else ""
    return f"{values}{reach} {claim['judged']['what']}"


def sentence(row: Mapping) -> str:
    """Say in one line what the paper has, what was found, and how it was judged."""
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


def summary(card: pd.DataFrame) -> str:
    """Say in a line or more what the scorecard found; what differs or is undecided is named."""
    counts = card["verdict"].value_counts()
    parts = (f"{counts.get(verdict, 0)} {verdict}" for verdict in VERDICTS)
    lines = [f"Scorecard of {len(card)} claims: " + ", ".join(parts) + "."]
    for verdict in (DIFFERS, UNDECIDED):
        for _, row in card[card["verdict"] == verdict].iterrows():
            why = f"; {row['note'].rsplit('; ', 1)[-1]}" if verdict == UNDECIDED else ""
            lines.append(
                f"  {verdict}: {row['claim']} ({row['paper']} {row['where']}): {sentence(row)}{why}"
            )
    return "\n".join(lines)
