"""The helper of the reviewing notebooks: what it refuses, and what it shows."""

import pandas as pd
import pytest
import yaml

from reproduction.review import results as reviewing
from reproduction.review.results import NotInThisRunError, ReviewError, experiment_of, open_results
from reproduction.review.scorecard import COLUMNS

CONFIG = {"seed": 1, "counties": {"epsilon": 0.192, "states": ["VT"]}}
CARD = pd.DataFrame(
    [
        (
            "counties-rhat",
            "ISDP",
            "E.4",
            "They agree & mix.",
            "near 1",
            "1.2",
            "<= 1.01",
            "differs",
        ),
        ("two-bin-means", "CDP", "Table 2", "The means.", "0", "0", "= 0", "reproduced"),
        ("das-illinois", "SDP", "Fig 1", "Illinois.", "IL", "", "contains IL", "not checkable"),
    ],
    columns=list(COLUMNS[:-1]),
).assign(note="")


@pytest.fixture
def folder(tmp_path):
    results = tmp_path / "results"
    (results / "tables").mkdir(parents=True)
    (results / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    CARD.to_csv(results / "tables/scorecard.csv", index=False)
    pd.DataFrame({"a": [1, 2], "b": [0.5, None]}).to_csv(results / "tables/t.csv", index=False)
    return results


@pytest.fixture
def shown(monkeypatch):
    seen = []
    monkeypatch.setattr(reviewing, "display", lambda item: seen.append(item.data))
    return seen


def refusal(*arguments, **options):
    with pytest.raises(ReviewError) as caught:
        open_results(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value._render_traceback_() == [f"error: {message}"]
    return message


def test_missing_results_are_refused_with_the_command_that_makes_them(tmp_path, monkeypatch):
    assert "snakemake --cores all" in refusal(tmp_path)
    monkeypatch.delenv(reviewing.FOLDER, raising=False)
    monkeypatch.chdir(tmp_path)
    assert "snakemake --cores all" in refusal()


def test_results_are_found_from_the_folder_of_the_notebooks(folder, monkeypatch):
    notebooks = folder.parent / "notebooks"
    notebooks.mkdir()
    monkeypatch.delenv(reviewing.FOLDER, raising=False)
    monkeypatch.chdir(notebooks)
    assert open_results().folder == folder


def test_results_of_another_config_are_refused_by_the_key(folder, monkeypatch):
    other = folder.parent / "mine.yaml"
    other.write_text(yaml.safe_dump({"counties": {"epsilon": 1.0}}))
    for message in (
        refusal(folder, expect=other),
        monkeypatch.setenv(reviewing.EXPECTED, str(other)) or refusal(folder),
    ):
        assert "counties.epsilon is 0.192, but 1.0 in mine.yaml" in message
    other.write_text(yaml.safe_dump({"news": 1}))
    assert "news is missing" in refusal(folder, expect=other)
    other.write_text(yaml.safe_dump({"counties": {"states": ["VT"]}}))
    assert open_results(folder, expect=other).setting("counties.epsilon") == 0.192


def test_a_claim_is_shown_with_both_values_and_its_verdict(folder, shown):
    review = open_results(folder)
    review.claim("counties-rhat")
    for part in ("differs", "They agree &amp; mix.", "ISDP, E.4", "near 1", "1.2", "&lt;= 1.01"):
        assert part in shown[0]
    assert "nan" not in shown[0]
    assert review.verdict("two-bin-means") == "reproduced"
    with pytest.raises(ReviewError, match="no claim nonsense"):
        review.claim("nonsense")


def test_all_verdicts_are_counted_and_each_claim_has_its_tile(folder, shown):
    review = open_results(folder)
    assert review.counts() == {"reproduced": 1, "differs": 1, "not checkable": 1}
    review.picture()
    assert all(shown[0].count(f"<title>{claim}:") == 1 for claim in CARD["claim"])
    review.by_experiment()
    assert all(name in shown[1] for name in ("Counties", "Two bins", "SDP"))


def test_what_another_run_makes_is_said_to_be_missing_not_broken(folder):
    review = open_results(folder)
    assert review.value("t", "b", "a == 1") == 0.5
    for wanted in (
        lambda: review.table("u"),
        lambda: review.table("t", "a == 3"),
        lambda: review.figure("f", "words"),
        lambda: review.setting("counties.norm"),
        lambda: review.claims_of("Exact samplers"),
    ):
        with pytest.raises(NotInThisRunError):
            wanted()


def test_the_longest_beginning_decides_where_a_claim_is_reviewed():
    assert experiment_of("exact-counties-unbiased") == "Counties"
    assert experiment_of("exact-agreement-chains") == "Exact samplers"
    assert experiment_of("something-new") == reviewing.OTHER


def test_departures_from_the_usual_config_are_named(folder):
    review = open_results(folder)
    assert review.departures(CONFIG) == []
    usual = {"seed": 1, "counties": {"epsilon": 0.2, "draws": 3}}
    assert review.departures(usual) == ["counties.epsilon", "counties.draws", "counties.states"]
