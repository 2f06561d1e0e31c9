"""Read titles, captions and columns of all tables and figures from the files descriptions.yaml.

Each study has one file. An entry named `counties_{state}` describes every table or figure whose
name matches this pattern. An entry without wildcards takes precedence over patterns. If several
patterns match, the first takes precedence. In the title and the caption, `{state}` is
replaced by that part of the name.

Captions are Jinja templates in reStructuredText. Snakemake renders them for the report and provides
`snakemake.config`, `snakemake.params` and `snakemake.wildcards`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import pydantic

from isdp.errors import InputError
from reproduction.jobs.yaml_files import read_yaml

FILE = "descriptions.yaml"
OTHER_COLUMNS = "*"  # the entry for all columns without an entry of their own
WILDCARD = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


class Table(_Model):
    """Description of the table `results/tables/NAME.csv`.

    `section` is the subcategory of the table in the report. If `in_report` is false, the report
    gives only the name of the file. `columns` gives the meaning and the unit of each column, except
    of the columns that `Study.columns` describes.
    """

    title: str
    caption: str = ""
    section: str | None = None
    in_report: bool = True
    columns: dict[str, str] = {}


class Figure(Table):
    """Description of the figure `results/figures/NAME.svg` and of its data, NAME.csv.

    `gallery` is one sentence that says what the figure shows, for the pages of the papers.
    """

    gallery: str = ""


class PaperFigure(_Model):
    """Figure or table of a paper and our version of it, for the front page.

    `label` is the paper's label, `about` its subject in a few words, and `description` its content.
    `ours` describes our version and its differences. `finding` is one sentence on a result that no
    paper has, for the front page. `data` lists the data of a run that may differ
    from the paper's, and the title then states the difference. In `figures`, `{state}` is replaced
    by each state.
    """

    name: Annotated[str, pydantic.Field(pattern="^[a-z0-9-]+$")]
    paper: Literal["ISDP", "SDP", "CDP", "TDA", "SWAP", "ours"]
    label: str
    about: str
    description: str
    ours: str
    finding: str = ""
    data: list[Literal["vintage", "states"]] = []
    figures: list[str]
    tables: list[str]
    claims: list[str]


class Study(_Model):
    """Descriptions of all tables and figures of a study, which form one category of the report.

    `settings` is the last paragraph of every caption. `columns` describes the columns that several
    tables share.
    """

    category: str
    settings: str = ""
    columns: dict[str, str] = {}
    tables: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    paper_figures: list[PaperFigure] = []


class Descriptions:
    """Descriptions of the tables and figures of all studies."""

    def __init__(self, studies: Mapping[str, Study]):
        self.studies = dict(studies)
        self._studies: dict[tuple[str, str], str] = {}
        for study, kind, name, _ in self.entries():
            if (kind, name) in self._studies:
                raise InputError(f"{FILE}: {kind}: {name} is described twice. Remove one entry.")
            self._studies[kind, name] = study

    def entries(self) -> Iterator[tuple[str, str, str, Table]]:
        """Yield the study, kind ("tables" or "figures"), name and description of each output."""
        for key, study in self.studies.items():
            for kind, entries in (("tables", study.tables), ("figures", study.figures)):
                for name, entry in entries.items():
                    yield key, kind, name, entry

    def find(self, kind: str, name: str) -> tuple[str, Study, Table]:
        """Find the entry of a table or figure. Return the entry's name, its study, and the entry.

        `name` is the name of the file without its extension. It may contain wildcards in braces.
        Raises InputError if no entry matches.
        """
        fitting = (
            pattern
            for own, pattern in self._studies
            if own == kind and _wildcards(pattern, name) is not None
        )
        pattern = name if (kind, name) in self._studies else next(fitting, None)
        if pattern is None:
            raise InputError(f"{FILE}: {kind}: {name} has no description. Add one in its study.")
        study = self.studies[self._studies[kind, pattern]]
        return pattern, study, getattr(study, kind)[pattern]

    def study_of(self, kind: str, name: str) -> str:
        """Return the study that makes a table or figure."""
        return self._studies[kind, self.find(kind, name)[0]]

    def columns_of(self, kind: str, name: str, columns: Iterable[str]) -> dict[str, str]:
        """Return the meaning of each column of a table, or of a figure's data.

        Raises InputError if a column has no description.
        """
        pattern, study, entry = self.find(kind, name)
        known = study.columns | entry.columns
        found = {column: known.get(column, known.get(OTHER_COLUMNS)) for column in columns}
        for column, meaning in found.items():
            if meaning is None:
                raise InputError(
                    f"{FILE}: {kind}: {pattern}: column {column} has no description. Add one."
                )
        return found

    def title_of(self, kind: str, name: str) -> str:
        """Return the title of a table or figure. Wildcards in `name` remain in the title."""
        pattern, _, entry = self.find(kind, name)
        return _filled(entry.title, _wildcards(pattern, name))

    def caption_of(self, kind: str, name: str) -> str:
        """Return a caption as a Jinja template in reStructuredText.

        Wildcards in `name` become references to the Snakemake wildcards of the job.
        """
        pattern, study, entry = self.find(kind, name)
        values = {
            wildcard: f"{{{{ snakemake.wildcards.{wildcard} }}}}" if value[0] == "{" else value
            for wildcard, value in _wildcards(pattern, name).items()
        }
        parts = [f"**{entry.title}.**", entry.caption.strip(), study.settings.strip()]
        return _filled("\n\n".join(filter(None, parts)) + "\n", values)

    def dictionary(self, files: Iterable[Path]) -> pd.DataFrame:
        """Return the data dictionary of CSV files: study, file, column and meaning.

        Files that differ only in wildcards, such as one file per state, are listed once.
        """
        rows = []
        for file in files:
            kind, columns = file.parent.name, pd.read_csv(file, nrows=0).columns
            study, name = self.study_of(kind, file.stem), self.find(kind, file.stem)[0]
            described = self.columns_of(kind, file.stem, columns)
            rows += [(study, f"{kind}/{name}.csv", *each) for each in described.items()]
        table = pd.DataFrame(rows, columns=["study", "file", "column", "meaning"])
        table = table.drop_duplicates(["file", "column"])
        return table.sort_values(["study", "file"], kind="stable", ignore_index=True)

    def figures(self) -> pd.DataFrame:
        """List the name, title and study of each figure."""
        found = [entry for entry in self.entries() if entry[1] == "figures"]
        rows = [(name, each.title, study) for study, _, name, each in found]
        return pd.DataFrame(rows, columns=["figure", "title", "study"])


def read_descriptions(paths: Iterable) -> Descriptions:
    """Read the descriptions of several studies from their files STUDY/descriptions.yaml.

    Raises InputError if an entry is not valid. The message names the file and the entry.
    """
    studies = {}
    for path in map(Path, paths):
        try:
            studies[path.parent.name] = Study.model_validate(read_yaml(path))
        except pydantic.ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"]))
            raise InputError(f"{path}: {where}: {problem['msg']}") from None
    return Descriptions(studies)


def _wildcards(pattern: str, name: str) -> dict[str, str] | None:
    """Return the value of each wildcard of a pattern in a name, or None if they do not match."""
    parts = WILDCARD.split(pattern)
    regex = "".join(
        f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )
    found = re.fullmatch(regex, name)
    return found.groupdict() if found else None


def _filled(text: str, values: Mapping[str, str]) -> str:
    return WILDCARD.sub(lambda found: values.get(found[1], found[0]), text)


def caption_file(name: str) -> str:
    """Return the name of the file with the caption of a table or figure."""
    return re.sub(r"[{}]", "", name) + ".rst"
