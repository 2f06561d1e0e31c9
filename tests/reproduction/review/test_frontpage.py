"""The front page: what it links, what it says is missing, and that all that it names exists."""

import base64
import re

import pandas as pd
import pytest
import yaml
from PIL import Image

from isdp.io.files import write_json
from reproduction.review.claims import named_figures, named_tables
from reproduction.review.frontpage import front_page
from reproduction.review.results import Results
from reproduction.review.scorecard import scorecard
from reproduction.running.yaml_files import read_yaml
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS, ENTRIES

TEMPLATE = (ROOT / "workflow/report/index.html.j2").read_text()


def claim(name, table, at_most, **more):
    return {
        "claim": name,
        "wing": name.rpartition("-")[0],
        "experiment": name,
        "page": "01_counties" if name == "counties-a" else "04_sex_by_age",
        "paper": "ISDP",
        "where": "E.4 & E.5",
        "statement": "It is <so>.",
        "paper_value": "1",
        "ours": {"table": table, "column": "x", "take": "max"},
        "bar": {"at_most": at_most},
        "bar_of": "ours",
    } | more


def entry(name, figures, claims):
    texts = {"label": "Figure 9", "about": "<b>", "description": "d", "ours": "o & o"}
    return {"name": name, "wing": "counties", "paper": "ISDP", "tables": ["gone"], **texts} | {
        "figures": figures,
        "claims": claims,
    }


def job(name, rule="draw"):
    where = {"rules": "workflow/rules/r.smk", "script": "workflow/scripts/s.py"}
    return {"name": name, "rule": rule, "message": f"For {name}", "log": f"logs/{rule}.log"} | where


PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"/>'


def svg_address_of(text):
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"


@pytest.fixture
def page(tmp_path):
    claims = [
        claim("counties-a", "t", 2, figure=["f_{state}", "lost"]),
        claim("two-bin-b", "t", 0, paper="CDP", exact=True, note="a slip & no more"),
        claim("sex-by-age-c", "gone", 0, paper="CDP", paper_value="likely"),
    ]
    card = scorecard(claims, {"t": pd.DataFrame({"x": [1]})}, {"das_available": False})
    (tmp_path / "tables").mkdir()
    card.to_csv(tmp_path / "tables/scorecard.csv", index=False)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"seed": 77}))
    (tmp_path / "shown.txt").touch()
    (tmp_path / "figures").mkdir()
    # the stale one is of a run with another config
    names = ("tables/t.html", "figures/f_VT.svg", "figures/f_DC.svg", "figures/stale.svg")
    for name in names:
        (tmp_path / name).write_text(PICTURE if name.endswith("f_VT.svg") else "")
    for name in ("f_VT", "f_DC"):
        Image.new("RGB", (30, 20), "red").save(tmp_path / f"figures/{name}.png")
    write_json(tmp_path / "data/provenance.json", {"message": "Counts < errors."})
    made = {
        "tables": {"t": [job("t", "count")], "gone": []},
        "figures": {"f_{state}": [job("f_VT"), job("f_DC")], "lost": [], "stale": []},
    }
    entries = [
        entry("one", ["f_{state}"], ["counties-a"]),
        entry("two", ["f_{state}", "lost", "stale"], []),
    ]
    pages = {"01_counties": "Counties & states"}
    return front_page(
        Results(tmp_path),
        claims,
        entries,
        made,
        pages,
        TEMPLATE,
        "Made by <us>.",
        ["counties.draws"],
        {"f_{state}": "Boxes < lines."},
    )


def part(page, start, end="</div></div>"):
    return page.split(start, 1)[1].split(end, 1)[0]


def test_a_run_of_another_scale_says_so(page):
    assert "not at the paper's scale" in page
    assert "<code>counties.draws</code>" in page


def test_a_claim_links_to_its_table_figures_notebook_and_rule(page):
    box = part(page, 'id="claim-counties-a"')
    for link in (
        "tables/t.html",
        "figures/f_VT.svg",
        "figures/f_DC.svg",
        "notebooks/01_counties.html",
        "#rule-count",
        "#figure-one",
    ):
        assert f'href="{link}"' in box
    rule = part(page, 'id="rule-count"', "</div>")
    for words in ("workflow/rules/r.smk", "workflow/scripts/s.py", "For t", "logs/count.log"):
        assert words in rule


def test_what_the_run_does_not_make_is_said_and_not_linked(page):
    assert "lost <i" in part(page, 'id="claim-counties-a"')
    box = part(page, 'id="claim-sex-by-age-c"')
    assert "? not checkable" in box
    assert "gone <i" in box
    assert "04_sex_by_age <i" in box
    assert box.count("not in this run") == 3
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


def test_every_link_within_the_page_has_its_goal_and_no_name_stands_twice(page):
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(names)


def test_each_claim_has_its_tile_and_each_verdict_its_mark_and_number(page):
    picture = part(page, "<svg", "</svg>")
    for name in ("counties-a", "two-bin-b", "sex-by-age-c"):
        assert f'<a href="#claim-{name}">' in picture
    for count in ("✓ 1 reproduced", "≠ 1 differs", "? 1 not checkable"):
        assert count in page
    said = " ".join(part(page, "The bar that decides", "</p>").split())
    assert "is the paper's own in 0 of them" in said
    assert "ours in 3" in said
    assert "In 1 the paper has words and no number" in said


def test_a_picture_is_shown_once_and_then_linked(page):
    assert page.count(f'<img src="{svg_address_of(PICTURE)}"') == 1
    assert page.count('<a href="figures/f_VT.svg"><img') == 1
    assert 'href="#figure-one">above' in page
    assert "The same for other states:" in page
    assert '<a href="figures/f_DC.svg"><img' not in page


def test_the_page_holds_all_its_pictures_itself(page):
    sources = re.findall(r"<img src=\"([^\"]*)\"", page)
    assert len(sources) == 2
    assert all(source.startswith("data:image/") for source in sources)


def test_what_differs_is_told_with_both_values_how_sure_it_is_and_why(page):
    told = part(page, '<h2 id="differing">', "<h2")
    assert "1 in the paper; 1 here, exactly (bar &lt;= 0, ours)" in told
    assert "A slip &amp; no more." in told
    assert told.count("<li>") == 1
    assert "one standard error" in told


def test_the_page_opens_with_the_verdicts_then_the_gallery_then_the_claims(page):
    places = [page.index(words) for words in ("<svg", 'id="gallery"', 'id="claims"')]
    assert places == sorted(places)
    picture = part(page, '<ul class="gallery">', "</ul>")
    assert '<a href="#figure-one"><img src="data:image/webp;base64,' in picture
    assert 'alt="Small picture of figure f_VT"' in picture
    assert "ISDP, Figure 9: &lt;b&gt;" in picture
    assert "And for 1 more state." in picture
    assert "Boxes &lt; lines." in picture
    assert picture.count("<li>") == 1
    assert '<h3 id="gallery-counties">Counties &amp; states</h3>' in page


def outputs(kind):
    """Patterns of what the rules make: names given to table_outputs or figure_outputs, or paths."""
    text = "".join(path.read_text() for path in (ROOT / "workflow/rules").rglob("*.smk"))
    lattices = read_yaml(ROOT / "config/config.yaml")["lattices"]["experiments"]
    laws = {law for each in lattices.values() for law in each["laws"]}
    states = [r"[A-Z]{2}", re.escape("{state}")]
    values = {"experiment": lattices, "law": laws, "state": states, "sweep": [r"[a-z0-9-]+"]}
    values["each"] = re.findall(r'^    "(\w+)": "', text, re.MULTILINE)  # by name, with its title
    ending = {"table": "html", "figure": "svg"}[kind]
    names = re.findall(kind + r'_outputs\(\s*f?"([^"]+)"', text)
    names += re.findall(rf'"results/{kind}s/([^"]+)\.{ending}"', text)
    return [
        re.sub(r"\{(\w+)\}", lambda found: f"({'|'.join(values[found[1]])})", name)
        for name in names
        if set(re.findall(r"\{(\w+)\}", name)) <= set(values)  # not the helper's own pattern
    ]


def test_every_figure_and_table_that_is_named_is_made_by_a_rule():
    tables, figures = named_tables(CLAIMS, ENTRIES), named_figures(CLAIMS, ENTRIES)
    for kind, names in (("table", tables), ("figure", figures)):
        patterns = outputs(kind)
        assert [n for n in names if not any(re.fullmatch(p, n) for p in patterns)] == []
