"""What all rules share: the checked config, library modules as inputs, and the closing words."""

import ast
import csv
import fcntl
import json
import math
import os
import shutil
import sys
from pathlib import Path

import jsonschema
import yaml

BASE = Path(workflow.basedir)


wildcard_constraints:
    state="[A-Z]{2}",


def stop(message):
    """End before any job runs, with one line for people."""
    sys.exit(f"error: {message}")


# -- config ---------------------------------------------------------------------------------------


def check_config(config):
    """Refuse a config that does not fit its schema, or that names what does not exist."""
    schema = yaml.safe_load((BASE / "workflow/schemas/config.schema.yaml").read_text())
    problems = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(config),
        key=lambda problem: [str(part) for part in problem.absolute_path],
    )
    if problems:
        stop(f"config: {dotted(problems[0].absolute_path)}: {explain(problems[0])}")
    for path, value in leaves(config):
        if isinstance(value, float) and not math.isfinite(value):
            stop(f"config: {dotted(path)}: {value} will not do; wanted: a finite number")
    counties = config["counties"]
    if counties["overdispersed"]["epsilon"] >= counties["epsilon"]:
        stop(
            f"config: counties.overdispersed.epsilon: must be below counties.epsilon "
            f"({counties['epsilon']}), or the starts are not over-dispersed"
        )
    with open(BASE / config["data"]["published"], encoding="utf-8") as file:
        known = {row["usps"] for row in csv.DictReader(file)}
    for key in ("states", "stand_in_states"):
        states = counties[key]
        for position, state in enumerate([] if states == "paper" else states):
            if state not in known:
                stop(
                    f"config: counties.{key}.{position}: there is no state {state!r}; there are "
                    + " ".join(sorted(known))
                )
    with open(BASE / config["data"]["ledger"], encoding="utf-8") as file:
        vintages = [row["vintage"] for row in csv.DictReader(file)]
    if config["data"]["vintage"] not in vintages:
        stop(
            f"config: data.vintage: {config['data']['vintage']!r} is not in "
            f"{config['data']['ledger']}; there are {' '.join(vintages)}"
        )
    if local_file() and not Path(local_file()).is_file():
        stop(
            f"config: data.file (or NHGIS_PPDD_FILE): there is no file {local_file()}; give the "
            f"path of the downloaded zip or csv, or leave it out"
        )
    return list(schema["properties"])


def dotted(path):
    return ".".join(str(part) for part in path) or "top level"


def leaves(node, path=()):
    """Every value of the config with the keys that lead to it."""
    if isinstance(node, (dict, list)):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*path, key))
    else:
        yield path, node


def explain(problem):
    """Say in one line what is wrong with a config value."""
    if problem.validator == "additionalProperties":
        known = " ".join(problem.schema["properties"])
        unknown = " ".join(k for k in problem.instance if k not in problem.schema["properties"])
        return f"unknown key {unknown}; known here: {known}"
    if problem.validator == "required":
        missing = " ".join(k for k in problem.validator_value if k not in problem.instance)
        return f"missing key {missing}"
    wanted = problem.schema.get("description", problem.message)
    return f"{problem.instance!r} will not do; wanted: {wanted}"


def local_file():
    """The demonstration data on this disk, if the config or the environment names it."""
    return config["data"]["file"] or os.environ.get("NHGIS_PPDD_FILE") or None


# -- inputs ---------------------------------------------------------------------------------------


def library(*modules):
    """Source files of library modules and of all library modules that they import.

    As inputs they make an edited module rerun what depends on it.
    """
    found, waiting = set(), list(modules)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse(library_path(name).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isdp."):
                waiting.append(node.module.removeprefix("isdp."))
    return [str(library_path(name)) for name in sorted(found)]


def library_path(name):
    return BASE / "src" / "isdp" / f"{name}.py"


def read_if_there(path):
    """Content of a JSON file among the results, or nothing where it is not made yet."""
    return json.loads(Path(path).read_text()) if Path(path).is_file() else {}


# -- running --------------------------------------------------------------------------------------


def clear_stale_locks():
    """Remove the locks of a run that was killed; a run that is alive keeps them.

    Snakemake cannot tell the two apart. The operating system can: it takes back this file's lock
    when the process ends, however it ends.
    """
    Path(".snakemake").mkdir(exist_ok=True)
    handle = open(".snakemake/isdp-run.lock", "w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    shutil.rmtree(".snakemake/locks", ignore_errors=True)
    return handle


def closing_words():
    summary = Path("results/tables/scorecard.txt")
    words = [""]
    provenance = read_if_there("results/data/provenance.json")
    if provenance:
        words.append(provenance["message"])
    if summary.is_file():
        words.append(summary.read_text().rstrip())
    if Path("results/report.html").is_file():
        words.append(f"Report: {Path('results/report.html').resolve()}")
    return "\n".join(words)


CONFIG_KEYS = check_config(config)
# For the captions, which are rendered when the report is built and see nothing but the config.
# No rule's params read these keys.
config["provenance"] = read_if_there("results/data/provenance.json")
config["words"] = {"data": f"Data: {config['provenance'].get('message', '')}"}
if workflow.is_main_process:
    running = clear_stale_locks()
