"""Budgets are compared within one flavour alone, or by a theorem that is named."""

import math
from dataclasses import replace
from importlib import import_module

import pytest

from isdp import InputError
from reproduction.swapping.theory.flavours import (
    CITED,
    FLAVOUR,
    SYSTEMS,
    THEOREMS,
    compare,
    differences,
)

KNOWN = {one.name: one for one in SYSTEMS}
PL, DHC = KNOWN["TopDown, PL 94-171"], KNOWN["TopDown, PL 94-171 and DHC"]
SWAP = KNOWN["permutation swapping"]
LAPLACE = replace(KNOWN["Laplace noise without invariants"], intensity=1.0)


def test_every_name_stands_once_and_every_function_is_there():
    assert len({one.name for one in SYSTEMS}) == len(SYSTEMS)
    for one in SYSTEMS:
        if one.code:
            module, _, name = one.code.rpartition(".")
            assert callable(getattr(import_module(module), name))


def test_budgets_of_one_flavour_are_compared():
    assert compare(DHC, PL) == pytest.approx(math.sqrt(15.29 / 2.63))


@pytest.mark.parametrize(
    ("first", "second", "unlike", "theorem"),
    [
        (DHC, replace(SWAP, intensity=15.43), ("scope", "unit", "standard"), "pure to zCDP"),
        (
            replace(KNOWN["subspace DP"], intensity=1.0),
            replace(KNOWN["integer subspace DP, l1"], intensity=1.0),
            ("scope", "unit"),
            None,
        ),
        (KNOWN["SafeTab, DDHC-A"], DHC, ("scope",), "fewer pairs of datasets"),
    ],
)
def test_what_differs_is_named_with_its_theorem_and_nothing_is_compared(
    first, second, unlike, theorem
):
    assert differences(first, second) == unlike
    for pair in ((first, second), (second, first)):
        with pytest.raises(InputError) as refusal:
            compare(*pair)
        assert all(block in str(refusal.value) for block in unlike)
        assert {name for name in THEOREMS if name in str(refusal.value)} == {theorem} - {None}


@pytest.mark.parametrize("block", FLAVOUR)
def test_a_difference_in_one_block_is_enough_to_refuse(block):
    with pytest.raises(InputError, match=block):
        compare(LAPLACE, replace(LAPLACE, **{block: "another"}))


def test_a_budget_that_depends_on_settings_is_not_compared():
    with pytest.raises(InputError, match="permutation swapping"):
        compare(SWAP, SWAP)


def test_every_flavour_cited_changes_one_of_the_four_blocks():
    assert {one["block"] for one in CITED} == set(FLAVOUR)
    assert len({one["name"] for one in CITED}) == len(CITED) == 26
    assert all(one["citation"] for one in CITED)
