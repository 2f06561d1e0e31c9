"""What the reviewing notebooks need: the results of a run, its claims, and how to show them.

Nothing here computes a result. A notebook that shows a number has read it from the results folder.
"""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
from IPython.display import HTML, Markdown, display

from isdp.errors import InputError
from isdp.io.files import read_json
from reproduction.review.scorecard import DIFFERS, NOT_CHECKABLE, REPRODUCED, UNDECIDED, sentence
from reproduction.review.shown import FILE as SHOWN
from reproduction.review.shown import read_shown
from reproduction.running.tables import read_csv
from reproduction.running.yaml_files import read_yaml

FOLDER = "ISDP_RESULTS"  # environment variable: where the results are
EXPECTED = "ISDP_EXPECTED_CONFIG"  # environment variable: a config that they must agree with
COMMAND = "snakemake --cores all"
MARKS = {REPRODUCED: "✓", DIFFERS: "≠", UNDECIDED: "~", NOT_CHECKABLE: "?"}
COLOURS = {
    REPRODUCED: "#1b7837",
    DIFFERS: "#b2182b",
    UNDECIDED: "#8a5a00",
    NOT_CHECKABLE: "#6b6b6b",
}


class ReviewError(InputError):
    """The results cannot be reviewed; a notebook shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"error: {self}"]


class NotInThisRunError(ReviewError):
    """A table, row or figure that a run with other settings does not make."""


def open_results(folder=None, expect=None) -> Results:
    """Open the results folder of a finished run.

    Parameters
    ----------
    folder : path, optional
        By default the environment variable ISDP_RESULTS, or the folder `results` beside the
        working directory or beside one of its parents.
    expect : path, optional
        A config whose keys must all agree with the config that made the results; by default
        the environment variable ISDP_EXPECTED_CONFIG, and without it nothing is compared.

    Raises
    ------
    ReviewError
        If the run has not finished, or was made with another config.
    """
    results = Results(Path(folder or os.getenv(FOLDER) or _find()))
    expect = expect or os.getenv(EXPECTED)
    if expect:
        _check(results.config, read_yaml(expect), Path(expect).name)
    return results


def say(text: str) -> None:
    """Show a paragraph of Markdown."""
    display(Markdown(text))


def show_rows(table: pd.DataFrame, group: str | None = None) -> None:
    """Show rows made on a page, those of a group under its name, from the column of that name."""
    if group is None:
        _html(_table(table))
        return
    shown = table.drop(columns=group)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in shown.columns)
    body = []
    for name, rows in shown.groupby(table[group], sort=False):
        body.append(f'<tr><th colspan="{len(shown.columns)}">{html.escape(name)}</th></tr>')
        for row in rows.to_numpy():
            cells = "".join(f"<td>{html.escape(_shown(value))}</td>" for value in row)
            body.append(f"<tr>{cells}</tr>")
    _html(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")


def list_pages() -> None:
    """Show the other pages, and of which papers they are: the notebooks of the working folder."""
    lines = ["| page | papers |", "|---|---|"]
    for path in sorted(Path.cwd().glob("[0-9]*.ipynb")):
        about = read_json(path)["metadata"]
        if not path.stem.startswith("00"):
            lines.append(f"| [{about['title']}]({path.name}) | {about.get('papers', '')} |")
    say("\n".join(lines))


class Results:
    """A results folder: its config, tables, figures and verdicts.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("config.yaml", SHOWN, "tables/scorecard.csv"):
            if not (folder / name).is_file():
                raise ReviewError(f"no {folder.name}/{name}: run `{COMMAND}` first")
        self.config = read_yaml(folder / "config.yaml")
        self.shown = read_shown(folder)
        # every value as it was written
        self.card = pd.read_csv(folder / "tables/scorecard.csv", dtype=str, keep_default_na=False)

    def setting(self, key: str):
        """Value of a setting, by its dotted key, in the config that made the results."""
        value = self.config
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                raise NotInThisRunError(f"this run has no setting {key}")
            value = value[part]
        return value

    def _setting_in_words(self, key: str) -> str:
        try:
            return _words(self.setting(key))
        except NotInThisRunError:
            return "not in this run"

    def departures(self, usual: Mapping) -> list[str]:
        """Dotted keys whose values are not those of the usual config."""
        have, want = dict(_flat(self.config)), dict(_flat(usual))
        return [key for key in want if have.get(key) != want[key]] + [
            key for key in have if key not in want and have[key] is not None
        ]

    def settings(self, *keys: str) -> None:
        """Show where the results come from: the seed, the settings named, the data."""
        shown = [f"{key} = {self._setting_in_words(key)}" for key in ("seed", *keys)]
        path = self.folder / "data/provenance.json"
        if path.is_file():
            shown.append(read_json(path)["message"])
        _html(
            '<p style="color:#555;font-size:90%;margin:.2em 0">This run (results/config.yaml): '
            + html.escape("; ".join(shown))
            + "</p>"
        )

    def table(self, name: str, rows: str | None = None) -> pd.DataFrame:
        """Read a table of results/tables, or those of its rows that a pandas query selects.

        Raises
        ------
        NotInThisRunError
            If this run does not make the table, or it has no such row.
        """
        table = read_csv(self._path("tables", name, "csv"))
        selected = table.query(rows) if rows else table
        if selected.empty:
            raise NotInThisRunError(f"table {name} has no row {rows or ''}".rstrip())
        return selected

    def value(self, name: str, column: str, rows: str | None = None):
        """Take one entry of a table: the column in the first of the rows selected."""
        return self.table(name, rows)[column].iloc[0]

    def show(self, name: str, columns=None, rows: str | None = None) -> None:
        """Show a table, or some of its columns and rows; what is alike in all of them, once.

        A mapping of columns gives them headings.
        """
        table = self.table(name, rows)
        shown = table[list(columns)].drop_duplicates() if columns else table
        shown = shown.rename(columns=columns) if isinstance(columns, Mapping) else shown
        _html(_table(shown) + _caption(f"table <i>{name}</i>"))

    def figure(self, name: str, words: str) -> None:
        """Show a figure of results/figures, which leads to its SVG, with what it shows in words.

        Raises
        ------
        NotInThisRunError
            If this run does not make the figure.
        """
        path = self._path("figures", name, "png")
        goal = f"../figures/{self._path('figures', name, 'svg').name}"
        _html(
            f'<a class="picture" href="{goal}"><img src="{_address(path)}" '
            f'alt="{html.escape(words)}"></a>'
        )
        _html(_caption(f'{html.escape(words)} (<a href="{goal}"><i>{name}</i></a>)'))

    def finding(
        self, title: str, papers: str, text: str, figure: str, page: str, tables: tuple = ()
    ) -> None:
        """Show a finding: its picture at the side, a few sentences, and what they rest on.

        Parameters
        ----------
        title, papers, text : str
        figure : str
            Its picture leads to itself in full size.
        page : str
            Name of the page that argues it.
        tables : tuple of str
            Names of those that have the numbers that are not in the picture.

        Raises
        ------
        NotInThisRunError
            If this run does not make the figure or a table.
        """
        path = self._path("figures", figure, "png")
        picture, goal = _address(path), self._path("figures", figure, "svg").name
        links = [f'<a href="{page}.html">the argument</a>']
        links.append(f'<a href="../figures/{goal}">the figure in full size</a>')
        for name in tables:
            self._path("tables", name, "csv")
            links.append(f'<a href="../tables/{name}.html">table {name}</a>')
        look = "display:flex;flex-wrap:wrap;gap:.2em 1em;align-items:center;margin:.4em 0"
        _html(
            f'<div style="{look}"><a href="../figures/{goal}" style="flex:1 1 18em;'
            f'min-width:0;max-width:24em"><img src="{picture}" alt="{html.escape(title)}" '
            f'style="width:100%;max-height:16em;object-fit:contain"></a>'
            '<div style="flex:1 1 24em;font-size:95%;line-height:1.4">'
            f'<h3 style="margin:0">{html.escape(title)}</h3>'
            f'<p style="margin:.2em 0;color:#555">{html.escape(papers)}</p>'
            f'<p style="margin:.3em 0">{html.escape(text)}</p>'
            f'<p style="margin:.2em 0;font-size:85%;overflow-wrap:anywhere">{"; ".join(links)}</p>'
            "</div></div>"
        )

    def _path(self, folder: str, name: str, ending: str) -> Path:
        """Path of a file of this run; one that lies about from another config is none."""
        path = self.folder / folder / f"{name}.{ending}"
        if f"{folder}/{name}" not in self.shown or not path.is_file():
            raise NotInThisRunError(f"no {folder[:-1]} {name} with these settings")
        return path

    def claim(self, *names: str) -> None:
        """Show claims with where they stand, the paper's value, this run's, and the verdict.

        Raises
        ------
        ReviewError
            If the scorecard has no such claim.
        """
        for name in names:
            found = self.card[self.card["claim"] == name]
            if found.empty:
                raise ReviewError(f"the scorecard has no claim {name}; run `{COMMAND}`")
            _html(claim_card(found.iloc[0]))

    def verdict(self, name: str) -> str:
        """Verdict on a claim, in a word or two."""
        found = self.card[self.card["claim"] == name]
        if found.empty:
            raise ReviewError(f"the scorecard has no claim {name}; run `{COMMAND}`")
        return found.iloc[0]["verdict"]

    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        return {verdict: int((self.card["verdict"] == verdict).sum()) for verdict in MARKS}

    def claims_of(self, wing: str) -> None:
        """Show all claims of a wing in a table, a line a claim."""
        card = self.card[self.card["wing"] == wing]
        if card.empty:
            raise NotInThisRunError(f"no claims on {wing}")
        _html(_scores(card))

    def by_experiment(self) -> None:
        """Show how many claims of each paper and experiment have each verdict."""
        counts = (
            self.card.groupby(["paper", "experiment"], sort=False)["verdict"]
            .value_counts()
            .unstack(fill_value=0)
            .reindex(columns=list(MARKS), fill_value=0)
        )
        counts["claims"] = counts.sum(axis=1)
        _html(_table(counts.sort_index().reset_index()))

    def picture(self) -> None:
        """Show one picture of all verdicts: a tile a claim, a line an experiment."""
        _html(picture(self.card))


def by_paper(card: pd.DataFrame) -> list[tuple[str, list[tuple[str, pd.DataFrame]]]]:
    """Group a scorecard by paper, and by experiment, in the order in which the claims come."""
    return [
        (paper, list(of_paper.groupby("experiment", sort=False)))
        for paper, of_paper in card.groupby("paper", sort=False)
    ]


def _find() -> Path:
    here = Path.cwd()
    for parent in (here, *here.parents):
        if (parent / "results").is_dir():
            return parent / "results"
    raise ReviewError(f"no folder results here or above: run `{COMMAND}` first")


def _flat(config, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _words(value) -> str:
    """Set a setting's value for a reader, who need not know how Python writes it."""
    if value is None:
        return "not given"
    if isinstance(value, Mapping):
        return "{" + "; ".join(f"{key}: {_words(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _check(config, expected, name: str) -> None:
    have = dict(_flat(config))
    for key, value in _flat(expected):
        if key not in have or have[key] != value:
            found = repr(have[key]) if key in have else "missing"
            raise ReviewError(
                f"results/config.yaml: {key} is {found}, but {value!r} in {name}: the results are "
                f"those of another config; run `{COMMAND}` with the config you mean"
            )


def _address(picture: Path) -> str:
    """Write a picture as an address that holds all of it."""
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"


def _html(text: str) -> None:
    display(HTML(text))


def _caption(text: str) -> str:
    return f'<p style="font-size:90%;color:#444">{text}</p>'


def badge(verdict: str) -> str:
    """Set a verdict as HTML: its mark and its words, in its colour."""
    return (
        f'<b style="color:{COLOURS[verdict]};white-space:nowrap">'
        f"{MARKS[verdict]} {html.escape(verdict)}</b>"
    )


def claim_card(row, links: str = "") -> str:
    """Set a line of the scorecard as HTML, everything that it says in one box.

    Parameters
    ----------
    row : mapping
        A line of the scorecard.
    links : str
        HTML that ends the box.
    """
    text = {key: html.escape(str(value)) for key, value in row.items()}
    note = f'<br><span style="color:#555">{text["note"]}</span>' if text["note"] else ""
    return (
        f'<div style="border-left:4px solid {COLOURS[row["verdict"]]};padding:.3em .8em;'
        'margin:.5em 0;background:#f7f7f7;color:#222;overflow-wrap:anywhere">'
        f"{badge(row['verdict'])} &nbsp; {text['statement']} "
        f'<span style="color:#555">({text["paper"]}, {text["where"]})</span><br>'
        f"<b>{html.escape(sentence(row))}</b> &nbsp; "
        f'<span style="color:#555">{text["claim"]}</span>'
        f'<span style="font-size:90%">{note}</span>{links}</div>'
    )


def _scores(card: pd.DataFrame) -> str:
    lines = []
    for _, row in card.iterrows():
        text = {key: html.escape(str(value)) for key, value in row.items()}
        found = html.escape(sentence(row))
        cells = (text["paper"], text["where"], text["statement"], found, badge(row["verdict"]))
        lines.append("<tr>" + "".join(f"<td>{_td(cell)}</td>" for cell in cells) + "</tr>")
    heads = ("paper", "where", "claim", "in the paper, and here", "verdict")
    head = "".join(f"<th>{_td(name)}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _td(text: str) -> str:
    return f'<div style="text-align:left">{text}</div>'


def _table(table: pd.DataFrame) -> str:
    shown = table.map(_shown).map(html.escape)
    return shown.to_html(index=False, border=0, escape=False, justify="left")


def _shown(value) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def picture(card: pd.DataFrame, linked: bool = False) -> str:
    """Draw all verdicts as SVG: a tile a claim, marked so that the colour is not needed.

    Parameters
    ----------
    card : DataFrame
    linked : bool
        Whether each tile leads to the claim's place on the page, #claim-NAME.
    """
    # narrow enough that the tiles stay large on a phone
    size, line, along = 26, 30, 10
    left = 16 + round(7.6 * max(map(len, card["experiment"]), default=0))
    width, y, parts, x = left + along * size + 8, 6, [], 8
    for verdict, mark in MARKS.items():
        words = f"{verdict}: {int((card['verdict'] == verdict).sum())}"
        needed = 24 + 7 * len(words)
        if x + needed > width:
            x, y = 8, y + 24
        parts.append(
            f'<rect x="{x}" y="{y}" width="18" height="18" rx="3" fill="{COLOURS[verdict]}"/>'
            f'<text x="{x + 9}" y="{y + 14}" fill="#fff" text-anchor="middle">{mark}</text>'
            f'<text x="{x + 24}" y="{y + 14}">{words}</text>'
        )
        x += needed + 20
    y += 38
    for paper, groups in by_paper(card):
        parts.append(f'<text x="8" y="{y + 14}" font-weight="bold">{html.escape(paper)}</text>')
        y += 22
        for experiment, group in groups:
            parts.append(f'<text x="8" y="{y + 17}">{html.escape(experiment)}</text>')
            for place, (_, row) in enumerate(group.iterrows()):
                spot = left + place % along * size, y + place // along * line
                parts.append(_tile(row, *spot, size - 3, linked))
            y += line * -(-len(group) // along)
        y += 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" '
        f'width="{width * 1.25:g}" height="{y * 1.25:g}" role="{"group" if linked else "img"}" '
        'font-family="sans-serif" font-size="13" style="max-width:100%;height:auto" '
        f'aria-label="Verdicts, a tile a claim">{"".join(parts)}</svg>'
    )


def _tile(row, x: int, y: int, size: int, linked: bool) -> str:
    words = html.escape(f"{row['claim']}: {row['statement']} {row['verdict']}")
    drawn = (
        f"<g><title>{words}</title>"
        f'<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="3" '
        f'fill="{COLOURS[row["verdict"]]}"/>'
        f'<text x="{x + size / 2}" y="{y + 17}" fill="#fff" text-anchor="middle">'
        f"{MARKS[row['verdict']]}</text></g>"
    )
    return f'<a href="#claim-{html.escape(row["claim"])}">{drawn}</a>' if linked else drawn
