"""A crate describes each of its files, and states nothing that the run does not show."""

import json
import os
import zipfile

import pytest

from isdp.errors import InputError
from reproduction.publication.crate import write_crate
from tests import ROOT

FILES = {
    "index.html": "page",
    "report.html": "report",
    "config.yaml": "seed: 1\n",
    "claims.json": json.dumps({"run": {"version": "0.9", "commit": None}}),
    "shown.txt": "figures/counties_IL\ntables/counties_states\n",
    "figures/counties_IL.svg": "<svg/>",
    "figures/counties_IL.csv": "county\n",
    "figures/counties_IN.svg": "of an earlier run",
    "tables/counties_states.csv": "state\n",
    "benchmarks/first.tsv": "s\th:m:s\n30.0\t0:00:30\n",
    "benchmarks/second.tsv": "s\th:m:s\n5.0\t0:00:05\n",
}
# 1,000 s after the beginning of 2001; the last file of the run is 60 s later
TIMES = dict.fromkeys(FILES, 978_308_200) | {"index.html": 978_308_260}


@pytest.fixture
def results(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (TIMES[name], TIMES[name]))
    return tmp_path / "results"


def read_crate(path):
    with zipfile.ZipFile(path) as crate:
        return json.loads(crate.read("ro-crate-metadata.json")), set(crate.namelist())


def test_each_file_of_the_run_is_described_and_each_described_file_is_there(results):
    write_crate(ROOT, results, results / "crate.zip")
    metadata, names = read_crate(results / "crate.zip")
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    assert len(entities) == len(metadata["@graph"])
    parts = {part["@id"] for part in entities["./"]["hasPart"]}
    folders = {part for part in parts if part.endswith("/")}
    assert parts - folders <= names
    assert all(any(name.startswith(folder) for name in names) for folder in folders)
    made = {name for name in names if name.startswith("results/")}
    assert made == {f"results/{name}" for name in FILES if "benchmarks" not in name} - {
        "results/shown.txt",
        "results/figures/counties_IN.svg",
    }
    assert made <= parts
    assert "county of IL" in entities["results/figures/counties_IL.svg"]["name"]
    assert not any("__pycache__" in name for name in names)


def test_the_run_has_its_times_and_no_invented_person(results):
    write_crate(ROOT, results, results / "crate.zip")
    metadata, _ = read_crate(results / "crate.zip")
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    run = entities["#run"]
    # the longest job ended at 1,000 s and took 30 s
    assert run["startTime"] == "2001-01-01T00:16:10+00:00"
    assert run["endTime"] == "2001-01-01T00:17:40+00:00"
    assert entities["./"]["datePublished"] == "2001-01-01"
    assert "agent" not in run
    assert "commit not known" in run["description"]


def test_references_lead_to_entities_of_the_crate_or_to_addresses(results):
    write_crate(ROOT, results, results / "crate.zip")
    metadata, _ = read_crate(results / "crate.zip")
    known = {entity["@id"] for entity in metadata["@graph"]}

    def references(value):
        if isinstance(value, list):
            return {each for item in value for each in references(item)}
        return {value["@id"]} if isinstance(value, dict) else set()

    used = {each for entity in metadata["@graph"] for each in references(list(entity.values()))}
    assert {name for name in used - known if not name.startswith("https://")} == set()


@pytest.mark.parametrize("missing", ["shown.txt", "report.html", "config.yaml"])
def test_an_unfinished_run_is_refused_with_the_file_that_is_missing(results, missing):
    (results / missing).unlink()
    with pytest.raises(InputError, match=missing):
        write_crate(ROOT, results, results / "crate.zip")
    assert not (results / "crate.zip").exists()
