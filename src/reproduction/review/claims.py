"""Claims of the papers, and entries of their figures: one file per study."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from string import Formatter

import jsonschema

from isdp.errors import InputError
from reproduction.jobs.yaml_files import read_yaml

PAPERS = {
    "ISDP": "Integer Subspace Differential Privacy (AAAI 2023)",
    "SDP": "Subspace Differential Privacy (AAAI 2022)",
    "CDP": "Congenial Differential Privacy under Mandated Disclosure (FODS 2020)",
    "TDA": "The TopDown algorithm and invariants (slides)",
    "SWAP": "Can Swapping be Differentially Private? (2023)",
}
OURS = "ours"  # the "paper" of an entry that no paper has


def read_claims(paths: Iterable, schema, notebooks: Iterable = ()) -> list[dict]:
    """Read the claims of all studies, one file each, and check them against their JSON schema.

    The review notebooks, NN_STUDY.ipynb, determine the order of the studies. A claim has the name
    of its study (key `wing`) and its `page`: the notebook that discusses it, or the name of the
    study if there is none. Raises InputError for the first claim and key that is not valid, or a
    repeated claim.
    """
    pages = {path.stem.partition("_")[2]: path.stem for path in map(Path, notebooks)}
    files = sorted(map(Path, paths), key=lambda path: pages.get(path.stem, f"~{path.stem}"))
    claims = _entries(files, schema, "claim")
    return [{"page": pages.get(claim["wing"], claim["wing"]), **claim} for claim in claims]


def read_figures(paths: Iterable, schema, claims: list[Mapping]) -> list[dict]:
    """Read the entries of the papers' figures and tables, in the papers' order.

    The key `wing` of an entry has the name of its study. Raises InputError if an entry does not
    match the schema or names an unknown claim.
    """
    entries = _entries(sorted(map(Path, paths)), schema, "name")
    known = {claim["claim"] for claim in claims}
    for entry in entries:
        for name in entry["claims"]:
            if name not in known:
                where = f"{entry['wing']}.yaml: {entry['name']}"
                raise InputError(f"{where}: claim {name} does not exist; correct the name")
    return sorted(entries, key=_place)


def list_tables(claims: Iterable[Mapping], entries: Iterable[Mapping] = ()) -> list[str]:
    """List the tables of the claims and entries, each once."""
    lists = [*map(list_claim_tables, claims), *(entry["tables"] for entry in entries)]
    return list(dict.fromkeys(chain.from_iterable(lists)))


def list_claim_tables(claim: Mapping) -> list[str]:
    """List the tables of a claim; the table of our value comes first."""
    return list(dict.fromkeys(how["table"] for how in list_measures(claim)))


def list_measures(claim: Mapping) -> list[Mapping]:
    """List the measures of a claim; the measure of our value comes first."""
    return [claim[key] for key in ("ours", "judged", "tells", "needs") if key in claim]


def list_columns(how: Mapping) -> list[str]:
    """List the columns that a measure names outside of its query."""
    keys = ("column", "by", "error", "draws", "formula", "paper_error")
    named = [name for _, name, _, _ in Formatter().parse(how.get("named", "")) if name]
    return [*(how[key] for key in keys if key in how), *how.get("limits", []), *named]


def list_figures(claims: Iterable[Mapping], entries: Iterable[Mapping] = ()) -> list[str]:
    """List the figures of the claims and entries, each once."""
    lists = [*map(list_claim_figures, claims), *(entry["figures"] for entry in entries)]
    return list(dict.fromkeys(chain.from_iterable(lists)))


def list_claim_figures(claim: Mapping) -> list[str]:
    """List the figures that show a claim."""
    named = claim.get("figure", [])
    return [named] if isinstance(named, str) else named


def _entries(paths: Iterable[Path], schema, key: str) -> list[dict]:
    """Read the entries of some files, each with its study; `key` holds the name of an entry."""
    validator = jsonschema.Draft202012Validator(read_yaml(schema))
    entries: list[dict] = []
    for path in paths:
        found = read_yaml(path)
        for problem in validator.iter_errors(found):
            where = ".".join(str(part) for part in problem.absolute_path) or "top level"
            raise InputError(f"{path.name}: {where}: {problem.message}")
        entries += [{"wing": path.stem, **entry} for entry in found]
    for name, number in Counter(entry[key] for entry in entries).items():
        if number > 1:
            raise InputError(f"{key} {name} is repeated; rename one")
    return entries


def _place(entry: Mapping) -> tuple:
    """Return the sort key of an entry: by paper, figures before tables, by number."""
    number = re.search("[0-9]+", entry["label"])
    table = entry["label"].startswith("Table")
    return [*PAPERS, OURS].index(entry["paper"]), table, int(number[0]) if number else 0
