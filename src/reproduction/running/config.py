"""Refusing a config that will not do, with one line that names the key."""

import csv
import math
import os
from pathlib import Path

import jsonschema
import numpy as np
import yaml

from isdp.errors import InputError
from isdp.lattice.elimination import solve_for
from reproduction.data.table_p12 import sex_by_age_invariants, table_of
from reproduction.lattices.entry import build


class ConfigError(Exception):
    """The config will not do; the message is one line for people."""


def read_schema(base: Path) -> dict:
    """Read the config's JSON schema."""
    return yaml.safe_load((base / "workflow/schemas/config.schema.yaml").read_text())


def local_file(config: dict) -> str | None:
    """Path of demonstration data on this disk, if the config or the environment names one."""
    return config["data"]["file"] or os.environ.get("NHGIS_PPDD_FILE") or None


def leave_out_nulls(config: dict) -> None:
    """Drop lattice experiments, and laws of them, that are null.

    Config files are merged, so this is how a file of one's own leaves out what `config.yaml` has.
    """
    lattices = config.get("lattices")
    for name, entry in [*lattices.items()] if isinstance(lattices, dict) else []:
        if entry is None:
            del lattices[name]
            continue
        laws = entry.get("laws") if isinstance(entry, dict) else None
        for law, settings in [*laws.items()] if isinstance(laws, dict) else []:
            if settings is None:
                del laws[law]
                if isinstance(entry.get("printed"), dict):
                    entry["printed"].pop(law, None)


def check_config(config: dict, base: Path) -> None:
    """Raise ConfigError unless the config fits its schema and names only what exists.

    Parameters
    ----------
    config : dict
    base : Path
        The checkout: the schema, the ledger and the published counts are looked for there.
    """
    _check_schema(config, read_schema(base))
    for path, value in _leaves(config):
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(
                f"config: {_dotted(path)}: {value} will not do; wanted: a finite number"
            )
    data, counties = config["data"], config["counties"]
    for key in ("ledger", "published"):
        if not (base / data[key]).is_file():
            raise ConfigError(f"config: data.{key}: there is no file {data[key]}")
    known = _column(base / data["published"], "usps")
    for key in ("states", "stand_in_states"):
        if counties[key] != "paper":
            _check_states(f"counties.{key}", counties[key], known)
    if counties["overdispersed"]["epsilon"] >= counties["epsilon"]:
        raise ConfigError(
            f"config: counties.overdispersed.epsilon: must be below counties.epsilon "
            f"({counties['epsilon']}), or the starts are not over-dispersed"
        )
    _check_lattices(config)
    _check_sex_by_age(config["sex_by_age"])
    _check_vintage("data.vintage", data["vintage"], base / data["ledger"])
    if "sweep" in config:
        _check_sweep(config, base)
    file = local_file(config)
    if file and not Path(file).is_file():
        raise ConfigError(
            f"config: data.file (or NHGIS_PPDD_FILE): there is no file {file}; give the path of "
            f"the downloaded zip or csv, or leave it out"
        )


def _check_schema(config: dict, schema: dict) -> None:
    problems = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(config),
        key=lambda problem: [str(part) for part in problem.absolute_path],
    )
    if problems:
        problem = _innermost(problems[0])
        raise ConfigError(f"config: {_dotted(problem.absolute_path)}: {_explain(problem)}")


def _innermost(problem: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Where a mapping fits none of several kinds, find the key within it that is to blame."""
    while problem.validator == "oneOf" and isinstance(problem.instance, dict):
        deeper = [p for p in problem.context if len(p.absolute_path) > len(problem.absolute_path)]
        if not deeper:
            break
        problem = max(deeper, key=lambda p: len(p.absolute_path))
    return problem


def _explain(problem: jsonschema.ValidationError) -> str:
    if problem.validator == "additionalProperties":
        known = problem.schema["properties"]
        unknown = " ".join(str(key) for key in problem.instance if key not in known)
        return f"unknown key {unknown}; known here: {' '.join(known)}"
    if problem.validator == "required":
        missing = " ".join(key for key in problem.validator_value if key not in problem.instance)
        return f"missing key {missing}"
    wanted = problem.schema.get("description", problem.message)
    value = problem.instance
    shown = f"the keys {' '.join(map(str, value))}" if isinstance(value, dict) else repr(value)
    return f"{shown} will not do; wanted: {wanted}"


def _check_states(key: str, states: list[str], known: list[str]) -> None:
    for position, state in enumerate(states):
        if state not in known:
            raise ConfigError(
                f"config: {key}.{position}: there is no state {state!r}; there are "
                + " ".join(sorted(known))
            )


def _check_vintage(key: str, vintage: str, ledger: Path) -> None:
    vintages = _column(ledger, "vintage")
    if vintage not in vintages:
        raise ConfigError(
            f"config: {key}: {vintage!r} is not in {ledger.name}; there are " + " ".join(vintages)
        )


def _check_sweep(config: dict, base: Path) -> None:
    sweep, data = config["sweep"], config["data"]
    known = _column(base / data["published"], "usps")
    for number, states in enumerate(state_groups(sweep)):
        several = "" if states is sweep["states"] else f".{number}"
        _check_states(f"sweep.states{several}", states, known)
    for position, vintage in enumerate(sweep.get("vintages", [])):
        _check_vintage(f"sweep.vintages.{position}", vintage, base / data["ledger"])
    for position, file in enumerate(sweep.get("files", [])):
        if not Path(file).is_file():
            raise ConfigError(f"config: sweep.files.{position}: there is no file {file}")


def state_groups(sweep: dict) -> list[list[str]]:
    """Give the lists of states that a sweep compares: one list counts as a list of one."""
    states = sweep["states"]
    return states if isinstance(states[0], list) else [states]


def _check_lattices(config: dict) -> None:
    variants = set(config["variants"])
    for name, entry in config["lattices"].items():
        try:
            experiment = build(entry)
        except InputError as error:
            raise ConfigError(f"config: lattices.{name}: {error}") from None
        for law, settings in entry["laws"].items():
            if set(settings["proposal"]) != variants:
                raise ConfigError(
                    f"config: lattices.{name}.laws.{law}.proposal: wanted: one number for each of "
                    f"{', '.join(sorted(variants))}"
                )
        for law, table in entry.get("printed", {}).items():
            size = np.asarray(table, dtype=object).shape
            if law not in entry["laws"] or size != experiment.shape:
                raise ConfigError(
                    f"config: lattices.{name}.printed.{law}: wanted: a table in the shape of the "
                    f"axes, for one of the laws {', '.join(entry['laws'])}"
                )
    if config["noise"]["variant"] not in variants:
        raise ConfigError(
            f"config: noise.variant: {config['noise']['variant']!r} will not do; wanted: one of "
            f"{', '.join(sorted(variants))}"
        )


def _check_sex_by_age(entry: dict) -> None:
    for key in ("counts", "printed"):
        try:
            if entry[key] is not None:
                table_of(entry[key])
        except InputError as error:
            raise ConfigError(f"config: sex_by_age.{key}: {error}") from None
    if (entry["file"] is None) != (entry["county"] is None):
        raise ConfigError(
            "config: sex_by_age.file and sex_by_age.county belong together: give both or neither"
        )
    if entry["file"] is not None and not Path(entry["file"]).is_file():
        raise ConfigError(f"config: sex_by_age.file: there is no file {entry['file']}")
    if entry["solved"] is not None:
        try:
            solve_for(sex_by_age_invariants(), [0, 0, 0], [cell - 1 for cell in entry["solved"]])
        except InputError as error:
            raise ConfigError(f"config: sex_by_age.solved (cells from 0 here): {error}") from None
    acceptance = entry["acceptance"]
    if len(acceptance["paper"]) != len(acceptance["proposal_epsilons"]):
        raise ConfigError(
            f"config: sex_by_age.acceptance.paper: wanted: one number or null for each of the "
            f"{len(acceptance['proposal_epsilons'])} proposal_epsilons"
        )


def _column(path: Path, name: str) -> list[str]:
    """Return the distinct entries of one column of a csv, in their order."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(dict.fromkeys(row.get(name, "") for row in csv.DictReader(file)))


def _leaves(node, path=()):
    """Give every value of the config with the keys that lead to it."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _leaves(value, (*path, key))
    else:
        yield path, node


def _dotted(path) -> str:
    return ".".join(str(part) for part in path) or "top level"
