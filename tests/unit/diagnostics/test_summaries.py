"""What is said of each cell's noise, against the same draws one cell at a time."""

import numpy as np
import pandas as pd
import pytest

from isdp.diagnostics.summaries import boxes, describe_cells

# two chains of three draws of two cells; the second cell has one value far out
NOISE = np.array([[[1, 0], [2, 1], [5, -1]], [[3, 0], [4, 1], [9, 40]]])


def test_each_cell_is_described_by_its_own_draws():
    table = describe_cells(NOISE, pd.DataFrame({"mcse_mean": [0.5, 2.0]}))
    for cell in (0, 1):
        values, row = NOISE[..., cell].ravel(), table.loc[cell]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        for q in (1, 5, 25, 50, 75, 95, 99):
            assert row[f"q{q:02d}"] == pytest.approx(np.percentile(values, q))
        assert (row["min"], row["max"]) == (values.min(), values.max())
    assert table["z"].tolist() == pytest.approx([4 / 0.5, 41 / 6 / 2])


def test_a_box_has_its_quartiles_whiskers_extremes_and_one_draw():
    shown = boxes(NOISE).groupby(["cell", "series"])["value"].apply(list)
    # 1 2 3 4 5 9: quartiles 2.25 and 4.75, so that whiskers reach from -1.5 to 8.5
    assert shown[0].to_dict() == {
        "q1": [2.25],
        "median": [3.5],
        "q3": [4.75],
        "whisker_low": [1],
        "whisker_high": [5],
        "extreme": [9],
        "one_draw": [5],
    }
    # -1 0 0 1 1 40: quartiles 0 and 1, whiskers from -1.5 to 2.5
    assert shown[1]["whisker_low"] == [-1]
    assert shown[1]["whisker_high"] == [1]
    assert shown[1]["extreme"] == [40]
    assert shown[1]["one_draw"] == [-1]
