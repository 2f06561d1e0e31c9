import pytest

from reproduction.topdown.noise import tabulate_conversions, tabulate_noise, tabulate_tails

GAUSSIAN = [785.6, 199.4, 89.9, 51.3, 33.3, 509.3, 130.3, 59.2, 34.0, 22.2, 343.5, 88.8, 40.7,
            23.6, 15.6]  # fmt: skip
LAPLACE = [288.0, 72.0, 32.0, 18.0, 11.5]


@pytest.fixture(scope="module")
def table():
    return tabulate_noise()


def test_all_twenty_numbers_of_the_slides_are_reproduced(table):
    assert [round(x, 1) for x in table["slides"]] == GAUSSIAN
    assert [round(x, 1) for x in table["laplace"]] == LAPLACE * 3


def test_better_accounting_never_asks_for_more_noise(table):
    assert (table["exact Gaussian"] < table["Canonne-Kamath-Steinke"]).all()
    assert (table["Canonne-Kamath-Steinke"] < table["slides"]).all()
    assert (table["laplace_at_delta"] <= table["laplace"]).all()


def test_where_the_gaussian_is_smaller_follows_from_the_crossings(table):
    for _, row in tabulate_conversions().iterrows():
        part = table[table["delta"] == row["delta"]]
        smaller = part[row["conversion"]] < part["laplace"]
        assert smaller.tolist() == (part["epsilon"] < row["smaller_up_to"]).tolist()


def test_the_gaussians_tails_are_lighter_beyond_the_crossing():
    found = tabulate_tails().round(0)
    assert found["crossing"].tolist() == [107, 63, 37]
    assert (found["largest_gaussian"] < found["largest_laplace"]).all()
    assert found["largest_laplace"].tolist() == [278] * 3
    assert found["largest_gaussian"].tolist() == [182, 147, 120]
