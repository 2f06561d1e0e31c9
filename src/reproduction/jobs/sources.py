"""Digests of source files, which are parameters of the rules.

A change of a digest reruns the jobs of the rule. Snakemake itself tracks the script of a rule, but
not the modules that the script imports.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SOURCE_FOLDER = Path(__file__).parents[2]
SUFFIXES = (".py", ".yaml", ".csv", ".j2")
# packages of the library that do not affect the results of a computation
EXCLUDED_PACKAGES = ("cli", "commands", "plots")
# modules of the reproduction that all studies use
SHARED_MODULES = (
    *("data", "jobs/draws.py", "jobs/job_log.py"),
    *("jobs/statements.py", "jobs/tables.py"),
)
# packages and modules that all figures and pages use
PRESENTATION_MODULES = (
    "isdp/plots",
    "reproduction/jobs/claims.py",
    "reproduction/jobs/descriptions.py",
    "reproduction/jobs/figures.py",
)
# maps each study to the other studies that it imports; a test compares this with the imports
STUDIES_OF = {
    "nested": ("topdown",),
    "comparison": ("nested", "topdown"),
    "national": ("comparison", "nested", "topdown"),
}
# suffixes of the names of modules that plot, describe and evaluate results
PRESENTATION_SUFFIXES = ("claims", "descriptions", "figures")


def code(*studies: str) -> str:
    """Compute the digest of all code that computes the tables of some studies."""
    return _digest(_computing(studies))


def presentation(*studies: str) -> str:
    """Compute the digest of all code that computes, plots and describes results of some studies."""
    shown = {path for name in PRESENTATION_MODULES for path in _modules(name)}
    return _digest(_computing(studies) | shown | _of(studies))


def _computing(studies: Iterable[str]) -> set[Path]:
    excluded = {path for name in EXCLUDED_PACKAGES for path in _modules(f"isdp/{name}")}
    library = set(_modules("isdp")) - excluded
    shared = {path for name in SHARED_MODULES for path in _modules(f"reproduction/{name}")}
    own = {path for path in _of(studies) if not path.stem.endswith(PRESENTATION_SUFFIXES)}
    return library | shared | own


def _of(studies: Iterable[str]) -> set[Path]:
    names = {name for study in studies for name in (study, *STUDIES_OF.get(study, ()))}
    return {path for name in names for path in _modules(f"reproduction/{name}")}


@cache
def _modules(name: str) -> tuple[Path, ...]:
    place = SOURCE_FOLDER / name
    paths = [place] if place.is_file() else place.rglob("*")
    found = tuple(path for path in paths if path.suffix in SUFFIXES)
    if not found:
        raise ValueError(f"{place}: no source files found. Correct the name of the module.")
    return found


def _digest(paths: Iterable[Path]) -> str:
    lines = [f"{path.relative_to(SOURCE_FOLDER)} {_content(path)}\n" for path in sorted(paths)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


@cache
def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
