import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedLaplace, Invariants, draw_noise
from isdp.testing import DistributionError, check_mean
from reproduction.counties.sweep_figures import NORM_COLOURS, plot_scenarios
from reproduction.counties.sweep_tables import continuous_l2, tabulate_figure, tabulate_scenario
from tests.artists import inside


@pytest.mark.parametrize("cells", [2, 5, 40])
def test_the_law_without_rounding_is_that_of_exact_draws_where_the_noise_is_wide(cells):
    mechanism, d = GeneralizedLaplace(0.05, "l2"), cells - 1
    noise = draw_noise(
        mechanism, Invariants.total(cells), n_draws=20_000, rng=np.random.default_rng(1)
    )
    noise = noise[:, 0]  # cells of one draw depend on each other
    sd, within = continuous_l2(cells, 0.05)
    # a Gamma(d) norm times a coordinate of a uniform direction in d dimensions
    fourth = 3 * (d / cells) ** 2 * (d + 1) * (d + 3) / 0.05**4
    check_mean(noise**2, sd**2, np.sqrt(fourth - sd**4))
    check_mean(np.abs(noise) <= 30, within, np.sqrt(within * (1 - within)))
    with pytest.raises(DistributionError):
        check_mean(noise**2, 1.2 * sd**2, np.sqrt(fourth - sd**4))
    with pytest.raises(DistributionError):
        check_mean(np.abs(noise) <= 30, within - 0.03, np.sqrt(within * (1 - within)))


def one(epsilon, norm="l1", vintage="20201116", das=(), **state):
    """Table of a made-up scenario of one state with two counties."""
    row = {
        "state": "RI",
        "counties": 5,
        "chains": 4,
        "draws": 100,
        "sd": 1 / epsilon,
        "sd_exact": np.nan,
        "p_abs_le_30": 0.5,
        "p_abs_le_30_exact": np.nan,
        "tv_to_exact": np.nan,
        "rhat_max": 1.001,
        "ess_min": 400.0,
        "frozen": 0,
    }
    noise = pd.DataFrame({"state": "RI", "q05": [-2.0, -4.0], "q95": [2.0, 4.0]})
    counties = pd.DataFrame({"state": ["RI", "RI", "VT"], "das_error": [*das, 9] if das else None})
    settings = {"counties": {"epsilon": epsilon, "norm": norm}, "data": {"vintage": vintage}}
    provenance = {"source": "download", "vintage": vintage, "das_available": bool(das)}
    tables = {"state": pd.DataFrame([row | state]), "noise": noise}
    return tabulate_scenario("x", settings, tables, counties, provenance)


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ({}, "yes"),
        ({"rhat_max": 1.02}, "no"),
        ({"ess_min": 399.0}, "no"),
        ({"rhat_max": np.nan, "ess_min": np.nan, "frozen": 5}, "frozen"),
    ],
)
def test_a_scenario_says_whether_its_chains_have_converged(state, wanted):
    assert one(0.2, **state)["convergence"].tolist() == [wanted]


def test_the_order_of_rows_says_nothing():
    states = ["VT", "DE", "RI", "CT"]
    noise = pd.DataFrame({"state": states * 2, "q05": -1.0, "q95": [*range(1, 5), *range(3, 7)]})
    counties = pd.DataFrame({"state": states * 2, "das_error": [*range(1, 5), *range(3, 7)]})
    names = ["state", "counties", "chains", "draws", "sd", "sd_exact", "p_abs_le_30"]
    names += ["p_abs_le_30_exact", "tv_to_exact", "rhat_max", "ess_min", "frozen"]
    state = pd.DataFrame({name: [1.0, 2, 3, 4] for name in names}).assign(state=states)
    settings = {"counties": {"epsilon": 1, "norm": "l1"}, "data": {"vintage": "1"}}
    provenance = {"das_available": True, "source": "download", "vintage": "1"}

    def table(seed):
        drawn = [each.sample(frac=1, random_state=seed) for each in (state, noise, counties)]
        tables = {"state": drawn[0], "noise": drawn[1]}
        found = tabulate_scenario("x", settings, tables, drawn[2], provenance)
        return found.sort_values("state").to_csv(index=False)

    assert {table(seed) for seed in range(5)} == {table(5)}


def test_a_scenario_says_what_das_errors_it_had():
    with_errors, without = one(0.2, das=(3, -4)).iloc[0], one(0.2).iloc[0]
    assert with_errors["das_rms"] == pytest.approx(np.sqrt(12.5))
    assert with_errors["data"] == "download, 20201116"
    assert np.isnan(without["das_rms"])
    assert without["data"] == "published counts alone"
    assert with_errors["range90"] == 6


def test_one_point_is_drawn_for_scenarios_that_differ_in_their_vintage_alone():
    table = pd.concat([one(0.2, vintage=v, das=(1, -1)) for v in ("20200527", "20201116")])
    shown = tabulate_figure(table)
    assert (shown["series"] == "chains").sum() == 1
    assert shown.loc[shown["series"] == "das", "vintage"].tolist() == ["20200527", "20201116"]


def test_noise_that_is_zero_in_every_draw_is_marked_and_not_put_on_the_scale():
    still = {"sd": 0.0, "rhat_max": np.nan, "ess_min": np.nan, "frozen": 5}
    figure = plot_scenarios(tabulate_figure(pd.concat([one(0.2), one(20, **still)])), "title")
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "v"]
    assert [line.get_xdata().tolist() for line in marks] == [[20]]
    points = [
        y for line in figure.axes[0].lines if line.get_marker() == "o" for y in line.get_ydata()
    ]
    assert points == [5]


def test_the_continuous_law_is_not_drawn_where_rounding_shows():
    shown = tabulate_figure(pd.concat([one(0.2, "l2"), one(10, "l2")]))
    curve = shown[shown["series"] == "continuous law"]
    assert curve["sd"].min() >= 2
    assert curve["epsilon"].max() < 1.01


def test_panels_show_each_scenario_at_its_epsilon():
    das = {"das": (3, -4)}
    table = pd.concat([one(0.2, **das), one(1, rhat_max=1.05, **das), one(0.2, "l2", **das)])
    figure = plot_scenarios(tabulate_figure(table), "title")
    sd, share, rhat = figure.axes
    for axis, values in (
        (sd, {"l1": [5, 1], "l2": [5]}),
        (share, {"l1": [0.5, 0.5], "l2": [0.5]}),
        (rhat, {"l1": [0.001, 0.05], "l2": [0.001]}),
    ):
        for norm, expected in values.items():
            marks = [
                line
                for line in axis.get_lines()
                if line.get_marker() in "oD" and line.get_color() == NORM_COLOURS[norm]
            ]
            points = sorted(point for line in marks for point in line.get_xydata().tolist())
            assert [x for x, _ in points] == [0.2, 1][: len(expected)]
            assert [y for _, y in points] == pytest.approx(expected)
            hollow = {line.get_xdata()[0] for line in marks if line.get_fillstyle() == "none"}
            assert hollow == ({1} if norm == "l1" else set())
    (criterion,) = [line for line in rhat.get_lines() if line.get_linestyle() == ":"]
    assert list(criterion.get_ydata()) == pytest.approx([0.01, 0.01])
    (das_line,) = [line for line in sd.get_lines() if line.get_linestyle() == ":"]
    assert list(das_line.get_ydata()) == pytest.approx([np.sqrt(12.5)] * 2)
    shown = tabulate_figure(table)
    law = shown[shown["series"] == "exact law"]
    (curve,) = [
        line
        for line in sd.get_lines()
        if len(line.get_xdata()) == len(law) and line.get_color() == NORM_COLOURS["l1"]
    ]
    assert curve.get_ydata().tolist() == law["sd"].tolist()
    assert inside(figure)
