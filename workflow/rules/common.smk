"""The checked config, and the functions that the stages share."""

import copy
import csv
import os
import re
import sys
from pathlib import Path

BASE = Path(workflow.basedir)
# resolved, so that copies of the checkout that share the packages share compiled code too
SOURCES = (BASE / "src").resolve()
sys.path.insert(0, str(SOURCES))

from reproduction.running.compiled import cache_folder
from reproduction.running.config import (
    ConfigError,
    check_config,
    leave_out_nulls,
    local_file,
    read_schema,
)
from reproduction.running.ending import read_if_there
from reproduction.running.library import digest_of, library_of
from reproduction.running.locks import clear_stale_locks
from reproduction.running.origin import made_by

# as it was given: nulls stay, and words for captions join the config below
GIVEN = copy.deepcopy(config)
leave_out_nulls(config)
try:
    check_config(config, BASE)
except ConfigError as error:
    sys.exit(f"error: {error}")
SETTINGS = {key: GIVEN[key] for key in read_schema(BASE)["required"]}
# inputs are named as this folder sees them, so that a checkout that was moved reruns nothing
HERE = Path() if Path().samefile(BASE) else BASE
CAPTIONS = {path.stem: str(path) for path in sorted((BASE / "workflow/report").glob("*/*.rst"))}
ENVIRONMENT = "../../environment.yml"  # as a rules file sees it
# What a wing's rules file adds: files to make that no claim and no entry of the front page names,
# files of draws whose invariants are checked, and rules whose jobs are worth sending to a cluster
# (docs/cluster.md). Each file is a path, or a function of wildcards.
GOALS, DRAWS, SENT = [], [], set()


wildcard_constraints:
    state="[A-Z]{2}",


# -- inputs ---------------------------------------------------------------------------------------


def library(script):
    """Tell the modules of both packages that a script depends on: an edit of one reruns its jobs.

    A parameter and no input: fifty files a job, looked at whenever one ends, took half of Snakemake's
    own time.
    """
    return digest_of(library_of(BASE / f"workflow/scripts/{script}.py", SOURCES), SOURCES)


def any_of(names):
    """What a wildcard may be."""
    return "|".join(map(re.escape, names)) or "there-is-none"


def later(rule, output):
    """An input made by a rule further down, whose outputs are not known before."""

    def paths(wildcards=None):
        pattern = str(getattr(getattr(rules, rule).output, output))
        return pattern if wildcards is None else expand(pattern, **wildcards)[0]

    return paths


def for_each(source, **values):
    """An input for each of some values: an output pattern, or one from `later`.

    A value may be a list, or a function of wildcards that gives one. Other wildcards are the job's.
    """

    def paths(wildcards):
        pattern = source() if callable(source) else str(source)
        given = {
            name: value(wildcards) if callable(value) else value for name, value in values.items()
        }
        found = expand(pattern, **{**wildcards, **given})
        return (
            found if any(isinstance(value, (list, dict)) for value in given.values()) else found[0]
        )

    return paths


def gathered(sources):
    """All that a list of patterns and functions of wildcards comes to."""

    def paths(wildcards):
        found = []
        for source in sources:
            files = source(wildcards) if callable(source) else source
            found += [str(files)] if isinstance(files, str) else files
        return found

    return paths


def selected_states(wildcards=None):
    with open(checkpoints.select_states.get().output.states) as file:
        return [row["state"] for row in csv.DictReader(file)]


# -- outputs --------------------------------------------------------------------------------------


def logs(job):
    return f"results/logs/{job}.log"


def benchmarks(job):
    return f"results/benchmarks/{job}.tsv"


def table_outputs(
    name, what, category, key="", caption=None, folder="results/tables", left_out=False, **where
):
    """A table's files, of which the report shows the page.

    `key` distinguishes the tables of one job that makes several: its csv is output.KEYcsv.
    Where it is `left_out` of the report, the report says where it is.
    """
    files = {f"{key}{kind}": f"{folder}/{name}.{kind}" for kind in ("csv", "md", "html")}
    if left_out:
        note_left_out(files[f"{key}html"], what)
        return files
    place = {"caption": CAPTIONS[caption or name], "category": category, **where}
    return files | {f"{key}html": report(files[f"{key}html"], labels=label(what, "table"), **place)}


def label(what, kind):
    """One label: of a second with two values the report makes a switch, and fails where one lacks."""
    return {"what": f"{what} ({kind})"}


def note_left_out(path, what):
    config["words"]["left_out"] += f"\n* ``{path}``: {what}"


def figure_outputs(name, what, category, key="", caption=None, left_out=False, **where):
    """A figure's pictures, of which the report shows the SVG.

    `key` distinguishes the figures of one job that makes several: its SVG is output.KEYsvg.
    Where it is `left_out` of the report, the report says where it is.
    """
    files = {f"{key}{kind}": f"results/figures/{name}.{kind}" for kind in ("svg", "png")}
    if left_out:
        note_left_out(files[f"{key}svg"], what)
        return files
    place = {"caption": CAPTIONS[caption or name], "category": category, **where}
    return files | {f"{key}svg": report(files[f"{key}svg"], labels=label(what, "figure"), **place)}


# -- running --------------------------------------------------------------------------------------


# For the captions, which are rendered when the report is built and see nothing but the config.
# No job's params read these keys.
config["provenance"] = read_if_there("results/data/provenance.json")
config["words"] = {
    "data": f"Data: {config['provenance'].get('message', '')}",
    "made_by": "",
    "left_out": "",
}
# scripts find the packages in this checkout, installed or not, and code compiled from them as they are
os.environ.update(
    PYTHONPATH=os.pathsep.join([str(SOURCES), os.getenv("PYTHONPATH", "")]),
    NUMBA_CACHE_DIR=str(cache_folder(SOURCES)),
)
# containers set it, and each job would compile both packages anew
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if workflow.is_main_process:
    if Path("results/config.yaml").is_file():
        config["words"]["made_by"] = made_by(BASE, "results/config.yaml")
    running = clear_stale_locks(Path(".snakemake"))
