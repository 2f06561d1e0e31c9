import pandas as pd
import pytest

from isdp.compare.report import _error


@pytest.mark.parametrize(
    ("how", "rmse", "error", "ranked", "words"),
    [
        ("exact", 2.0, 0.5, False, "2"),
        ("bounded", 2.0, 0.5, False, "at most 2"),
        ("bounded", 0.81649, 0.0, False, "at most 0.817"),  # a bound is not rounded down
        ("bounded", 1234.1, 0.0, False, "at most 1,235"),
        ("simulated", 2.0, 0.5, False, "2 ± 0.5"),
        ("simulated", 2.0, 0.5, True, "2 ± 0.5 (3)"),
        ("exact", 0.0, 0.0, True, "0, held"),
        ("simulated", 0.0, 0.25, False, "0 ± 0.25"),  # no run was off, which proves nothing
    ],
)
def test_an_error_says_how_it_was_found(how, rmse, error, ranked, words):
    row = {"rmse": rmse, "rmse_is": how, "rmse_error": error, "ranked": ranked, "rank": 3}
    assert _error(pd.Series(row)) == words
