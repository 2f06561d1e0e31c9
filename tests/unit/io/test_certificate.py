"""Certificates in Markdown, from the content of their JSON."""

import jinja2
import pytest

from isdp.io.certificate import markdown

TOPDOWN = {
    "made_by": "isdp topdown",
    "for_release": False,
    "status": "a status",
    "date": "a date",
    "accepted": ["weak-noise"],
    "input": {"table": "people.csv"},
    "guarantee": {"flavour": "zCDP", "statement": "zCDP with rho at most 1"},
    "budget": [{"level": "a|b", "loss": "1/3", "queries": ["total", "x|y"]}],
    "held": ["number of people"],
    "present": None,
    "structural_zeros": [{"sex": "f", "age": "child"}, {"sex": "m"}],
    "checked_in_integers": ["no count below zero"],
    "margins": "none",
    "output": {"regions": [12345], "sha256": {"released.csv": "abc"}},
    "versions": {"isdp": "1", "numpy": "2"},
    "not_said": ["One thing.", "Another <thing> & more."],
}


def test_a_certificate_is_rendered_line_by_line():
    assert markdown(TOPDOWN).splitlines() == [
        "# Certificate of a TopDown release",
        "",
        "**a status.** a date",
        "",
        "Risks that were accepted by name (`--accept`): weak-noise.",
        "",
        "## Privacy",
        "",
        "- guarantee: of the law asked for, and not of this draw: zCDP with rho at most 1",
        "",
        "| level | regions | rho | queries |",
        "|---|---:|---:|---|",
        "| a/b | 12,345 | 1/3 | total, x/y |",
        "",
        "## Totals",
        "",
        "- held exactly, and not protected: number of people",
        "- structural zeros, where nobody can be: sex=f, age=child; sex=m",
        "- checked in integers: no count below zero",
        "- margins of error: none",
        "",
        "## What this does not say",
        "",
        "- One thing.",
        "- Another <thing> & more.",
        "",
        "## Files",
        "",
        "- people.csv: not identified further",
        "- released.csv: sha256 abc",
        "- versions: isdp 1, numpy 2",
    ]
    assert markdown(TOPDOWN).endswith("numpy 2\n")


@pytest.mark.parametrize("key", sorted(TOPDOWN.keys() - {"accepted", "made_by"}))
def test_a_certificate_without_one_of_its_facts_is_not_rendered(key):
    with pytest.raises(jinja2.UndefinedError):
        markdown({name: value for name, value in TOPDOWN.items() if name != key})
