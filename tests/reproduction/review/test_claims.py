"""The claims and the figures shown: a file a wing, in the order of the pages and the papers."""

import re

import pytest
import yaml

from isdp import InputError
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import (
    list_claim_figures,
    list_figures,
    list_tables,
    read_claims,
    read_figures,
)
from tests import ROOT

SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
FIGURES_SCHEMA = ROOT / "workflow/schemas/figures.schema.yaml"
CLAIMS = read_claims(
    (ROOT / "config/claims").glob("*.yaml"), SCHEMA, (ROOT / "notebooks").glob("*.ipynb")
)
ENTRIES = read_figures((ROOT / "config/figures").glob("*.yaml"), FIGURES_SCHEMA, CLAIMS)


def claim(**changes):
    return {
        "claim": "c",
        "experiment": "Counties",
        "paper": "ISDP",
        "where": "E.4",
        "statement": "It is so.",
        "paper_value": "1",
        "ours": {"table": "t", "column": "x", "take": "max"},
        "bar": {"at_most": 2},
        "bar_of": "ours",
    } | changes


def entry(name, label="Figure 9", paper="ISDP", **changes):
    texts = {"label": label, "about": "a", "description": "d", "ours": "o"}
    return {"name": name, "paper": paper, "figures": [], "tables": ["u"], **texts} | (
        {"claims": []} | changes
    )


def written(folder, **files):
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return list(folder.glob("*.yaml"))


def test_a_claim_has_its_files_wing_and_the_wings_page_in_the_pages_order(tmp_path):
    paths = written(tmp_path, a=[claim()], b=[claim(claim="d")], c=[claim(claim="e")])
    found = read_claims(paths, SCHEMA, ["x/02_a.ipynb", "x/01_b.ipynb", "x/90_errata.ipynb"])
    assert [(each["claim"], each["wing"], each["page"]) for each in found] == [
        ("d", "b", "01_b"),
        ("c", "a", "02_a"),
        ("e", "c", "c"),
    ]


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([claim(verdict="reproduced")], "w.yaml: 0: Additional properties"),
        ([claim(bar={})], "w.yaml: 0.bar"),
        ([claim(), claim()], "claim c is repeated"),
        ([], "w.yaml: top level"),
    ],
)
def test_claims_that_do_not_fit_are_refused(tmp_path, claims, message):
    with pytest.raises(InputError, match=message):
        read_claims(written(tmp_path, w=claims), SCHEMA)


def test_one_name_in_two_wings_is_refused(tmp_path):
    with pytest.raises(InputError, match="claim c is repeated"):
        read_claims(written(tmp_path, v=[claim()], w=[claim()]), SCHEMA)


def test_descriptions_come_paper_by_paper_figures_first_by_their_numbers(tmp_path):
    first = [entry("two", "Figure 10"), entry("three", "Table 1"), entry("other", paper="CDP")]
    paths = written(tmp_path, a=first, b=[entry("one", "Figures 9 and 10")])
    names = [each["name"] for each in read_figures(paths, FIGURES_SCHEMA, [])]
    assert names == ["one", "two", "three", "other"]


def test_a_description_of_an_unknown_claim_is_refused(tmp_path):
    paths = written(tmp_path, a=[entry("one", claims=["counties-rhat", "nonsense"])])
    with pytest.raises(InputError, match=r"a\.yaml: one: claim nonsense"):
        read_figures(paths, FIGURES_SCHEMA, CLAIMS)


def test_what_is_named_is_named_once():
    claims = [claim(figure="f"), claim(figure=["g", "f"]), claim()]
    assert [list_claim_figures(each) for each in claims] == [["f"], ["g", "f"], []]
    assert list_figures(claims, [entry("one", figures=["h", "g"])]) == ["f", "g", "h"]
    assert list_tables(claims, [entry("one")]) == ["t", "u"]


def test_the_projects_claims_have_a_page_each_and_no_verdict():
    assert len(CLAIMS) >= 12
    for each in CLAIMS:
        assert "verdict" not in each
        assert (ROOT / f"notebooks/{each['page']}.ipynb").is_file()


def test_a_distance_or_a_p_value_is_never_shown_in_the_place_of_the_value():
    """What is found stands in the claim's own unit; how far that is from the paper is judged."""
    standardised = re.compile(r"z|z_\w+|\w+_z|p|\w*percentile|share_below_\w+")
    for each in CLAIMS:
        assert each.get("unit"), each["claim"]
        assert not standardised.fullmatch(each["ours"].get("column", "")), each["claim"]
    assert sum("judged" in each for each in CLAIMS) > 20


def test_what_the_sources_of_a_paper_do_not_print_is_read_off_its_figure():
    """Of congenial privacy all but a claim's own words: text and tables print the rest."""
    settings = read_yaml(ROOT / "config/config.yaml")["congenial"]["sex_by_age"]
    shown = {
        f"{x:g}" for medians in settings["distances"]["paper"].values() for x in medians.values()
    }
    shown |= {
        f"{settings['trace']['paper'][key]:g}" for key in ("acceptance_percent", "longest_stay")
    }
    shown |= {f"{rate:g}" for rate in settings["acceptance"]["paper"]}
    for each in CLAIMS:
        if each["wing"] == "congenial" and each["experiment"] == "Sex by age":
            numbers = re.findall(r"[0-9.]+", each["paper_value"])
            found = [number for number in numbers if f"{float(number):g}" in shown - {"0"}]
            zero = each["claim"] == "acceptance-zero-at-040"
            assert each.get("read_off", False) == (bool(found) or zero), each["claim"]


def test_a_claim_that_can_be_undecided_knows_what_it_would_take():
    for each in CLAIMS:
        judged = each.get("judged", each["ours"])
        if {"error", "limits"} & set(judged):
            assert "draws" in judged or "tells" in each, each["claim"]
