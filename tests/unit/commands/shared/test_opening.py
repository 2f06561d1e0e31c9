"""The first sentences of certificates, from their values."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from isdp.accounting import PrivacyGuarantee
from isdp.accounting.conversions import max_loss
from isdp.cli import main
from isdp.commands.shared.guarantee import MoveLosses
from isdp.commands.shared.margins import Estimate, Margin
from isdp.commands.shared.opening import exact_totals, noise_of_margins, protection
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
NO = Estimate(math.nan, "unknown")


@pytest.mark.parametrize(
    ("held", "determined", "text"),
    [
        ([], 0, "No total is held exactly."),
        ([("grand total", 1)], 0, "The grand total is exact."),
        ([("totals by a", 1)], 1,
         "The 1 total by a is exact. It determines 1 cell, which is published exactly too."),
        ([("totals by a", 1200), ("subset old", 1)], 2,
         "The 1,200 totals by a and the total of the subset old are exact. They determine 2 cells, "
         "which are published exactly too."),
        ([(f"totals by {name}", 2) for name in "abcdef"], 0,
         "The 2 totals by a, the 2 totals by b, the 2 totals by c, the 2 totals by d and 2 further "
         "sets of totals are exact."),
    ],
)  # fmt: skip
def test_what_is_exact(held, determined, text):
    assert exact_totals(held, determined) == text


def margin(scope, name, cells, limit, method="exact", held=False):
    return Margin(scope, name, cells, NO, Estimate(limit, method), NO, {}, held)


def test_how_large_the_noise_is():
    cells = [margin("cell", "x", 3, 1.0), margin("cell", "y", 3, 7.0)]
    sums = [margin("sum", "all", 9, 0.0, held=True), margin("sum", "f", 4, 1200.0, "bounded")]
    sums.append(margin("sum", "g", 3, 2000.0))  # a smaller sum
    one = noise_of_margins(cells[:1])
    assert "of a cell is at most 1 person in either direction." in one
    both = noise_of_margins(cells + sums)
    assert "7 persons" in both
    assert "'f' at most 1,200 (an upper bound)" in both
    draws = replace(cells[0], limit=Estimate(7.0, "simulated", 1.5, 300))
    assert "9 persons in either direction (simulated from 300 draws" in noise_of_margins([draws])
    assert "not known" in noise_of_margins([margin("cell", "x", 3, math.nan, "unknown")])


def test_what_is_protected():
    pure = PrivacyGuarantee("pure", Fraction(1, 2), "l1", 2, "a theorem")
    words = protection(pure, for_release=True, exact="the exact totals")
    assert "a factor of 2.72 (e^1)." in words
    assert float(re.search(r"factor of ([\d.]+)", words)[1]) >= math.e
    far = protection(pure, for_release=True, exact="the exact totals", losses=MoveLosses(1, 1, 2))
    assert "the factor is at most 7.39 (e^2)" in far
    assert far.startswith(words.partition(" No guarantee")[0])
    same = protection(pure, for_release=True, exact="the exact totals", losses=MoveLosses(1, 1, 1))
    assert same == words
    zcdp = PrivacyGuarantee("zCDP", Fraction(1, 2), "l2", 2, "a theorem", growth="quadratic")
    words = protection(zcdp, for_release=True, exact="the exact totals", delta=1e-6)
    stated = float(re.search(r"e\^([\d.]+)", words)[1])
    assert 0 <= stated - max_loss(1, 1e-6) < 0.01 * stated
    assert "Each factor is exceeded with a probability of at most 1e-06." in words
    assert "factor" not in protection(pure, for_release=False, exact="the exact totals")
    unknown = PrivacyGuarantee("pure", 1, "l1", None, "x", why_not_per_person="of the totals")
    assert "No loss per person is known, because of the totals." in protection(
        unknown, for_release=True, exact="the exact totals"
    )


COMMANDS = [
    "privatize {}/ages.csv --invariants {}/ages.yaml --epsilon 1 --no-picture",
    "topdown {}/ages.csv --levels county --epsilon 1",
    "topdown {}/ages.csv --levels county --epsilon 1 --simulations 0",
    "swap {}/people.csv --match state,size --swap county --carry tract --rate 0.1",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_certificate_opens_with_its_summary(command, tmp_path):
    arguments = command.format(EXAMPLE, EXAMPLE).split()
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    summary = json.loads((tmp_path / "out/certificate.json").read_text())["summary"]
    lines = (tmp_path / "out/certificate.md").read_text().splitlines()
    first = [line for line in lines if line][1:4]
    named = {"Exact": "exact", "Noise": "noise", "Protection": "protection"}
    assert first == [f"**{name}.** {summary[key]}" for name, key in named.items()]
