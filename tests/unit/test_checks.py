"""Each check returns valid values, and refuses all others with the name of the argument."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from isdp import InputError
from isdp.checks import (
    check_choice,
    check_in_range,
    check_integer,
    check_integer_array,
    check_non_negative,
    check_positive,
    check_positive_float,
    check_probability,
    parse_rational,
    refuse_overflow,
)

NO_NUMBERS = [True, "1", None, math.nan, 1j, [0.5], np.array([3])]
LONG = ["9" * 5000, "1e-400000000", "1E400000000"]
HALF = Fraction(1, 2)
# a check, the values that it gives back as they are, and others that it refuses
CHECKS = [
    (partial(check_integer, "exact"), [0, 3, 2**70], [1.5, -1, math.inf, *NO_NUMBERS]),
    (lambda name, x: check_integer("exact", name, x, 6), [6, 7], [5, *NO_NUMBERS]),
    (lambda name, x: check_integer("exact", name, x, 6, 8), [6, 8], [5, 9]),
    (check_positive, [1, 1e-300, HALF], [0, -1.0, math.inf, *NO_NUMBERS]),
    (
        check_positive_float,
        [1e-100, 0.5, 1e100],
        [0, math.nextafter(1e-100, 0), 1.1e100, *NO_NUMBERS],
    ),
    (check_non_negative, [0, 3, 2.5, HALF], [-1, -1e-300, math.inf, *NO_NUMBERS]),
    (partial(check_non_negative, below=1), [0, 0.999], [1, -1]),
    (partial(check_in_range, low=0.6, high=2), [0.6, 2, 1.5], [0.5, 2.0001, math.inf, *NO_NUMBERS]),
    (
        check_probability,
        [0.25],
        [0, 1, -1, 5, Fraction(1, 10**400), 1 - Fraction(1, 10**20), *NO_NUMBERS],
    ),
    (check_probability, [], [Fraction(10**5000), Fraction(-1, 2)]),
    (partial(check_choice, known=("l1", "l2")), ["l1", "l2"], ["l3", "", None]),
    (parse_rational, [HALF, 3], ["", "a", "1/0", "1e", "inf", math.inf, None, True, [1], *LONG]),
]


@pytest.mark.parametrize(("check", "good", "bad"), CHECKS)
def test_good_values_are_given_back_and_others_are_refused_by_name(check, good, bad):
    for value in good:
        found = check("setting", value)
        assert found == value
        assert type(found) is type(value) or isinstance(found, Fraction)
    for value in bad:
        with pytest.raises(InputError, match="setting") as refused:
            check("setting", value)
        assert len(str(refused.value)) < 250


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.uint8(3), np.float32(3), Fraction(6, 2)])
def test_whole_numbers_of_any_type_become_ints(value):
    assert check_integer("exact", "draws", value) == 3
    assert type(check_integer("exact", "draws", value)) is int


@pytest.mark.parametrize("check", [check_probability, check_positive_float])
@pytest.mark.parametrize("value", [0.25, Fraction(1, 4), np.float64(0.25)])
def test_shares_and_scales_become_floats(check, value):
    assert check("rate", value) == 0.25
    assert type(check("rate", value)) is float


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        ("1/4", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (np.float64(0.1), Fraction(1, 10)),
    ],
)
def test_numbers_are_read_as_they_are_written(value, exact):
    assert parse_rational("epsilon", value) == exact


def test_vectors_become_int64():
    found = check_integer_array("polytope: totals", np.array([1, -2], dtype=np.int16), (2,))
    assert found.dtype == np.int64
    assert found.tolist() == [1, -2]
    assert check_integer_array("polytope: totals", [], (0,)).shape == (0,)
    given = [100, -100]
    assert check_integer_array("polytope: totals", given, (2,), -100, 100).tolist() == given
    assert check_integer_array("counts", [[1, 2]], (None, 2), 0).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3], [1.0, 2.0], [True, False], [1, 101], [-101, 1], np.array([1, -(2**63)])],
)
def test_vectors_that_will_not_do_are_refused(values):
    with pytest.raises(InputError, match=r"polytope: totals"):
        check_integer_array("polytope: totals", values, (2,), -100, 100)


@pytest.mark.parametrize("values", [[1, 2], [[1, 2, 3]], np.zeros((0, 2), dtype=int), [[-1, 2]]])
def test_tables_that_will_not_do_are_refused(values):
    with pytest.raises(InputError, match="counts"):
        check_integer_array("counts", values, (None, 2), 0)


def test_numbers_that_reach_the_limit_are_refused():
    refuse_overflow("exact", "noise", 2.0**53 - 1, 53, "use less")
    for largest in (2.0**53, math.inf, math.nan):
        with pytest.raises(InputError, match="exact: noise"):
            refuse_overflow("exact", "noise", largest, 53, "use less")
