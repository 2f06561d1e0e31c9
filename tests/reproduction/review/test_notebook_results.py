"""The helper of the reviewing notebooks: what it refuses, and what it shows."""

import json

import pandas as pd
import pytest
import yaml

from reproduction.review import notebook_results as reviewing
from reproduction.review.notebook_results import (
    NotInThisRunError,
    ReviewError,
    list_pages,
    open_results,
)
from reproduction.review.scorecard import COLUMNS

CONFIG = {"seed": 1, "counties": {"epsilon": 0.192, "states": ["VT"]}}
ROWS = [
    {
        "claim": "counties-rhat",
        "wing": "counties",
        "experiment": "Counties",
        "paper": "ISDP",
        "where": "E.4",
        "statement": "They agree & mix.",
        "paper_value": "near 1",
        "our_value": "1.2",
        "bar": "<= 1.01",
        "bar_of": "ours",
        "verdict": "differs",
        "note": "by a <few> draws",
    },
    {
        "claim": "two-bin-means",
        "wing": "congenial",
        "experiment": "Two bins",
        "paper": "CDP",
        "where": "Table 2",
        "statement": "The means.",
        "paper_value": "0",
        "our_value": "0",
        "bar": "= 0",
        "bar_of": "paper",
        "verdict": "reproduced",
    },
    {
        "claim": "das-illinois",
        "wing": "counties",
        "experiment": "Counties",
        "paper": "SDP",
        "where": "Fig 1",
        "statement": "Illinois.",
        "paper_value": "IL",
        "our_value": "",
        "bar": "contains IL",
        "bar_of": "paper",
        "verdict": "not checkable",
    },
]
CARD = pd.DataFrame(ROWS).reindex(columns=COLUMNS, fill_value="")


@pytest.fixture
def folder(tmp_path):
    results = tmp_path / "results"
    (results / "tables").mkdir(parents=True)
    (results / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    CARD.to_csv(results / "tables/scorecard.csv", index=False)
    CARD.iloc[:0].to_csv(results / "tables/transcription_checks.csv", index=False)
    pd.DataFrame({"a": [1, 2], "b": [0.5, None]}).to_csv(results / "tables/t.csv", index=False)
    (results / "shown.txt").write_text("tables/scorecard\ntables/t\n")
    return results


@pytest.fixture
def shown(monkeypatch):
    seen = []
    monkeypatch.setattr(reviewing, "display", lambda item: seen.append(item.data))
    return seen


def refusal(*arguments):
    with pytest.raises(ReviewError) as caught:
        open_results(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value._render_traceback_() == [f"error: {message}"]
    return message


def test_missing_results_are_refused_with_the_command_that_makes_them(tmp_path, monkeypatch):
    assert "snakemake --cores all" in refusal(tmp_path)
    monkeypatch.delenv(reviewing.FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert "snakemake --cores all" in refusal()


def test_a_claim_is_shown_with_both_values_and_its_verdict(folder, shown):
    review = open_results(folder)
    review.claim("counties-rhat")
    for part in ("differs", "They agree &amp; mix.", "E.4", "near 1", "1.2", "at most 1.01"):
        assert part in shown[0]
    assert "By a &lt;few&gt; draws" in shown[0]
    assert "nan" not in shown[0]
    assert 'href="../papers/ISDP.html#claim-counties-rhat"' in shown[0]
    with pytest.raises(ReviewError, match="no claim nonsense"):
        review.claim("nonsense")


def test_all_verdicts_are_counted_and_each_claim_has_its_tile(folder, shown):
    review = open_results(folder)
    assert review.counts() == {
        "reproduced": 1,
        "differs": 1,
        "undecided": 0,
        "not checkable": 1,
    }
    review.picture()
    assert all(shown[0].count(f'title="{claim}: ') == 1 for claim in CARD["claim"])
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
        lambda: review.claims_of("exactness"),
    ):
        with pytest.raises(NotInThisRunError):
            wanted()


def test_what_lies_about_of_another_config_is_not_shown(folder, shown):
    (folder / "figures").mkdir()
    (folder / "figures/f.png").touch()
    (folder / "figures/f.svg").touch()
    (folder / "tables/old.csv").write_text("a\n1\n")
    review = open_results(folder)
    with pytest.raises(NotInThisRunError, match="no figure f with these settings"):
        review.figure("f", "words")
    with pytest.raises(NotInThisRunError, match="no table old with these settings"):
        review.show("old")
    assert shown == []


def test_rows_that_are_alike_in_the_columns_shown_are_shown_once(folder, shown):
    pd.DataFrame({"records": [2, 2, *range(3, 13)], "rate": range(12)}).to_csv(
        folder / "tables/swapping_law.csv", index=False
    )
    with (folder / "shown.txt").open("a") as file:
        file.write("tables/swapping_law\n")
    review = open_results(folder)
    review.show("swapping_law", ["records"], "records < 12")
    review.show("swapping_law", ["records"])
    review.show("swapping_law", ["records"], fold=False)
    assert [text.count("<td>2</td>") for text in shown] == [1, 1, 1]
    # a table of more than ten rows is folded, and each has its title
    assert ["<details" in text for text in shown] == [False, True, False]
    assert all("compared with their exact distribution" in text for text in shown)


def test_the_claims_of_a_study_are_folded_under_their_verdicts(folder, shown):
    open_results(folder).claims_of("counties")
    assert "<summary>All 2 claims of this study: 1 differs, 1 not checkable</summary>" in shown[0]
    assert "They agree &amp; mix." in shown[0]


def test_the_pages_are_listed_from_the_notebooks_that_there_are(tmp_path, shown, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, about in {"00_overview": "Over", "01_a": "All of a", "90_errata": "Slips"}.items():
        content = {"metadata": {"title": about, "papers": "ISDP 5"}}
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(content))
    list_pages()
    assert "| [All of a](01_a.ipynb) | ISDP 5 |\n| [Slips](90_errata.ipynb) | ISDP 5 |" in shown[0]
    assert "overview" not in shown[0]


def test_departures_from_the_usual_config_are_named(folder):
    review = open_results(folder)
    assert review.departures(CONFIG) == []
    usual = {"seed": 1, "counties": {"epsilon": 0.2, "draws": 3}}
    assert review.departures(usual) == ["counties.epsilon", "counties.draws", "counties.states"]


def test_a_finding_leads_to_its_figure_in_full_size_and_to_its_tables(folder, shown):
    (folder / "figures").mkdir()
    (folder / "figures/f.png").write_bytes(b"picture")
    (folder / "figures/f.svg").write_text("<svg/>")
    with (folder / "shown.txt").open("a") as file:
        file.write("figures/f\n")
    review = open_results(folder)
    review.finding("T < U", "A & B 2023", "Text.", "f", "01_a", ("t",))
    assert shown[0].count('href="../figures/f.svg"') == 2  # the picture itself, and in words
    for part in ('href="../tables/t.html"', 'href="01_a.html"', "T &lt; U", "A &amp; B 2023"):
        assert part in shown[0]
    with pytest.raises(NotInThisRunError, match="no table other"):
        review.finding("T", "", "", "f", "01_a", ("other",))
