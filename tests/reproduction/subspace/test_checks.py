import numpy as np
import pytest

from isdp.subspace.calibration import multiplier
from reproduction.subspace.checks import NESTED_MULTIPLIER, check_table
from tests.statistical.checks import check_mean


@pytest.fixture(scope="module")
def table():
    return check_table(np.random.default_rng(5), 0.192, 1e-5, 1000)


def values(table, where, measure=""):
    rows = table[(table["where"] == where) & table["measure"].str.contains(measure)]
    assert len(rows)
    return rows["value"]


def test_every_proposition_meets_what_is_wanted_of_it(table):
    assert (values(table, "Example 2.4") == 1).all()
    assert values(table, "Proposition 2.7").max() <= 1e-12
    assert 0.99 < values(table, "Proposition 2.9").item() <= 1 + 1e-9
    means = table[table["where"] == "Corollary 4.1"]
    for _, row in means.iterrows():  # the farthest of 16: as many times the false alarms of one
        check_mean([row["value"]], 0, row["error"])
        assert row["value"] != 0
    assert (means["value"] / means["error"]).tolist() == pytest.approx(means["z"].tolist())
    assert table.loc[table["where"] != "Corollary 4.1", ["error", "z"]].isna().all(axis=None)
    assert (values(table, "Section 4", "difference") == 0).all()
    held = table[table["case"] == "round Gaussian"].set_index("where").loc["Theorem 4.2", "value"]
    assert held.tolist() == pytest.approx([0, 1], abs=1e-12)


def test_the_papers_multiplier_is_that_of_its_constant():
    assert round(multiplier(0.192, 1e-5, "paper"), 3) == NESTED_MULTIPLIER


def test_what_is_not_promised_does_not_hold(table):
    unasked = table[table["wanted"] == ""]
    assert unasked.loc[unasked["case"] == "both releases held", "value"].item() == 0
    gaps = values(table, "Theorem 4.2", "gap")
    assert (gaps.iloc[1:] > 0.1).all()
