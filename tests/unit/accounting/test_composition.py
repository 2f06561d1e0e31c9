from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.accounting import PrivacyGuarantee, as_zcdp, compose
from isdp.accounting.composition import MATCHED_FIELDS

THIRD = PrivacyGuarantee("pure", Fraction(1, 3), "l1", 2, "geometric")
ALONE = "no one can move alone"
VAGUE = replace(THIRD, per_person=None, why_not_per_person=ALONE)


def test_losses_of_one_kind_add_up_exactly():
    together = compose([THIRD, THIRD, THIRD])
    assert together.loss == 1
    assert together.source == "geometric"
    assert together.loss_per_person == 2
    assert compose([THIRD, replace(THIRD, loss=Fraction(1, 7))]).loss == Fraction(10, 21)


@given(st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=5))
def test_a_sum_of_floats_is_never_below_the_exact_one(losses):
    together = compose([replace(THIRD, loss=loss) for loss in losses])
    exact = sum(Fraction(repr(loss)) for loss in losses)
    assert exact <= Fraction(repr(together.loss)) <= exact * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("order", [*permutations([1, Fraction(7, 2), 2])])
def test_the_largest_distance_of_a_person_counts_wherever_it_stands(order):
    together = compose([replace(THIRD, per_person=distance) for distance in order])
    assert together.per_person == Fraction(7, 2)
    assert together.loss_per_person == Fraction(7, 2)


def test_deltas_add_up_too():
    one = PrivacyGuarantee("approximate", 0.1, "person", 1, "a", delta=1e-9, growth="none")
    two = PrivacyGuarantee(
        "approximate", 0.2, "person", 1, "b", delta=Fraction(1, 10**9), growth="none"
    )
    both = compose([one, two])
    assert Fraction(repr(both.loss)) >= Fraction(3, 10)
    assert both.loss == pytest.approx(0.3)
    assert both.delta == pytest.approx(2e-9)
    assert both.source == "a; b"


@pytest.mark.parametrize("growths", [*permutations(["quadratic", "none", "quadratic"])])
def test_a_sum_with_a_bound_for_one_person_is_a_bound_for_one_person(growths):
    one = PrivacyGuarantee("zCDP", Fraction(1, 8), "person", 1, "a", growth="quadratic")
    together = compose([replace(one, growth=growth) for growth in growths])
    assert together.loss_per_person == Fraction(3, 8)
    with pytest.raises(InputError, match="distance"):
        together.loss_at(2)


@pytest.mark.parametrize("guarantees", [*permutations([THIRD, VAGUE, THIRD])])
def test_a_missing_figure_per_person_stays_missing_wherever_it_stands(guarantees):
    together = compose(guarantees)
    assert (together.loss, together.per_person) == (1, None)
    assert together.loss_per_person is None
    assert together.why_not_per_person == ALONE
    assert as_zcdp(together).loss_per_person is None
    assert compose([VAGUE, VAGUE]).why_not_per_person == ALONE


@pytest.mark.parametrize(
    "change",
    [
        {"flavour": "zCDP"},
        {"metric": "l2"},
        {"growth": "quadratic"},
        {"held": "states"},
        {"relation": "any two tables"},
    ],
)
def test_only_like_is_added_to_like(change):
    for several in permutations([THIRD, THIRD, replace(THIRD, **change)]):
        with pytest.raises(InputError, match=MATCHED_FIELDS[next(iter(change))]):
            compose(several)


def test_nothing_cannot_be_composed():
    with pytest.raises(InputError):
        compose([])


def test_deltas_that_reach_one_promise_nothing():
    half = PrivacyGuarantee("approximate", 1, "person", 1, "a", delta=0.5, growth="none")
    with pytest.raises(InputError, match="delta"):
        compose([half, half])


def test_pure_is_zcdp_with_half_the_square_at_every_distance():
    said = as_zcdp(THIRD)
    assert said.flavour == "zCDP"
    for distance in (1, 2, 5):
        assert said.loss_at(distance) == THIRD.loss_at(distance) ** 2 / 2
    assert said.loss_per_person == THIRD.loss_per_person**2 / 2


def test_only_a_pure_guarantee_is_said_as_zcdp():
    with pytest.raises(InputError):
        as_zcdp(as_zcdp(THIRD))
    with pytest.raises(InputError):
        as_zcdp(replace(THIRD, growth="quadratic"))
