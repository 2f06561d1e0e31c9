"""One check each for whole numbers, positive numbers, vectors of them, and room in 64 bits."""

from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.checks import positive, refuse_overflow, whole, whole_vector


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


@pytest.mark.parametrize("value", [1, 1e-300, np.float64(2), Fraction(1, 3)])
def test_positive_numbers_are_given_back(value):
    assert positive("epsilon", value) is value


@pytest.mark.parametrize("value", [0, -1.0, True, "1", None, float("nan"), float("inf"), 1j])
def test_what_is_not_positive_is_refused(value):
    with pytest.raises(InputError, match=r"^epsilon must be a positive number, got "):
        positive("epsilon", value)


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
