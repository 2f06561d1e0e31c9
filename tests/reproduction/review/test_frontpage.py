"""The front page: what it links, what it says is missing, and that all that it names exists."""

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
from reproduction.review.frontpage import render_front_page
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
    return {"name": name, "wing": "counties", "paper": "ISDP", "tables": ["gone"], **texts} | {
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
def page(tmp_path):
    return page_of(tmp_path, {"message": "Counts < errors."})


def page_of(tmp_path, provenance):
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
        for folder in ("figures", "thumbnails"):
            (tmp_path / folder).mkdir(exist_ok=True)
            Image.new("RGB", (30, 20), "red").save(tmp_path / folder / f"{name}.png")
    write_json(tmp_path / "data/provenance.json", provenance)
    rule = "stand-in: the config's" if provenance.get("vintage") != "20201116" else PAPER_RULE
    (tmp_path / "tables/states.csv").write_text(f"state,rule\nVT,{rule}\n")
    files = ["tables/t.csv", "tables/t.html", "figures/f_VT.svg", "figures/f_DC.svg"]
    entries = [
        entry("one", ["f_{state}"], ["counties-a"]),
        entry("two", ["f_{state}", "lost", "stale"], []) | {"data": ["vintage", "states"]},
        entry("three", ["f_{state}"], ["counties-a"]) | {"paper": "ours", "label": "Extra"},
    ]
    pages = {"01_counties": "Counties & states"}
    return render_front_page(
        Results(tmp_path),
        claims,
        entries,
        files,
        pages,
        "Made by <us>.",
        ["counties.draws"],
        DESCRIPTIONS,
    )


def in_words(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page)))


def test_what_is_ours_is_never_called_the_papers(page):
    box = part(page, 'id="claim-counties-a"')
    spans = dict(
        re.search(r'(.*)<a href="#figure-(\w+)">', text).groups()[::-1]
        for text in re.findall(r"<span>(.*?)</span>", box)
        if "#figure-" in text
    )
    assert "ISDP" in spans["one"]
    assert not re.search("paper|ISDP", spans["three"])
    described = in_words(part(page, 'id="figure-three"', "<h2"))
    assert not re.search("paper's|ISDP", described.replace("with ISDP's Figure 9", ""), re.I)
    assert "with ISDP's Figure 9" in described


@pytest.mark.parametrize(
    ("vintage", "named"), [("20201116", False), ("20210608", True), ("", False)]
)
def test_titles_say_where_the_run_has_other_data_than_the_paper(tmp_path, vintage, named):
    page = page_of(tmp_path, {"message": "", "vintage": vintage})
    title = part(page, 'id="figure-two"', "</h3>")
    assert (vintage in title and "20201116" in title and "states" in title) == named
    assert ("states" in title) == (vintage != "20201116")
    assert "states" not in part(page, 'id="figure-one"', "</h3>")


def part(page, start, end="</div></td></tr>"):
    return page.split(start, 1)[1].split(end, 1)[0]


def test_a_claim_links_to_its_table_figures_notebook_and_rule(page):
    box = part(page, 'id="claim-counties-a"')
    for link in (
        "tables/t.html",
        "figures/f_VT.svg",
        "figures/f_DC.svg",
        "notebooks/01_counties.html",
        "#study-counties",
        "#figure-one",
    ):
        assert f'href="{link}"' in box
    study = part(page, 'id="study-counties"', "</li>")
    for words in ("workflow/rules/counties.smk", "src/reproduction/counties/descriptions.yaml"):
        assert words in study


def test_what_the_run_does_not_make_is_said_and_not_linked(page):
    assert "lost <i" in part(page, 'id="claim-counties-a"')
    box = part(page, 'id="claim-sex-by-age-c"')
    assert "? not checkable" in box
    assert "gone <i" in box
    assert box.count("not in this run") == 1
    for name in ("lost", "stale"):
        assert f"Figure {name}: not in this run." in page
    assert not re.search(r"(href|src)=\"[^\"]*(lost|stale|gone|04_sex)", page)


def test_all_that_is_named_is_escaped_and_nothing_is_asked_for(page):
    assert "It is <so>" not in page
    assert "It is &lt;so&gt;." in page
    assert "Counts &lt; errors. Seed 77." in page
    assert "Made by &lt;us&gt;." in page
    assert "Counties &amp; states" in page
    assert 'alt="Figure f_VT. o &amp; o"' in page
    assert not re.search(r"<script|(src|href)=\"https?:|@import|url\(", page)


def test_each_claim_has_its_tile_and_each_verdict_its_mark_and_number(page):
    picture = part(page, '<div class="tiles"', 'id="gallery"')
    for name in ("counties-a", "two-bin-b", "sex-by-age-c"):
        assert f'<a href="#claim-{name}" title=' in picture
    for count in ("✓ 1 reproduced", "≠ 1 differs", "? 1 not checkable"):
        assert count in page
    said = " ".join(part(page, 'class="counts"', 'class="tiles"').split())
    assert "For 0 of the claims, the paper sets the criterion" in said
    assert "For the other 2, the criterion is ours" in said
    assert "For 1 of the claims, the paper has words and no number" in said
