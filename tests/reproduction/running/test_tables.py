import numpy as np
import pandas as pd

from isdp.io.files import write_csv
from reproduction.running.tables import read_csv, read_csvs, write_table


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


def test_a_wide_table_scrolls_in_a_box_of_its_own_that_a_keyboard_reaches(tmp_path):
    table = pd.DataFrame({f"column {place}": [place] for place in range(99)})
    write_table(table, tmp_path / "t.csv", 'Said "so"')
    page = (tmp_path / "t.html").read_text()
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert ".wide { overflow: auto;" in page
    before, box = page.split('<div class="wide" tabindex="0" role="region"')
    assert "<table" not in before
    assert box.startswith(' aria-label="Said &quot;so&quot;">')
    assert box.index("<table") < box.index("</table>") < box.index("</div>")


def test_a_bar_in_a_cell_does_not_break_the_markdown(tmp_path):
    write_table(pd.DataFrame({"note": ["|mean| < 1"]}), tmp_path / "t.csv", "T")
    assert r"\|mean\| < 1" in (tmp_path / "t.md").read_text()


def test_nebraska_and_namibia_are_no_missing_values(tmp_path):
    write_csv(pd.DataFrame({"state": ["NE", "NA", "PR"]}), tmp_path / "t.csv")
    assert read_csv(tmp_path / "t.csv")["state"].tolist() == ["NE", "NA", "PR"]


def test_bold_cells_are_bold_where_people_read_and_plain_in_the_csv(tmp_path):
    table = pd.DataFrame({"age": ["<5", "all"], "count": [3, 7]})
    bold = pd.DataFrame({"age": [False, False], "count": [False, True]})
    write_table(table, tmp_path / "t.csv", "Title", bold=bold)
    assert (tmp_path / "t.csv").read_text() == "age,count\n<5,3\nall,7\n"
    assert "**7**" in (tmp_path / "t.md").read_text()
    page = (tmp_path / "t.html").read_text()
    assert "<b>7</b>" in page
    assert "&lt;5" in page
