import numpy as np
import pytest
from scipy import stats

from isdp.subspace import null_space
from isdp.testing import check_mean
from reproduction.subspace.wifi import (
    READINGS,
    Campus,
    compute_readings,
    draw_repetitions,
    match_printed,
    simulate_integers,
    simulate_readings,
    tabulate_constraints,
)

CAMPUS = Campus()
SMALL = Campus(3, 4, 5)


def test_the_constraints_of_the_paper():
    row = tabulate_constraints(CAMPUS).iloc[0]
    assert (row["cells"], row["rows"], row["rank"]) == (6720, 760, 740)
    assert row["variance"] == pytest.approx(0.8898810, abs=5e-8)
    assert row["largest_gap"] < 1e-12


def test_two_ways_to_project_are_one():
    plain = np.random.default_rng(1).standard_normal((3, SMALL.invariants.cells))
    projected = null_space(SMALL.invariants).project(plain).reshape(3, *SMALL)
    centred = draw_repetitions(np.random.default_rng(1), SMALL, 3)
    assert projected == pytest.approx(centred, abs=1e-12)


def test_printed_digits_by_rounding_and_by_cutting():
    rounded, cut = match_printed(
        np.array([[0.884, 0.8551, 0.9149], [0.8899, 0.869, 0.919], [0.9] * 3])
    )
    assert rounded.tolist() == [True, False, False]
    assert cut.tolist() == [False, True, False]


def test_exact_laws_of_the_readings():
    table = compute_readings(np.random.default_rng(2), CAMPUS, 50, 20_000).set_index("reading")
    numbers = table[["median", "q05", "q95"]]
    variance = numbers.loc["variance of each repetition over cells"]
    # of 20 * 13 * 23 free dimensions among 20 * 14 * 24 cells
    exact = stats.chi2.ppf([0.5, 0.05, 0.95], 5980) / 6720
    assert variance.to_numpy() == pytest.approx(exact)
    cells = numbers.loc["sd of each cell over repetitions"]
    assert cells.to_numpy() == pytest.approx([0.937, 0.785, 1.098], abs=5e-4)
    off = table["off"]
    assert off["variance of each repetition over cells"] == pytest.approx(exact[0] - 0.88)
    assert off["sd of each cell over repetitions"] == pytest.approx(1.098 - 0.91, abs=5e-4)
    shares = table.loc["variance of each repetition over cells"]
    for way, share in (("rounding", 0.022), ("cutting", 0.299)):
        check_mean(shares[f"printed_by_{way}"], share, np.sqrt(share * (1 - share) / 20_000))
    assert table.loc["sd of each repetition over cells", "printed_by_cutting"] == 0


def test_only_one_reading_gives_the_printed_numbers():
    table = simulate_readings(np.random.default_rng(3), CAMPUS, 50, 30).set_index("reading")
    assert set(table.index) == set(READINGS)
    # from 0.86 to 0.91 is printed, to two digits: the reading lies in the middle of what these may
    # mean, and every other is seven or more standard errors of a mean of 30 away from its ends
    width = table["q95"] - table["q05"]
    assert width.index[(width - 0.05).abs() < 0.01].tolist() == [
        "variance of each repetition over cells"
    ]
    row = table.loc["variance of each repetition over cells"]
    check_mean(row["median"], stats.chi2.median(5980) / 6720, row["median_sd"] / np.sqrt(30))
    assert row["off"] == (row[["median", "q05", "q95"]] - [0.88, 0.86, 0.91]).abs().max()
    assert table.loc["sd of each cell over repetitions", "printed_by_rounding"] == 0


def test_integers_have_the_continuous_variance():
    row = simulate_integers(np.random.default_rng(5), CAMPUS, 1.0, 100).iloc[0]
    assert row["tables"] == 2000
    check_mean(row["difference"], 0, row["variance_se"])
    # of the mean square of N(0, 1) noise, projected onto 13 * 23 dimensions of 14 * 24
    error = np.sqrt(2 * 13 * 23) / (14 * 24) / np.sqrt(2000)
    check_mean(row["variance_se"], error, error / np.sqrt(2 * 2000))
