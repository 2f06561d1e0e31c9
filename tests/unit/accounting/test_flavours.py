"""Budgets are compared within one flavour alone, or by a theorem that is named."""

import math
from dataclasses import replace
from importlib import import_module

import pytest

from isdp import InputError
from isdp.accounting.flavours import (
    CITED,
    FLAVOUR,
    SYSTEMS,
    compare,
    differences,
    system,
)

PL, DHC = system("TopDown, PL 94-171"), system("TopDown, PL 94-171 and DHC")
SWAP = system("permutation swapping")
LAPLACE = replace(system("Laplace noise without invariants"), intensity=1.0)


def test_every_name_stands_once_and_every_function_is_there():
    assert len({one.name for one in SYSTEMS}) == len(SYSTEMS)
    for one in SYSTEMS:
        if one.code:
            module, _, name = one.code.rpartition(".")
            assert callable(getattr(import_module(module), name))


def test_budgets_of_one_flavour_are_compared():
    assert compare(DHC, PL) == pytest.approx(math.sqrt(15.29 / 2.63))


def test_what_differs_is_named_and_nothing_is_compared():
    assert differences(DHC, SWAP) == ("scope", "unit", "standard")
    swapped = replace(SWAP, intensity=15.43)
    with pytest.raises(InputError, match="differ in scope, unit, standard") as refusal:
        compare(DHC, swapped)
    assert "none for scope, unit" in str(refusal.value)
    assert "standard by 'pure to zCDP'" in str(refusal.value)


def test_the_two_currencies_of_noise_under_invariants_are_not_one():
    """SDP counts replaced records whatever their invariants, ISDP units of l1 at equal ones."""
    there, here = system("subspace DP"), system("integer subspace DP, l1")
    assert differences(there, here) == ("scope", "unit")
    with pytest.raises(InputError, match="none for scope, unit"):
        compare(replace(there, intensity=1.0), replace(here, intensity=1.0))


def test_protection_everywhere_holds_among_datasets_of_equal_invariants():
    with pytest.raises(InputError, match="scope by 'fewer pairs of datasets'"):
        compare(system("SafeTab, DDHC-A"), DHC)


@pytest.mark.parametrize("block", FLAVOUR)
def test_a_difference_in_one_block_is_enough_to_refuse(block):
    with pytest.raises(InputError, match=f"differ in {block}"):
        compare(LAPLACE, replace(LAPLACE, **{block: "another"}))


def test_a_budget_that_depends_on_settings_is_not_compared():
    with pytest.raises(InputError, match="no positive budget"):
        compare(SWAP, SWAP)


def test_every_flavour_cited_changes_one_of_the_four_blocks():
    assert {one.block for one in CITED} == set(FLAVOUR)
    assert len({one.name for one in CITED}) == len(CITED) == 26
    assert all(one.citation for one in CITED)


def test_what_everybody_may_know_costs_nothing():
    assert system("exact release of the invariants").intensity == 0


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="no system 'TDA'"):
        system("TDA")
