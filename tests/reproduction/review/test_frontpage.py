"""The front page and the pages of the papers: links, verdicts, and what a run lacks."""

import html
import re

import pandas as pd
import pytest
import yaml
from PIL import Image

from isdp.io.files import write_json
from reproduction.data.differences import PAPER_RULE
from reproduction.jobs.claims import Evidence, at_most, quantity
from reproduction.jobs.descriptions import Descriptions, Figure, Study, Table
from reproduction.review.frontpage import render_front_page, render_paper
from reproduction.review.notebook_results import Results
from reproduction.review.scorecard import judge_claims
from tests.reproduction.review.test_claims import make_claim


def claim(name, table, bound, exact=False, **more):
    def function(table):
        return Evidence(quantity(table, "x", exact=exact), at_most(bound, "ours"))

    words = {"where": "E.4 & E.5", "statement": "It is <so>.", "experiment": name}
    return make_claim(function, name.replace("-", "_"), tables=[table], **words | more)


def entry(name, figures, claims):
    texts = {"label": "Figure 9", "about": "<b>", "description": "d", "ours": "o & o"}
    return {
        "name": name,
        "wing": "counties",
        "paper": "ISDP",
        "tables": ["gone"],
        "finding": "",
        **texts,
    } | {
        "figures": figures,
        "claims": claims,
    }


DESCRIPTIONS = Descriptions(
    {
        "counties": Study(
            category="Counties",
            tables={name: Table(title=f"Table {name}") for name in ("t", "gone")},
            figures={
                name: Figure(title=f"Figure {name}", gallery="Boxes < lines.")
                for name in ("f_{state}", "lost", "stale")
            },
        )
    }
)

COVERAGE = {"statements": 321, "reproduced": 200, "differs": 21, "undecided": 1}
COVERAGE |= {"not checkable": 77, "no assertion": 22}


@pytest.fixture
def pages(tmp_path):
    return pages_of(tmp_path, {"message": "Counts < errors."})


def pages_of(tmp_path, provenance):
    """Render all pages, by name."""
    claims = [
        claim("counties-a", "t", 2, figures=["f_{state}", "lost"]),
        claim("two-bin-b", "t", 0, paper="CDP", exact=True, note="a slip & no more"),
        claim("sex-by-age-c", "gone", 0, paper="CDP", paper_value="likely"),
    ]
    card, _ = judge_claims(
        claims,
        {"t": pd.DataFrame({"x": [1]})},
        {"das_available": False},
        {"counties": "01_counties"},
    )
    (tmp_path / "tables").mkdir()
    card.to_csv(tmp_path / "tables/scorecard.csv", index=False)
    card.iloc[:0].to_csv(tmp_path / "tables/transcription_checks.csv", index=False)
    counts = pd.DataFrame([COVERAGE], columns=list(COVERAGE))
    counts.to_csv(tmp_path / "tables/coverage_counts.csv", index=False)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"seed": 77}))
    (tmp_path / "shown.txt").write_text("tables/states\ntables/coverage_counts\n")
    (tmp_path / "figures").mkdir()
    # the stale one is of a run with another config
    names = ("tables/t.html", "figures/f_VT.svg", "figures/f_DC.svg", "figures/stale.svg")
    for name in names:
        (tmp_path / name).write_text("")
    for name in ("f_VT", "f_DC"):
        Image.new("RGB", (30, 20), "red").save(tmp_path / f"figures/{name}.png")
    write_json(tmp_path / "data/provenance.json", provenance)
    rule = "stand-in: the config's" if provenance.get("vintage") != "20201116" else PAPER_RULE
    (tmp_path / "tables/states.csv").write_text(f"state,rule\nVT,{rule}\n")
    files = ["tables/t.csv", "tables/t.html", "figures/f_VT.svg", "figures/f_DC.svg"]
    entries = [
        entry("one", ["f_{state}"], ["counties-a"]),
        entry("two", ["f_{state}", "lost", "stale"], []) | {"data": ["vintage", "states"]},
        entry("three", ["f_DC"], []) | {"paper": "ours", "finding": "A <new> result."},
        entry("four", [], ["counties-a", "two-bin-b"]),
    ]
    pages = {"01_counties": "Counties & states"}
    results = Results(tmp_path)
    rendered = {
        paper: render_paper(paper, results, claims, entries, files, pages, DESCRIPTIONS)
        for paper in ("ISDP", "CDP", "ours")
    }
    rendered["index"] = render_front_page(
        results, claims, entries, files, pages, "Made by <us>.", ["counties.draws"]
    )
    return rendered


def in_words(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page)))


def part(page, start, end="</div></td></tr>"):
    return page.split(start, 1)[1].split(end, 1)[0]


def test_the_front_page_counts_each_statement_once_and_lists_each_figure(pages):
    front = in_words(pages["index"])
    assert "Of 321 statements" in front
    for count in ("✓ 200 reproduced", "≠ 21 differs", "~ 1 undecided", "? 77 not checkable"):
        assert count in front
    assert "judged by 3 claims (1 reproduced) and 0 checks" in front
    row = part(pages["index"], 'href="papers/ISDP.html#figure-one"', "</tr>")
    assert "✓ reproduced" in row
    assert "1 of 1" in row
    row = part(pages["index"], 'href="papers/ISDP.html#figure-four"', "</tr>")
    assert "≠ differs" in row
    assert "our numbers differ" in row
    assert "1 of 2" in row


def test_the_front_page_says_who_is_right_and_what_is_new(pages):
    front = pages["index"]
    assert "Our numbers differ" in part(front, 'id="differing"', "</table>")
    assert "A &lt;new&gt; result." in part(front, 'id="new"', "</ul>")
    assert 'src="figures/f_DC.png"' in part(front, 'id="new"', "</ul>")


@pytest.mark.parametrize(
    ("vintage", "named"), [("20201116", False), ("20210608", True), ("", False)]
)
def test_pages_say_where_the_run_has_other_data_than_the_paper(tmp_path, vintage, named):
    pages = pages_of(tmp_path, {"message": "", "vintage": vintage})
    title = part(pages["ISDP"], 'id="figure-two"', "</h3>")
    assert (vintage in title and "20201116" in title and "states" in title) == named
    assert ("states" in title) == (vintage != "20201116")
    assert "states" not in part(pages["ISDP"], 'id="figure-one"', "</h3>")
    assert ("vintage 20210608" in pages["index"]) == named
    assert ("no demonstration data" in pages["index"]) == (vintage == "")


def test_a_claim_links_to_its_table_figures_and_notebook(pages):
    box = part(pages["ISDP"], 'id="claim-counties-a"')
    for link in (
        "../tables/t.html",
        "../figures/f_VT.svg",
        "../figures/f_DC.svg",
        "../notebooks/01_counties.html",
    ):
        assert f'href="{link}"' in box


def test_what_the_run_does_not_make_is_said_and_not_linked(pages):
    assert "lost <i" in part(pages["ISDP"], 'id="claim-counties-a"')
    box = part(pages["CDP"], 'id="claim-sex-by-age-c"')
    assert "? not checkable" in box
    assert "gone <i" in box
    assert box.count("not in this run") == 1
    for name in ("lost", "stale"):
        assert f"Figure {name}: not in this run." in pages["ISDP"]
    for page in pages.values():
        assert not re.search(r"(href|src)=\"[^\"]*(lost|stale|gone|04_sex)", page)


def test_all_that_is_named_is_escaped_and_nothing_is_asked_for(pages):
    assert "It is &lt;so&gt;." in pages["ISDP"]
    assert "Counts &lt; errors. Seed 77." in pages["index"]
    assert "Made by &lt;us&gt;." in pages["index"]
    assert "Counties &amp; states" in pages["index"]
    assert 'alt="Figure f_VT. o &amp; o"' in pages["ISDP"]
    for page in pages.values():
        assert "It is <so>" not in page
        assert not re.search(r"<script|(src|href)=\"https?:|@import|url\(", page)
