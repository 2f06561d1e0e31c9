"""Runs of the real workflow in copies of this checkout, with few and small states."""

import copy
import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT
from tests.reproduction.data.nhgis import write_made_up

NOBODY_THERE = "http://127.0.0.1:9/nhgis_ppdd_20201116_county.zip"  # the discard port: refused
LAW = {"norm": "l1", "epsilon": 1.0, "proposal": {"paper": 0.02, "reduced": 0.5}}
LATTICES = {
    # the paper's table, under one law; its proposal parameters are the project's
    "contingency": {"laws": ["l1"]},
    # a table of one's own: higher-way, and never meets below the tests' cap
    "cube": {
        "axes": {"x": list("abc"), "y": list("pqrs"), "z": list("tuvwz")},
        "held": [["x", "y"], ["x", "z"], ["y", "z"]],
        "laws": {"l2": {**LAW, "norm": "l2"}},
    },
}
RECORDER = ROOT / "tests/workflow/recorder"  # notes what each job of a run is given
collect_ignore = ["toy"]  # the files of a study that a test adds to a run
PATIENCE = 3600  # seconds: ends what hangs; a busy machine takes many times what an idle one does
# the smoke run executes them all; two are enough to see how a page is made
NOTEBOOKS_LEFT_OUT = {
    "01_counties",
    "03_congenial",
    "04_exactness",
    "05_subspace",
    "06_topdown",
    "07_swapping",
    "08_comparison",
    "09_nested",
    "80_findings",
    "90_errata",
}


def merged(config, changes):
    """A config with changes as --configfile merges them."""
    both = copy.deepcopy(config)
    for key, value in changes.items():
        deeper = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if deeper else value
    return both


def smoke():
    """The smoke run's settings, but for the lattice experiments: the tests have their own."""
    settings = read_yaml(ROOT / "config/smoke.yaml")
    del settings["lattices"]["experiments"]
    return settings


SMALL = merged(
    smoke(),
    {
        "data": {"ledger": "data/test_sources.csv"},
        "counties": {
            "states": ["VT", "DC"],
            "draws": 100,
            "burn_in": 100,
            "overdispersed": {"epsilon": 0.05, "sweeps": 50},
            "projection": {"simulations": 40, "checked": 20},
            "truncation": {"epsilons": [0.05, 0.5]},
        },
        "lattices": {
            "coupling": {"runs": 20, "pilot_runs": 10, "cap": 5_000},
            "noise": {"draws": 50},
        },
        "congenial": {
            # a county of one's own, as the smoke run takes the paper's table
            "sex_by_age": {
                "file": "p12.csv",
                "county": "06003",
                "walk": {"draws": 100},
                "independence": {"draws": 100, "thin": 20},
                "trace": {"steps": 500, "chains": 3},
                "acceptance": {"chains": 3, "iterations": 1_000},
                "distances": {
                    "tables": 3,
                    "releases": 20,
                    "walk": {"draws": 50},
                    "unmixed": [100],
                },
            },
            "two_bin": {"draws": 2_000},
        },
        "exactness": {
            "draws": 200,
            "chains": 20,
            "county_chains": 20,
            "points": 4,
            "longest": 1_000,
        },
        # each experiment of these wings runs, on little; their numbers are tested elsewhere
        "subspace": {
            "draws": 100,
            "workloads": {"blocks": None, "threeway": None, "twoway": None},
            "losses": {"cells": [2], "epsilons": [0, 0.5], "draws": 100},
            "equal_privacy": {"counties": 10, "table": [3, 3], "draws": 100, "walk_steps": 40},
            "campus": {"experiments": 2, "exact_experiments": 100, "integer_repetitions": 2},
            "counties": {"slope_runs": 100},
        },
        "topdown": {
            "runs": {"identity 4, negatives allowed": None, "identity 4, four cells": None},
            "integer_noise": {"totals": 2},
            "implied": {
                "states": ["DE"],
                "naive": {"epsilons": [1.0], "draws": 100},
                "failsafe": {"epsilons": [0.01]},
            },
        },
        "swapping": {
            "sizes": [2, 10, 100],
            "drawn": [10, 100],
            "universes": [[2, 2]],
            "tables": [[[3, 3], [3, 3]]],
        },
        "comparison": {"states": ["DE", "VT"], "epsilons": [1], "swapped": ["DE", "VT"]},
    },
)


@cache
def config_of_tests():
    """The project's config with the tests' lattice experiments in place of the project's."""
    config = read_yaml(ROOT / "config/config.yaml")
    project, config["lattices"]["experiments"] = config["lattices"]["experiments"], {}
    for name, entry in LATTICES.items():
        both = project.get(name, {}) | entry
        if isinstance(entry["laws"], list):
            both["laws"] = {law: project[name]["laws"][law] for law in entry["laws"]}
            both["printed"] = {law: both["printed"][law] for law in entry["laws"]}
        config["lattices"]["experiments"][name] = both
    return yaml.safe_dump(config, sort_keys=False)


class Checkout:
    """A copy of the project in a folder of its own, with a config that runs in seconds."""

    def __init__(self, folder: Path):
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        # the packages are the very ones, so that no copy compiles them again
        (folder / "src").symlink_to(ROOT / "src")
        (folder / "profiles").symlink_to("workflow/profiles")
        for name in listed.stdout.splitlines():
            skipped = name.startswith(("tests/", "src/")) or Path(name).stem in NOTEBOOKS_LEFT_OUT
            if not skipped and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        (folder / "config/config.yaml").write_text(config_of_tests())
        self.write_config(SMALL)
        self.write_ledger("20201116", NOBODY_THERE)
        self.write_p12()

    @classmethod
    def at(cls, folder: Path) -> "Checkout":
        """One that is there already."""
        checkout = cls.__new__(cls)
        checkout.folder = folder
        return checkout

    def write_config(self, changes):
        (self.folder / "test.yaml").write_text(yaml.safe_dump(changes))

    def add_demonstration_data(self):
        """Give the run a made-up file of the demonstration data, and keep it in the config."""
        file = write_made_up(self.folder)
        self.write_config(merged(SMALL, {"data": {"file": file.name}}))

    def write_p12(self):
        """Write made-up counts of one county in the layout of Table P12."""
        male, female = np.random.default_rng(1).integers(2, 90, (2, 23)).tolist()
        counts = [sum(male) + sum(female), sum(male), *male, sum(female), *female]
        names = ["gisjoin", "name", *(f"H76{item:03}_sf" for item in range(1, 50))]
        rows = [names, ["G0600030", "Made-up County", *counts]]
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (self.folder / "p12.csv").write_text(text)

    def write_ledger(self, vintage, url):
        header, *_ = (ROOT / "data/sources.csv").read_text().splitlines()
        row = dict.fromkeys(header.split(","), "") | {
            "dataset": "test",
            "vintage": vintage,
            "file": url.rsplit("/", 1)[1],
            "url": url,
            "population_column": "H72001" if vintage >= "20200917" else "H7V001",
            "address_known_from": "test",
        }
        (self.folder / "data/test_sources.csv").write_text(
            header + "\n" + ",".join(row.values()) + "\n"
        )

    def arguments(self, *arguments):
        return ["--configfile", "test.yaml", *arguments]

    def command(self, *arguments):
        return [sys.executable, "-m", "snakemake", *self.arguments(*arguments)]

    def environment(self, **variables):
        kept = {k: v for k, v in os.environ.items() if k != "NHGIS_PPDD_FILE"}
        return kept | {"PYTHONWARNINGS": ""} | variables

    def run(self, *arguments, largest=-1, **variables):
        """Run the command as a shell does.

        With a `largest`, no file may have more bytes.
        """
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
        )

    def tables(self):
        results = self.folder / "results"
        paths = [
            p for kind in ("tables", "figures", "summaries") for p in (results / kind).iterdir()
        ]
        kept = [p for p in paths if p.suffix in {".csv", ".md", ".html", ".txt"}]
        return {str(p.relative_to(results)): p.read_bytes() for p in kept}


def pytest_collection_modifyitems(items):
    """Put a file that needs the shared run first, and the others of the kind last in this folder.

    While one process makes that run the other has work, and does not wait for it.
    """
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    files = list(dict.fromkeys(item.path for item in here))
    waiting = {item.path for item in here if "finished" in item.fixturenames}
    first = next((path for path in files if path in waiting), None)
    here.sort(key=lambda item: (item.path != first, item.path in waiting))
    places = [i for i, item in enumerate(items) if item.path in set(files)]
    for place, item in zip(places, here, strict=True):
        items[place] = item


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A whole run on two cores, with made-up demonstration data; shared, so tests only look at it.

    Where tests run side by side, the first process that needs it makes it for all.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, console = shared / "finished", shared / "finished.json"
    with open(shared / "finished.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not console.exists():
            assert not folder.exists(), "the run failed in another process"
            folder.mkdir()
            (shared / "records").mkdir()
            recorder = {
                "PYTHONPATH": os.pathsep.join([str(RECORDER), os.environ.get("PYTHONPATH", "")]),
                "JOB_RECORDS": str(shared / "records"),
            }
            made = Checkout(folder)
            made.add_demonstration_data()
            done = made.run("--cores", "2", **recorder)
            assert done.returncode == 0, done.stdout + done.stderr
            console.write_text(json.dumps([done.stdout, done.stderr]))
    checkout = Checkout.at(folder)
    checkout.ending, errors = json.loads(console.read_text())
    checkout.console = checkout.ending + errors
    checkout.records = shared / "records"
    return checkout
