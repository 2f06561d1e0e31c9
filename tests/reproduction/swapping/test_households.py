"""Synthetic households have the printed margins exactly; files of real ones are checked."""

import numpy as np
import pandas as pd
import pytest

from isdp import InputError
from reproduction.swapping.households import (
    SCENARIOS,
    build_households,
    build_scenarios,
    compute_size_totals,
    estimate_owning_rates,
    rake,
    read_households,
    round_counts,
)
from reproduction.swapping.printed import (
    TENURES,
    counts_before,
    read_budgets,
    read_massachusetts,
)

MASSACHUSETTS = "data/swapping/massachusetts_1940.csv"
TABLE = read_massachusetts(MASSACHUSETTS)


def test_all_sums_of_the_printed_table_are_met():
    assert len(TABLE) == 14
    for after in ("", "_after"):
        assert (TABLE[f"owned{after}"] + TABLE[f"rented{after}"] == TABLE["total"]).all()
    assert (TABLE["total_after"] == TABLE["total"]).all()
    for tenure in TENURES:
        assert TABLE[tenure].sum() == TABLE[f"{tenure}_after"].sum()
    assert TABLE["total"].sum() == 1_144_424
    assert TABLE["persons"].sum() == 4_316_721


def test_sixteen_budgets_are_printed():
    assert read_budgets("data/swapping/budgets.csv")["census"].value_counts().to_dict() == {
        "2020": 12,
        "1940": 4,
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_households_keep_both_margins_exactly(scenario):
    counts = build_households(TABLE, scenario)
    assert counts.dtype == np.int64
    assert counts.min() >= 0
    assert np.array_equal(counts.sum(axis=0), counts_before(TABLE)[0])
    assert np.array_equal(counts.sum(axis=(1, 2)), compute_size_totals(1_144_424))
    assert counts.sum(axis=(1, 2)).max() == counts[1].sum() == 264_331


def test_rounding_moves_no_cell_by_one_or_more():
    counts = rake(TABLE, np.linspace(-0.1, 0.1, 14))
    whole = round_counts(counts, compute_size_totals(1_144_424))
    assert abs(whole - counts).max() < 1


def test_owning_rises_with_size_and_tilts_move_the_mean_size():
    counts = rake(TABLE, np.linspace(-0.1, 0.1, 14))
    own = counts[:, :, 0].sum(axis=1) / counts.sum(axis=(1, 2))
    assert (np.diff(own) > 0).all()
    size = np.arange(1, 13) @ counts.sum(axis=2) / counts.sum(axis=(0, 2))
    flat = rake(TABLE, np.zeros(14))
    plain = np.arange(1, 13) @ flat.sum(axis=2) / flat.sum(axis=(0, 2))
    assert size[0] < plain[0]
    assert size[-1] > plain[-1]


def test_the_fitted_mix_is_closer_to_the_implied_shares():
    implied = estimate_owning_rates(TABLE)
    off = {}
    for scenario in ("equal mix", "fitted"):
        counts = build_households(TABLE, scenario)
        own = counts[:, :, 0].sum(axis=1) / counts.sum(axis=(1, 2))
        share = counts.sum(axis=2) / counts.sum(axis=(0, 2))
        off[scenario] = (((own @ share - implied["rate"]) / implied["error"]) ** 2).sum()
    assert off["fitted"] < off["equal mix"] / 2


def test_scenarios_begin_with_one_stratum_and_take_a_file(tmp_path):
    counts = build_households(TABLE, "equal mix")
    as_file(counts).to_csv(tmp_path / "real.csv", index=False)
    found = build_scenarios(TABLE, tmp_path / "real.csv")
    assert list(found) == ["one stratum", *SCENARIOS, "given households"]
    assert np.array_equal(found["given households"], counts)


def as_file(counts):
    sizes, counties, tenures = (axis.ravel() for axis in np.indices(counts.shape))
    return pd.DataFrame(
        {
            "county": TABLE.index[counties],
            "size": sizes + 1,
            "tenure": np.array(TENURES)[tenures],
            "count": counts.ravel(),
        }
    )


def changed(column, value):
    frame = as_file(build_households(TABLE, "equal mix"))
    frame.loc[0, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (lambda: changed("county", "Cook"), "counties must be"),
        (lambda: changed("tenure", "lent"), "counties must be"),
        (lambda: changed("count", 0), "county by tenure"),
        (lambda: changed("count", 1).rename(columns={"count": "n"}), "the columns are"),
        (lambda: changed("count", 1).astype({"count": float}), "whole numbers"),
        (lambda: changed("count", 1).assign(size=1), "(county by tenure|largest size)"),
    ],
)
def test_households_that_are_not_those_of_the_slides_are_refused(tmp_path, frame, words):
    frame().to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(InputError, match=words):
        read_households(tmp_path / "wrong.csv", TABLE)
