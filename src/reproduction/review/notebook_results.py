"""Results of a run and its claims, and functions that show them in review notebooks.

No function of this module computes a result. The notebooks read every number from the results
folder.
"""

import base64
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path

import pandas as pd
from IPython.display import HTML, Markdown, display

from isdp.errors import InputError
from isdp.io.files import read_json
from reproduction.jobs.descriptions import FILE as DESCRIPTIONS
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.tables import read_csv, read_text
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.pages import MARKS, PARTS
from reproduction.review.shown import SHOWN_FILE as SHOWN
from reproduction.review.shown import read_shown
from reproduction.review.tables import convert_to_html, format_cell

FOLDER_VARIABLE = "ISDP_RESULTS"  # environment variable with the results folder
COMMAND = "snakemake --cores all"
CHECKS = "tables/transcription_checks.csv"
MAX_OPEN_ROWS = 10  # a longer table is folded, so that a page stays short


class ReviewError(InputError):
    """Error for results that cannot be reviewed. Notebooks show it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"error: {self}"]


class NotInThisRunError(ReviewError):
    """Error for a table, row or figure that a run with these settings does not make."""


def open_results(folder=None) -> "Results":
    """Open the results folder of a finished run.

    The default folder is the environment variable ISDP_RESULTS, or else `results` in the working
    directory or one of its parents. Raises ReviewError if the run has not finished.
    """
    here = Path.cwd()
    above = (each / "results" for each in (here, *here.parents) if (each / "results").is_dir())
    folder = folder or os.getenv(FOLDER_VARIABLE) or next(above, None)
    if folder is None:
        raise ReviewError(
            f"results: no such folder in the working directory or its parents. Run "
            f"`{COMMAND}` first."
        )
    return Results(Path(folder))


def say(text: str) -> None:
    """Show a paragraph of Markdown."""
    display(Markdown(text))


def show_rows(table: pd.DataFrame, group: str | None = None, fold: str = "") -> None:
    """Show a table. With `group`, the rows of each group follow a line with its name.

    With `fold`, only this title is shown until the reader opens the table.
    """
    if group is None:
        html = convert_to_html(table)
    else:
        shown = table.drop(columns=group).map(format_cell)
        groups = [(name, rows.to_numpy()) for name, rows in shown.groupby(table[group], sort=False)]
        html = PARTS.grouped(list(shown.columns), groups)
    _html(PARTS.folded(f"{fold} ({len(table)} rows)", html) if fold else html)


def list_pages() -> None:
    """List the other notebooks of the working folder with their titles and papers."""
    lines = ["| page | papers |", "|---|---|"]
    for path in sorted(Path.cwd().glob("[0-9]*.ipynb")):
        about = read_json(path)["metadata"]
        if not path.stem.startswith("00"):
            lines.append(f"| [{about['title']}]({path.name}) | {about.get('papers', '')} |")
    say("\n".join(lines))


class Results:
    """Results folder: its config, tables, figures and verdicts."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("config.yaml", SHOWN, "tables/scorecard.csv", CHECKS):
            if not (folder / name).is_file():
                raise ReviewError(f"no {folder.name}/{name}: run `{COMMAND}` first")
        self.config = read_yaml(folder / "config.yaml")
        self.shown = read_shown(folder)
        self.card = read_text(folder / "tables/scorecard.csv")
        self.checks = read_text(folder / CHECKS)
        studies = Path(__file__).parents[1]
        self.descriptions = read_descriptions(sorted(studies.glob(f"*/{DESCRIPTIONS}")))

    def setting(self, key: str):
        """Return the value of a dotted key in the config that made the results."""
        value = self.config
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                raise NotInThisRunError(f"this run has no setting {key}")
            value = value[part]
        return value

    def departures(self, usual: Mapping) -> list[str]:
        """List the dotted keys whose values differ from the usual config."""
        have, want = dict(_flat(self.config)), dict(_flat(usual))
        return [key for key in want | have if have.get(key) != want.get(key)]

    def settings(self, *keys: str) -> None:
        """Show the seed, the named settings and the data of this run."""
        shown = []
        for key in ("seed", *keys):
            value = "not in this run"
            with suppress(NotInThisRunError):
                value = _words(self.setting(key))
            shown.append(f"{key} = {value}")
        path = self.folder / "data/provenance.json"
        if path.is_file():
            shown.append(read_json(path)["message"])
        _html(PARTS.folded("Settings and data of this run", "; ".join(map(escape, shown))))

    def table(self, name: str, rows: str | None = None) -> pd.DataFrame:
        """Read a table of this run, or the rows that a pandas query selects.

        Raises NotInThisRunError if the table is missing or no row is selected.
        """
        table = read_csv(self._path("tables", name, "csv"))
        selected = table.query(rows) if rows else table
        if selected.empty:
            raise NotInThisRunError(f"table {name} has no row {rows or ''}".rstrip())
        return selected

    def value(self, name: str, column: str, rows: str | None = None):
        """Return one entry of a table: the column in the first selected row."""
        return self.table(name, rows)[column].iloc[0]

    def show(self, name: str, columns=None, rows: str | None = None, fold=None) -> None:
        """Show a table, or some of its columns and rows, under its title, without repeated rows.

        A mapping of columns renames them. A table is folded if it has more than 10 rows, or as
        `fold` says: the reader sees its title and opens it.
        """
        table = self.table(name, rows)
        shown = table[list(columns)].drop_duplicates() if columns else table
        shown = shown.rename(columns=columns) if isinstance(columns, Mapping) else shown
        fold = len(shown) > MAX_OPEN_ROWS if fold is None else fold
        title = self.descriptions.title_of("tables", name)
        _html(PARTS.table(name, title, convert_to_html(shown), len(shown), fold))

    def figure(self, name: str, words: str, fold: bool = False) -> None:
        """Show a figure of this run with a description. The picture links to its SVG file.

        With `fold`, the reader sees its description and opens it.
        """
        _html(PARTS.figure(name, words, self._picture(name), fold))

    def finding(
        self, title: str, papers: str, text: str, figure: str, page: str, tables: tuple = ()
    ) -> None:
        """Show a finding: its figure, a few sentences, and links to the page and the tables."""
        for name in tables:
            self._path("tables", name, "csv")
        _html(PARTS.finding(title, papers, text, figure, self._picture(figure), page, tables))

    def _picture(self, name: str) -> str:
        self._path("figures", name, "svg")
        return embed_png(self._path("figures", name, "png"))

    def _path(self, folder: str, name: str, ending: str) -> Path:
        """Return the path of a file of this run. Raises NotInThisRunError for other files."""
        path = self.folder / folder / f"{name}.{ending}"
        if f"{folder}/{name}" not in self.shown or not path.is_file():
            raise NotInThisRunError(f"no {folder[:-1]} {name} with these settings")
        return path

    def claim(self, *names: str, fold: bool = False) -> None:
        """Show claims with verdict and place, one line each, which opens to values and criterion.

        A claim that is not reproduced is open, unless `fold` is true.
        """
        both = pd.concat([self.card, self.checks])
        rows = {row["claim"]: row for row in both.to_dict("records")}
        for name in names:
            if name not in rows:
                raise ReviewError(f"the scorecard has no claim {name}. Run `{COMMAND}`.")
        _html(PARTS.scores([rows[name] for name in names], fold))

    def counts(self) -> dict[str, int]:
        """Count the claims with each verdict."""
        return {verdict: int((self.card["verdict"] == verdict).sum()) for verdict in MARKS}

    def claims_of(self, study: str) -> None:
        """Show all claims of a study in a folded list, under the number of each verdict."""
        card = self.card[self.card["wing"] == study]
        if card.empty:
            raise NotInThisRunError(f"no claims on {study}")
        numbers = [(verdict, int((card["verdict"] == verdict).sum())) for verdict in MARKS]
        words = ", ".join(f"{number} {verdict}" for verdict, number in numbers if number)
        title = f"All {len(card)} claims of this study: {words}"
        _html(PARTS.folded(title, PARTS.scores(card.to_dict("records"))))

    def by_experiment(self) -> None:
        """Show the number of claims with each verdict, by paper and experiment."""
        counts = pd.crosstab([self.card["paper"], self.card["experiment"]], self.card["verdict"])
        counts = counts.reindex(columns=list(MARKS), fill_value=0)
        _html(convert_to_html(counts.assign(claims=counts.sum(axis=1)).reset_index()))

    def by_paper(self) -> list[tuple[str, list[tuple[str, list[dict]]]]]:
        """Group the claims by paper and by experiment, in the order of the scorecard."""
        groups: dict[str, dict[str, list[dict]]] = {}
        for (paper, experiment), rows in self.card.groupby(["paper", "experiment"], sort=False):
            groups.setdefault(paper, {})[experiment] = rows.to_dict("records")
        return [(paper, list(experiments.items())) for paper, experiments in groups.items()]

    def picture(self) -> None:
        """Show all verdicts in one picture: one tile per claim, one row per experiment."""
        _html(PARTS.tiles(self.counts(), self.by_paper()))


def embed_png(png: Path) -> str:
    """Return a PNG file as a data URI."""
    return f"data:image/png;base64,{base64.b64encode(png.read_bytes()).decode()}"


def _flat(config, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _words(value) -> str:
    """Format the value of a setting for readers who do not know Python."""
    if value is None:
        return "not given"
    if isinstance(value, Mapping):
        return "{" + "; ".join(f"{key}: {_words(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _html(text: str) -> None:
    display(HTML(str(text)))
