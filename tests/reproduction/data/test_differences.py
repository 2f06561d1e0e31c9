import pytest

from reproduction.counties.states import select_states
from reproduction.data.differences import extend_title, note_state, note_states, note_vintage
from tests.reproduction.counties.test_counties import regressions

STAND_IN = ["TX", "IL"]


def chosen(vintage, asked="paper"):
    table = select_states(regressions(IL=-2.0, TX=-4.0), vintage, asked, STAND_IN)
    return table.set_index("state")["rule"]


def test_only_another_vintage_than_the_papers_is_named():
    assert note_vintage("20201116") == ""
    assert note_vintage("") == ""
    assert "20210608" in note_vintage("20210608")
    assert "20201116" in note_vintage("20210608")


@pytest.mark.parametrize(
    ("vintage", "asked", "others"),
    [
        ("20201116", "paper", set()),
        ("20210608", "paper", {"TX"}),
        ("", "paper", {"TX"}),
        ("20201116", ["TX", "IL"], {"TX"}),
    ],
)
def test_states_that_are_not_known_to_be_the_papers_are_named(vintage, asked, others):
    rules = chosen(vintage, asked)
    assert {state for state, rule in rules.items() if note_state(state, rule)} == others
    assert bool(note_states(rules["TX"])) == bool(others)


def test_a_title_has_a_second_line_only_for_what_differs():
    assert extend_title("a", "", "") == "a"
    assert extend_title("a", "b", "", "c") == "a\nb; c"
