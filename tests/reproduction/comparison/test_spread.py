import numpy as np
import pandas as pd
import pytest

from reproduction.comparison.spread import estimate_spreads, standard_error

RNG = np.random.default_rng(20221201)
RUNS, AREAS, ANSWERS = 3, 7, 5
STATES = np.array([0, 0, 1, 1, 1, 2, 2])
CLASSES = RNG.choice([0, 1, 3], (AREAS, ANSWERS))  # nothing is of class 2
MEASURES = {"bias": np.copy, "square": np.square}


def errors_of(runs=RUNS):
    return RNG.normal(size=(runs, AREAS, ANSWERS))


def found_of(each, states=STATES):
    """Standard errors of the means over runs, a row for all and one for each class."""
    tables = estimate_spreads(each, CLASSES, states, MEASURES)
    runs = len(tables)
    mean = sum(tables) / runs
    return mean.apply(standard_error, runs=pd.Series(runs, index=mean.index))


def by_hand(each, states):
    """Sum the states' variances of a mean's parts, written down answer by answer."""
    rows = [
        {"run": run, "state": states[a], "class": CLASSES[a, q], "error": each[run, a, q]}
        for run, a, q in np.ndindex(*each.shape)
        if not np.isnan(each[run, a, q])
    ]
    frame = pd.DataFrame(rows)
    lines = []
    for part in (frame, *(frame[frame["class"] == k] for k in (0, 1, 3))):
        line = {}
        for name, values in (("bias", part["error"]), ("square", part["error"] ** 2)):
            sums = values.groupby([part["state"], part["run"]]).sum().unstack(fill_value=0)
            variance = sums.var(axis=1, ddof=1).sum() / len(each)
            line[name] = np.sqrt(variance) / (len(part) / len(each))
        lines.append(line)
    return pd.DataFrame(lines)


def test_variances_of_the_states_add_up():
    each = errors_of()
    pd.testing.assert_frame_equal(found_of(each), by_hand(each, STATES))


def test_with_one_state_it_is_the_usual_standard_error():
    each = errors_of()
    found = found_of(each, np.zeros(AREAS, dtype=int))
    means = each.mean(axis=(1, 2))
    assert found["bias"].iloc[0] == pytest.approx(means.std(ddof=1) / np.sqrt(RUNS))


def test_states_that_err_alike_count_as_independent_all_the_same():
    alike = np.broadcast_to(np.array([-1.0, 1.0])[:, None, None], (2, AREAS, ANSWERS))
    sizes = np.bincount(STATES) / AREAS
    assert found_of(alike)["bias"].iloc[0] == pytest.approx(np.sqrt((sizes**2).sum()))


def test_an_answer_that_is_missing_is_left_out_of_sums_and_numbers():
    each = errors_of()
    each[:, 2, 1] = np.nan
    pd.testing.assert_frame_equal(found_of(each), by_hand(each, STATES))


def test_of_one_run_nothing_is_known():
    assert found_of(errors_of(1)).isna().all(axis=None)
