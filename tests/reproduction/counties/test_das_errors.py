import os

import numpy as np
import pandas as pd
import pytest
from scipy import special

from isdp import InputError
from isdp.io.files import write_csv
from reproduction.counties.states import (
    add_slope_intervals,
    regress_das_errors,
    select_biased_states,
)
from reproduction.data.demonstration import (
    build_county_table,
    check_demonstration,
    read_demonstration,
)
from reproduction.data.published import read_published
from reproduction.jobs.tables import read_csv
from tests import ROOT

REPOSITORY_TABLE = ROOT / "data" / "census2010_county_population.csv"


def counties(state, population, error):
    return pd.DataFrame(
        {
            "state": state,
            "county": [f"County {i}" for i in range(len(population))],
            "population": np.asarray(population, dtype=np.int64),
            "das_error": pd.array(error, dtype="Int64"),
        }
    )


def textbook(population, error):
    """Slope, standard error and two-sided p by least squares and Student's distribution."""
    (slope, _), covariance = np.polyfit(np.log(population), error, 1, cov=True)
    se = np.sqrt(covariance[0, 0])
    return slope, se, 2 * special.stdtr(len(population) - 2, -abs(slope / se))


@pytest.mark.parametrize("seed", range(5))
def test_the_regression_is_the_textbook_one(seed):
    rng = np.random.default_rng(seed)
    population = rng.integers(82, 5_000_000, size=12)
    error = rng.integers(-40, 41, size=12)
    row = regress_das_errors(counties("AL", population, error)).iloc[0]
    slope, se, p = textbook(population, error)
    assert row["slope"] == pytest.approx(slope, rel=1e-9)
    assert row["se"] == pytest.approx(se, rel=1e-9)
    assert row["p"] == pytest.approx(p, rel=1e-6)
    assert row["negative"] == (slope < 0)
    assert row["significant"] == (p < 0.01)


def test_significance_is_two_sided_and_at_alpha():
    population = np.rint(np.exp(np.arange(8, 16))).astype(int)
    rising = counties("TX", population, np.arange(8) * 3 + [5, -5, 5, -5, 5, -5, 5, -5])
    p = regress_das_errors(rising)["p"][0]
    assert 0.001 < p < 0.05
    assert not regress_das_errors(rising, alpha=p * 0.999)["significant"][0]
    # a one-sided test would find p / 2
    assert not regress_das_errors(rising, alpha=p * 0.6)["significant"][0]
    above = regress_das_errors(rising, alpha=p * 1.001).iloc[0]
    assert above["significant"]
    assert not above["negative"]
    assert select_biased_states(regress_das_errors(rising, alpha=0.5)) == []


def test_one_row_a_state_of_more_than_five_counties_sorted():
    table = pd.concat(
        [
            counties("VT", range(100, 107), [1, 2, 0, 1, -1, 3, 2]),
            counties("DE", range(100, 105), [1, 2, 0, 1, -1]),
            counties("CT", range(100, 106), [1, 2, 0, 1, -1, 3]),
        ]
    )
    result = regress_das_errors(table)
    assert result.columns.tolist() == [
        "state",
        "counties",
        "slope",
        "se",
        "p",
        "negative",
        "significant",
    ]
    assert result["state"].tolist() == ["CT", "VT"]
    assert result["counties"].tolist() == [6, 7]
    assert regress_das_errors(table, min_counties=5)["state"].tolist() == ["CT", "DE", "VT"]
    assert regress_das_errors(table, min_counties=8).empty


def test_the_published_counts_alone_give_48_rows_without_slopes():
    result = regress_das_errors(build_county_table(read_published(REPOSITORY_TABLE)))
    assert len(result) == 48
    assert "PR" in result["state"].tolist()
    assert not {"DC", "DE", "HI", "RI"} & set(result["state"])
    missing = ["slope", "se", "p", "negative", "significant"]
    assert result[missing].isna().all(axis=None)
    assert (result[["negative", "significant"]].dtypes == "boolean").all()
    assert select_biased_states(result) == []


def test_a_state_with_one_missing_error_has_no_regression():
    table = pd.concat(
        [
            counties("CT", range(100, 106), [1, 2, 0, 1, -1, None]),
            counties("VT", range(100, 106), [1, 2, 0, 1, -1, 3]),
        ]
    )
    result = regress_das_errors(table).set_index("state")
    assert result["slope"].isna().to_dict() == {"CT": True, "VT": False}
    assert result["significant"].isna().to_dict() == {"CT": True, "VT": False}


@pytest.mark.parametrize("error", [0, -7])
def test_equal_errors_have_slope_zero_and_no_significance(error):
    row = regress_das_errors(counties("CT", [82, 900, 1000, 5000, 7777, 10**6], [error] * 6)).iloc[
        0
    ]
    assert (row["slope"], row["se"], row["p"]) == (0, 0, 1)
    assert not row["negative"]
    assert not row["significant"]


def test_what_has_no_regression_is_named():
    with pytest.raises(InputError, match="state CT, county County 2"):
        regress_das_errors(counties("CT", [5, 6, 0, 7, 8, 9], range(6)))
    with pytest.raises(InputError, match="state CT: all counties"):
        regress_das_errors(counties("CT", [7] * 6, range(6)))
    # nothing is regressed here, so nothing is wrong
    assert regress_das_errors(counties("CT", [5, 6, 0, 7, 8, 9], [None] * 6))["slope"].isna().all()
    assert regress_das_errors(counties("DE", [5, 6, 0], range(3))).empty


def test_an_interval_excludes_zero_just_where_the_slope_is_significant():
    rng = np.random.default_rng(7)
    population = np.rint(np.exp(np.linspace(5, 15, 8))).astype(int)
    table = pd.concat(
        [
            counties(f"{i:02d}", population, np.rint(rng.normal(-1.5 * np.arange(8), 3)))
            for i in range(40)
        ]
    )
    result = add_slope_intervals(regress_das_errors(table))
    excludes = (result["low"] > 0) | (result["high"] < 0)
    # both kinds: each of 40 does with a chance of 0.42, by the noncentral t law
    assert 0 < excludes.sum() < 40
    assert (excludes == result["significant"]).all()
    # t quantile 0.995 with 6 degrees of freedom, from a printed table
    reach = (result["high"] - result["low"]) / 2 / result["se"]
    assert reach.to_numpy() == pytest.approx(3.7074, abs=5e-5)


def flags(rows):
    table = pd.DataFrame(rows, columns=["state", "counties", "negative", "significant"])
    return table.astype({"negative": "boolean", "significant": "boolean"})


def test_biased_states_by_number_of_counties_then_name(tmp_path):
    table = flags(
        [
            ("AL", 67, True, True),
            ("GA", 159, True, False),
            ("IL", 102, True, True),
            ("KY", 120, False, True),
            ("ND", 53, None, None),
            ("NM", 33, True, True),
            ("AK", 67, True, True),
            ("TX", 254, True, True),
        ]
    )
    expected = ["TX", "IL", "AK", "AL", "NM"]
    assert select_biased_states(table) == expected
    write_csv(table, tmp_path / "t.csv")
    assert select_biased_states(read_csv(tmp_path / "t.csv")) == expected
    whole = table.dropna()
    write_csv(whole, tmp_path / "t.csv")
    assert select_biased_states(read_csv(tmp_path / "t.csv")) == expected
    write_csv(flags([("AL", 67, None, None)]), tmp_path / "t.csv")
    assert select_biased_states(read_csv(tmp_path / "t.csv")) == []


@pytest.mark.skipif(
    not os.environ.get("NHGIS_PPDD_FILE"),
    reason="NHGIS_PPDD_FILE names no genuine file of the demonstration data",
)
def test_the_regressions_of_a_genuine_file():
    published = read_published(REPOSITORY_TABLE)
    genuine = read_demonstration(os.environ["NHGIS_PPDD_FILE"])
    check_demonstration(genuine, published)
    result = regress_das_errors(build_county_table(published, genuine))
    assert len(result) == 48
    assert result.notna().all(axis=None)
    if genuine.vintage != "20210608":
        pytest.skip("the numbers below are those of vintage 20210608")
    assert result["negative"].sum() == 36
    assert result.loc[result["significant"], "state"].tolist() == ["VT"]
    assert select_biased_states(result) == ["VT"]
