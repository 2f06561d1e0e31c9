import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.accounting import PrivacyGuarantee, as_zcdp, compose, guarantees, upper_decimal
from isdp.accounting.conversions import convert

LAPLACE = PrivacyGuarantee("pure", Fraction(1, 3), "l1", 2, "ISDP, Theorem 10")
GAUSSIAN = PrivacyGuarantee(
    "zCDP", Fraction(1, 50), "l2", 2, "discrete Gaussian", growth="quadratic"
)
AT_DELTA = PrivacyGuarantee(
    "approximate", 1.5, "person", 1, "conversion", delta=1e-10, growth="none"
)


@given(
    st.one_of(
        st.fractions(min_value=0),
        st.floats(min_value=0, allow_infinity=False, allow_nan=False),
    ),
    st.integers(1, 12),
)
def test_a_bound_is_never_printed_below_itself_nor_a_unit_of_the_last_digit_above(value, digits):
    exact = Fraction(repr(value)) if isinstance(value, float) else value
    printed = Fraction(upper_decimal(value, digits))
    assert printed >= exact
    if exact:
        assert printed - exact < exact / 10 ** (digits - 1) or printed == math.ceil(exact)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "1"),
        (np.float64(0.1), "0.1"),
        (Fraction(2, 3), "0.666667"),
        (Fraction(999999999, 10**9), "1"),
        (99999.95, "100000"),
        (1e-14, "1e-14"),
        (Fraction(1, 10**30) * Fraction(1, 3), "3.33334e-31"),
        (123456.78, "123457"),
        (1e22, "10000000000000000000000"),
    ],
)
def test_bounds_are_written_for_people(value, text):
    assert upper_decimal(value) == text


def test_the_laplace_law_loses_epsilon_a_unit_and_twice_that_a_person():
    assert LAPLACE.loss_at(4) == Fraction(4, 3)
    assert LAPLACE.loss_per_person == Fraction(2, 3)
    for part in ("0.333334 per unit of l1", "delta = 0", "ISDP, Theorem 10", "by 2", "0.666667"):
        assert part in LAPLACE.statement()


def test_under_l2_one_person_moves_the_square_root_of_two():
    law = PrivacyGuarantee("pure", 0.5, "l2", math.sqrt(2), "ISDP, Theorem 10")
    assert law.loss_per_person >= math.sqrt(2) / 2
    assert law.loss_per_person == pytest.approx(math.sqrt(2) / 2)


def test_a_zcdp_loss_grows_with_the_square_of_the_distance():
    assert GAUSSIAN.loss_at(5) == Fraction(1, 2)
    assert GAUSSIAN.loss_per_person == Fraction(1, 25)
    assert "rho at most 0.02 per unit of squared l2 distance" in GAUSSIAN.statement()
    assert "delta" not in GAUSSIAN.statement()


def test_epsilon_and_delta_hold_at_one_distance_only():
    assert AT_DELTA.loss_at(1) == AT_DELTA.loss_per_person == 1.5
    assert "delta = 1e-10" in AT_DELTA.statement()
    with pytest.raises(InputError, match="distance"):
        AT_DELTA.loss_at(2)


def test_a_guarantee_without_a_figure_per_person_says_why():
    swap = PrivacyGuarantee(
        "pure",
        19.38,
        "household",
        None,
        "SWAP",
        relation="two data sets with equal invariants",
        held="the county and tenure totals",
        why_not_per_person="households are the unit",
    )
    assert swap.loss_per_person is None
    assert "households are the unit" in swap.statement()
    assert "the county and tenure totals" in swap.statement()
    assert swap.record()["epsilon_per_person"] is None


@given(st.floats(1e-300, 1e100), st.floats(0, 1e100))
def test_a_product_of_floats_is_never_below_the_exact_one(loss, distance):
    law = PrivacyGuarantee("pure", loss, "l1", 2, "x")
    exact = Fraction(repr(loss)) * Fraction(repr(distance))
    found = law.loss_at(distance)
    assert Fraction(repr(found)) >= exact
    assert found == pytest.approx(float(exact), rel=1e-15, abs=1e-300)


def test_a_loss_beyond_floating_point_is_infinite_and_makes_no_guarantee():
    linear = PrivacyGuarantee("pure", 1e300, "l1", 2, "x")
    square = PrivacyGuarantee("zCDP", 1e300, "l2", 2, "x", growth="quadratic")
    assert linear.loss_at(1e300) == square.loss_at(1e10) == math.inf
    assert guarantees.upper_sum(1e308, 1e308) == math.inf
    assert linear.loss_at(1.7e8) < math.inf
    for refused in (
        lambda: compose([PrivacyGuarantee("pure", 1e308, "l1", 2, "x")] * 2),
        lambda: as_zcdp(linear),
        lambda: convert(dataclasses.replace(square, loss=Fraction(10) ** 400), 1e-10, "slides"),
        lambda: PrivacyGuarantee("pure", 1e308, "l1", 2, "x").statement(),
    ):
        with pytest.raises(InputError, match="inf"):
            refused()


def test_a_guarantee_is_a_value():
    assert pickle.loads(pickle.dumps(LAPLACE)) == LAPLACE
    assert hash(LAPLACE) == hash(dataclasses.replace(LAPLACE))
    with pytest.raises(dataclasses.FrozenInstanceError):
        LAPLACE.loss = 0


def test_the_record_holds_exact_numbers_and_decimals_from_above():
    record = LAPLACE.record()
    assert (record["epsilon"], record["epsilon_decimal"]) == ("1/3", "0.333334")
    assert GAUSSIAN.record()["rho_per_person"] == "0.04"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"flavour": "renyi"}, "flavour"),
        ({"loss": -1}, "loss"),
        ({"loss": math.nan}, "loss"),
        ({"loss": math.inf}, "loss"),
        ({"loss": True}, "loss"),
        ({"loss": "1"}, "loss"),
        ({"delta": 0.1}, "delta"),
        ({"flavour": "approximate", "growth": "none"}, "delta"),
        ({"flavour": "approximate", "growth": "none", "delta": 1}, "delta"),
        ({"flavour": "approximate", "delta": 0.1}, "growth"),
        ({"growth": "cubic"}, "growth"),
        ({"per_person": None}, "per_person"),
        ({"why_not_per_person": "x"}, "why_not_per_person"),
        ({"per_person": -2}, "per_person"),
    ],
)
def test_what_makes_no_guarantee_is_refused(change, match):
    with pytest.raises(InputError, match=match):
        dataclasses.replace(LAPLACE, **change)
