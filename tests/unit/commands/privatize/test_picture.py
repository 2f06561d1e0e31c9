"""The picture shows the noisy counts by rank, and the spread of the noise around each."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from isdp import GeneralizedLaplace
from isdp.commands.privatize.picture import MAX_NAMES, picture_of, ranked_counts, shown_rows
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import NoiseSpread, margins_of, spread_of_cells, targets_of
from isdp.commands.shared.table import read_table
from isdp.exact import total_distribution


def picture(folder, cells, with_spread=True):
    """A table of so many cells, and the axis of its picture."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"cell": [f"c{i}" for i in range(cells)], "count": range(cells)})
    frame.to_csv(folder / "table.csv", index=False)
    noisy, sd = rng.permutation(cells) - 3, rng.uniform(1, 4, cells)
    table = read_table(folder / "table.csv")
    figure = picture_of(
        table,
        noisy,
        lambda rows: NoiseSpread(sd[rows], "exact") if with_spread else None,
        "a title",
    )
    return noisy, sd, figure.axes[0]


@pytest.mark.parametrize("sets", [[[0, 0, 0, 1, 2, 2, -1]], [[0, 0, 1, 1], [0, 1, 0, 1]]])
def test_the_spread_of_a_cell_is_that_of_its_law(tmp_path, sets):
    cells = len(sets[0])
    picture(tmp_path, cells)
    table = read_table(tmp_path / "table.csv")
    free = find_degrees_of_freedom(
        [HeldTotals(str(i), np.array(labels)) for i, labels in enumerate(sets)]
    )
    targets = targets_of(table, free, [])
    margins = margins_of(targets, free, GeneralizedLaplace(0.5))
    rows = np.arange(cells)[::-1]
    sd, how = spread_of_cells(targets, margins, free, rows)
    a, pair = np.exp(-0.5), total_distribution(2, 0.5).sd
    if len(sets) == 1:
        triple = total_distribution(3, 0.5).sd
        law = [triple, triple, triple, 0, pair, pair, np.sqrt(2 * a) / (1 - a)]
        assert (sd.tolist(), how) == (pytest.approx(law[::-1], rel=1e-6), "exact")
    else:  # all noise is k, -k, -k and k, which weighs as that of two cells at twice epsilon
        assert sd == pytest.approx([total_distribution(2, 1.0).sd] * 4, rel=0.2)
        assert how == "simulated"


@pytest.mark.parametrize(
    ("how", "said"), [("exact", "exact"), ("simulated", "simulated"), ("bounded", "at most")]
)
def test_bars_say_how_they_were_found(how, said):
    axis = ranked_counts(np.arange(5), 5, NoiseSpread(np.ones(5), how), None, "a title").axes[0]
    _, labels = axis.get_legend_handles_labels()
    assert any(label.endswith(said) for label in labels)


def marks(axis):
    """Ranks and counts of the only line of many points."""
    (line,) = [line for line in axis.get_lines() if len(line.get_xdata()) > 2]
    return line, np.column_stack(line.get_data())


def test_few_cells_are_marked_named_and_have_a_bar_of_two_standard_deviations(tmp_path):
    noisy, sd, axis = picture(tmp_path, MAX_NAMES)
    order = np.argsort(noisy)
    line, points = marks(axis)
    assert points.tolist() == [[i + 1, noisy[row]] for i, row in enumerate(order)]
    assert (line.get_marker(), line.get_linestyle()) == ("o", "None")
    assert [text.get_text() for text in axis.get_xticklabels()] == [f"c{row}" for row in order]
    assert axis.get_xticks().tolist() == list(range(1, MAX_NAMES + 1))
    (bars,) = [found for found in axis.collections if isinstance(found, LineCollection)]
    ends = np.array(bars.get_segments())
    assert ends[:, :, 0].tolist() == [[rank, rank] for rank in range(1, MAX_NAMES + 1)]
    assert ends[:, 0, 1] == pytest.approx((noisy - 2 * sd)[order])
    assert ends[:, 1, 1] == pytest.approx((noisy + 2 * sd)[order])


def test_more_cells_are_a_line_within_a_band(tmp_path):
    noisy, sd, axis = picture(tmp_path, MAX_NAMES + 1)
    order = np.argsort(noisy)
    line, points = marks(axis)
    assert points[:, 1].tolist() == noisy[order].tolist()
    assert (line.get_marker(), line.get_linestyle()) == ("None", "-")
    assert "c0" not in [text.get_text() for text in axis.get_xticklabels()]
    (band,) = [found for found in axis.collections if isinstance(found, PolyCollection)]
    corners = band.get_paths()[0].vertices
    for rank, row in enumerate(order, 1):
        here = corners[corners[:, 0] == rank][:, 1]
        assert here.min() == pytest.approx(noisy[row] - 2 * sd[row])
        assert here.max() == pytest.approx(noisy[row] + 2 * sd[row])


def test_a_picture_of_some_cells_says_so_within_its_axes():
    figure = ranked_counts(np.arange(5), 3000, None, None, "a title")
    figure.draw_without_rendering()
    axis = figure.axes[0]
    (words,) = axis.texts
    assert words.get_text() == "5 of 3,000 cells"
    area, box = axis.get_window_extent(), words.get_window_extent()
    assert area.x0 < box.x0 < box.x1 < area.x1
    assert area.y0 < box.y0 < box.y1 < area.y1


def test_a_long_table_is_shown_by_evenly_spaced_ranks():
    noisy = np.random.default_rng(2).permutation(5000)
    shown = noisy[shown_rows(noisy)]
    assert len(shown) == 2000
    assert (shown[0], shown[-1]) == (0, 4999)
    assert set(np.diff(shown)) == {2, 3}
