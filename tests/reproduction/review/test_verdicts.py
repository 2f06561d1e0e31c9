"""Every claim of the project: agreement is reproduced, a plausible wrong result is not.

The tables are made from the claim's own queries, so that a claim that is added is tested too.
"""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from reproduction.review.claims import list_claim_tables, list_columns, list_measures
from reproduction.review.columns import parse_names
from reproduction.review.measure import RANGE_ERRORS
from reproduction.review.scorecard import build_scorecard, describe_row, meets_bar
from tests.reproduction.review.made_tables import OTHER, chosen, rows_for
from tests.reproduction.review.test_claims import CLAIMS

ROWS = 3  # that a claim looks at, and as many that it must not
LARGE, SMALL = 100, 1  # of what tells how large a run is, where a query asks for it too

# What is claimed is the extreme itself, so that a wrong value shows only where it is the extreme.
# All other claims must notice one wrong row among others that are right.
OF_THE_EXTREME = {
    "sdp-infeasible": "no delta lies above 1",
    "truncation-least-county": "the least populous county",
    "tda-gq-smaller": "a number that can be smaller, in one state",
    "tda-gq-not-unimodular": "one determinant refutes it",
}


def judging(claim):
    return claim.get("judged", claim["ours"])


def verdict(claim, tables):
    vintage = claim.get("needs_vintage", "20000101")
    card = build_scorecard([claim], tables, {"das_available": True, "vintage": vintage})
    return card.iloc[0]["verdict"]


def right(bar):
    """A value well within the bar."""
    if "equals" in bar:
        return bar["equals"]
    low, high = bar.get("at_least"), bar.get("at_most")
    if low is None:
        return high - (abs(high) / 2 or 1.0)
    return low + (abs(low) / 2 or 1.0) if high is None else (low + high) / 2


def wrong(bar):
    """Values just outside the bar, far outside it, and with the other sign where that is wrong."""
    found = []
    if "equals" in bar:
        value = bar["equals"]
        if isinstance(value, bool):
            return [not value]
        found = [value - 1, value + 1, -value] if math.isfinite(value) else [0.0, 1e9, -value]
        found = [each for each in found if each != value]
    if "at_most" in bar:
        found += [bar["at_most"] + step(bar["at_most"]), 10 * (abs(bar["at_most"]) + 1)]
    if "at_least" in bar:
        found += [bar["at_least"] - step(bar["at_least"]), -10 * (abs(bar["at_least"]) + 1)]
    return [float(each) for each in found]


def step(bound):
    """A part in a million."""
    return abs(bound or 1.0) / 1e6


def hidden(how, value, bar):
    """Whether one row with this value is hidden by others that are right."""
    inside = right(bar)
    if how["take"] == "max":
        return value < inside
    if how["take"] == "min":
        return value > inside
    return how["take"] == "max_abs" and abs(value) < abs(inside)


def as_size(how, value, bar):
    """Whether only the size of a value is asked for, and its size lies within the bar."""
    return how["take"] == "max_abs" and meets_bar(abs(value), bar)


@cache
def made_for(name, large=True):
    (claim,) = [claim for claim in CLAIMS if claim["claim"] == name]
    return Made(claim, large)


class Made:
    """Tables for a claim: which rows its judging measure looks at, and all values right."""

    def __init__(self, claim, large=True):
        self.claim, self.how, self.bar = claim, judging(claim), claim["bar"]
        self.tables = {name: self._frame(name, large) for name in list_claim_tables(claim)}
        name = self.how["table"]
        frame = self.tables[name]
        self.among = chosen(frame, self.how.get("among"))
        self.looked_at = self.among & chosen(frame, self.how.get("rows"))

    def _frame(self, name, large):
        measures = [how for how in list_measures(self.claim) if how["table"] == name]
        queries = [how[key] for how in measures for key in ("among", "rows") if key in how]
        frame = rows_for(queries)
        size = self.claim.get("tells")
        told = size is not None and size["table"] == name and size["column"] in frame
        if told:
            wanted = LARGE if large else SMALL
            frame = frame[frame[size["column"]] == wanted].reset_index(drop=True)
        asked = {column for how in measures for column in list_columns(how)}
        for column in sorted(asked):
            if column not in frame:
                frame[column] = 0.0
        if size is not None and size["table"] == name and not told:
            frame[size["column"]] = size["at_least"] * (1.0 if large else 0.5)
        needed = self.claim.get("needs")
        if needed is not None and needed["table"] == name:
            frame[needed["column"]] = needed["at_least"]
        return frame

    def only(self, selected, others=None):
        """Tables with these rows of the judging one, by their places; a place may stand twice."""
        name = self.how["table"]
        places = [*selected, *(self.others() if others is None else others)]
        table = self.tables[name].iloc[places].reset_index(drop=True)
        return self.tables | {name: table}

    def selected(self, number=None):
        places = np.flatnonzero(self.looked_at)
        assert len(places) > 0, "no row fits the claim's query"
        wanted = number or (1 if self.how["take"] == "only" else ROWS)
        return [places[place % len(places)] for place in range(wanted)]

    def others(self):
        return list(np.flatnonzero(self.among & ~self.looked_at)[:ROWS])

    def with_values(self, values, outside, error=None):
        """Tables with given values in the rows looked at, and one in all others."""
        tables = self.only(self.selected())
        table = tables[self.how["table"]]
        column, number = self.how["column"], len(values)
        assert not chosen_by(self.how, column), "the value is asked of the column that selects"
        table[column] = [*values, *[outside] * (len(table) - number)]
        if isinstance(values[0], float):
            table[column] = table[column].astype(float)
        if "error" in self.how:
            table[self.how["error"]] = 0.0 if error is None else error / RANGE_ERRORS
        for name, sign in zip(self.how.get("limits", []), (-1, 1), strict=False):
            table[name] = table[column] + sign * (0.0 if error is None else error)
        size = self.claim.get("tells", {})
        if "draws" in self.how and self.how["draws"] != size.get("column"):
            table[self.how["draws"]] = 1000.0
        return tables


def chosen_by(how, column):
    return any(column in parse_names(how[key]) for key in ("rows", "among") if key in how)


def of_kind(*takes):
    return [
        pytest.param(claim, id=claim["claim"])
        for claim in CLAIMS
        if judging(claim)["take"] in takes and not isinstance(claim["bar"].get("equals"), str)
    ]


NUMBERS = of_kind("max", "min", "max_abs", "only", "sum", "each")


@pytest.mark.parametrize("claim", NUMBERS)
def test_a_value_within_the_bar_is_reproduced_whatever_stands_in_other_rows(claim):
    made = made_for(claim["claim"])
    values = spread(made, right(made.bar))
    for outside in (wrong(made.bar)[-1], math.nan):
        assert verdict(claim, made.with_values(values, outside)) == "reproduced"


def spread(made, value):
    """Values of the rows looked at that are right together."""
    rest = len(made.selected()) - 1
    if made.how["take"] == "sum":
        return [float(value), *[0.0] * rest]
    return [value] * (rest + 1) if isinstance(value, bool) else [float(value)] * (rest + 1)


@pytest.mark.parametrize("claim", NUMBERS)
def test_one_wrong_value_turns_the_verdict(claim):
    made = made_for(claim["claim"])
    good = right(made.bar)
    values = spread(made, good)
    tried = 0
    for bad in wrong(made.bar):
        if hidden(made.how, bad, made.bar) or as_size(made.how, bad, made.bar):
            continue
        for place in range(len(values)):
            some = list(values)
            some[place] = bad if made.how["take"] != "sum" else some[place] + bad - good
            assert verdict(claim, made.with_values(some, good)) == "differs", (bad, place)
            tried += 1
    assert tried > 0 or claim["claim"] in OF_THE_EXTREME


# of one value, and of a sum, the test above tries the very same tables
@pytest.mark.parametrize("claim", of_kind("max", "min", "max_abs", "each"))
def test_wrong_values_everywhere_turn_the_verdict(claim):
    made = made_for(claim["claim"])
    good = right(made.bar)
    for bad in wrong(made.bar):
        if as_size(made.how, bad, made.bar):
            continue
        values = spread(made, bad)
        assert verdict(claim, made.with_values(values, good)) == "differs", bad


def test_only_claims_on_an_extreme_may_miss_a_wrong_row():
    numbers = [claim.values[0] for claim in NUMBERS]
    blind = {
        claim["claim"]
        for claim in numbers
        for bad in wrong(claim["bar"])
        if hidden(judging(claim), bad, claim["bar"])
        and not as_size(judging(claim), bad, claim["bar"])
    }
    assert blind == set(OF_THE_EXTREME)


@pytest.mark.parametrize("claim", NUMBERS)
def test_one_missing_value_is_not_reproduced(claim):
    made = made_for(claim["claim"])
    good = right(made.bar)
    values = spread(made, float(good))
    for place in range(len(values)):
        some = list(values)
        some[place] = math.nan
        assert verdict(claim, made.with_values(some, good)) == "not checkable"


@pytest.mark.parametrize(
    "claim", [each for each in NUMBERS if {"error", "limits"} & set(judging(each.values[0]))]
)
def test_an_error_that_reaches_over_the_bar_leaves_it_undecided(claim):
    made = made_for(claim["claim"])
    good = right(made.bar)
    outside = wrong(made.bar)
    for value in (good, *outside):
        reach = min(abs(value - bound) for bound in made.bar.values())
        tables = made.with_values(spread(made, value), good, error=1.01 * reach)
        assert verdict(claim, tables) == "undecided", value
    for value in outside:
        reach = min(abs(value - bound) for bound in made.bar.values())
        tables = made.with_values(spread(made, value), good, error=0.99 * reach)
        assert verdict(claim, tables) == "differs", value


@pytest.mark.parametrize("claim", of_kind("rows"))
def test_a_row_more_or_less_turns_the_verdict(claim):
    made = made_for(claim["claim"])
    number, step = right_number(made.bar)
    others = made.others()
    at_all = made.selected(max(number + 1, 1))
    if number == 0:
        assert len(others) > 0, "all rows are exceptions"
    assert verdict(claim, made.only(at_all[:number], others)) == "reproduced"
    for other in (number - 1, number + 1):
        if other >= 0 and (step == 0 or (other - number) * step < 0):
            tables = made.only(at_all[:other], others or [])
            wanted = "differs" if other or others else "not checkable"
            assert verdict(claim, tables) == wanted, other


def right_number(bar):
    """The number of rows that is claimed, at its limit, and on which side more may be."""
    if "equals" in bar:
        return bar["equals"], 0
    (bound,) = bar.values()
    return bound, 1 if "at_least" in bar else -1


@pytest.mark.parametrize("claim", of_kind("rows"))
def test_no_exception_is_claimed_where_nothing_was_looked_at(claim):
    made = made_for(claim["claim"])
    assert verdict(claim, made.only([], [])) == "not checkable"
    if "among" in made.how:
        outside = list(np.flatnonzero(~made.among)[:ROWS])
        assert len(outside) > 0
        assert verdict(claim, made.only([], outside)) == "not checkable"


@pytest.mark.parametrize("claim", of_kind("values"))
def test_a_set_without_the_value_claimed_turns_the_verdict(claim):
    made = made_for(claim["claim"])
    wanted = claim["bar"]["contains"]
    there = [wanted, OTHER, OTHER]
    assert verdict(claim, made.with_values(there, OTHER)) == "reproduced"
    assert verdict(claim, made.with_values([OTHER] * ROWS, wanted)) == "differs"


WORDS = [
    pytest.param(claim, id=claim["claim"])
    for claim in CLAIMS
    if isinstance(claim["bar"].get("equals"), str)
]


@pytest.mark.parametrize("claim", WORDS)
def test_another_word_or_a_further_one_turns_the_verdict(claim):
    made = made_for(claim["claim"])
    wanted, column = claim["bar"]["equals"], made.how["column"]
    table = made.tables[made.how["table"]]
    (place, *_) = made.selected()
    words = (
        set(table[column][made.looked_at]) - {wanted} if chosen_by(made.how, column) else {OTHER}
    )
    for word in words:
        for found, expected in (
            ([wanted], "reproduced"),
            ([word], "differs"),
            ([wanted, word], "differs"),
            ([], "not checkable"),
        ):
            if chosen_by(made.how, column):
                places = [
                    np.flatnonzero(made.looked_at & (table[column] == each))[0] for each in found
                ]
                tables = made.only(places)
            else:
                tables = made.only([place] * len(found), others=[])
                tables[made.how["table"]][column] = found
            assert verdict(claim, tables) == expected, found
    assert words


@pytest.mark.parametrize(
    "claim", [pytest.param(claim, id=claim["claim"]) for claim in CLAIMS if "tells" in claim]
)
def test_a_run_too_small_to_tell_leaves_a_missed_bar_undecided(claim):
    for large, expected in ((True, "differs"), (False, "undecided")):
        made = made_for(claim["claim"], large)
        if made.how["take"] == "rows":
            number, _ = right_number(made.bar)
            tables = made.only([] if number else made.selected(1))
        else:
            bad = next(each for each in wrong(made.bar) if not hidden(made.how, each, made.bar))
            tables = made.with_values(spread(made, bad), right(made.bar))
        assert verdict(claim, tables) == expected


@pytest.mark.parametrize("claim", of_kind("each"))
def test_one_value_in_doubt_among_others_that_are_right_leaves_it_undecided(claim):
    made = made_for(claim["claim"])
    good = right(made.bar)
    reach = min(abs(good - bound) for bound in made.bar.values())
    for place in range(ROWS):
        for error, expected in ((0.99, "reproduced"), (1.01, "undecided"), (math.nan, "undecided")):
            tables = made.with_values(spread(made, good), good)
            errors = [0.0] * len(tables[made.how["table"]])
            errors[place] = error * reach / RANGE_ERRORS
            tables[made.how["table"]][made.how["error"]] = errors
            assert verdict(claim, tables) == expected, (place, error)


@pytest.mark.parametrize(
    "claim", [pytest.param(claim, id=claim["claim"]) for claim in CLAIMS if "needs" in claim]
)
def test_without_what_it_needs_a_claim_is_not_checkable_whatever_its_value(claim):
    made, needed = made_for(claim["claim"]), claim["needs"]
    for value, expected in ((right(made.bar), "reproduced"), (wrong(made.bar)[-1], "differs")):
        tables = made.with_values(spread(made, value), value)
        assert verdict(claim, tables) == expected
        for have in (needed["at_least"] - 1, math.nan):
            lacking = tables[needed["table"]].assign(**{needed["column"]: have})
            assert verdict(claim, tables | {needed["table"]: lacking}) == "not checkable"


def acceptance(*rows):
    columns = ["proposal_epsilon", "start", "percent", "low", "high", "ahead", "paper_percent"]
    table = pd.DataFrame(rows, columns=columns)
    ends = {
        f"ahead_{end}": table["ahead"] + table[end] - table["percent"] for end in ("low", "high")
    }
    return {"sex_by_age_acceptance": table.assign(**ends, chains=32, iterations=250000)}


def card_of(name, tables):
    (claim,) = [claim for claim in CLAIMS if claim["claim"] == name]
    return build_scorecard([claim], tables, {"das_available": False, "vintage": ""}).iloc[0]


@pytest.mark.parametrize(
    ("confidential", "target", "expected"),
    [
        ((0.0, 0.0, 0.0001), (0.07, 0.06, 0.09), "reproduced"),
        ((0.07, 0.06, 0.09),) * 2 + ("differs",),
    ],
)
def test_zero_acceptance_is_judged_on_the_start_that_is_inferred(confidential, target, expected):
    """The other start stands beside it, and turns nothing."""
    rows = [
        (0.4, start, *rate, math.nan, 0.0)
        for start, rate in (("target", target), ("confidential", confidential), ("either", target))
    ]
    row = card_of("acceptance-zero-at-040", acceptance(*rows))
    assert row["verdict"] == expected
    assert row["our_value"] == f"{target[0]:g} and {confidential[0]:g}"
    assert "inferred" in row["where"]
    assert "the start that is inferred" in describe_row(row)


def test_the_best_parameter_is_judged_by_the_chains_of_both_starts_together():
    """What one start leaves undecided, both together tell; and they may tell the other way."""
    for ahead, expected in ((0.1, "differs"), (-0.1, "reproduced"), (0.05, "undecided")):
        rows = [(0.6, start, 1.5, 1.5, 1.5, 0.0, 1.7) for start in ("target", "either")]
        rows += [(0.65, "target", 1.6, 1.4, 1.8, 0.1, 1.6)]
        rows += [(0.65, "either", 1.5 + ahead, 1.43 + ahead, 1.57 + ahead, ahead, 1.6)]
        row = card_of("acceptance-falls-on-both-sides", acceptance(*rows))
        assert row["verdict"] == expected
        assert row["our_value"] == f"{1.5 + ahead:.4g}"


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [("paper", "differs"), ("mcmc", "reproduced"), ("messages", "reproduced")],
)
def test_agreement_is_judged_on_the_papers_chain_and_not_on_quicker_ones(beyond, expected):
    samplers = ["paper", "mcmc", "messages"]
    table = pd.DataFrame({"experiment": "x", "sampler": samplers, "distance": 0.1})
    tables = {"exact_agreement": table.assign(beyond=table["sampler"] == beyond)}
    assert card_of("exact-agreement-chains", tables)["verdict"] == expected


def test_where_nothing_is_exact_the_papers_chain_is_not_judged():
    """A distance that is not known is not beyond its bound, and says nothing."""
    rows = {"experiment": "x", "sampler": ["paper", "mcmc"], "distance": [math.nan, 0.1]}
    tables = {"exact_agreement": pd.DataFrame({**rows, "beyond": False})}
    assert card_of("exact-agreement-chains", tables)["verdict"] == "not checkable"


def test_every_claim_is_tried():
    tried = {claim.values[0]["claim"] for claim in [*NUMBERS, *of_kind("rows", "values"), *WORDS]}
    assert tried == {claim["claim"] for claim in CLAIMS}
    assert not any("by" in judging(claim) for claim in CLAIMS)


def test_the_tables_made_hold_rows_of_either_kind():
    table = rows_for(['a == "x" and b > 2 and not c and d.notna()', "`two words` < e"])
    mask = chosen(table, 'a == "x" and b > 2 and not c and d.notna() and `two words` < e')
    assert 0 < mask.sum() < len(table)
    assert isinstance(table, pd.DataFrame)
