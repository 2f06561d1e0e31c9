"""The summary of a run: the data, the counts of the scorecard, and the pages to open.

`make` prints it after Snakemake: ``python -m reproduction.running.summary results``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PAGES = {
    "Open first": "index.html",
    "Report": "report.html",
    "Review": "notebooks/00_overview.html",
}


def read_if_there(path) -> dict:
    """Read a JSON file among the results; nothing where it is not made yet."""
    return json.loads(Path(path).read_text()) if Path(path).is_file() else {}


def closing_words(results: Path) -> str:
    """Say what the data are, what the scorecard found, and where to read on.

    Parameters
    ----------
    results : Path
        The results folder; what is not in it is not named.
    """
    words = ["", read_if_there(results / "data/provenance.json").get("message", "")]
    summary = results / "tables/scorecard.txt"
    if summary.is_file():
        words.append(summary.read_text().rstrip())
    words += [
        f"{name}: {(results / page).resolve()}"
        for name, page in PAGES.items()
        if (results / page).is_file()
    ]
    return "\n".join(words)


def pages_to_open(sweep: str) -> str:
    """Name the page to open at the end of a run, and the figure of a sweep, if there are any."""
    named = {
        "Open first": Path("results/index.html"),
        "Sweep": Path(f"results/figures/sweep_{sweep}.svg"),
    }
    return "\n".join(f"{name}: {path.resolve()}" for name, path in named.items() if path.is_file())


if __name__ == "__main__":
    print(closing_words(Path(sys.argv[1])))
