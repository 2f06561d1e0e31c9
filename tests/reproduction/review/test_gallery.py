"""The gallery: which pictures, under which words, leading where; and how much they weigh."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from reproduction.review.gallery import WIDTH, first_sentence, gallery, thumbnail

BUDGET = 3_000_000  # bytes of the front page
PICTURES = 70


def entry(wing, name, *figures):
    words = {"paper": "CDP", "label": "Figure 2", "about": "a peak", "description": "One. Two."}
    return {"wing": wing, "name": name, "figures": list(figures), **words}


def claim(wing, name, figure):
    words = {"paper": "SDP", "where": "Section 3", "statement": "It is so."}
    return {"wing": wing, "claim": name, "figure": figure, **words}


def files(*names):
    return [{"name": name} for name in names]


@pytest.fixture
def folder(tmp_path):
    for name in ("peak", "map_DC", "map_IL", "map_VT", "law"):
        Image.new("RGB", (90, 60), "teal").save(tmp_path / f"{name}.png")
    return tmp_path


def decoded(address):
    head, _, body = address.partition(",")
    assert head == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(body)))


def test_each_figure_has_one_picture_with_the_words_of_the_first_who_names_it(folder):
    claims = [claim("b", "so", ["peak", "law"]), claim("a", "too", "law")]
    entries = [entry("a", "two", "peak"), entry("c", "three", "gone")]
    made = {"peak": files("peak"), "law": files("law"), "gone": []}
    found = gallery(folder, claims, entries, made)
    assert list(found) == ["b", "a"]
    for each in (found["a"][0], found["b"][0]):
        assert decoded(each.pop("address")).size == (90, 60)
    assert found["a"] == [
        {
            "name": "peak",
            "label": "CDP, Figure 2: a peak",
            "words": "One.",
            "goal": "figure-two",
            "more": 0,
        }
    ]
    assert found["b"] == [
        {
            "name": "law",
            "label": "SDP, Section 3",
            "words": "Claimed: It is so.",
            "goal": "claim-so",
            "more": 0,
        }
    ]


def test_a_further_figure_of_an_entry_has_the_words_of_its_claim(folder):
    claims = [claim("a", "so", ["law", "peak"])]
    made = {"peak": files("peak"), "law": files("law"), "map": files("map_DC")}
    found = gallery(folder, claims, [entry("a", "two", *made)], made)
    words = [(each["name"], each["words"], each["goal"]) for each in found["a"]]
    assert words == [
        ("peak", "One.", "figure-two"),
        ("law", "Claimed: It is so.", "figure-two"),
        ("map_DC", "One.", "figure-two"),
    ]


def test_of_a_figure_that_each_state_has_one_is_shown_that_was_not_yet(folder):
    made = {"map_IL": files("map_IL"), "map_{state}": files("map_IL", "map_DC", "map_VT")}
    found = gallery(folder, [], [entry("a", "one", "map_IL"), entry("a", "two", *made)], made)
    assert [(each["name"], each["more"]) for each in found["a"]] == [("map_IL", 0), ("map_DC", 1)]


def test_a_small_picture_keeps_its_shape_and_what_is_clear_becomes_white(tmp_path):
    Image.new("RGBA", (3 * WIDTH, WIDTH), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    small = decoded(thumbnail(tmp_path / "clear.png"))
    assert small.size == (WIDTH, WIDTH // 3)
    assert np.asarray(small.convert("L")).min() > 250


def test_a_page_of_all_wings_stays_within_its_weight(tmp_path):
    """As dense as our densest figure: hundreds of boxes and letters side by side."""
    drawn = np.full((900, 1900, 3), 255, np.uint8)
    generator = np.random.default_rng(1)
    for x in range(0, 1900, 8):
        low, high = np.sort(generator.integers(100, 800, 2))
        drawn[low:high, x : x + 4] = generator.integers(0, 200, 3)
    Image.fromarray(drawn).save(tmp_path / "dense.png")
    assert PICTURES * len(thumbnail(tmp_path / "dense.png")) < BUDGET


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One peak at 0.6, no more.\n  Two.", "One peak at 0.6, no more."),
        ("Left: a 4 x 4 table, e.g. ours", "Left: a 4 x 4 table, e.g. ours"),
    ],
)
def test_the_first_sentence_ends_at_a_stop_before_a_capital(text, sentence):
    assert first_sentence(text) == sentence
