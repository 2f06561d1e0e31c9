"""Certificates in Markdown, from the content of their JSON."""

import jinja2
import pytest

from isdp.io.certificate import DISTRIBUTION_ONLY, markdown

TOPDOWN = {
    "made_by": "isdp topdown",
    "for_release": False,
    "status": "a status",
    "date": "a date",
    "accepted": ["weak-noise"],
    "summary": {"exact": "so exact", "noise": "so noisy", "protection": "so protected"},
    "protection": ["one sentence", "another sentence"],
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


def test_a_certificate_is_rendered_with_all_of_its_facts():
    text = markdown(TOPDOWN)
    assert "| a/b | 12,345 | 1/3 | total, x/y |" in text.splitlines()
    for fact in ("a status", "so exact", "so noisy", "so protected", "a date",
                 "weak-noise", "people.csv", "zCDP with rho at most 1",
                 "number of people", "sex=f, age=child; sex=m", "no count below zero", "abc",
                 "One thing.", "Another <thing> & more.", "isdp 1, numpy 2"):  # fmt: skip
        assert text.count(fact) == 1, fact
    assert DISTRIBUTION_ONLY in text
    assert DISTRIBUTION_ONLY not in markdown(TOPDOWN | {"for_release": True})


@pytest.mark.parametrize("key", sorted(TOPDOWN.keys() - {"accepted", "made_by"}))
def test_a_certificate_without_one_of_its_facts_is_not_rendered(key):
    with pytest.raises(jinja2.UndefinedError):
        markdown({name: value for name, value in TOPDOWN.items() if name != key})
