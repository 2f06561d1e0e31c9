"""The gallery: which figures, under which words, leading where."""

import base64
import io
import re

import pytest
from PIL import Image

from reproduction.jobs.descriptions import Descriptions, Figure, Study, read_descriptions
from reproduction.review.claims import list_outputs
from reproduction.review.gallery import select_pictures
from tests import ROOT
from tests.reproduction.review.test_claims import CLAIMS, ENTRIES, make_claim


def entry(wing, name, *figures):
    words = {"paper": "CDP", "label": "Figure 2", "about": "a peak", "description": "One. Two."}
    return {"wing": wing, "name": name, "figures": list(figures), **words}


def described(**sentences):
    figures = {
        name: Figure(title=f"Title of {name}", gallery=words) for name, words in sentences.items()
    }
    return Descriptions({"a": Study(category="A", figures=figures)})


@pytest.fixture
def folder(tmp_path):
    for name in ("peak", "map_DC", "map_IL", "map_VT", "law"):
        Image.new("RGB", (90, 60), "teal").save(tmp_path / f"{name}.png")
    return tmp_path


def decoded(address):
    head, _, body = address.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(body)))


SHOWN = described(**{"peak": "One peak.", "law": "", "map_{state}": "A map."})


def test_each_figure_has_one_picture_with_the_label_of_the_first_who_names_it(folder):
    claims = [
        make_claim(name="so", paper="SDP", where="Section 3", figures=["peak", "law"]),
        make_claim(name="too", figures=["law"]),
    ]
    entries = [entry("a", "two", "peak"), entry("c", "three", "gone")]
    made = {"peak": ["peak"], "law": ["law"], "gone": []}
    found = select_pictures(folder, claims, entries, made, SHOWN)
    assert list(found) == ["counties", "a"]
    for each in (found["a"][0], found["counties"][0]):
        assert decoded(each.pop("address")).size == (90, 60)
    assert found["a"] == [
        {
            "name": "peak",
            "label": "CDP, Figure 2",
            "title": "Title of peak",
            "words": "One peak.",
            "goal": "figure-two",
            "more": 0,
        }
    ]
    assert found["counties"] == [
        {
            "name": "law",
            "label": "Claim of SDP, Section 3",
            "title": "Title of law",
            "words": "",
            "goal": "claim-so",
            "more": 0,
        }
    ]


def test_of_a_figure_that_each_state_has_one_is_shown_that_was_not_yet(folder):
    made = {"map_IL": ["map_IL"], "map_{state}": ["map_IL", "map_DC", "map_VT"]}
    entries = [entry("a", "one", "map_IL"), entry("a", "two", *made)]
    found = select_pictures(folder, [], entries, made, SHOWN)
    shown = [(each["name"], each["more"], each["words"]) for each in found["a"]]
    assert shown == [("map_IL", 0, "A map."), ("map_VT", 1, "A map.")]


def test_every_table_named_is_described_and_there_is_a_sentence_on_every_figure():
    descriptions = read_descriptions((ROOT / "src/reproduction").glob("*/descriptions.yaml"))
    for name in list_outputs("tables", CLAIMS, ENTRIES):
        descriptions.find("tables", name)
    for name in list_outputs("figures", CLAIMS, ENTRIES):
        words = descriptions.find("figures", name)[2].gallery
        assert re.search(r"\.(\s|$)", words), name


def test_a_picture_with_data_other_than_the_papers_says_so(folder):
    entries = [entry("a", "two", "peak") | {"other_data": True}]
    (picture,) = select_pictures(folder, [], entries, {"peak": ["peak"]}, SHOWN)["a"]
    assert "other data" in picture["label"]
