import numpy as np
import pandas as pd

from isdp.io.files import write_csv
from reproduction.jobs.tables import read_csv, read_csvs


def test_a_table_comes_back_as_it_was(tmp_path):
    table = pd.DataFrame(
        {"fips": ["01001", "35013"], "county": ["Autauga", "Doña Ana"], "x": [0.1 + 0.2, np.nan]}
    )
    write_csv(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), table)
    both = read_csvs([tmp_path / "t.csv", tmp_path / "t.csv"])
    assert both["fips"].tolist() == ["01001", "35013"] * 2


def test_nebraska_and_namibia_are_no_missing_values(tmp_path):
    write_csv(pd.DataFrame({"state": ["NE", "NA", "PR"]}), tmp_path / "t.csv")
    assert read_csv(tmp_path / "t.csv")["state"].tolist() == ["NE", "NA", "PR"]
