import numpy as np
import pandas as pd
import pytest

from isdp import Invariants
from isdp.errors import InputError
from isdp.io.draws import Draws, read_draws, write_draws
from isdp.io.files import read_csv, read_csvs, read_json, whole, write_csv, write_json, write_table


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "result.csv"
    with whole(path) as temporary:
        temporary.write_text("done")
        assert not path.exists()
    assert path.read_text() == "done"
    with pytest.raises(ZeroDivisionError), whole(path) as temporary:
        temporary.write_text("half" + str(1 / 0))
    assert path.read_text() == "done"
    assert [p.name for p in path.parent.iterdir()] == ["result.csv"]


def test_a_table_comes_back_as_it_was(tmp_path):
    table = pd.DataFrame(
        {"fips": ["01001", "35013"], "county": ["Autauga", "Doña Ana"], "x": [0.1 + 0.2, np.nan]}
    )
    write_csv(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), table)
    both = read_csvs([tmp_path / "t.csv", tmp_path / "t.csv"])
    assert both["fips"].tolist() == ["01001", "35013"] * 2
    write_table(table, tmp_path / "t.csv", "A & B")
    assert "01001" in (tmp_path / "t.md").read_text()
    assert "0.3 |" in (tmp_path / "t.md").read_text()
    assert "nan" not in (tmp_path / "t.md").read_text()
    page = (tmp_path / "t.html").read_text()
    assert "<h1>A &amp; B</h1>" in page
    assert "Doña Ana" in page


def test_a_bar_in_a_cell_does_not_break_the_markdown(tmp_path):
    write_table(pd.DataFrame({"note": ["|mean| < 1"]}), tmp_path / "t.csv", "T")
    assert r"\|mean\| < 1" in (tmp_path / "t.md").read_text()


def test_nebraska_and_namibia_are_no_missing_values(tmp_path):
    write_csv(pd.DataFrame({"state": ["NE", "NA", "PR"]}), tmp_path / "t.csv")
    assert read_csv(tmp_path / "t.csv")["state"].tolist() == ["NE", "NA", "PR"]


def test_json(tmp_path):
    write_json(tmp_path / "x.json", {"name": "Doña Ana", "n": [1, 2]})
    assert read_json(tmp_path / "x.json") == {"name": "Doña Ana", "n": [1, 2]}


@pytest.fixture
def draws():
    invariants = Invariants.partition(["a", "b", "a", None, "b"])
    noise = np.zeros((2, 3, 5), dtype=np.int64)
    noise[1, 2] = [2**40, 3, -(2**40), -7, -3]
    return Draws(noise, invariants, ["p", "q", "r", "s", "t"], {"epsilon": 0.25})


def test_draws_come_back_with_their_invariants(tmp_path, draws):
    write_draws(tmp_path / "d.nc", draws)
    back = read_draws(tmp_path / "d.nc")
    assert back.noise.dtype == np.int64
    assert (back.noise == draws.noise).all()
    assert back.invariants == draws.invariants
    assert back.cells == draws.cells
    assert back.settings == draws.settings


def test_noise_is_joined_to_cells_by_name_and_never_by_place(draws):
    assert (draws.noise_of(["t", "p", "q", "r", "s"])[1, 2] == [-3, 2**40, 3, -(2**40), -7]).all()
    for cells in (["p", "q", "r", "s"], ["p", "q", "r", "s", "u"], ["p", "q", "r", "s", "s"]):
        with pytest.raises(InputError, match="not those asked for"):
            draws.noise_of(cells)


def test_bold_cells_are_bold_where_people_read_and_plain_in_the_csv(tmp_path):
    table = pd.DataFrame({"age": ["<5", "all"], "count": [3, 7]})
    bold = pd.DataFrame({"age": [False, False], "count": [False, True]})
    write_table(table, tmp_path / "t.csv", "Title", bold=bold)
    assert (tmp_path / "t.csv").read_text() == "age,count\n<5,3\nall,7\n"
    assert "**7**" in (tmp_path / "t.md").read_text()
    page = (tmp_path / "t.html").read_text()
    assert "<b>7</b>" in page
    assert "&lt;5" in page
