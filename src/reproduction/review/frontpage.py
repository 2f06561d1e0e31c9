"""Front page: the verdicts, the figures as thumbnails, and every claim with its table and figure.

Every number on the page comes from the scorecard.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from isdp.io.files import read_json
from reproduction.data.differences import note_states, note_vintage
from reproduction.jobs.claims import Claim
from reproduction.jobs.descriptions import Descriptions
from reproduction.review.claims import PAPERS, list_outputs
from reproduction.review.gallery import select_pictures
from reproduction.review.notebook_results import Results
from reproduction.review.pages import TEMPLATES
from reproduction.review.scorecard import DIFFERS, UNDECIDED
from reproduction.review.shown import find_files

NUMBER_PATTERN = r"\d|infinite"  # matches each value of a paper that contains a number


def render_front_page(
    results: Results,
    claims: list[Claim],
    entries: list[Mapping],
    files: Iterable,
    pages: Mapping[str, str],
    made_by: str,
    departures: list[str],
    descriptions: Descriptions,
) -> str:
    """Render the front page as HTML.

    `files` are all files that the run makes. Other files in the results folder belong to other runs
    and are not linked. `pages` maps the names of the run's notebooks to their titles. `departures`
    are the settings that differ from the paper's scale.
    """
    files = list(files)
    made = {
        kind: find_files(kind, list_outputs(kind, claims, entries), files)
        for kind in ("tables", "figures")
    }
    provenance = read_json(results.folder / "data/provenance.json")
    entries = [_as_run(entry, provenance.get("vintage", ""), results) for entry in entries]
    card = results.card
    checks = results.checks.to_dict("records")
    rows = {row["claim"]: row for row in [*card.to_dict("records"), *checks]}
    names = {claim.name: claim for claim in claims}
    return TEMPLATES.get_template("index.html.j2").render(
        message=provenance["message"],
        seed=results.setting("seed"),
        made_by=made_by,
        departures=departures,
        counts=results.counts(),
        coverage=results.table("coverage_counts").iloc[-1].to_dict(),
        bars=card["bar_of"].value_counts(),
        in_words=int((~card["paper_value"].str.contains(NUMBER_PATTERN)).sum()),
        differing=card[card["verdict"] == DIFFERS].to_dict("records"),
        undecided=card[card["verdict"] == UNDECIDED].to_dict("records"),
        gallery=select_pictures(
            results.folder / "thumbnails", claims, entries, made["figures"], descriptions
        ),
        titles={name.partition("_")[2]: title for name, title in pages.items()},
        groups=results.by_paper(),
        checks=checks,
        papers=PAPERS,
        rows=rows,
        tables={name: claim.tables[0] for name, claim in names.items()},
        figures={name: claim.figures for name, claim in names.items()},
        described={name: [entry for entry in entries if name in entry["claims"]] for name in names},
        pages=pages,
        entries=entries,
        made=made,
        studies=list(descriptions.studies),
        study_of=partial(descriptions.study_of, "tables"),
    )


def _as_run(entry: Mapping, vintage: str, results: Results) -> dict:
    """Add a note to the title of an entry if the data of this run differ from the paper's."""
    words = {
        "vintage": lambda: note_vintage(vintage),
        "states": lambda: note_states(results.value("states", "rule")),
    }
    found = [text for key in entry.get("data", []) if (text := words[key]())]
    return {**entry, "about": "; ".join([entry["about"], *found]), "other_data": bool(found)}
