"""Front page, and one page per paper with its figures, tables and claims next to ours.

Every verdict and every number on the pages comes from the tables of the run.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from isdp.io.files import read_json
from reproduction.data.differences import PAPER_RULE, PAPER_VINTAGE, note_states, note_vintage
from reproduction.jobs.claims import Claim
from reproduction.jobs.descriptions import Descriptions
from reproduction.review.claims import OURS, PAPERS, list_outputs
from reproduction.review.coverage import WORST_FIRST
from reproduction.review.notebook_results import NotInThisRunError, Results
from reproduction.review.pages import TEMPLATES
from reproduction.review.scorecard import DIFFERS, REPRODUCED, UNDECIDED
from reproduction.review.shown import find_files
from reproduction.review.side_by_side import errors_at_rho_1

PAGES = (*PAPERS, OURS)  # names of the pages of the papers


def render_front_page(
    results: Results,
    claims: Sequence[Claim],
    entries: Sequence[Mapping],
    files: Iterable,
    pages: Mapping[str, str],
    made_by: str,
    departures: Sequence[str],
) -> str:
    """Render the front page as HTML.

    `files` are all files that the run makes. Other files in the results folder belong to other runs
    and are not linked. `pages` maps the names of the run's notebooks to their titles. `departures`
    are the settings that differ from the paper's scale.
    """
    provenance = read_json(results.folder / "data/provenance.json")
    card = results.card
    return TEMPLATES.get_template("index.html.j2").render(
        message=provenance["message"],
        seed=results.setting("seed"),
        made_by=made_by,
        departures=departures,
        banner=list(_incomparable(provenance, results)),
        coverage=results.table("coverage_counts").iloc[-1].to_dict(),
        card=card,
        n_checks=len(results.checks),
        counts=results.counts(),
        entries=[_judged(entry, provenance, results) for entry in entries],
        differing=card[card["verdict"] == DIFFERS].to_dict("records"),
        undecided=card[card["verdict"] == UNDECIDED].to_dict("records"),
        numbers=list(_key_numbers(results)),
        papers=PAPERS,
        pages=pages,
        made={"figures": find_files("figures", list_outputs("figures", claims, entries), files)},
    )


def render_paper(
    paper: str,
    results: Results,
    claims: Sequence[Claim],
    entries: Sequence[Mapping],
    files: Iterable,
    pages: Mapping[str, str],
    descriptions: Descriptions,
) -> str:
    """Render the page of a paper as HTML. The page `OURS` has the results that no paper has.

    The other arguments are those of `render_front_page`.
    """
    files = list(files)
    made = {
        kind: find_files(kind, list_outputs(kind, claims, entries), files)
        for kind in ("tables", "figures")
    }
    provenance = read_json(results.folder / "data/provenance.json")
    checks = results.checks
    own = [entry for entry in entries if entry["paper"] == paper]
    figures = {name for entry in own for name in entry["figures"]}
    return TEMPLATES.get_template("paper.html.j2").render(
        title=f"{paper}: {PAPERS[paper]}" if paper in PAPERS else "Results that no paper has",
        entries=[_judged(entry, provenance, results) for entry in own],
        groups=dict(results.by_paper()).get(paper, []),
        checks=checks[checks["paper"] == paper].to_dict("records"),
        rows={row["claim"]: row for row in _rows(results)},
        claims={claim.name: claim for claim in claims},
        pages=pages,
        made=made,
        sentences={name: descriptions.find("figures", name)[2].gallery for name in figures},
    )


def _rows(results: Results) -> list[dict]:
    return [*results.card.to_dict("records"), *results.checks.to_dict("records")]


def _judged(entry: Mapping, provenance: Mapping, results: Results) -> dict:
    """Add the worst verdict on an entry's claims, and a note if the run's data are not the paper's.

    The key `reproduced` has the number of its claims with the verdict reproduced, and `who` says
    who is right in claims that differ.
    """
    words = {
        "vintage": lambda: note_vintage(provenance.get("vintage", "")),
        "states": lambda: note_states(results.value("states", "rule")),
    }
    notes = [text for key in entry.get("data", []) if (text := words[key]())]
    rows = [row for row in _rows(results) if row["claim"] in entry["claims"]]
    found = [row["verdict"] for row in rows]
    return {
        **entry,
        "notes": "; ".join(notes),
        "verdict": min(found, key=WORST_FIRST.index, default=""),
        "reproduced": found.count(REPRODUCED),
        "who": ", ".join(dict.fromkeys(filter(None, (row["who_is_right"] for row in rows)))),
    }


def _incomparable(provenance: Mapping, results: Results) -> Iterable[str]:
    """Yield sentences on the data that this run lacks and on the claims that need them."""
    needing = results.card["note"].str.contains("needs the demonstration data").sum()
    vintage = provenance.get("vintage", "")
    claims = f"{needing} claim{'s' if needing > 1 else ''} cannot be compared."
    if not vintage:
        yield f"This run has no demonstration data (NHGIS): {claims}"
    elif vintage != PAPER_VINTAGE:
        yield (
            f"The errors of the Census DAS in this run are those of vintage {vintage}, and the "
            f"papers' are those of vintage {PAPER_VINTAGE}: {claims}"
        )
    if results.value("states", "rule") != PAPER_RULE:
        yield "The states are not chosen by the papers' rule, which needs that vintage."


def _key_numbers(results: Results) -> Iterable[dict[str, str]]:
    """Yield the key numbers of this run in words, with their tables."""
    for words, table, describe in (
        (
            "Largest split R-hat of a county's noise (1 means that the chains agree)",
            "counties_rhat",
            lambda rows: f"{rows['rhat'].max():.4f} ({len(rows):,} counties)",
        ),
        (
            "Iterations until the coupling bound is below 0.01: the paper's chain, l1 norm",
            "lattice_convergence",
            lambda rows: _iterations(rows, "paper"),
        ),
        (
            "The same for our chain with jumps in a reduced basis",
            "lattice_convergence",
            lambda rows: _iterations(rows, "reduced"),
        ),
        (
            "Largest distance of the exact samplers from their target (total variation, a bound)",
            "exact_agreement",
            lambda rows: f"{rows['exact_error'].max():.0e}",
        ),
        (
            "Errors at rho = 1 per person under state totals (persons; errors fall as 1/sqrt(rho))",
            "nested_errors",
            _list_errors_at_rho_1,
        ),
        (
            "Stored draws of noise that change a mandated total",
            "draws_verified",
            lambda rows: f"{rows['violations'].sum():,} of {rows['draws'].sum():,}",
        ),
    ):
        try:
            yield {"words": words, "value": describe(results.table(table)), "table": table}
        except NotInThisRunError:
            continue


def _iterations(rows: pd.DataFrame, variant: str) -> str:
    chosen = rows[(rows["variant"] == variant) & (rows["law"] == "l1")]
    names = {"intersecting": "14 records", "contingency": "4 x 4 table"}
    found = chosen[chosen["experiment"].isin(list(names))]
    return ", ".join(
        f"{row.iterations_to_bound_0_01:,.0f} ({names[row.experiment]})"
        for row in found.itertuples()
    )


def _list_errors_at_rho_1(rows: pd.DataFrame) -> str:
    """List the errors of noise in closed form, rescaled to the budget rho = 1."""
    errors, _ = errors_at_rho_1(rows)
    return "; ".join(
        f"in {words}, {', '.join(f'{n:.3g} ({system})' for system, n in errors[query].items())}"
        for query, words in (
            ("county cell", "a cell"),
            ("county total", "a county's population"),
        )
    )
