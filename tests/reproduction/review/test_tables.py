import numpy as np
import pandas as pd

from isdp.io.files import write_csv
from reproduction.review.tables import render_table


def rendered(folder, table, title, columns=None):
    write_csv(table, folder / "t.csv")
    render_table(folder / "t.csv", title, columns or {})
    return (folder / "t.html").read_text(), (folder / "t.md").read_text()


def test_numbers_are_rounded_and_missing_values_are_empty(tmp_path):
    table = pd.DataFrame(
        {"fips": ["01001", "35013"], "county": ["Autauga", "Doña Ana"], "x": [0.1 + 0.2, np.nan]}
    )
    page, markdown = rendered(tmp_path, table, "A & B")
    assert "01001" in markdown
    assert "0.3 |" in markdown
    assert "nan" not in markdown
    assert "<h1>A &amp; B</h1>" in page
    assert "Doña Ana" in page


def test_a_wide_table_scrolls_in_a_box_of_its_own_that_a_keyboard_reaches(tmp_path):
    table = pd.DataFrame({f"column {place}": [place] for place in range(99)})
    page, _ = rendered(tmp_path, table, 'Said "so"')
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert ".wide { overflow: auto;" in page
    before, box = page.split('<div class="wide" tabindex="0" role="region"')
    assert "<table" not in before
    assert box.startswith(' aria-label="Said &#34;so&#34;">')
    assert box.index("<table") < box.index("</table>") < box.index("</div>")


def test_a_bar_in_a_cell_does_not_break_the_markdown(tmp_path):
    _, markdown = rendered(tmp_path, pd.DataFrame({"note": ["|mean| < 1"]}), "T")
    assert r"\|mean\| < 1" in markdown


def test_text_of_a_table_is_escaped_on_its_page(tmp_path):
    write_csv(pd.DataFrame({"age": ["<5"], "count": [3]}), tmp_path / "t.csv")
    render_table(tmp_path / "t.csv", "Ages < 6", {"age": "Age <in years>."})
    page = (tmp_path / "t.html").read_text()
    assert "<td>&lt;5</td>" in page
    assert "<h1>Ages &lt; 6</h1>" in page
    assert "&lt;in years&gt;" in page
