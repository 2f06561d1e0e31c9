"""Print a summary of a run: the data, the counts of the scorecard, and the pages to open.

`make` runs it after Snakemake: ``python -m reproduction.jobs.summary results``.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

FIRST_PAGE = {"Open first": "index.html"}
PAGES = FIRST_PAGE | {"Report": "report.html", "Review": "notebooks/00_overview.html"}


def read_optional_json(path) -> dict:
    """Read a JSON file of the results, or return an empty dict if it does not exist yet."""
    return json.loads(Path(path).read_text()) if Path(path).is_file() else {}


def summarise_run(results: Path) -> str:
    """Return the origin of the data, the counts of the scorecard, and the pages that exist."""
    words = ["", read_optional_json(results / "data/provenance.json").get("message", "")]
    summary = results / "tables/scorecard.txt"
    if summary.is_file():
        words.append(summary.read_text().rstrip())
    return "\n".join([*words, *_links(results, PAGES)])


def list_pages_to_open(sweep: str) -> str:
    """List the page to open at the end of a run and the figure of its sweep, if they exist."""
    return "\n".join(_links(Path("results"), FIRST_PAGE | {"Sweep": f"figures/sweep_{sweep}.svg"}))


def _links(results: Path, pages: Mapping[str, str]) -> list[str]:
    paths = {name: (results / page).resolve() for name, page in pages.items()}
    return [f"{name}: {path}" for name, path in paths.items() if path.is_file()]


if __name__ == "__main__":
    print(summarise_run(Path(sys.argv[1])))
