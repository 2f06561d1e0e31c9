import numpy as np
import pandas as pd
import pytest

from isdp.testing import check_mean
from reproduction.topdown.swapping_trace import (
    count_groups,
    measure_rmse_by_size,
    subtract_algorithm,
    trace_swapping,
)


def fake_world(seed, states=6, counties=40):
    rng = np.random.default_rng(seed)
    people = rng.integers(200, 5000, states * counties)
    share = rng.dirichlet(np.full(252, 0.3), states * counties)
    counts = np.array([rng.multinomial(n, s) for n, s in zip(people, share, strict=True)])
    frame = pd.DataFrame({"state": np.repeat(list("abcdef"), counties), "population": people})
    return rng, frame, counts


def test_groups_are_counted_from_the_cells():
    counts = np.zeros((1, 252), dtype=int)
    table = counts.reshape(1, 63, 2, 2)
    table[0, 0, 1, 0] = 3  # white, Hispanic, under 18
    table[0, 1, 0, 1] = 5  # black, not Hispanic, adult
    table[0, 6, 1, 1] = 7  # of two races, Hispanic, adult
    found = {group: int(count[0]) for group, count in count_groups(counts).items()}
    assert found == {"hispanic": 10, "white": 3, "black": 5, "asian": 0, "adult": 12}


def test_noise_without_a_pattern_leaves_no_trace():
    rng, frame, counts = fake_world(1)
    found = trace_swapping(frame, counts, counts + rng.integers(-3, 4, counts.shape))
    for z in found["z_robust"]:
        check_mean(z, 0, 1)


def test_swapping_within_states_leaves_a_positive_slope():
    """The published file is drawn towards the state's mix; the run started from the other one."""
    _, frame, counts = fake_world(2)
    mixed = counts.copy()
    for rows in frame.groupby("state").indices.values():
        share = counts[rows].sum(axis=0) / counts[rows].sum()
        people = frame["population"].to_numpy()[rows, None]
        mixed[rows] = np.rint(0.9 * counts[rows] + 0.1 * share * people).astype(int)
    found = trace_swapping(frame, mixed, counts).set_index("group")
    assert (found["z_robust"] > 5).all()
    assert found["z_robust"].tolist() == pytest.approx(found["slope"] / found["robust_error"])
    for slope, error in zip(found["slope"], found["robust_error"], strict=True):
        check_mean(slope, 1 / 9, error)


def test_puerto_rico_is_left_out():
    rng, frame, counts = fake_world(3)
    other = counts + rng.integers(-3, 4, counts.shape)
    outside = pd.DataFrame({"state": ["PR"], "population": [1000]})
    more = np.vstack([counts, np.full((1, 252), 5)])
    changed = np.vstack([other, np.full((1, 252), 900)])
    with_it = trace_swapping(pd.concat([frame, outside], ignore_index=True), more, changed)
    pd.testing.assert_frame_equal(with_it, trace_swapping(frame, counts, other))


def test_what_the_algorithm_leaves_by_itself_is_no_trace_of_swapping():
    trace = pd.DataFrame(
        [
            ("own", "adult", -0.50, 0.03),
            ("own", "adult", -0.52, 0.04),
            ("own", "black", 0.0, 0.03),
            ("theirs", "adult", -0.51, 0.05),
            ("theirs", "black", 0.90, 0.05),
            ("else", "black", 0.90, 0.05),
        ],
        columns=["system", "group", "slope", "robust_error"],
    )
    found = subtract_algorithm(trace, "theirs", "own")
    assert found["z_beyond"].notna().tolist() == [False, False, False, True, True, False]
    adult, black = found.iloc[3], found.iloc[4]
    assert adult["beyond"] == pytest.approx(0, abs=1e-9)
    assert adult["beyond_error"] == pytest.approx(1000 * np.sqrt(0.05**2 + (0.03**2 + 0.04**2) / 4))
    assert black["beyond"] == pytest.approx(900)
    assert black["z_beyond"] == pytest.approx(0.9 / np.hypot(0.05, 0.03))
    assert subtract_algorithm(trace, "theirs", "not run")["z_beyond"].isna().all()


def test_errors_by_population_are_of_the_counties_in_the_class():
    frame = pd.DataFrame({"population": [10, 500, 900]})
    true = np.zeros((3, 252), dtype=int)
    released = true.copy()
    released[:, 1] = [1, 3, 4]  # white, not Hispanic, adults
    found = measure_rmse_by_size(frame, true, released, [0, 100])
    white = found[found["group"] == "white"].set_index("from_population")
    assert white["counties"].to_dict() == {0: 1, 100: 2}
    assert white["rmse"].to_dict() == {0: 1.0, 100: pytest.approx(np.sqrt(12.5))}
    assert set(found["group"]) == {"hispanic", "white", "black", "asian", "adult"}
