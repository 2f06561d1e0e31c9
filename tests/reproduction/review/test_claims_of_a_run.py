"""The claims on the tables of a finished run: verdicts, wrong values, tolerances with reasons."""

import math
import re
from contextlib import suppress
from itertools import cycle, islice

import pandas as pd
import pytest

from isdp import InputError
from reproduction.jobs.tables import read_tables
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.scorecard import judge_claims, judged_quantity
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS

ERRATA = {
    *("contingency-gamma-total", "two-bin-l2-mean", "sdp-gaussian-constant", "sdp-wifi-sd"),
    *("two-bin-tau", "tda-gaussian-larger-exact", "tda-queries"),
    *("cdp-sensitivity", "cdp-quantile", "cdp-signed-gamma", "cdp-trivial-invariants"),
    *("cdp-posterior-any-prior", "cdp-constrained-posterior-independent"),
    *("tda-problems-shrink", "tda-rounding-as-printed", "swap-proper-subset"),
}
# the claims whose tolerances no digits of the paper give, by the reason for the tolerance
TOLERANCES = {
    "floating point": {
        **dict.fromkeys(("laplace-mean", "gaussian-mean"), 1e-12),
        **{"sdp-nested": 1e-12, "sdp-conditioning": 1e-12, "swap-budget-holds": -1e-12},
        "two-bin-gamma": (-0.5 - 1e-9, -0.5 + 1e-9),
        **dict.fromkeys(("sdp-projected-gaussian-error", "sdp-extended-gaussian-error"), 1e-9),
        **dict.fromkeys(("swap-two-rates", "tda-rounding-whole"), 1e-9),
        **dict.fromkeys(("tda-rounding-algorithms", "tda-rounding-as-printed"), 1e-9),
        **dict.fromkeys(("sdp-composition", "sdp-extension-not-worse"), 1 + 1e-9),
        **dict.fromkeys(
            ("sdp-projected-laplace-private", "sdp-extended-laplace-private"), 1 + 1e-9
        ),
    },
    "the bound of a statement as a ratio of 1, with rounding errors": dict.fromkeys(
        (
            *("smooth-privacy", "gaussian-error-grows", "composition", "post-processing"),
            *("lattice-grows-sparser", "laplace-privacy", "laplace-tail", "gaussian-privacy"),
            *("gaussian-tail", "chain-error-is-additive"),
            *("tda-problems-grow", "tda-problems-shrink", "tda-gq-combinations"),
            *("tda-elimination-cost", "tda-pure-as-zcdp", "swap-lipschitz", "swap-metrics"),
            *("swap-gaussian-loss", "swap-topdown-private", "swap-proof-bound"),
            *("sdp-nested-subspaces", "sdp-any-subspace", "sdp-post-processing", "sdp-mixture"),
            *("sdp-projection-private", "sdp-projected-noise", "sdp-extension-private"),
            *("sdp-smaller-sensitivity", "sdp-laplace-private", "sdp-correlated-private"),
            *("sdp-marginal", "cdp-noise-private", "cdp-conditional-private"),
            *("cdp-twice-the-budget", "cdp-posterior", "cdp-posterior-any-prior"),
            *("cdp-posterior-limit", "cdp-constrained-posterior", "cdp-trivial-invariants"),
            *("cdp-constrained-posterior-independent", "cdp-theorem-a1"),
        ),
        1 + 1e-9,
    ),
    "the paper's order of two values, as a ratio": {
        **{"smaller-lag-meets-earlier": 1, "larger-lag-is-tighter": 1},
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
    "standard deviations, by chance less than once in 500 for 28 values together": {
        **{"swap-1940-cells": 4, "swap-1940-error": 4},
    },
    "one in a hundred right results misses it": {
        **dict.fromkeys(("sex-by-age-printed-distance", "trace-acceptance"), (0.005, 0.995)),
        **{"trace-longest-stay": (0.005, 0.995), "swap-1940-law": 0.01},
        "printed-tables-are-draws": 0.005,
    },
    "one in a million right results misses it": {
        **{"exact-agreement-chains": 1e-6, "exact-gaussian-sampler": 1e-6},
        "exact-laplace-samplers": 1e-6,
    },
    "half a unit of the last digit printed": {
        **{"tda-cells": (11.5e9, 12.5e9), "tda-queries": (3.55e9, 3.65e9)},
        **{"tda-people": (308.5e6, 309.5e6)},
        **{"tda-failure-probability": (0.5e-6, 1.5e-6)},
        **{"acceptance-zero-at-040": 0.005, "swap-topdown-epsilon": 0.005},
    },
    "a fifth of the paper's value on either side": {"acceptance-best-parameter": (1.34, 2.02)},
    "our reading of a word": {
        **{"counties-rhat": 1.01, "counties-noise-scale": 0.99, "projection-boxes-overlap": 0.9},
        **{"bounds-stable-across-lags": 2, "sdp-correlated-near-optimal": 10, "sdp-wifi-sd": 0.01},
        **{"sdp-counties-unbiased": (0.45, 0.55), "sdp-counties-scale": (0.5, 2)},
        **{"sdp-correlated-budgets": 10, "sdp-k-norm-near-optimal": 10},
        **{"sdp-wifi-scale": (0.88, 0.99), "sdp-wifi-variance": 0.01},
        **{
            "two-bin-tau": 0.001,
            "two-bin-l2-mean": 0.1,
            "two-bin-privacy": 0.001,
        },
        **{"lattice-points-in-a-ball": (0.9, 1.1), "bound-near-one-at-start": 1.1},
        **{"gaussian-is-not-pure": 0.6, "truncated-release-unbiased": 0.001},
        **{"tda-zero-stays": 0.01, "swap-smallest-epsilon": 1e-6},
        **{"tda-feasible-differs": 0.25, "cdp-total-broken": 0.9, "cdp-projection-on-par": 2},
    },
    "half of all, or half as many again as expected": {
        **{
            "das-direction": 24,
            "truncation-smallest-counties": 27,
            "tda-sparse": 405846,
            "tda-gq-smaller": 63,
            "isdp-bias-non-negativity": (12, 36),
        },
    },
    "one is wanted, or one refutes it": {
        **{"sdp-infeasible": 1, "sdp-gaussian-constant": 1, "swap-topdown-budget": 1},
        **{
            "tda-gq-not-unimodular": 2,
            "tda-two-margins": 1,
            "sdp-two-releases": 1,
            "cdp-rejection": 1.68,
            "tda-lighter-tails": 3,
            "swap-needs-equal-invariants": math.inf,
        },
    },
}


STATED = {name: bounds for reason in TOLERANCES.values() for name, bounds in reason.items()}
NONE = {"das_available": False, "vintage": ""}


@pytest.fixture(scope="module")
def tables(finished):
    return read_tables((finished.folder / "results/tables").glob("*.csv"))


def evidence_of(claim, tables):
    if not set(claim.tables) <= set(tables):
        pytest.skip("this run has no such table")
    return claim.evidence(tables)


def test_only_known_errata_differ(tables):
    card = judge_claims(CLAIMS, tables, NONE)[0].set_index("claim")
    assert set(card.index[card["verdict"] == "differs"]) == ERRATA
    assert (card["verdict"] == "reproduced").sum() >= 60
    exact = card[(card["our_error"] == "exact") & ~card["note"].str.contains("vintage")]
    assert "undecided" not in set(exact["verdict"])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_criterion_is_the_papers_value_or_has_a_stated_reason(claim, tables):
    found = evidence_of(claim, tables)
    bounds = tuple(bound for _, bound in found.criterion.conditions)
    bounds = bounds[0] if len(bounds) == 1 else bounds
    if claim.name in STATED:
        assert bounds == STATED[claim.name]
    elif bounds != 0 and not isinstance(bounds, str):
        assert {relation for relation, _ in found.criterion.conditions} == {"="}
        assert str(bounds) in str(claim.paper_value).replace(",", "").split()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_that_can_be_undecided_states_the_size_that_would_decide(claim, tables):
    found = evidence_of(claim, tables)
    judged = judged_quantity(found)
    # a distance or a p-value never replaces the value in the claim's own unit
    assert not re.fullmatch(r"z|z_\w+|\w+_z|p|\w*percentile|share_below_\w+", found.ours.column)
    if (judged.errors or judged.limits) and judged.values:
        assert judged.n_draws or found.decides


def other_values(found):
    """Values at a criterion and on both sides of it, beyond the error of our value."""
    errors = [10 * error for error in judged_quantity(found).errors if math.isfinite(error)]
    for _, bound in found.criterion.conditions:
        if isinstance(bound, str) or math.isinf(bound):
            yield from ["another", bound] if isinstance(bound, str) else [0.0]
            continue
        step = max([abs(bound), *errors]) or 1.0
        yield from (bound, bound + step, bound - step / 2, -bound - step)


def changed_tables(claim, found, tables):
    """Tables in which the judged entries, the selected rows, or one column are others."""
    judged = judged_quantity(found)
    name = judged.table or claim.tables[0]
    source = tables[name]
    for value in other_values(found):
        for rows in (judged.rows, source.index) if judged.column else ():
            one = source.astype({judged.column: object if isinstance(value, str) else float})
            one.loc[rows, judged.column] = value
            yield {name: one}
            # without Monte Carlo errors, which a small run may lack
            errors = [each for each in one if each.endswith(("_error", "_se", "mcse"))]
            yield {name: one.assign(**dict.fromkeys(errors, 0.0))}
        if isinstance(value, int):  # as many rows as are wanted
            wanted = list(islice(cycle(judged.rows), max(value, 0)))
            yield {name: pd.concat([source.drop(judged.rows), source.loc[wanted]])}
    if judged.rows:
        yield {name: source.drop(judged.rows[:1])}
        yield {name: pd.concat([source, source.loc[judged.rows[:1]]], ignore_index=True)}
    for column in source:
        known = source[column].dropna()
        if len(known) and known.map(type).eq(bool).all():
            yield {name: source.assign(**{column: source[column].map({True: False, False: True})})}
        elif pd.api.types.is_numeric_dtype(source[column]):
            yield {name: source.assign(**{column: 2 * source[column].abs() + 1})}
            yield {name: source.assign(**{column: 0})}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_plausible_wrong_value_turns_the_verdict(claim, tables):
    if claim.needs_vintage:
        provenance = {"das_available": True, "vintage": claim.needs_vintage}
    else:
        provenance = NONE

    def verdict(tables):
        return judge_claims([claim], tables, provenance)[0]["verdict"].item()

    if claim.needs_vintage:  # columns that these data fill
        name = claim.tables[0]
        empty = tables[name].columns[tables[name].isna().all()]
        tables = tables | {name: tables[name].assign(**dict.fromkeys(empty, True))}
    found = evidence_of(claim, tables)
    before = verdict(tables)
    if before == "not checkable":
        pytest.skip("this run cannot judge the claim")
    after = set()
    for changed in changed_tables(claim, found, tables):
        with suppress(InputError):  # the change leaves no row to select
            after.add(verdict(tables | changed))
    assert after - {before, "not checkable"}, (before, after)


# words that stand for a key of the config in captions; texts need none
NOUNS = {
    **{"burn_in": "burn-in", "basis": "basis", "epsilon": "epsilon|parameter"},
    **{"thin": "sweeps", "near_one": "bound", "pilot_runs": "ten jumps", "cap": "cut off|censored"},
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
