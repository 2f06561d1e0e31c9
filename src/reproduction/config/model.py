"""The model of the configuration, and the check of a configuration before any job runs.

Each block is described in the module `settings` of its study.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from reproduction.comparison.settings import ComparisonSettings
from reproduction.config.from_the_papers import FromThePapers, filled_in, replacements
from reproduction.congenial.settings import CongenialSettings
from reproduction.counties.settings import CountiesSettings, Sweep
from reproduction.data.settings import DataSettings
from reproduction.exactness.settings import ExactnessSettings
from reproduction.lattices.settings import LatticesSettings
from reproduction.national.settings import NationalSettings
from reproduction.running.settings import Block, ConfigError, setting
from reproduction.subspace.settings import SubspaceSettings
from reproduction.swapping.settings import SwappingSettings
from reproduction.topdown.settings import TopDownSettings

MAX_SHOWN = 100  # characters of a value in a message
# what pydantic's types of errors ask for; others are shown in pydantic's own words
WANTED = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text in quotes",
    "list_type": "must be a list",
    "dict_type": "must be a block of keys",
    "literal_error": "must be {expected}",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be {le:g} or less",
    "multiple_of": "must be a multiple of {multiple_of:g}",
    "too_short": "must have {min_length} or more entries",
    "too_long": "must have {max_length} or fewer entries",
    "string_too_short": "must not be empty",
    "value_error": "{error}",
}


class Config(Block):
    """The whole configuration."""

    seed: Annotated[int, Field(ge=0)] = setting(
        "A whole number. Equal seeds give equal tables, on any number of cores."
    )
    data: DataSettings = setting("The counts.")
    counties: CountiesSettings = setting("The county experiment (ISDP, Sections 5 and E.4).")
    lattices: LatticesSettings = setting(
        "Experiments on integer lattices (ISDP, Sections 5, E.2 and E.3)."
    )
    congenial: CongenialSettings = setting("The congenial mechanism (CDP).")
    exactness: ExactnessSettings = setting("Exact draws for comparison with every chain.")
    subspace: SubspaceSettings = setting("Subspace differential privacy (SDP).")
    topdown: TopDownSettings = setting(
        "The Census Bureau's algorithm on the published 2010 counts (TDA)."
    )
    swapping: SwappingSettings = setting("Permutation swapping (SWAP).")
    comparison: ComparisonSettings = setting(
        "Every system on the published 2010 counts by race, Hispanic origin and adulthood."
    )
    national: NationalSettings = setting(
        "All states by all systems at many budgets, and TopDown down to synthetic blocks (`make "
        "national`). No other target needs it."
    )
    from_the_papers: FromThePapers = setting(
        "Settings that the papers print and our text copies of them lack. A value that you fill "
        "in takes the place of ours.",
        default=None,
    )
    sweep: Sweep = setting(
        "The county experiment under many settings. It belongs into a file of its own, such as "
        "`sweep.yaml`.",
        default=None,
    )


def read_config(config: dict, base: Path) -> dict:
    """Check a configuration, and bring it into the form that the rules read.

    Entries that are null are left out, and the values of `from_the_papers` take the place of the
    settings that they stand for.

    Parameters
    ----------
    config : dict
        Changed in place.
    base : Path
        The checkout, in which the files of the configuration are looked for.

    Returns
    -------
    dict
        The settings to keep with the results: nulls stay, the papers' values are in their places,
        and `from_the_papers` lists those that were filled in.

    Raises
    ------
    ConfigError
        If a value is not allowed.
    """
    given = copy.deepcopy(config)
    _leave_out_nulls(config)
    check_config(config, base)
    recorded = {
        key: given[key] for key, field in Config.model_fields.items() if field.is_required()
    }
    if printed := filled_in(config.get("from_the_papers", {})):
        for key, value in replacements(printed):
            _replace(config, key.split("."), value)
            _replace(recorded, key.split("."), value)
        check_config(config, base)
        recorded["from_the_papers"] = printed
    return recorded


def check_config(config: dict, base: Path) -> None:
    """Raise ConfigError unless a configuration fits the model and names only what exists."""
    try:
        checked = Config.model_validate(config)
    except ValidationError as error:
        raise ConfigError(_first_error(error.errors(include_url=False), config)) from None
    for name in Config.model_fields:
        block = getattr(checked, name)
        if hasattr(block, "check"):
            block.check(checked, base)


def _leave_out_nulls(config: dict) -> None:
    """Drop the named entries that a configuration of the user's sets to null."""
    for path in ("lattices.experiments", "subspace.workloads", "topdown.runs"):
        _drop_nulls(_find(config, path.split(".")))
    experiments = _find(config, ["lattices", "experiments"])
    for entry in experiments.values() if isinstance(experiments, dict) else []:
        for law in _drop_nulls(_find(entry, ["laws"])):
            printed = _find(entry, ["printed"])
            if isinstance(printed, dict):
                printed.pop(law, None)


def _drop_nulls(block: Any) -> list:
    if not isinstance(block, dict):
        return []
    nulls = [key for key, value in block.items() if value is None]
    for key in nulls:
        del block[key]
    return nulls


def _find(node: Any, path: Sequence[str]) -> Any:
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _replace(config: dict, path: Sequence[str], value: Any) -> None:
    """Set a key; a key in an entry that is left out stays out."""
    *parents, last = path
    block = _find(config, parents)
    if isinstance(block, dict) and last in block:
        block[last] = copy.deepcopy(value)


def _first_error(errors: Sequence[ErrorDetails], config: dict) -> str:
    """Describe the first error: the dotted key, what is wanted and what was given."""
    first = errors[0]
    # The errors of all kinds that a value may have: the kind that fits best fails deepest.
    kinds = [each for each in errors if _same_value(each, first, config)]
    best = max(kinds, key=lambda each: len(_path(each, config)))
    path = _path(best, config)
    wanted = dict.fromkeys(_wanted(each) for each in kinds if _path(each, config) == path)
    alternatives = " or ".join(
        each.removeprefix("must ").removeprefix("be ") if place else each
        for place, each in enumerate(wanted)
    )
    given = "" if best["type"] == "keys" else f", got {_shown(best['input'])}"
    return f"config: {'.'.join(map(str, path)) or 'top level'}: {alternatives}{given}"


def _wanted(error: ErrorDetails) -> str:
    template = WANTED.get(error["type"])
    return template.format(**error.get("ctx", {})) if template else error["msg"]


def _path(error: ErrorDetails, config: Any) -> list:
    """Keys and positions that lead to an error, without pydantic's names of the kinds of values."""
    path, node = [], config
    for part in error["loc"]:
        inside = (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        )
        if inside:
            path.append(part)
            node = node[part]
    return path


def _same_value(error: ErrorDetails, first: ErrorDetails, config: Any) -> bool:
    """Tell whether two errors are of the same value, read as different kinds."""
    steps, common = _path(first, config), 0
    for part, step in zip(first["loc"], steps, strict=False):
        if part != step:
            break
        common += 1
    return error is first or (
        common < len(first["loc"]) and error["loc"][:common] == first["loc"][:common]
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"the keys {', '.join(map(str, value))}" if value else "no keys"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
