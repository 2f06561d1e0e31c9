"""The front page: verdicts and figures as pictures, then every claim with what is behind it.

Every number on it is the scorecard's.
"""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment, StrictUndefined

from isdp.io.files import read_json
from reproduction.review.claims import PAPERS, figures_of
from reproduction.review.gallery import gallery, svg_address
from reproduction.review.results import (
    MARKS,
    Results,
    badge,
    by_paper,
    claim_card,
    picture,
)
from reproduction.review.scorecard import DIFFERS, UNDECIDED, sentence
from reproduction.review.style import STYLE

NUMBER = r"\d|infinite"  # in the paper's value: it is not words alone
ENDINGS = {"tables": "html", "figures": "svg"}  # of the files that the page leads to


def front_page(
    results: Results,
    claims: list[Mapping],
    entries: list[Mapping],
    made: Mapping[str, Mapping[str, list[Mapping]]],
    pages: Mapping[str, str],
    template: str,
    made_by: str,
    departures: list[str],
    pictures: Mapping[str, str],
) -> str:
    """Set the front page.

    Parameters
    ----------
    results : Results
    claims : list of mappings
        From `reproduction.review.claims.read_claims`.
    entries : list of mappings
        From `reproduction.review.claims.read_figures`.
    made : mapping
        Under `tables` and `figures`, for each name in the claims and entries the files that the
        rules make of it, none or one or one a state: their `name`, and how they are made: `rule`,
        `message`, `rules` and `script` (paths in the repository), and `log`. What else lies in
        the results folder is of another run, and is not linked.
    pages : mapping
        Title of each notebook page that this run makes, by the notebook's name.
    template : str
        In Jinja's language.
    made_by : str
        What made the page, from `reproduction.running.origin.made_by`.
    departures : list of str
        Settings in which the run is not the paper's scale.
    pictures : mapping
        What each figure shows, from `reproduction.review.claims.read_pictures`.

    Returns
    -------
    str
    """
    rows = {row["claim"]: row for row in results.card.to_dict("records")}
    of_claim = {claim["claim"]: claim for claim in claims}
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        style=STYLE,
        message=read_json(results.folder / "data/provenance.json")["message"],
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
        gallery=gallery(results.folder / "figures", claims, entries, made["figures"], pictures),
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
        jobs=_jobs(made),
        address=lambda name: svg_address(results.folder / f"figures/{name}.svg"),
        badge=badge,
        card=claim_card,
    )


def _path(kind: str, file: Mapping) -> str:
    return f"{kind}/{file['name']}.{ENDINGS[kind]}"


def _jobs(made: Mapping[str, Mapping[str, list[Mapping]]]) -> dict[str, list[dict]]:
    """Jobs of each rule, in the order of the names, with the files that each of them makes."""
    jobs: dict[str, dict[str, dict]] = {}
    for kind in ENDINGS:
        for files in made[kind].values():
            for file in files:
                of_rule = jobs.setdefault(file["rule"], {})
                job = of_rule.setdefault(file["log"], dict(file, files={}))
                job["files"][file["name"]] = _path(kind, file)
    return {rule: list(found.values()) for rule, found in sorted(jobs.items())}
