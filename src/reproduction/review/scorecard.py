"""Scorecard: the papers' claims and the values of this run, with computed verdicts."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from reproduction.jobs.claims import Claim, Criterion, Evidence, Quantity

VERDICTS = ("reproduced", "differs", "undecided", "not checkable")
REPRODUCED, DIFFERS, UNDECIDED, NOT_CHECKABLE = VERDICTS
CLAIM_COLUMNS = ("claim", "wing", "experiment", "page", "paper", "where", "statement")
VALUE_COLUMNS = ("paper_value", "our_value", "our_error", "unit", "statistic")
COLUMNS = (*CLAIM_COLUMNS, *VALUE_COLUMNS, "bar", "bar_of", "verdict", "who_is_right", "note")
NO_NUMBER = "no number in the paper"
READ_OFF = ", read off its figure"  # for a value that only a figure of the paper gives
EXACT = "exact"  # shown instead of an error
UNKNOWN = "unknown"  # shown as the error of a single run
IN_WORDS = {"=": "equal to", ">=": "at least", "<=": "at most", "contains": "contains"}
SOURCES = {"paper": "the paper's criterion", "ours": "our criterion"}


def judge_claims(
    claims: Iterable[Claim],
    tables: Mapping[str, pd.DataFrame],
    provenance: Mapping,
    pages: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, dict[str, Evidence | None]]:
    """Judge every claim by the tables and the provenance of the demonstration data alone.

    Returns the scorecard, and the evidence by the names of the claims. The evidence is None if a
    table of the claim is missing. `pages` maps the studies to their review notebooks. Raises
    InputError if a claim names a missing column.
    """
    rows, evidence = [], {}
    for claim in claims:
        missing = claim.missing_tables(tables)
        found = None if missing else claim.evidence(tables)
        rows.append(_judge(claim, found, missing, provenance))
        evidence[claim.name] = found
    card = pd.DataFrame(rows, columns=COLUMNS)
    card["page"] = [(pages or {}).get(study, study) for study in card["wing"]]
    return card, evidence


def _judge(claim: Claim, found: Evidence | None, missing: list[str], provenance: Mapping) -> dict:
    notes = [claim.note] if claim.note else []
    verdict, needed = NOT_CHECKABLE, claim.needs_vintage
    if found is None:
        notes.append(f"this run does not make the table {missing[0]}")
    elif judged_quantity(found).is_missing:
        notes.append("the measure has no value in this run")
    elif found.needs and found.needs.shortfall:
        notes.append(found.needs.shortfall)
    else:
        verdict, why = decide(found)
        notes += [why] if why else []
    available = not needed or provenance["das_available"]
    if needed and provenance["vintage"] != needed:
        verdict = NOT_CHECKABLE
        have = "no demonstration data"
        if available:
            have = f"vintage {provenance['vintage']}, whose value is shown"
        notes.append(f"needs the demonstration data of vintage {needed}; this run has {have}")
    return {
        "claim": claim.name,
        "wing": claim.study,
        **{key: getattr(claim, key) for key in ("experiment", "paper", "where", "statement")},
        "paper_value": _of_paper(claim, found) + (READ_OFF if claim.read_off else ""),
        "unit": claim.unit,
        **_describe_evidence(found, available),
        "verdict": verdict,
        "who_is_right": claim.if_differs if verdict == DIFFERS else "",
        "note": "; ".join([*(each.removesuffix(".") for each in notes[:-1]), *notes[-1:]]),
    }


def _describe_evidence(found: Evidence | None, available: bool) -> dict[str, str]:
    """Describe our value and the criterion. `available` is False if the value needs other data."""
    if found is None:
        return dict.fromkeys(("our_value", "our_error", "statistic", "bar", "bar_of"), "")
    has_value = available and not found.ours.is_missing
    value, error = format_value(found.ours) if has_value else ("", "")
    conditions = found.criterion.conditions
    return {
        "our_value": value,
        "our_error": EXACT if value and found.ours.exact else error,
        "statistic": _statistic(found) if available else "",
        "bar": ", ".join(f"{relation} {_bound(bound)}" for relation, bound in conditions),
        "bar_of": found.criterion.whose,
    }


def judged_quantity(found: Evidence) -> Quantity:
    """Return the quantity to which the criterion applies."""
    return found.ours if found.statistic is None else found.statistic


def _of_paper(claim: Claim, found: Evidence | None) -> str:
    """Return the paper's value in words, and the values of its formula if it has one."""
    formula = [" and ".join(map(_text, found.paper.values))] if found and found.paper else []
    return ", ".join([claim.paper_value or NO_NUMBER, *formula])


def decide(found: Evidence) -> tuple[str, str]:
    """Return the verdict on the evidence, and the reason for "undecided".

    A value is undecided if the criterion is met by some values in its Monte Carlo range and not by
    others. It is also undecided if it fails the criterion in a run that is too small.
    """
    judged, criterion = judged_quantity(found), found.criterion
    ends = [judged.values, *zip(*judged.ranges, strict=True)]
    met = [all(map(criterion.is_met_by, end)) for end in ends]
    if all(met):
        return REPRODUCED, ""
    lacking = found.decides.shortfall if found.decides else ""
    if lacking and not met[0]:
        return UNDECIDED, lacking
    if all(criterion.is_met_within(*within) for within in judged.ranges):
        within = "the criterion lies within the Monte Carlo error"
        return UNDECIDED, f"{within}{_parts(judged, criterion)}{_draws_wanted(judged, criterion)}"
    return DIFFERS, ""


def _parts(judged: Quantity, criterion: Criterion) -> str:
    """If there are several values, name those whose Monte Carlo range includes the criterion."""
    if len(judged.values) == 1:
        return ""
    names = judged.names or list(map(str, range(1, len(judged.values) + 1)))
    sure = [all(map(criterion.is_met_by, within)) for within in judged.ranges]
    doubtful = [name for name, is_sure in zip(names, sure, strict=True) if not is_sure]
    if len(doubtful) == len(names):
        return f" of all {len(names)}"
    which = " and ".join(doubtful)
    return f" of {len(doubtful)} of {len(names)} ({which}), and the others meet it"


def _draws_wanted(judged: Quantity, criterion: Criterion) -> str:
    """Estimate the number of draws that would separate the value from the criterion."""
    if judged.n_draws is None or len(judged.values) != 1:
        return ""
    value = judged.values[0]
    bounds = [bound for relation, bound in criterion.conditions if relation != "contains"]
    gap = min(abs(value - bound) for bound in bounds)
    if not gap > 0:
        return ""
    reach = max(abs(value - end) for end in judged.ranges[0])
    wanted = judged.n_draws * (reach / gap) ** 2
    much = f"{float(f'{wanted:.1g}'):,.0f} {judged.draws_name}"
    return f", and about {much} would decide, if the value stays the same"


def format_value(found: Quantity) -> tuple[str, str]:
    """Format values with limits, or with errors of two significant digits."""
    if found.errors:
        pairs = [(*pair, _places(pair[1])) for pair in zip(found.values, found.errors, strict=True)]
        values = [f"{value:,.{n}f}" for value, _, n in pairs]
        errors = [UNKNOWN if math.isnan(error) else f"{error:,.{n}f}" for _, error, n in pairs]
        return " and ".join(values), " and ".join(errors)
    within = [f"{_text(low)} to {_text(high)}" for low, high in found.ranges if low != high]
    exact = found.exact and all(isinstance(x, float) and x.is_integer() for x in found.values)
    values = [int(x) if exact else x for x in found.values]
    return " and ".join(map(_text, values)), " and ".join(within)


def _places(error: float) -> int:
    """Return the number of decimal places at which an error has two digits."""
    if not (error > 0 and math.isfinite(error)):
        return 2
    return max(0, 1 - math.floor(math.log10(error)))


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if 10**digits <= abs(value) < 1e12 else text


def _text(value) -> str:
    if isinstance(value, float):
        return "infinite" if math.isinf(value) else _number(value, 4)
    if isinstance(value, int) and abs(value) >= 10**4:
        return f"{value:,}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _bound(bound) -> str:
    return f"{bound:,.12g}" if isinstance(bound, float) and math.isfinite(bound) else _text(bound)


def _statistic(found: Evidence) -> str:
    judged = found.statistic
    if judged is None or judged.is_missing:
        return ""
    values = [_number(x, 3) if isinstance(x, float) else _text(x) for x in judged.values]
    ranges = [pair for pair in judged.ranges if pair[0] != pair[1]]
    within = " and ".join(f"{_number(low, 3)} to {_number(high, 3)}" for low, high in ranges)
    return f"{' and '.join(values)}{f' ({within})' if within else ''} {found.statistic_name}"


def describe_cells(row: Mapping) -> dict[str, str]:
    """Describe a row of the scorecard in the cells `paper`, `here`, `criterion` and `why`."""
    here = row["our_value"] or "no value"
    if " to " in row["our_error"]:
        here += f" ({row['our_error']})"
    elif row["our_error"] == EXACT:
        here += " (exact)"
    elif row["our_error"]:
        here = _with_errors(here, row["our_error"].split(" and "))
    conditions = [part.partition(" ")[::2] for part in row["bar"].split(", ") if part]
    bar = " and ".join(f"{IN_WORDS[relation]} {bound}" for relation, bound in conditions)
    criterion = f"{bar} ({SOURCES[row['bar_of']]})" if bar else ""
    why = [each.removesuffix(".") for each in (row["who_is_right"], row["note"]) if each]
    return {
        "paper": row["paper_value"],
        "here": here,
        "criterion": "; ".join(each for each in (row["statistic"], criterion) if each),
        "why": ". ".join(each[:1].upper() + each[1:] for each in why) + "." * bool(why),
    }


def _with_errors(values: str, errors: list[str]) -> str:
    pairs = zip(values.split(" and "), errors, strict=True)
    return " and ".join(f"{value} ± {error}" for value, error in pairs)


def summarise_scorecard(card: pd.DataFrame) -> str:
    """Summarise the scorecard, and name the claims that differ or are undecided."""
    counts = card["verdict"].value_counts()
    parts = (f"{counts.get(verdict, 0)} {verdict}" for verdict in VERDICTS)
    lines = [f"Scorecard of {len(card)} claims: " + ", ".join(parts) + "."]
    for verdict in (DIFFERS, UNDECIDED):
        for _, row in card[card["verdict"] == verdict].iterrows():
            cells = describe_cells(row)
            lines.append(f"  {verdict}: {row['claim']} ({row['paper']}, {row['where']})")
            lines.append(f"    paper: {cells['paper']}; here: {cells['here']}, {row['unit']}")
            lines.append(f"    criterion: {cells['criterion']}")
            why = row["who_is_right"] or row["note"].rsplit("; ", 1)[-1]
            lines.append(f"    why: {why}")
    return "\n".join(lines)
