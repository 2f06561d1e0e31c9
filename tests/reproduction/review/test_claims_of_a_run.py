"""The claims on the tables of a finished run: verdicts, wrong values, tolerances with reasons."""

import math
import re

import pandas as pd
import pytest

from reproduction.jobs.tables import read_csv
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import list_claim_tables
from reproduction.review.scorecard import build_scorecard, meets_bar
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS

ERRATA = {
    *("contingency-gamma-total", "two-bin-l2-mean", "sdp-gaussian-constant", "sdp-wifi-sd"),
    "tda-gaussian-larger-exact",
}
# the claims whose tolerances no digits of the paper give, by the reason for the tolerance
TOLERANCES = {
    "floating point": {
        **{"sdp-nested": 1e-12, "sdp-conditioning": 1e-12, "swap-budget-holds": -1e-12},
        **dict.fromkeys(("sdp-projected-gaussian-error", "sdp-extended-gaussian-error"), 1e-9),
        **dict.fromkeys(("swap-two-rates", "tda-rounding-whole"), 1e-9),
        **dict.fromkeys(("sdp-composition", "sdp-extension-not-worse"), 1 + 1e-9),
        **dict.fromkeys(
            ("sdp-projected-laplace-private", "sdp-extended-laplace-private"), 1 + 1e-9
        ),
    },
    "standard errors, by chance less than once in 10,000 for all values together": {
        **dict.fromkeys(("two-bin-means", "two-bin-variances"), 5),
        **dict.fromkeys(("intersecting-unbiased", "contingency-unbiased"), 5.5),
        **dict.fromkeys(("counties-unbiased", "sdp-unbiased"), 6),
    },
    "standard errors of one value, or of two": {
        **dict.fromkeys(("distances-raw-1", "distances-projected", "distances-raw-half"), 4),
        **{"distances-conditional": 4, "swap-1940-rate": 3},
    },
    "one in a hundred right results misses it": {
        **dict.fromkeys(("sex-by-age-printed-distance", "trace-acceptance"), (0.005, 0.995)),
        **{"trace-longest-stay": (0.005, 0.995), "swap-1940-law": 0.01},
    },
    "half a unit of the last digit printed": {
        **{"acceptance-zero-at-040": 0.005, "swap-topdown-epsilon": 0.005},
    },
    "a fifth of the paper's value on either side": {"acceptance-best-parameter": (1.34, 2.02)},
    "our reading of a word": {
        **{"counties-rhat": 1.01, "counties-noise-scale": 0.99, "projection-boxes-overlap": 0.9},
        **{"bounds-stable-across-lags": 2, "sdp-correlated-near-optimal": 10, "sdp-wifi-sd": 0.01},
        **{"sdp-counties-unbiased": (0.45, 0.55), "sdp-counties-scale": (0.5, 2)},
        **{"two-bin-l2-mean": 0.1, "two-bin-privacy": 0.001, "bound-above-distance": 0.01},
        **{"tda-zero-stays": 0.01, "swap-smallest-epsilon": 1e-6},
    },
    "half of all, or half as many again as expected": {
        **{"tda-sparse": 405846, "tda-gq-smaller": 63, "isdp-bias-non-negativity": (12, 36)},
    },
    "one is wanted, or one refutes it": {
        **{"sdp-infeasible": 1, "sdp-gaussian-constant": 1, "swap-topdown-budget": 1},
        **{
            "tda-gq-not-unimodular": 2,
            "tda-lighter-tails": 3,
            "swap-needs-equal-invariants": math.inf,
        },
    },
}


@pytest.fixture(scope="module")
def tables(finished):
    return {
        path.stem: read_csv(path) for path in (finished.folder / "results/tables").glob("*.csv")
    }


def verdicts(claims, tables):
    return build_scorecard(claims, tables, {"das_available": False, "vintage": ""}).set_index(
        "claim"
    )


def test_only_known_errata_differ(tables):
    card = verdicts(CLAIMS, tables)
    assert set(card.index[card["verdict"] == "differs"]) == ERRATA
    assert (card["verdict"] == "reproduced").sum() >= 60
    exact = [
        claim["claim"] for claim in CLAIMS if claim.get("exact") and "needs_vintage" not in claim
    ]
    assert not (card.loc[exact, "verdict"] == "undecided").any()


def test_every_tolerance_is_stated_with_its_reason():
    stated = {name: bar for reason in TOLERANCES.values() for name, bar in reason.items()}
    for claim in CLAIMS:
        name, bounds = claim["claim"], tuple(claim["bar"].values())
        bounds = bounds[0] if len(bounds) == 1 else bounds
        if name in stated:
            assert bounds == stated[name], name
        elif bounds != 0 and not isinstance(bounds, str):
            assert set(claim["bar"]) == {"equals"}, name
            assert str(bounds) in str(claim["paper_value"]).replace(",", "").split(), name


def test_every_value_is_traced_to_its_table_and_column():
    measures = pd.read_csv(ROOT / "tests/reproduction/review/measures.csv", keep_default_na=False)
    assert measured() == measures.to_numpy().tolist()


def measured():
    keys = [("ours", "table"), ("ours", "column"), ("ours", "take"), ("judged", "column")]
    return [
        [claim["claim"], *(claim.get(what, {}).get(key, "") for what, key in keys)]
        for claim in CLAIMS
    ]


def judging(claim):
    return claim.get("judged", claim["ours"])


def beyond(bar):
    """Values well beyond a bar, on each side that it has."""
    low, high = (bar.get(name, bar.get("equals")) for name in ("at_least", "at_most"))
    if math.isinf(high or 0):
        return [0.0]
    found = [] if high is None else [high + 10 * abs(high) + 1e3]
    return found if low is None else [*found, low - 10 * abs(low) - 1e3]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["claim"])
def test_a_wrong_row_turns_the_verdict(claim, tables):
    """Whatever a claim finds in the run, a value far off or an exception more is noticed."""
    how, bar = judging(claim), claim["bar"]
    if not set(list_claim_tables(claim)) <= set(tables):
        pytest.skip("this run has no such table")
    if verdicts([claim], tables)["verdict"].item() != "reproduced":
        pytest.skip("nothing to turn")
    table = tables[how["table"]]
    rows = table.query(how["among"]) if "among" in how else table
    rows = rows.query(how["rows"]).index if "rows" in how else rows.index
    if how["take"] in ("rows", "values") or isinstance(bar.get("equals"), str):
        changed = [table.drop(rows)]
        if "at_most" in bar or isinstance(bar.get("equals"), int):
            changed = [pd.concat([table, table.loc[rows[:1]]])] if len(rows) else []
    else:
        column, wrong = how["column"], beyond(bar)
        wrong += [-each for each in wrong] if how["take"] == "max_abs" else []
        wrong = [
            each for each in wrong if how["take"] != "max_abs" or not meets_bar(abs(each), bar)
        ]
        changed = [table.astype({column: float}) for _ in wrong]
        for each, value in zip(changed, wrong, strict=True):
            # a value that is no extreme shows where all are like it
            hidden = how["take"] == ("max" if value < 0 else "min")
            each.loc[rows if hidden else rows[:1], column] = value
    for each in changed:
        verdict = verdicts([claim], tables | {how["table"]: each})["verdict"].item()
        assert verdict != "reproduced"


# words that stand for a key of the config in captions; texts need none
NOUNS = {
    **{"burn_in": "burn-in", "basis": "basis", "epsilon": "epsilon|parameter"},
    **{"thin": "sweeps", "near_one": "bound", "pilot_runs": "ten jumps", "cap": "cut off"},
    **{"runs": "run|times|pairs|swaps", "draws": "draw|noise vectors|points", "steps": "proposals"},
    **{"iterations": "proposals", "simulations": "simulation|noise vectors"},
    **dict.fromkeys(("swapped", "shown", "message", "provenance", "county"), ""),
}


def test_a_number_of_the_config_in_a_caption_is_next_to_its_noun():
    found = 0
    for path in sorted((ROOT / "src/reproduction").glob("*/descriptions.yaml")):
        for text in strings(read_yaml(path)):
            words = re.split(r"(\{\{.*?\}\}|\{%.*?%\})", " ".join(text.split()))
            for place in range(1, len(words), 2):
                keys = re.findall(r"\[\"(\w+)\"\]", words[place])
                if keys and words[place].startswith("{{"):
                    noun = NOUNS.get(keys[-1], keys[-1].split("_")[-1].rstrip("s"))
                    near = words[place - 1][-60:] + words[place + 1][:40]
                    assert re.search(noun, near.lower()), (path.parent.name, keys, near)
                    found += 1
    assert found > 40


def strings(node):
    for each in node.values() if isinstance(node, dict) else ():
        yield from [each] if isinstance(each, str) else strings(each)
