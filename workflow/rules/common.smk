"""The checked config, and the functions that the stages share."""

import copy
import csv
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import yaml

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
from reproduction.running.library import library_of
from reproduction.running.locks import clear_stale_locks
from reproduction.running.scenarios import file_of, scenarios_of, unfinished

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
LATTICES = config["lattices"]
SWEEP = config["sweep"]["name"] if "sweep" in config else ""
SCENARIOS = scenarios_of(config)


wildcard_constraints:
    state="[A-Z]{2}",
    experiment="|".join(LATTICES),
    law="|".join({law: None for entry in LATTICES.values() for law in entry["laws"]}),


# -- inputs ---------------------------------------------------------------------------------------


def library(script):
    """Modules of both packages that a script depends on."""
    return library_of(HERE / f"workflow/scripts/{script}.py", HERE / "src")


def selected_states(wildcards):
    with open(checkpoints.select_states.get().output.states) as file:
        return [row["state"] for row in csv.DictReader(file)]


def why_these_states():
    """For captions: the rule by which the states were chosen, once they are."""
    states = Path("results/tables/states.csv")
    if not states.is_file():
        return ""
    with open(states) as file:
        return f" States: {next(csv.DictReader(file))['rule']}."


def for_each_state(pattern):
    return lambda wildcards: expand(pattern, state=selected_states(wildcards))


def experiment_of(wildcards):
    """What an experiment's lattice is made of; its laws apart, so that they rerun only their own."""
    entry = LATTICES[wildcards.experiment]
    return {key: value for key, value in entry.items() if key not in ("laws", "printed")}


def laws_of(wildcards):
    return LATTICES[wildcards.experiment]["laws"]


def law_of(wildcards):
    return laws_of(wildcards)[wildcards.law]


def printed_laws(wildcards):
    entry = LATTICES[wildcards.experiment]
    return {law: entry["laws"][law] for law in entry["printed"]}


def of_all_its_laws(pattern):
    return lambda wildcards: expand(
        pattern, experiment=wildcards.experiment, law=laws_of(wildcards)
    )


def of_its_printed_laws(pattern):
    return lambda wildcards: expand(
        pattern, experiment=wildcards.experiment, law=printed_laws(wildcards)
    )


def of_every_law(pattern):
    """The pattern for each law of each experiment."""
    return [
        path
        for name, entry in LATTICES.items()
        for path in expand(pattern, experiment=name, law=entry["laws"])
    ]


def of_printed_laws(pattern):
    """The pattern for each law of which the paper prints noise, and a figure of its own."""
    return [
        path
        for name, entry in LATTICES.items()
        for path in expand(pattern, experiment=name, law=entry.get("printed", []))
    ]


def of_experiments(pattern, having=()):
    """The pattern for each experiment whose config entry has the given keys."""
    named = [name for name, entry in LATTICES.items() if all(key in entry for key in having)]
    return expand(pattern, experiment=named)


def read_if_there(path):
    """Content of a JSON file among the results, or nothing where it is not made yet."""
    return json.loads(Path(path).read_text()) if Path(path).is_file() else {}


def of_scenario(*keys):
    """For params: a setting of the scenario."""

    def setting(wildcards):
        value = SCENARIOS[wildcards.scenario]
        for key in keys:
            value = value[key]
        return value

    return setting


def of_its_states(pattern):
    """The pattern for each state of the scenario."""
    return lambda wildcards: expand(
        pattern, **wildcards, state=of_scenario("counties", "states")(wildcards)
    )


def of_its_vintage(name):
    """A file of the scenario's vintage."""
    return lambda wildcards: (
        f"results/sweeps/{wildcards.sweep}/data/{of_scenario('data', 'vintage')(wildcards)}/{name}"
    )


def sweep_goals(wildcards):
    if not SWEEP:
        raise ValueError("the config has no sweep: add --configfile config/sweep.yaml")
    return expand(
        "results/{path}", path=[f"figures/sweep_{SWEEP}.svg", f"tables/sweep_{SWEEP}.csv"]
    )


# -- outputs --------------------------------------------------------------------------------------


def table_outputs(name, what, category, key="", caption=None, folder="results/tables", **where):
    """A table's files, of which the report shows the page and offers the csv.

    `key` distinguishes the tables of one job that makes several: its csv is output.KEYcsv.
    """
    place = {"caption": CAPTIONS[caption or name], "category": category, **where}
    page, data = ({"what": what, "type": kind} for kind in ("table", "table as csv"))
    return {
        f"{key}csv": report(f"{folder}/{name}.csv", labels=data, **place),
        f"{key}md": f"{folder}/{name}.md",
        f"{key}html": report(f"{folder}/{name}.html", labels=page, **place),
    }


def figure_outputs(name, what, category, key="", caption=None, **where):
    """A figure's pictures, of which the report shows the SVG.

    `key` distinguishes the figures of one job that makes several: its SVG is output.KEYsvg.
    """
    place = {"caption": CAPTIONS[caption or name], "category": category, **where}
    labels = {"what": what, "type": "figure"}
    return {
        f"{key}svg": report(f"results/figures/{name}.svg", labels=labels, **place),
        f"{key}png": f"results/figures/{name}.png",
    }


# -- the front page -------------------------------------------------------------------------------


def made_by_rules(wildcards):
    """For each table and figure that the front page names: the files, and how they are made."""
    states = selected_states(wildcards)
    claims, entries = (
        yaml.safe_load((BASE / f"config/{name}.yaml").read_text()) for name in ("claims", "figures")
    )
    tables = [claim["measure"]["table"] for claim in claims]
    figures = [claim.get("figure", []) for claim in claims]
    for entry in entries:
        tables += entry["tables"]
        figures.append(entry["figures"])
    # a name, or a list of names
    figures = [name for named in figures for name in ([named] if isinstance(named, str) else named)]
    found = {"tables": {}, "figures": {}}
    for kind, ending, names in (("tables", "html", tables), ("figures", "svg", figures)):
        for name in dict.fromkeys(names):
            # one name, or one a state
            paths = dict.fromkeys(expand(f"results/{kind}/{name}.{ending}", state=states))
            jobs = [job_that_makes(path, states) for path in paths]
            found[kind][name] = [job for job in jobs if job]
    return found


def job_that_makes(path, states):
    """The rule that would make a file, and the job's words and log; none if there is no such."""
    maker = next((each for each in workflow.rules if each.is_producer(path)), None)
    if maker is None:
        return None
    wildcards = maker.get_wildcards(path)
    if wildcards.get("state", states[0]) not in states:
        return None
    rules_file = Path(os.path.relpath(maker.snakefile, BASE))
    return {
        "name": Path(path).stem,
        "rule": maker.name,
        "message": maker.message.format(wildcards=SimpleNamespace(**wildcards)),
        "rules": rules_file.as_posix(),
        "script": os.path.normpath(rules_file.parent / maker.script),
        "log": os.path.relpath(maker.log[0].apply_wildcards(wildcards), "results"),
    }


# -- running --------------------------------------------------------------------------------------


def closing_words():
    """What the data are, what the scorecard found, and where to read on, the first thing first."""
    words = ["", provenance().get("message", "")]
    summary = Path("results/tables/scorecard.txt")
    if summary.is_file():
        words.append(summary.read_text().rstrip())
    for name, path in (
        ("Open first", "results/index.html"),
        ("Report", "results/report.html"),
        ("Review", "results/notebooks/00_overview.html"),
    ):
        if Path(path).is_file():
            words.append(f"{name}: {Path(path).resolve()}")
    words += sweep_words()
    return "\n".join(words)


def sweep_words():
    """Where the comparison is, and which scenarios it waits for."""
    if not SWEEP or not Path(f"results/sweeps/{SWEEP}").is_dir():
        return []
    missing = unfinished(Path(f"results/sweeps/{SWEEP}"), SCENARIOS)
    if missing:
        done = len(SCENARIOS) - len(missing)
        return [f"Sweep {SWEEP}: {done} of {len(SCENARIOS)} scenarios done; not done:", *missing]
    return [f"Sweep: {Path(f'results/figures/sweep_{SWEEP}.svg').resolve()}"]


def provenance():
    return read_if_there("results/data/provenance.json")


# For the captions, which are rendered when the report is built and see nothing but the config.
# No job's params read these keys.
config["provenance"] = provenance()
config["words"] = {"data": f"Data: {config['provenance'].get('message', '')}"}
# scripts find the packages in this checkout, installed or not, and code compiled from them as they are
os.environ.update(
    PYTHONPATH=os.pathsep.join([str(SOURCES), os.getenv("PYTHONPATH", "")]),
    NUMBA_CACHE_DIR=str(cache_folder(SOURCES)),
)
if workflow.is_main_process:
    running = clear_stale_locks(Path(".snakemake"))
