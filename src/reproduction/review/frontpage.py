"""The front page: verdicts and figures as pictures, then every claim with what is behind it.

Every number on it is the scorecard's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from jinja2 import Environment, StrictUndefined

from isdp.io.files import read_json
from reproduction.data.differences import other_states, other_vintage
from reproduction.review.claims import PAPERS, figures_of, named_figures, named_tables
from reproduction.review.gallery import LARGE, gallery, thumbnail
from reproduction.review.results import (
    MARKS,
    Results,
    badge,
    by_paper,
    claim_card,
    picture,
)
from reproduction.review.scorecard import DIFFERS, UNDECIDED, sentence
from reproduction.review.shown import files_under
from reproduction.review.style import STYLE
from reproduction.running.descriptions import Descriptions

NUMBER = r"\d|infinite"  # in the paper's value: it is not words alone


def front_page(
    results: Results,
    claims: list[Mapping],
    entries: list[Mapping],
    files: Iterable,
    pages: Mapping[str, str],
    template: str,
    made_by: str,
    departures: list[str],
    descriptions: Descriptions,
) -> str:
    """Set the front page.

    Parameters
    ----------
    results : Results
    claims : list of mappings
        From `reproduction.review.claims.read_claims`.
    entries : list of mappings
        From `reproduction.review.claims.read_figures`.
    files : iterable of path
        All files that the run makes. Other files in the results folder are of another run, and are
        not linked.
    pages : mapping
        Title of each notebook page that this run makes, by the notebook's name.
    template : str
        In Jinja's language.
    made_by : str
        What made the page, from `reproduction.running.origin.made_by`.
    departures : list of str
        Settings in which the run is not the paper's scale.
    descriptions : Descriptions
        Of all tables and figures.

    Returns
    -------
    str
    """
    files = list(files)
    made = {
        "tables": files_under("tables", named_tables(claims, entries), files),
        "figures": files_under("figures", named_figures(claims, entries), files),
    }
    provenance = read_json(results.folder / "data/provenance.json")
    entries = [_as_run(entry, provenance.get("vintage", ""), results) for entry in entries]
    rows = {row["claim"]: row for row in results.card.to_dict("records")}
    of_claim = {claim["claim"]: claim for claim in claims}
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        style=STYLE,
        message=provenance["message"],
        seed=results.setting("seed"),
        made_by=made_by,
        departures=departures,
        counts=results.counts(),
        marks=MARKS,
        bars=results.card["bar_of"].value_counts(),
        in_words=int((~results.card["paper_value"].str.contains(NUMBER)).sum()),
        differing=[row for row in rows.values() if row["verdict"] == DIFFERS],
        undecided=[row for row in rows.values() if row["verdict"] == UNDECIDED],
        picture=picture(results.card, linked=True),
        gallery=gallery(results.folder / "figures", claims, entries, made["figures"], descriptions),
        titles={name.partition("_")[2]: title for name, title in pages.items()},
        groups=[
            (paper, [(name, group.to_dict("records")) for name, group in groups])
            for paper, groups in by_paper(results.card)
        ],
        papers=PAPERS,
        sentence=sentence,
        rows=rows,
        tables={name: claim["ours"]["table"] for name, claim in of_claim.items()},
        figures={name: figures_of(claim) for name, claim in of_claim.items()},
        described={
            name: [entry for entry in entries if name in entry["claims"]] for name in of_claim
        },
        pages=pages,
        entries=entries,
        made=made,
        studies=list(descriptions.studies),
        study_of=partial(descriptions.study_of, "tables"),
        address=lambda name: thumbnail(results.folder / f"figures/{name}.png", LARGE),
        badge=badge,
        card=claim_card,
    )


def _as_run(entry: Mapping, vintage: str, results: Results) -> dict:
    """Say in an entry's title where this run has other data than the paper."""
    words = {
        "vintage": lambda: other_vintage(vintage),
        "states": lambda: other_states(results.value("states", "rule")),
    }
    found = [text for key in entry.get("data", []) if (text := words[key]())]
    return {**entry, "about": "; ".join([entry["about"], *found])}
