"""Refusing a config that will not do, with one line that names the key.

The schema says what each key may be. What only a wing can tell, whether a margin names an axis of
its table, say, stands in that wing's `settings` module, which is found by the wing's word in the
config: `check(block, config, base)` raises ConfigError, `leave_out(block)` drops what a user set to
null.
"""

import csv
import importlib
import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jsonschema

from reproduction.running.yaml_files import read_yaml


class ConfigError(Exception):
    """The config will not do; the message is one line for people."""


def read_schema(base: Path) -> dict:
    """Read the config's JSON schema."""
    return read_yaml(base / "workflow/schemas/config.schema.yaml")


def local_file(config: dict) -> str | None:
    """Path of demonstration data on this disk, if the config or the environment names one."""
    return config["data"]["file"] or os.environ.get("NHGIS_PPDD_FILE") or None


def settings_modules(config: dict) -> Iterator[tuple[str, ModuleType]]:
    """Find the `settings` module of each block of the config that has one."""
    for block in config:
        if (Path(__file__).parents[1] / str(block) / "settings.py").is_file():
            yield block, importlib.import_module(f"reproduction.{block}.settings")


def leave_out_nulls(config: dict) -> None:
    """Drop what a config file of one's own leaves out of `config.yaml` by setting it to null."""
    for block, module in settings_modules(config):
        if hasattr(module, "leave_out"):
            module.leave_out(config[block])


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
    for block, module in settings_modules(config):
        module.check(config[block], config, base)


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
    wanted = problem.schema.get("wanted", problem.message)
    value = problem.instance
    shown = f"the keys {' '.join(map(str, value))}" if isinstance(value, dict) else repr(value)
    return f"{shown} will not do; wanted: {wanted}"


def check_states(key: str, states: list[str], known: list[str]) -> None:
    """Raise ConfigError unless each state is among those known."""
    for position, state in enumerate(states):
        if state not in known:
            raise ConfigError(
                f"config: {key}.{position}: there is no state {state!r}; there are "
                + " ".join(sorted(known))
            )


def check_vintage(key: str, vintage: str, ledger: Path) -> None:
    """Raise ConfigError unless the ledger has the vintage."""
    vintages = column(ledger, "vintage")
    if vintage not in vintages:
        raise ConfigError(
            f"config: {key}: {vintage!r} is not in {ledger.name}; there are " + " ".join(vintages)
        )


def column(path: Path, name: str) -> list[str]:
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
