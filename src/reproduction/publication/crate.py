"""Pack a finished run into a Workflow Run RO-Crate, for a repository of research data.

`python -m reproduction.publication.crate CHECKOUT RESULTS CRATE.zip` writes the crate. It contains
the workflow, the settings, the tables, the figures and the claims of the run, and the file
ro-crate-metadata.json that describes them. The format is the profile "Workflow Run Crate" 0.5
(https://w3id.org/ro/wfrun/workflow/0.5). Unknown facts, such as the name of the person who started
the run, are left out.
"""

import csv
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isdp.errors import InputError
from isdp.io.files import read_json, write_atomically
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.yaml_files import read_yaml
from reproduction.publication.metadata import list_papers
from reproduction.review.shown import SHOWN_FILE

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
WORKFLOW = "workflow/Snakefile"
SETTINGS = "results/config.yaml"
BIOSCHEMAS = "https://bioschemas.org/profiles"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
# the parts of a checkout that a run needs, with their meaning
SOURCES = {
    "Snakefile": "Includes workflow/Snakefile",
    "workflow": "Rules, scripts and profiles of the workflow",
    "src": "Library isdp, and the experiments of the papers",
    "config": "Settings at the scale of the papers",
    "data": "Published counts, and the addresses of downloads",
    "notebooks": "Notebooks of the review",
    "pyproject.toml": "Required packages",
    "requirements.lock": "Versions of all packages",
    "README.md": "Description of the project",
    "LICENSE": "Licence of the software",
    "CITATION.cff": "Citation of the software and of the papers",
}
PAGES = {
    "results/index.html": "Front page, with the verdict on each figure and table of the papers",
    "results/report.html": "Report of Snakemake",
    "results/claims.json": "Claims of the papers with the evidence and the verdicts of this run",
}
SUFFIXES = {"tables": (".csv",), "figures": (".svg", ".csv")}
PLAIN = "text/plain"
TYPES = {
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
}


def write_crate(checkout: Path, results: Path, path: Path) -> None:
    """Write the crate of the run in the folder `results`.

    Raises InputError if the run is not finished.
    """
    outputs = list_outputs(checkout, results)
    metadata = describe_run(checkout, results, outputs)
    with write_atomically(path) as temporary, zipfile.ZipFile(temporary, "w") as crate:
        text = json.dumps(metadata, indent=2, ensure_ascii=False)
        crate.writestr("ro-crate-metadata.json", text)
        for source in SOURCES:
            for file in _files(checkout / source):
                crate.write(file, file.relative_to(checkout), zipfile.ZIP_DEFLATED)
        for name in [SETTINGS, *outputs]:
            crate.write(results / name.removeprefix("results/"), name, zipfile.ZIP_DEFLATED)


def list_outputs(checkout: Path, results: Path) -> dict[str, str]:
    """Map each output of a run to its title, by the path results/..."""
    for name in (SHOWN_FILE, *PAGES, SETTINGS):
        if not (results / name.removeprefix("results/")).is_file():
            raise InputError(f"{results}: {name} is missing. Run `make` until it ends")
    found = dict(PAGES)
    descriptions = read_descriptions(sorted(checkout.glob("src/reproduction/*/descriptions.yaml")))
    for entry in (results / SHOWN_FILE).read_text(encoding="utf-8").split():
        kind, name = entry.split("/")
        for suffix in SUFFIXES[kind]:
            if (results / kind / f"{name}{suffix}").is_file():
                found[f"results/{kind}/{name}{suffix}"] = descriptions.title_of(kind, name)
    return found


def describe_run(checkout: Path, results: Path, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Describe a run and its files as JSON-LD."""
    citation = read_yaml(checkout / "CITATION.cff")
    run = read_json(results / "claims.json")["run"]
    start, end = find_times(results, outputs)
    licence = f"https://spdx.org/licenses/{citation['license']}"
    authors = {f"#author-{n}": each["name"] for n, each in enumerate(citation["authors"], 1)}
    papers = [each["url"] for each in list_papers(citation).values() if "url" in each]
    sources = {
        name if (checkout / name).is_file() else f"{name}/": about
        for name, about in SOURCES.items()
    }
    about_run = f"Version {run['version']}, commit {run['commit'] or 'not known'}"
    graph: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": _refer(
                [
                    "https://w3id.org/ro/crate/1.1",
                    "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
                ]
            ),
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"A run of {citation['title']}",
            "description": " ".join(citation["abstract"].split()),
            "datePublished": end[:10],
            "license": {"@id": licence},
            "keywords": citation["keywords"],
            "author": _refer(authors),
            "conformsTo": _refer(PROFILES),
            "mainEntity": {"@id": WORKFLOW},
            "mentions": _refer(["#run"]),
            "citation": _refer(papers),
            "hasPart": _refer([WORKFLOW, *sources, SETTINGS, *outputs]),
        },
        {"@id": licence, "@type": "CreativeWork", "name": citation["license"]},
        *(_entity(name, "Organization", title) for name, title in authors.items()),
        *(_entity(url, "CreativeWork", name, version=url[-3:]) for url, name in PROFILES.items()),
        *(_entity(url, "ScholarlyArticle", "Paper that is reproduced") for url in papers),
        {
            "@id": SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
            "url": {"@id": "https://snakemake.github.io"},
        },
        {
            "@id": WORKFLOW,
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": citation["title"],
            "programmingLanguage": {"@id": SNAKEMAKE},
            "version": run["version"],
            "encodingFormat": PLAIN,
            "conformsTo": {"@id": f"{BIOSCHEMAS}/ComputationalWorkflow/1.0-RELEASE"},
            "input": _refer(["#settings"]),
            "output": _refer(["#outputs"]),
        },
        _parameter("#settings", "settings", "Settings of all studies"),
        _parameter("#outputs", "outputs", "Tables, figures, pages and claims", multipleValues=True),
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": "Run of the workflow",
            "description": about_run,
            "instrument": {"@id": WORKFLOW},
            "startTime": start,
            "endTime": end,
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "object": _refer([SETTINGS]),
            "result": _refer(outputs),
        },
        *(
            _entity(name, "Dataset", about)
            if name.endswith("/")
            else _entity(name, "File", about, encodingFormat=TYPES.get(Path(name).suffix, PLAIN))
            for name, about in sources.items()
        ),
        _file(SETTINGS, "Settings of this run", "#settings"),
        *(_file(name, about, "#outputs") for name, about in outputs.items()),
    ]
    next(each for each in graph if each["@id"] == "README.md")["about"] = {"@id": "./"}
    if repository := citation.get("repository-code"):
        graph[1]["isBasedOn"] = {"@id": repository}
    return {"@context": CONTEXT, "@graph": graph}


def find_times(results: Path, outputs: Mapping[str, str]) -> tuple[str, str]:
    """Return the start of the first measured job and the time of the last output, in UTC."""
    starts = []
    for path in results.glob("benchmarks/*.tsv"):
        with open(path, encoding="utf-8") as file:
            seconds = [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
        starts.append(path.stat().st_mtime - sum(seconds))
    end = max((results / name.removeprefix("results/")).stat().st_mtime for name in outputs)
    return _format_time(min(starts, default=end)), _format_time(end)


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder without those that Python writes."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return (each for each in files if each.is_file() and "__pycache__" not in each.parts)


def _refer(names: Iterable[str]) -> dict[str, str] | list[dict[str, str]]:
    found = [{"@id": name} for name in names]
    return found if len(found) > 1 else found[0]


def _entity(name: str, kind: str, title: str, **further: Any) -> dict[str, Any]:
    return {"@id": name, "@type": kind, "name": title, **further}


def _file(name: str, title: str, parameter: str) -> dict[str, Any]:
    return _entity(
        name,
        "File",
        title,
        encodingFormat=TYPES[Path(name).suffix],
        exampleOfWork={"@id": parameter},
    )


def _parameter(name: str, title: str, description: str, **further: Any) -> dict[str, Any]:
    return _entity(
        name,
        "FormalParameter",
        title,
        description=description,
        additionalType="File",
        conformsTo={"@id": f"{BIOSCHEMAS}/FormalParameter/1.0-RELEASE"},
        **further,
    )


if __name__ == "__main__":
    try:
        write_crate(*map(Path, sys.argv[1:]))
    except InputError as error:
        sys.exit(f"error: {error}")
