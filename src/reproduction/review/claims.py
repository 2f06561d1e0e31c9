"""Claims of all studies, and entries of the papers' figures and tables."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Literal

import reproduction
from isdp.errors import InputError
from reproduction.jobs.claims import Claim
from reproduction.jobs.descriptions import Descriptions

PAPERS = {
    "ISDP": "Integer Subspace Differential Privacy (AAAI 2023)",
    "SDP": "Subspace Differential Privacy (AAAI 2022)",
    "CDP": "Congenial Differential Privacy under Mandated Disclosure (FODS 2020)",
    "TDA": "The TopDown algorithm and invariants (slides)",
    "SWAP": "Can Swapping be Differentially Private? (2023)",
}
OURS = "ours"  # value of `paper` in an entry without a counterpart in the papers


def list_claims(notebooks: Iterable = ()) -> list[Claim]:
    """List the claims of all modules `*claims.py` of the studies, in the order of each module.

    The review notebooks, NN_STUDY.ipynb, determine the order of the studies. Raises InputError for
    a repeated name.
    """
    pages = find_pages(notebooks)
    folder = Path(reproduction.__path__[0])
    modules = [
        (path.parent.name, path.stem)
        for path in sorted(folder.glob("*/*claims.py"))
        if path.parent.name not in ("jobs", "review")
    ]
    claims = [
        each
        for study, module in sorted(modules, key=lambda pair: pages.get(pair[0], f"~{pair[0]}"))
        for each in vars(import_module(f"reproduction.{study}.{module}")).values()
        if isinstance(each, Claim)
    ]
    _refuse_repeats("claim", [claim.name for claim in claims])
    return claims


def find_pages(notebooks: Iterable) -> dict[str, str]:
    """Map each study to its review notebook, NN_STUDY.ipynb."""
    return {path.stem.partition("_")[2]: path.stem for path in map(Path, notebooks)}


def list_paper_figures(descriptions: Descriptions, claims: Sequence[Claim]) -> list[dict]:
    """List the entries that compare the papers' figures and tables with ours, in the papers' order.

    The key `wing` has the name of the study. Raises InputError for a repeated name or an unknown
    claim.
    """
    entries = [
        {"wing": name, **entry.model_dump()}
        for name, study in descriptions.studies.items()
        for entry in study.paper_figures
    ]
    known = {claim.name for claim in claims}
    for entry in entries:
        for name in entry["claims"]:
            if name not in known:
                where = f"{entry['wing']}/descriptions.yaml: {entry['name']}"
                raise InputError(f"{where}: claim {name} does not exist. Correct the name.")
    _refuse_repeats("figure", [entry["name"] for entry in entries])
    return sorted(entries, key=_place)


def list_outputs(
    kind: Literal["tables", "figures"], claims: Iterable[Claim], entries: Iterable[Mapping] = ()
) -> list[str]:
    """List each table or each figure of the claims and entries once."""
    lists = [*(getattr(claim, kind) for claim in claims), *(entry[kind] for entry in entries)]
    return list(dict.fromkeys(chain.from_iterable(lists)))


def _refuse_repeats(key: str, names: Iterable[str]) -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise InputError(f"{key} {name} is repeated. Rename one.")


def _place(entry: Mapping) -> tuple:
    """Return the sort key of an entry: by paper, figures before tables, by number."""
    number = re.search("[0-9]+", entry["label"])
    table = entry["label"].startswith("Table")
    return [*PAPERS, OURS].index(entry["paper"]), table, int(number[0]) if number else 0
