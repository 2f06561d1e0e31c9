import numpy as np
import pandas as pd
import pytest

from isdp.plots.style import BOX, DAS
from reproduction.subspace import figures
from reproduction.subspace.counties import tabulate_runs
from reproduction.subspace.equal_privacy import L1_UNIT, RECORD_UNIT, compare_total
from reproduction.subspace.workloads import tabulate_errors
from tests.artists import boxes_of, inside, labelled, legend_of, marks_of

WORKLOADS = {
    "six": {"query": "histogram", "size": 6, "held": "total"},
    "sums": {"query": "prefixes", "size": 5, "held": "total"},
}


def points_of(line):
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def test_errors_stand_by_the_least_on_the_left_and_by_the_bound_on_the_right():
    table = tabulate_errors(np.random.default_rng(1), WORKLOADS, 0.5, 1e-5, 100)
    words = {"six": "histogram of 6", "sums": "prefixes of 5"}
    figure = figures.plot_errors(table, words, 0.5, 1e-5)
    left, right = figure.axes
    found = table.set_index(["mechanism", "workload"])
    expected = found.loc["base decomposition, paper"]
    drawn = points_of(labelled(left)["correlated (Thm 3.11)"])
    assert drawn[:, 0] == pytest.approx(expected["unit"] / expected["least"])
    assert drawn[:, 1].tolist() == [0, 1]
    bases = points_of(labelled(right)["extended Laplace (Cor 3.9), each basis"])
    own = table[table["mechanism"].str.startswith("extended Laplace")]
    assert bases[:, 0].tolist() == own["ratio"].tolist()
    assert [text.get_text() for text in left.get_yticklabels()] == list(words.values())
    marks = [
        (line.get_marker(), line.get_color())
        for axis in figure.axes
        for label, line in labelled(axis).items()
        if label in (*legend_of(left), *legend_of(right))
    ]
    assert len(set(marks)) == len(marks) == 7  # no mark with two meanings
    assert inside(figure)


def test_errors_of_each_mechanism_are_connected_in_both_units():
    table = pd.concat(
        [compare_total(n, 0.5, 1e-5).assign(setting=f"{n} counts") for n in (4, 9)],
        ignore_index=True,
    )
    none = (table["mechanism"] == "K-norm") & (table["currency"] == RECORD_UNIT)
    given = table[~(none & (table["setting"] == "9 counts"))].assign(error_se=0.25)
    figure = figures.plot_equal_privacy(given)
    assert inside(figure)
    for axis, setting in zip(figure.axes, ("4 counts", "9 counts"), strict=True):
        pure = given[(given["setting"] == setting) & (given["flavour"] == "pure")]
        assert axis.get_title(loc="left") == f"{setting},\nepsilon = 0.5"
        labels = [label.get_text() for label in axis.get_xticklabels()]
        assert ["replaced record" in label for label in labels] == [True, False]
        least = pure.groupby("currency")["error"].min()
        lines = {each.get_label(): each.lines for each in axis.containers}
        for name, (*_, label) in figures.MECHANISM_STYLES.items():
            own = pure[pure["mechanism"] == name].set_index("currency")["error"]
            shown = [unit for unit in (RECORD_UNIT, L1_UNIT) if unit in own]
            assert (label in lines) == bool(shown)
            if shown:
                line, _, (bars,) = lines[label]
                assert line.get_xdata().tolist() == [int(unit == L1_UNIT) for unit in shown]
                assert line.get_ydata() == pytest.approx([own[u] / least[u] for u in shown])
                reach = [np.ptp(ends[:, 1]) for ends in bars.get_segments()]
                assert reach == pytest.approx([4 * 0.25 / least[unit] for unit in shown])


@pytest.mark.parametrize("bureau", [True, False])
def test_runs_are_boxes_of_each_county_with_the_bureau_s_errors(bureau):
    noise = np.random.default_rng(3).laplace(size=(10, 4))
    place = pd.DataFrame(
        {
            "county": ["B County", "D County", "C County", "A County"],
            "population": [10, 20, 40, 50],
            "das_error": [-1.0, 0.0, 1.0, 2.0] if bureau else np.nan,
        }
    )
    both = tabulate_runs(place, {2.0: noise, 1.0: noise / 2})
    figure = figures.plot_county_runs(both, "IL", 0.192, "20210608")
    (axis,) = figure.axes
    sides = boxes_of(axis)[BOX]
    assert sides[:, 2] == pytest.approx(np.quantile(noise, 0.25, axis=0))
    squares = marks_of(axis, DAS)
    assert len(squares) == bureau
    if bureau:
        assert squares[0][:, 1].tolist() == [-1, 0, 1, 2]
    labels = [text.get_text() for text in axis.get_xticklabels()]
    assert labels == ["B (10)", "D (20)", "C (40)", "A (50)"]
    assert ("error of the Census DAS, vintage 20210608" in legend_of(figure)) == bureau
    assert ("20210608" in figure.get_suptitle()) == bureau  # the paper shows another vintage
    papers = figures.plot_county_runs(both, "IL", 0.192, "20201116").get_suptitle()
    assert "vintage" not in papers
    assert "b = 2 / epsilon" in papers
