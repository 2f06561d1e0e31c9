"""The files about the project agree with CITATION.cff and pyproject.toml."""

import json
import re
import shutil
import tomllib

import pytest

import isdp
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.yaml_files import read_yaml
from reproduction.publication.metadata import format_metadata, list_addresses
from reproduction.review.claims import PAPERS
from tests import ROOT

ADDRESS = "https://code.example.org/isdp"


@pytest.fixture
def with_address(tmp_path):
    """A checkout whose maintainers have filled in the address."""
    shutil.copytree(ROOT / "src/reproduction", tmp_path / "src/reproduction")
    citation = (ROOT / "CITATION.cff").read_text()
    (tmp_path / "CITATION.cff").write_text(citation + f'repository-code: "{ADDRESS}"\n')
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_files_are_those_that_make_metadata_writes():
    assert {name: (ROOT / name).read_text() for name in format_metadata(ROOT)} == (
        format_metadata(ROOT)
    ), "run `make metadata`"


def test_all_papers_are_cited_with_an_address_where_they_have_one():
    addresses = list_addresses(read_yaml(ROOT / "CITATION.cff"))
    # the slides on TopDown have no address
    assert set(addresses) >= {f"Paper {name}" for name in PAPERS if name != "TDA"}
    assert all(len(label) <= 32 for label in addresses)  # the limit of the package index


def test_one_line_gives_every_file_the_address_of_the_repository(with_address):
    texts = format_metadata(with_address)
    assert sorted(name for name, text in texts.items() if ADDRESS in text) == sorted(texts)
    urls = tomllib.loads(texts["pyproject.toml"])["project"]["urls"]
    assert urls["Repository"] == json.loads(texts["codemeta.json"])["codeRepository"] == ADDRESS
    (with_address / "pyproject.toml").write_text(texts["pyproject.toml"])
    assert format_metadata(with_address) == texts  # a second run changes nothing


def test_the_papers_and_keywords_are_the_same_everywhere():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert read_yaml(ROOT / "CITATION.cff")["keywords"] == package["keywords"]
    cited = set(re.findall(r"@(\w+)", (ROOT / "paper/paper.md").read_text()))
    assert cited == set(re.findall(r"^@\w+\{(\w+)", (ROOT / "paper/paper.bib").read_text(), re.M))


def test_what_is_unknown_is_left_out_and_not_filled_with_a_placeholder():
    for name, text in format_metadata(ROOT).items():
        assert not any(word in text for word in ("TO BE FILLED", "FIXME", "TODO")), name


def test_the_version_is_the_packages():
    assert json.loads((ROOT / "codemeta.json").read_text())["version"] == isdp.__version__


def test_the_manifest_lists_each_figure_and_table_of_the_paper_by_outputs_of_the_workflow():
    text = (ROOT / "codecheck.yml").read_text()
    check = read_yaml(ROOT / "codecheck.yml")
    assert text.startswith("---\n")  # CODECHECK's rule CC-CFG-002
    assert len(check["paper"]["authors"]) == 4
    described = read_descriptions(sorted(ROOT.glob("src/reproduction/*/descriptions.yaml")))
    for entry in check["manifest"]:
        _, kind, name = entry["file"].split("/")
        described.find(kind, name.partition(".")[0])  # refuses an unknown output
    labels = {entry["comment"].split(":")[0] for entry in check["manifest"]}
    assert labels == {*(f"Figure {n}" for n in range(1, 9)), "Figures 9 and 10"} | {
        f"Table {n}" for n in (1, 2, 3)
    }
