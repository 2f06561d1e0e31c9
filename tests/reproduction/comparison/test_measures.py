import numpy as np
import pytest

from reproduction.comparison.measures import Share, errors_by_size, share_errors, summary

SIZES = {"0": 0, "1-9": 1, "10 on": 10}


def test_errors_are_counted_by_true_size():
    true = np.array([[0, 0, 5], [9, 10, 30]])
    released = np.array([[2, -1, 5], [6, 14, 30]])
    table = errors_by_size(released, true, SIZES).set_index("size")
    assert table["answers"].to_dict() == {"all": 6, "0": 2, "1-9": 2, "10 on": 2}
    assert table["negative"].to_dict() == {"all": 1, "0": 1, "1-9": 0, "10 on": 0}
    assert table["bias"].to_dict() == pytest.approx(
        {"all": 2 / 6, "0": 0.5, "1-9": -1.5, "10 on": 2}
    )
    assert table["mae"].to_dict() == pytest.approx(
        {"all": 10 / 6, "0": 1.5, "1-9": 1.5, "10 on": 2}
    )
    squares = {"all": 30 / 6, "0": 2.5, "1-9": 4.5, "10 on": 8}
    assert (table["rmse"] ** 2).to_dict() == pytest.approx(squares)


def test_a_class_without_answers_has_no_row():
    assert errors_by_size([[1]], [[1]], SIZES)["size"].tolist() == ["all", "1-9"]


def test_shares_are_counted_where_they_cannot_be_and_never_clipped():
    true = np.array([[1, 3], [2, 2], [0, 0], [5, 5]])
    released = np.array([[2, 2], [-1, 3], [1, 1], [0, 0]])
    table = share_errors(released, true, Share("first", [0]), {"few": 0, "ten": 10})
    table = table.set_index("size")
    # the third area has no true share; the fourth no released one
    assert table["areas"].to_dict() == {"all": 3, "few": 2, "ten": 1}
    assert table["undefined"].to_dict() == {"all": 1, "few": 0, "ten": 1}
    assert table["out_of_range"].to_dict() == {"all": 1, "few": 1, "ten": 0}
    assert table.loc["all", "bias"] == pytest.approx((25 - 100) / 2)
    assert table.loc["all", "mae"] == pytest.approx((25 + 100) / 2)
    assert np.isnan(table.loc["ten", "mae"])
    assert table["off_by_1"].to_dict() == {"all": 2, "few": 2, "ten": 0}


def test_the_summary_tells_what_cannot_be_and_what_is_exact():
    true = np.array([[1, 3], [2, 2]])
    assert summary(np.array([[2, 2], [-1, 3]]), true) == {
        "negative": 1,
        "fractional": 0,
        "exact_areas": 0.5,
        "exact_cells": 0.0,
        "people_moved": 3.0,
    }
    assert summary(np.array([[0.5, 3.5], [2.0, 2.0]]), true) == {
        "negative": 0,
        "fractional": 2,
        "exact_areas": 1.0,
        "exact_cells": 0.5,
        "people_moved": 0.5,
    }
