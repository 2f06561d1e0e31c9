"""Write the files from which archives and registers read about the project.

`python -m reproduction.publication.metadata FOLDER` writes codemeta.json, .zenodo.json and
codecheck.yml into a checkout, and the table `[project.urls]` of its pyproject.toml. Their content
comes from CITATION.cff, pyproject.toml and the descriptions of the papers' figures.
"""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from isdp import __version__
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.yaml_files import read_yaml

REPRODUCED = "ISDP"  # the paper of codecheck.yml, which describes one paper
EXAMPLE_STATE = "IL"  # the state of the paper's Figure 2, which every run has
URLS = re.compile(r"\[project\.urls\]\n(?:.+\n)*")


def format_metadata(checkout: Path) -> dict[str, str]:
    """Return the text of each metadata file of a checkout, by the name of the file."""
    citation = read_yaml(checkout / "CITATION.cff")
    package = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    about = tomllib.loads(package)["project"]
    urls = "".join(f'"{label}" = "{url}"\n' for label, url in list_addresses(citation).items())
    return {
        "codemeta.json": _json(describe_software(citation, about)),
        ".zenodo.json": _json(describe_deposit(citation)),
        "codecheck.yml": _format_codecheck(describe_check(citation, list_figures(checkout))),
        "pyproject.toml": URLS.sub(lambda _: "[project.urls]\n" + urls, package),
    }


def list_papers(citation: Mapping) -> dict[str, dict]:
    """Map the abbreviation of each paper to its entry in CITATION.cff."""
    return {
        entry["abbreviation"]: entry for entry in citation["references"] if "abbreviation" in entry
    }


def list_addresses(citation: Mapping) -> dict[str, str]:
    """Map the labels of the package's page at the package index to web addresses."""
    found = {}
    if repository := citation.get("repository-code"):
        found = {
            "Repository": repository,
            "Issues": f"{repository}/issues",
            "Documentation": f"{repository}/tree/main/docs",
            "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        }
    papers = list_papers(citation).items()
    return found | {f"Paper {name}": entry["url"] for name, entry in papers if "url" in entry}


def describe_software(citation: Mapping, package: Mapping) -> dict[str, Any]:
    """Describe the software by the terms of CodeMeta 3."""
    found = {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": citation["title"],
        "identifier": package["name"],
        "description": _abstract(citation),
        "version": __version__,
        "dateModified": str(citation["date-released"]),
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "developmentStatus": "active",
        "programmingLanguage": {"type": "ComputerLanguage", "name": "Python"},
        "runtimePlatform": f"Python {package['requires-python']}",
        "operatingSystem": ["Linux", "macOS"],
        "keywords": citation["keywords"],
        "author": [{"type": "Organization", "name": each["name"]} for each in citation["authors"]],
        "referencePublication": [_article(each) for each in list_papers(citation).values()],
    }
    if repository := citation.get("repository-code"):
        found |= {"codeRepository": repository, "issueTracker": f"{repository}/issues"}
    return found


def describe_deposit(citation: Mapping) -> dict[str, Any]:
    """Describe a deposit of a release at Zenodo, which takes the version from the release."""
    papers = list_papers(citation).values()
    related = [
        {"identifier": identifier, "relation": "references", "resource_type": "publication"}
        for entry in papers
        for identifier in [entry.get("doi") or entry.get("url")]
        if identifier
    ]
    if repository := citation.get("repository-code"):
        related.append(
            {"identifier": repository, "relation": "isDerivedFrom", "resource_type": "software"}
        )
    return {
        "upload_type": "software",
        "access_right": "open",
        "title": citation["title"],
        "description": _abstract(citation),
        "license": citation["license"],
        "creators": [{"name": each["name"]} for each in citation["authors"]],
        "keywords": citation["keywords"],
        "related_identifiers": related,
    }


def list_figures(checkout: Path) -> dict[str, str]:
    """Map each output that reproduces a figure or table of ISDP to its meaning.

    An output of each state is listed for Illinois.
    """
    found: dict[str, str] = {}
    studies = read_descriptions(sorted(checkout.glob("src/reproduction/*/descriptions.yaml")))
    entries = [each for study in studies.studies.values() for each in study.paper_figures]
    for entry in sorted(entries, key=lambda entry: entry.label):
        if entry.paper != REPRODUCED:
            continue
        for kind, suffix, names in (
            ("figures", "svg", entry.figures),
            ("tables", "csv", entry.tables),
        ):
            for name in names:
                file = f"results/{kind}/{name.replace('{state}', EXAMPLE_STATE)}.{suffix}"
                found.setdefault(file, f"{entry.label}: {entry.about}")
    return found


def describe_check(citation: Mapping, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Describe the reproduction of ISDP for a codechecker, who completes the file."""
    paper = list_papers(citation)[REPRODUCED]
    found: dict[str, Any] = {
        "version": "https://codecheck.org.uk/spec/config/2.0",
        "paper": {
            "title": paper["title"],
            "authors": [{"name": name} for name in _names(paper)],
            "reference": f"https://doi.org/{paper['doi']}",
            "reference-other": [paper["url"]],
        },
        "manifest": [{"file": file, "comment": about} for file, about in outputs.items()],
    }
    if repository := citation.get("repository-code"):
        found["repository"] = repository
    return found


def _abstract(citation: Mapping) -> str:
    return " ".join(citation["abstract"].split())


def _names(paper: Mapping) -> list[str]:
    return [
        each.get("name") or f"{each['given-names']} {each['family-names']}"
        for each in paper["authors"]
    ]


def _article(paper: Mapping) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "ScholarlyArticle", "name": paper["title"]}
    named = [name for name in _names(paper) if name != "anonymous"]
    if named:
        found["author"] = [{"type": "Person", "name": name} for name in named]
    if "doi" in paper:
        found["id"] = f"https://doi.org/{paper['doi']}"
    return found | ({"url": paper["url"]} if "url" in paper else {})


def _json(content: Mapping) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _format_codecheck(content: Mapping) -> str:
    note = (
        "# Written by `make metadata`. A codechecker adds certificate, report, names and ORCIDs.\n"
    )
    return "---\n" + note + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, text in format_metadata(folder).items():
        (folder / name).write_text(text, encoding="utf-8")
