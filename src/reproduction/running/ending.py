"""What a run says at its end: the data, what the scorecard found, and where to look."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from snakemake.common import NOTHING_TO_BE_DONE_MSG

from reproduction.running.scenarios import unfinished

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


def sweep_words(results: Path, sweep: str, scenarios: Mapping[str, dict]) -> list[str]:
    """Say where the comparison of a sweep is, and which scenarios it is without."""
    if not (results / "sweeps" / sweep).is_dir():
        return []
    missing = unfinished(results / "sweeps" / sweep, scenarios)
    words = []
    if missing:
        done = len(scenarios) - len(missing)
        words = [f"Sweep {sweep}: {done} of {len(scenarios)} scenarios done; not done:"]
        words += [f"  {name}: {reason}" for name, reason in missing.items()]
    figure = results / f"figures/sweep_{sweep}.svg"
    return [*words, f"Sweep: {figure.resolve()}"] if figure.is_file() else words


def when_nothing_is_done(say: Callable[[], None], logger: logging.Logger) -> None:
    """Have something said by a run that finds nothing to do, which Snakemake ends without a word.

    Parameters
    ----------
    say : callable
        Prints the words.
    logger : logging.Logger
        Snakemake's.
    """

    class Ending(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == NOTHING_TO_BE_DONE_MSG:
                say()

    logger.addHandler(Ending(level=logging.INFO))
