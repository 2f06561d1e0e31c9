import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import StepPatch

from isdp.plots.distributions import plot_overlaid_distributions
from isdp.plots.style import INK
from tests.artists import inside, legend_of

SAMPLERS = {"mcmc": "Markov chains", "messages": "messages"}
LEVELS = ("q05", "q25", "q50", "q75", "q95")


@pytest.fixture(scope="module")
def tables():
    norms = pd.DataFrame(
        [
            {"law": law, "sampler": s, "low": 2.0 * i, "high": 2.0 * i + 2, "share": share}
            for k, law in enumerate(("l1", "l2"))
            for j, s in enumerate(("exact", "mcmc", "messages"))
            for i, share in enumerate((0.1 + j / 100 + k / 50, 0.7, 0.2 - j / 100 - k / 50))
        ]
    )
    quantiles = pd.DataFrame(
        [
            {"law": law, "sampler": s, "cell": cell, "name": f"cell {cell}"}
            | {level: scale * (i - 2) + cell + j / 10 for i, level in enumerate(LEVELS)}
            for scale, law in ((1, "l1"), (3, "l2"))
            for j, s in enumerate(("exact", "mcmc", "messages"))
            for cell in range(3)
        ]
    )
    agreement = pd.DataFrame(
        [
            {"law": law, "sampler": s, "statistic": what, "distance": d, "bound": 0.5}
            for law, s, what, d in (
                ("l1", "mcmc", "norm", 0.011),
                ("l1", "mcmc", "cells", 0.022),
                ("l1", "messages", "norm", 0.033),
                ("l2", "mcmc", "norm", 0.044),
            )
        ]
    )
    return norms, quantiles, agreement


@pytest.fixture(scope="module")
def figure(tables):
    return plot_overlaid_distributions(
        *tables, "title", {"l1": "first law", "l2": "second law"}, SAMPLERS
    )


@pytest.mark.parametrize(("row", "law"), [(0, "l1"), (1, "l2")])
def test_norms_are_bars_of_exact_draws_under_steps_of_each_sampler(figure, tables, row, law):
    axis, norms = figure.axes[2 * row], tables[0]
    own = dict(list(norms[norms["law"] == law].groupby("sampler")))
    bars = axis.containers[0].patches
    assert [bar.get_height() for bar in bars] == own["exact"]["share"].tolist()
    assert [bar.get_x() for bar in bars] == [0, 2, 4]
    found = [patch for patch in axis.patches if isinstance(patch, StepPatch)]
    steps = {patch.get_label(): patch.get_data() for patch in found}
    for name, words in SAMPLERS.items():
        assert steps[words].values.tolist() == own[name]["share"].tolist()
        assert steps[words].edges.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(("row", "law"), [(0, "l1"), (1, "l2")])
def test_quantiles_are_strokes_of_exact_draws_and_dots_of_each_sampler(figure, tables, row, law):
    axis, quantiles = figure.axes[2 * row + 1], tables[1]
    own = dict(list(quantiles[quantiles["law"] == law].groupby("sampler")))
    boxes = axis.containers[0].patches
    assert [box.get_y() for box in boxes] == own["exact"]["q25"].tolist()
    assert [box.get_height() for box in boxes] == pytest.approx(
        (own["exact"]["q75"] - own["exact"]["q25"]).tolist()
    )
    drawn = [lines.get_segments() for lines in axis.collections]
    for level, segments in zip(LEVELS, drawn, strict=True):
        assert [segment[0][1] for segment in segments] == own["exact"][level].tolist()
        ends = [segment[:, 0].tolist() for segment in segments]
        assert np.array(ends) == pytest.approx(np.array([[0.6, 1.4], [1.6, 2.4], [2.6, 3.4]]))
    dots = [line for line in axis.get_lines() if line.get_marker() == "."]
    wanted = [(name, level) for name in SAMPLERS for level in LEVELS]
    for line, (name, level) in zip(dots, wanted, strict=True):
        assert line.get_ydata().tolist() == own[name][level].tolist()
        assert np.round(line.get_xdata()).tolist() == [1, 2, 3]
    assert {line.get_color() for line in dots}.isdisjoint({INK})


def test_a_law_without_exact_draws_says_so_and_shows_what_there_is(tables):
    norms, quantiles, agreement = (each[each["law"] == "l1"] for each in tables)
    left = [each.assign(law="none")[each["sampler"] != "exact"] for each in (norms, quantiles)]
    told = pd.DataFrame([{"law": "none", "sampler": "mcmc", "statistic": ""}])
    pairs = zip((norms, quantiles, agreement), (*left, told), strict=True)
    both = [pd.concat(pair) for pair in pairs]
    figure = plot_overlaid_distributions(
        *both, "title", {"none": "too large", "l1": "first law"}, SAMPLERS
    )
    for axis in figure.axes[:2]:
        assert axis.get_title("left") == "no exact draws: no exact sampler is practical here"
    ticks = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert ticks == ["cell 0", "cell 1", "cell 2"]
    assert {label.get_rotation() for label in figure.axes[1].get_xticklabels()} == {90}
    assert figure.axes[1].get_xlim() == figure.axes[3].get_xlim()
    assert set(legend_of(figure.axes[0])) == {"exact draws", *SAMPLERS.values()}
    assert inside(figure)
    short = left[1].assign(name=left[1]["cell"])
    alone = plot_overlaid_distributions(
        left[0], short, told, "title", {"none": "too large"}, SAMPLERS
    )
    assert {label.get_rotation() for label in alone.axes[1].get_xticklabels()} == {0}
    assert set(legend_of(alone.axes[0])) == {*SAMPLERS.values()}


def test_titles_give_each_samplers_distance_and_bound(figure):
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert "Markov chains: 0.011 (bound 0.500)\nmessages: 0.033 (bound 0.500)" in titles[0]
    assert "Markov chains: 0.022 (bound 0.500)" in titles[1]
    assert "messages" not in titles[1] + titles[2] + titles[3]
    assert "0.044" in titles[2]
    assert figure.get_suptitle().startswith("title\nbound: ")
    assert inside(figure)
