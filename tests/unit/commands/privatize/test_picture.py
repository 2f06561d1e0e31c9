"""The picture shows the margin of error of each count as a share of the count."""

import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedLaplace
from isdp.commands.privatize.picture import MAX_POINTS, NoisySum, plot_relative_margins
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import limits_of_cells, margins_of, targets_of
from isdp.commands.shared.table import read_table
from isdp.exact import total_distribution


@pytest.mark.parametrize("sets", [[[0, 0, 0, 1, 2, 2, -1]], [[0, 0, 1, 1], [0, 1, 0, 1]]])
def test_the_limit_of_a_cell_is_that_of_its_law(tmp_path, sets):
    cells = len(sets[0])
    frame = pd.DataFrame({"cell": [f"c{i}" for i in range(cells)], "count": range(cells)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    free = find_degrees_of_freedom(
        [HeldTotals(str(i), np.array(labels)) for i, labels in enumerate(sets)]
    )
    targets = targets_of(read_table(tmp_path / "table.csv"), free, [])
    limits = limits_of_cells(targets, margins_of(targets, free, GeneralizedLaplace(0.5)), free)

    def limit(cells, epsilon):
        law = total_distribution(cells, epsilon)
        return next(size for size in range(100) if law.within(size) >= 0.95)

    if len(sets) == 1:
        # without a total, P(|X| > k) = 2 a^(k+1) / (1 + a)
        a = np.exp(-0.5)
        alone = next(k for k in range(100) if 2 * a ** (k + 1) / (1 + a) <= 0.05)
        pair, triple = limit(2, 0.5), limit(3, 0.5)
        assert limits.tolist() == [triple, triple, triple, 0, pair, pair, alone]
    else:  # all noise is k, -k, -k and k, which weighs as that of two cells at twice epsilon
        assert limits == pytest.approx([limit(2, 1.0)] * 4, abs=1)


def drawn(noisy, limits, sums=(), held=()):
    figure = plot_relative_margins(
        np.array(noisy), None if limits is None else np.array(limits), sums, np.array(held, int)
    )
    figure.draw_without_rendering()
    (axis,) = figure.axes
    points = {
        part.get_label().partition(" ")[0]: np.array(part.get_offsets())
        for part in axis.collections
    }
    return axis, points, "\n".join(text.get_text() for text in axis.texts)


def test_the_shares_of_cells_and_sums_and_the_exact_totals():
    axis, points, words = drawn(
        *([20, 8, 0, 3, 60], [4.0, 4.0, 4.0, 6.0, 0.0]),
        [NoisySum("sex: f", 40, 8.0), NoisySum("zero", 0, 8.0), NoisySum("none", 5, np.nan)],
        [31, 1000, 0],
    )
    assert sorted(points["cell"].tolist()) == [[3, 2], [8, 0.5], [20, 0.2]]
    assert points["sum"].tolist() == [[40, 0.2]]
    assert "sex: f" in words
    assert points["exact"][:, 0].tolist() == [31, 1000]
    # a determined cell never exceeds a threshold, and a count of 0 exceeds all of them
    assert "100 % below a count of 4 to 6 (2 of 5 cells)" in words
    assert "50 % below a count of 8 to 12 (2 of 5 cells)" in words
    assert "10 % below a count of 40 to 60 (4 of 5 cells)" in words
    assert axis.get_xlim()[1] > 1000
    assert axis.get_ylim()[0] < 0.2


@pytest.mark.parametrize("limits", [None, [0.0, 0.0]])
def test_without_margins_the_picture_says_so(limits):
    assert "not known" in drawn([3, 4], limits)[2]


def test_a_long_table_is_shown_by_evenly_spaced_ranks():
    noisy = np.random.default_rng(2).permutation(5000)
    axis, points, words = drawn(noisy, np.full(5000, 5.0))
    shown = points["cell"][:, 0]
    assert len(shown) == MAX_POINTS
    assert (shown[0], shown[-1]) == (1, 4999)
    assert set(np.diff(shown)) == {2, 3}
    assert "10 % below a count of 50 (50 of 5,000 cells)" in words
    (label,) = axis.get_legend_handles_labels()[1]
    assert label.endswith("(2,000 of 4,999 shown)")


def test_the_words_lie_within_the_axes():
    axis, _, _ = drawn(range(200_000), np.full(200_000, 12_345.0), [NoisySum("s" * 99, 10**6, 9)])
    area = axis.get_window_extent()
    for text in axis.texts:
        box = text.get_window_extent()
        assert area.x0 <= box.x0
        assert area.y0 <= box.y0
        assert box.y1 <= area.y1
