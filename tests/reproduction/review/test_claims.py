"""Claims of all studies, and the entries of the papers' figures."""

import re

import pytest

from isdp import InputError
from reproduction.jobs.claims import Claim, Evidence, at_most, claim, extreme_row, quantity
from reproduction.jobs.descriptions import Descriptions, Study, read_descriptions
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import (
    find_pages,
    list_claims,
    list_outputs,
    list_paper_figures,
)
from tests import ROOT

NOTEBOOKS = list((ROOT / "notebooks").glob("*.ipynb"))
CLAIMS = list_claims(NOTEBOOKS)
DESCRIPTIONS = read_descriptions((ROOT / "src/reproduction").glob("*/descriptions.yaml"))
ENTRIES = list_paper_figures(DESCRIPTIONS, CLAIMS)


def largest(table):
    return Evidence(quantity(extreme_row(table, "x", "max"), "x"), at_most(2, "ours"))


def make_claim(function=largest, name="", **changes):
    """Declare a claim of the study `counties`, on a table t with a column x."""

    def evidence(*tables):
        return function(*tables)

    evidence.__name__ = name or "a_claim"
    evidence.__module__ = "reproduction.counties.claims"
    words = {"paper": "ISDP", "where": "E.4", "statement": "It is so.", "tables": ["t"]}
    return claim(**words | {"experiment": "Counties", "paper_value": "1"} | changes)(evidence)


def entry(name, label="Figure 9", paper="ISDP", **changes):
    texts = {"label": label, "about": "a", "description": "d", "ours": "o"}
    return {"name": name, "paper": paper, "figures": [], "tables": ["u"], **texts} | (
        {"claims": []} | changes
    )


def described(**studies):
    """Describe studies by lists of entries."""
    made = {name: Study(category=name, paper_figures=each) for name, each in studies.items()}
    return Descriptions(made)


def test_claims_come_in_the_order_of_their_studies_pages():
    studies = [each.study for each in list_claims(["02_counties.ipynb", "01_topdown.ipynb"])]
    firsts = list(dict.fromkeys(studies))
    assert firsts[:2] == ["topdown", "counties"]
    assert firsts[2:] == sorted(firsts[2:])
    assert len(studies) == len(CLAIMS) >= 90
    assert find_pages(["x/02_a.ipynb"]) == {"a": "02_a"}


def test_a_claim_has_the_name_of_its_function_and_the_study_of_its_module():
    made = make_claim(name="noise_is_small")
    assert isinstance(made, Claim)
    assert (made.name, made.study) == ("noise-is-small", "counties")
    assert len({each.name for each in CLAIMS}) == len(CLAIMS)


def test_figures_come_paper_by_paper_figures_before_tables_by_number():
    first = [entry("two", "Figure 10"), entry("three", "Table 1"), entry("other", paper="CDP")]
    studies = described(a=first, b=[entry("one", "Figures 9 and 10")])
    names = [(each["wing"], each["name"]) for each in list_paper_figures(studies, [])]
    assert names == [("b", "one"), ("a", "two"), ("a", "three"), ("a", "other")]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([entry("one", claims=["counties-rhat", "nonsense"])], "one: claim nonsense"),
        ([entry("one"), entry("one")], "figure one is repeated"),
    ],
)
def test_entries_that_do_not_fit_are_refused(entries, message):
    with pytest.raises(InputError, match=message):
        list_paper_figures(described(a=entries), CLAIMS)


def test_each_table_and_figure_is_listed_once():
    claims = [make_claim(figures=["f"]), make_claim(figures=["g", "f"]), make_claim()]
    assert list_outputs("figures", claims, [entry("one", figures=["h", "g"])]) == ["f", "g", "h"]
    assert list_outputs("tables", claims, [entry("one")]) == ["t", "u"]


def test_every_claim_has_a_unit_and_a_page():
    pages = find_pages(NOTEBOOKS)
    for each in CLAIMS:
        assert each.unit, each.name
        assert (ROOT / f"notebooks/{pages[each.study]}.ipynb").is_file()


def test_values_that_a_paper_shows_only_in_a_figure_are_marked_as_read_off():
    """In congenial privacy, text and tables print the rest."""
    settings = read_yaml(ROOT / "config/config.yaml")["congenial"]["sex_by_age"]
    shown = {
        f"{x:g}" for medians in settings["distances"]["paper"].values() for x in medians.values()
    }
    shown |= {
        f"{settings['trace']['paper'][key]:g}" for key in ("acceptance_percent", "longest_stay")
    }
    shown |= {f"{rate:g}" for rate in settings["acceptance"]["paper"]}
    for each in CLAIMS:
        if each.study == "congenial" and each.experiment == "Sex by age":
            numbers = re.findall(r"[0-9.]+", each.paper_value)
            found = [number for number in numbers if f"{float(number):g}" in shown - {"0"}]
            zero = each.name == "acceptance-zero-at-040"
            assert each.read_off == (bool(found) or zero), each.name
