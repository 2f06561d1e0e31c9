"""Each check returns valid values, and refuses all others with the name of the argument."""

import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.checks import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    exact_number,
    not_negative,
    one_of,
    positive,
    positive_float,
    refuse_overflow,
    share,
    whole,
    whole_vector,
    within,
)


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.uint8(3), np.float32(3), Fraction(6, 2)])
def test_whole_numbers_of_any_type_become_ints(value):
    assert whole("exact", "draws", value, 3) == 3
    assert type(whole("exact", "draws", value)) is int


@pytest.mark.parametrize(
    "value",
    [True, np.True_, 1.5, -1, "3", None, float("nan"), float("inf"), 3j, [3], np.array([3])],
)
def test_what_is_no_whole_number_is_refused_in_one_sentence(value):
    with pytest.raises(InputError) as error:
        whole("exact", "draws", value)
    assert str(error.value) == f"exact: draws must be a whole number from 0 up, got {value!r}"


def test_the_least_number_is_told():
    with pytest.raises(InputError, match="lag must be a whole number from 6 up, got 5"):
        whole("coupling", "lag", 5, 6)


def test_the_largest_whole_number_is_included():
    assert whole("coupling", "lag", 8, 6, 8) == 8
    with pytest.raises(InputError, match="lag must be a whole number from 6 to 8, got 9"):
        whole("coupling", "lag", 9, 6, 8)


@pytest.mark.parametrize("value", [1, 1e-300, np.float64(2), Fraction(1, 3)])
def test_positive_numbers_are_given_back(value):
    assert positive("epsilon", value) is value


@pytest.mark.parametrize("value", [0, -1.0, True, "1", None, float("nan"), float("inf"), 1j])
def test_what_is_not_positive_is_refused(value):
    with pytest.raises(InputError, match=r"^epsilon must be a positive number, got "):
        positive("epsilon", value)


def test_scales_stay_within_floating_point():
    assert positive_float("epsilon", 1e-100) == SMALLEST_SCALE
    assert positive_float("epsilon", 1e100) == LARGEST_SCALE
    assert type(positive_float("epsilon", Fraction(1, 2))) is float
    for beyond in (math.nextafter(1e-100, 0), math.nextafter(1e100, math.inf)):
        with pytest.raises(InputError, match=r"epsilon must be .* between 1e-100 and 1e\+100"):
            positive_float("epsilon", beyond)
    with pytest.raises(InputError, match="epsilon must be a positive number"):
        positive_float("epsilon", 0)


NO_NUMBERS = [True, "1", None, float("nan"), 1j, [0.5]]


@pytest.mark.parametrize("value", [0, 0.0, 3, np.float64(2.5), Fraction(1, 3)])
def test_numbers_from_zero_up(value):
    assert not_negative("rho", value) is value


@pytest.mark.parametrize("value", [-1, -1e-300, math.inf, *NO_NUMBERS])
def test_negative_numbers_are_refused(value):
    with pytest.raises(InputError, match=r"^rho must be a finite number from 0 up, got "):
        not_negative("rho", value)


def test_a_limit_is_excluded():
    assert not_negative("delta", 0.999, below=1) == 0.999
    with pytest.raises(InputError, match=r"^delta must be from 0 up and below 1, got 1"):
        not_negative("delta", 1, below=1)


@pytest.mark.parametrize("value", [0, 2, 1.5])
def test_ranges_include_their_ends(value):
    assert within("x", value, 0, 2) is value


@pytest.mark.parametrize("value", [-1, 2.0001, math.inf, *NO_NUMBERS])
def test_beyond_a_range(value):
    with pytest.raises(InputError, match=r"^x must be a number between 0.6 and 2, got "):
        within("x", value, 0.6, 2)


@pytest.mark.parametrize("value", [0.25, Fraction(1, 4), np.float64(0.25)])
def test_shares_become_floats(value):
    assert share("rate", value) == 0.25
    assert type(share("rate", value)) is float


@pytest.mark.parametrize("value", [0, 1, -1, 5, *NO_NUMBERS])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(InputError, match=r"^rate must be a number between 0 and 1, got "):
        share("rate", value)


@pytest.mark.parametrize("value", [Fraction(1, 10**400), 1 - Fraction(1, 10**20)])
def test_a_share_that_is_0_or_1_in_floating_point_is_refused(value):
    with pytest.raises(InputError, match="rate is too near 0 or 1"):
        share("rate", value)


def test_one_of_the_known_words():
    assert one_of("norm", "l1", ("l1", "l2")) == "l1"
    with pytest.raises(InputError, match=r"^norm must be one of l1, l2, got 'l3'"):
        one_of("norm", "l3", ("l1", "l2"))


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        ("1/4", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (3, Fraction(3)),
        (Fraction(2, 3), Fraction(2, 3)),
        (np.float64(0.1), Fraction(1, 10)),
    ],
)
def test_numbers_are_read_as_they_are_written(value, exact):
    assert exact_number("epsilon", value) == exact


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a",
        "1/0",
        "1e",
        "inf",
        "9" * 5000,
        "1e-400000000",
        "1E400000000",
        math.inf,
        True,
        None,
        math.nan,
        1j,
        [1],
    ],
)
def test_what_is_no_exact_number(value):
    with pytest.raises(InputError, match=r"^epsilon must be a number such as 0.25") as error:
        exact_number("epsilon", value)
    assert len(str(error.value)) < 250


def test_a_fraction_is_shown_as_it_is_written():
    with pytest.raises(InputError, match=r"got -1/2$"):
        share("rate", Fraction(-1, 2))


def test_a_value_of_very_many_digits_is_not_written_out():
    with pytest.raises(InputError, match="got a number of thousands of digits"):
        share("rate", Fraction(10**5000))


def test_vectors_become_int64():
    found = whole_vector("polytope", "totals", np.array([1, -2], dtype=np.int16), 2)
    assert found.dtype == np.int64
    assert found.tolist() == [1, -2]
    assert whole_vector("polytope", "totals", [], 0).shape == (0,)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, 2, 3], r"totals needs 2 numbers, got an array of \(3,\)"),
        ([1.0, 2.0], "totals must be whole numbers, got float64"),
        ([True, False], "totals must be whole numbers, got bool"),
        ([1, 101], "totals holds a number too large"),
        ([-101, 1], "totals holds a number too large"),
        (np.array([1, -(2**63)]), "totals holds a number too large"),
    ],
)
def test_vectors_that_will_not_do_are_refused(values, words):
    with pytest.raises(InputError, match=f"^polytope: {words}"):
        whole_vector("polytope", "totals", values, 2, 100)


def test_room_ends_where_it_is_said_to():
    refuse_overflow("exact", "noise", 2.0**53 - 1, 53, "use less")
    for largest in (2.0**53, float("inf"), float("nan")):
        with pytest.raises(InputError, match=r"noise could reach .*, more than 53 bits hold; use"):
            refuse_overflow("exact", "noise", largest, 53, "use less")
