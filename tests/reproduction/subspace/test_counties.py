import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from isdp.testing import DistributionError, check_mean
from reproduction.data.published import select_counties
from reproduction.subspace.counties import (
    compare_state,
    draw_county_noise,
    regress_slopes,
    tabulate_runs,
    tabulate_spread,
)
from reproduction.subspace.tables import tabulate_counties

SETTINGS = {"state": "AA", "runs": 3, "scales": [2, 1], "slope_runs": 20}
POPULATION = np.rint(np.exp(np.linspace(8, 15, 102))).astype(int)


def test_noise_is_filed_by_county_in_the_order_of_population():
    counties = pd.DataFrame(
        {
            "state": "AA",
            "fips": list("1234"),
            "county": list("abcd"),
            "population": [50, 10, 40, 20],
            "das_error": [1.0, 2.0, 3.0, 4.0],
        }
    )
    noise = {scale: draw_county_noise(np.random.default_rng(1), 4, 0.192, 3) for scale in (2, 1)}
    table = tabulate_runs(select_counties(counties, "AA"), noise)
    assert table["scale"].tolist() == [2] * 12 + [1] * 12
    first = table[(table["run"] == 0) & (table["scale"] == 1)]
    assert first["rank"].tolist() == [0, 1, 2, 3]
    assert first["county"].tolist() == ["b", "d", "c", "a"]
    assert first["population"].tolist() == [10, 20, 40, 50]
    assert first["das_error"].tolist() == [2, 4, 3, 1]
    assert first["error"].to_numpy() == pytest.approx(noise[1][0])
    assert table.groupby(["scale", "run"])["error"].sum().abs().max() < 1e-9


def test_spreads_at_both_readings_of_the_unit():
    table = tabulate_spread(102, 0.192, [2, 1], 10)
    assert table["sd"].round(4).tolist() == [14.659, 7.3295]
    noise = draw_county_noise(np.random.default_rng(2), 102, 0.192, 4000, scale=1.0)
    squares = np.square(noise).mean(axis=1)  # of each run, which are independent
    check_mean(squares, 53.72158)
    with pytest.raises(DistributionError):
        check_mean(1.05 * squares, 53.72158)
    # nine in ten of runs ten at a time lie between, and as many beyond as below
    seen, row = np.sqrt(squares.reshape(400, 10).mean(axis=1)), table.iloc[1]
    for outside in (seen < row["sd_low"], seen > row["sd_high"]):
        check_mean(outside, 0.05, np.sqrt(0.05 * 0.95))
    assert (table[["sd_low", "sd_high"]].loc[0] == 2 * table[["sd_low", "sd_high"]].loc[1]).all()


def test_slopes_are_as_often_negative_as_not():
    table = regress_slopes(np.random.default_rng(3), POPULATION, 0.192, 20_000)
    for row in table.itertuples():
        check_mean(row.mean_slope, 0, row.mcse)
        check_mean(row.share_negative, 0.5, 0.5 / np.sqrt(20_000))
        # the level is 1 % for normal noise, and as good as that for the mean of 102 counties'
        near = np.clip(row.share_significant, 0.009, 0.011)
        check_mean(row.share_significant, near, np.sqrt(0.01 * 0.99 / 20_000))


COUNTIES = pd.DataFrame(
    {
        "fips": ["01", "02", "03", "04"],
        "state": ["IL", "IL", "TX", "IL"],
        "county": list("abcd"),
        "population": [300, 20, 7, 20],
        "das_error": [3.0, -4.0, 1.0, 0.0],
    }
)


def test_counties_of_a_state_are_ranked_by_population_and_then_by_code():
    assert select_counties(COUNTIES, "IL")["county"].tolist() == ["b", "d", "a"]
    with pytest.raises(InputError, match="'ZZ'"):
        select_counties(COUNTIES, "ZZ")


def test_a_state_s_table_says_what_its_runs_show():
    place = select_counties(COUNTIES, "IL")
    rng = np.random.default_rng(5)
    noise = {scale: draw_county_noise(rng, len(place), 0.5, 7, scale) for scale in (2.0, 1.0)}
    table = compare_state(np.random.default_rng(6), place, noise, 0.5, 400)
    assert table["scale"].tolist() == [2, 1]
    assert table["seen"].tolist() == [np.sqrt((drawn**2).mean()) for drawn in noise.values()]
    assert table["largest"].tolist() == [np.abs(drawn).max() for drawn in noise.values()]
    assert table["das_sd"].tolist() == pytest.approx([np.sqrt(25 / 3)] * 2)
    assert table["das_ratio"].to_numpy() == pytest.approx(table["das_sd"] / table["sd"])
    share = table["share_negative"]
    assert table["share_negative_se"].to_numpy() == pytest.approx(
        np.sqrt(share * (1 - share) / 400)
    )
    blank = compare_state(np.random.default_rng(6), place.assign(das_error=np.nan), noise, 0.5, 400)
    assert blank["das_ratio"].isna().all()


def test_a_state_of_one_county_has_no_noise_and_no_slopes():
    place = select_counties(COUNTIES, "TX")
    rng = np.random.default_rng(7)
    noise = {scale: draw_county_noise(rng, len(place), 0.5, 7, scale) for scale in (2.0, 1.0)}
    assert not any(drawn.any() for drawn in noise.values())
    table = compare_state(np.random.default_rng(8), place, noise, 0.5, 400)
    assert table["scale"].tolist() == [2, 1]
    assert table["sd"].tolist() == [0, 0]
    assert table[["mean_slope", "share_negative", "share_negative_se"]].isna().all(axis=None)


def test_each_state_has_a_stream_of_its_own_and_the_figures_comes_first():
    counties = pd.DataFrame(
        {
            "state": ["AA"] * 4 + ["BB"] * 3,
            "county": list("abcdefg"),
            "fips": list("1234567"),
            "population": [10, 20, 30, 40, 5, 6, 7],
            "das_error": [1.0, -1.0, 2.0, -2.0, 0.0, 1.0, -1.0],
        }
    )
    found = tabulate_counties(1, 0.2, SETTINGS, counties, pd.DataFrame({"state": ["BB"]}))
    table, boxes = found["counties"], found["boxes"]
    assert table[["state", "shown", "scale"]].to_numpy().tolist() == [
        *(["AA", True, 2], ["AA", True, 1]),
        *(["BB", False, 2], ["BB", False, 1]),
    ]
    assert len(boxes) == 2 * 3 * 4  # scales, runs and counties of the figure's state alone
    assert dict(zip(boxes["county"], boxes["das_error"], strict=True)) == dict(
        zip("abcd", [1.0, -1.0, 2.0, -2.0], strict=True)
    )
    none = pd.DataFrame({"state": []})
    alone = tabulate_counties(1, 0.2, SETTINGS | {"state": "BB"}, counties, none)["counties"]
    same = table.loc[table["state"] == "BB"].drop(columns="shown").reset_index(drop=True)
    pd.testing.assert_frame_equal(same, alone.drop(columns="shown"))
