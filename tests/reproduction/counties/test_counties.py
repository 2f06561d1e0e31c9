import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedLaplace, InputError
from isdp.diagnostics.chains import convergence
from reproduction.counties.experiment import describe_noise, sample_state, tabulate_boxes
from reproduction.counties.states import select_states
from reproduction.data.published import select_counties

STAND_IN = ["TX", "IL"]
L1 = GeneralizedLaplace(0.2)


@pytest.fixture
def counties():
    table = pd.DataFrame(
        {
            "fips": ["50003", "50001", "50005", "11001"],
            "state": ["VT", "VT", "VT", "DC"],
            "county": ["B County", "A County", "C County", "District"],
            "population": [100, 100, 50, 600],
            "das_error": pd.array([1, -3, pd.NA, 0], dtype="Int64"),
        }
    )
    return select_counties(table, "VT")


@pytest.fixture
def noise():
    rng = np.random.default_rng(1)
    first = rng.integers(-20, 21, (4, 50))
    second = rng.integers(-20, 21, (4, 50))
    return np.stack([first, second, -first - second], axis=-1)


def regressions(**slopes):
    return pd.DataFrame(
        {
            "state": list(slopes),
            "counties": range(10, 10 + len(slopes)),
            "negative": pd.array([s < 0 for s in slopes.values()], dtype="boolean"),
            "significant": pd.array([abs(s) > 1 for s in slopes.values()], dtype="boolean"),
        }
    )


def test_counties_stand_in_increasing_population_ties_by_code(counties):
    assert counties["fips"].tolist() == ["50005", "50001", "50003"]
    again = select_counties(counties, "VT")  # nothing but the order is new
    pd.testing.assert_frame_equal(again, counties)
    with pytest.raises(InputError, match="'ZZ'"):
        select_counties(counties, "ZZ")


def test_states_follow_the_papers_rule_only_in_the_papers_vintage():
    table = regressions(IL=-2.0, VT=-0.5, NY=3.0, TX=-4.0)
    paper = select_states(table, "20201116", "paper", STAND_IN)
    assert paper["state"].tolist() == ["TX", "IL"]
    assert paper["rule"].str.contains("significant at 0.01 in vintage 20201116").all()
    for vintage in ("20210608", "", "unknown"):
        other = select_states(table, vintage, "paper", ["NE", "IA"])
        assert other["state"].tolist() == ["NE", "IA"]
        assert other["rule"].str.startswith("stand-in").all()
    named = select_states(table, "20201116", ["VT"], STAND_IN)
    assert named["state"].tolist() == ["VT"]


def test_no_state_that_fits_the_rule_is_said():
    with pytest.raises(InputError, match=r"counties\.states"):
        select_states(regressions(IL=0.1), "20201116", "paper", STAND_IN)


def test_noise_is_described_county_by_county(counties, noise):
    table = describe_noise(counties, noise, L1)["noise"]
    flat = noise.reshape(-1, 3)
    assert table["fips"].tolist() == counties["fips"].tolist()
    assert table["mean"].tolist() == pytest.approx(flat.mean(axis=0).tolist())
    assert table["q95"][1] == np.quantile(flat[:, 1], 0.95)
    assert table["p_abs_le_30"][2] == (np.abs(flat[:, 2]) <= 30).mean() < 1
    assert (table["z"] * table["mcse"]).tolist() == pytest.approx(table["mean"].tolist())
    assert table["below_zero"].tolist() == [0, 0, 0]
    empty = counties.assign(population=[0, 100, 100])
    below = describe_noise(empty, noise, L1)["noise"]["below_zero"]
    assert below.tolist() == [(flat[:, 0] < 0).sum(), 0, 0]


def test_a_state_in_one_row(counties, noise):
    diagnostics = convergence(noise)
    row = describe_noise(counties, noise, GeneralizedLaplace(0.2))["state"].iloc[0]
    assert row["sum_violations"] == 0
    assert row["releases_truncated"] == 0
    assert row["rhat_max"] == diagnostics["rhat"].max()
    assert row["sd_exact"] > 0
    broken = noise.copy()
    broken[1, 2, 0] -= 51
    row = describe_noise(counties, broken, GeneralizedLaplace(0.2))["state"].iloc[0]
    assert row["sum_violations"] == 1
    assert row["releases_truncated"] == (broken[1, 2, 0] < -50)
    l2 = describe_noise(counties, noise, GeneralizedLaplace(0.2, "l2"))["state"].iloc[0]
    assert np.isnan(l2["sd_exact"])


def test_boxes_hold_all_that_the_figure_shows(counties, noise):
    noise = noise.copy()
    noise[2, 7] = [90, 0, -90]
    table = tabulate_boxes(counties, noise)
    assert set(table["rank"]) == {1, 2, 3}
    first = table[table["rank"] == 1].groupby("series")["value"].apply(list)
    values = np.sort(noise[..., 0].ravel())
    q1, q3 = np.quantile(values, (0.25, 0.75))
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    assert first["whisker_low"] == [inside[0]]
    assert first["whisker_high"] == [inside[-1]]
    assert first["extreme"] == [90]
    assert first["one_draw"] == [noise[0, -1, 0]]
    assert "das_error" not in first
    das = table[table["series"] == "das_error"].set_index("fips")["value"]
    assert das.to_dict() == {"50001": -3, "50003": 1}


def test_a_state_of_two_counties_against_its_law_by_hand():
    two = select_counties(
        pd.DataFrame(
            {"fips": ["1", "2"], "state": "XX", "county": ["a", "b"], "population": [40, 90]}
        ),
        "XX",
    )
    first = np.array([[0, 1, 2, -3], [1, 0, -35, 31]])
    noise = np.stack([first, -first], axis=-1)
    row = describe_noise(two, noise, GeneralizedLaplace(0.25))["state"].iloc[0]
    # each county's noise is x or -x with a chance of exp(-0.25 * 2 |x|)
    support = np.arange(-200, 201)
    law = np.exp(-0.5 * np.abs(support))
    law /= law.sum()
    share = {0: 4, 1: 2, 2: 1, 3: 1, 31: 1, 35: 1}
    seen = np.array([share.get(abs(x), 0) / 16 for x in support])
    assert row["tv_to_exact"] == pytest.approx(np.abs(seen - law).sum() / 2)
    assert row["sd_exact"] == pytest.approx(np.sqrt((support**2 * law).sum()))
    assert row["p_abs_le_30_exact"] == pytest.approx(law[np.abs(support) <= 30].sum())
    assert row["p_abs_le_30"] == 12 / 16
    # the first chain never leaves the band: the plain error of four times 1, 1, 0 and 0 beside it
    assert row["p_abs_le_30_se"] == pytest.approx(np.sqrt(0.75 * 0.25 / 8))
    assert row["sd"] == pytest.approx(np.sqrt(2 * (1 + 1 + 4 + 9 + 35**2 + 31**2) / 16))
    assert row["norm_mean"] == (0 + 2 + 4 + 6 + 2 + 0 + 70 + 62) / 8
    assert (row["chains"], row["draws"], row["counties"]) == (2, 4, 2)


def test_draws_off_the_total_are_counted_and_the_ends_of_the_band_belong_to_it(counties):
    noise = np.array(2 * [[[30, -30, 0], [31, -30, 0], [-30, 29, 0], [0, 0, 0]]])
    row = describe_noise(counties, noise, GeneralizedLaplace(0.25))["state"].iloc[0]
    assert row["sum_violations"] == 4
    assert row["p_abs_le_30"] == 11 / 12
    assert describe_noise(counties, noise, L1)["noise"]["p_abs_le_30"].tolist() == [0.75, 1, 1]


def test_sampling_starts_apart_and_never_reads_the_counts(counties):
    def run(table):
        return sample_state(
            np.random.default_rng(4),
            table,
            epsilon=0.2,
            norm="l1",
            chains=3,
            draws=20,
            burn_in=10,
            thin=2,
            basis="smith",
            acceptance="coordinate",
            proposal=0.8,
            overdispersed={"epsilon": 0.01, "sweeps": 30},
        )

    draws = run(counties)
    assert draws.noise.shape == (3, 20, 3)
    assert draws.cells == counties["fips"].tolist()
    assert draws.invariants.names == ("population of VT",)
    other = run(counties.assign(population=[7, 8, 9]))
    assert (other.noise == draws.noise).all()
