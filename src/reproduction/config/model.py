"""Check the configuration by a pydantic model before any job runs."""

import copy
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from reproduction.comparison.settings import ComparisonSettings
from reproduction.config.from_the_papers import FromThePapers, list_replacements, select_filled
from reproduction.congenial.settings import CongenialSettings
from reproduction.counties.settings import CountiesSettings, Sweep
from reproduction.data.settings import DataSettings
from reproduction.exactness.settings import ExactnessSettings
from reproduction.jobs.settings import Block, ConfigError, setting
from reproduction.lattices.settings import LatticesSettings
from reproduction.national.settings import NationalSettings
from reproduction.nested.settings import NestedSettings
from reproduction.subspace.settings import SubspaceSettings
from reproduction.swapping.settings import SwappingSettings
from reproduction.topdown.settings import TopDownSettings

MAX_VALUE_LENGTH = 100  # number of characters of a value that a message shows
# messages by type of pydantic error; for other types, pydantic's own message is shown
REQUIREMENTS = {
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
        "A whole number. Runs with equal seeds give equal tables, on any number of cores."
    )
    data: DataSettings = setting("The files of counts.")
    counties: CountiesSettings = setting("The county experiment (ISDP, Sections 5 and E.4).")
    lattices: LatticesSettings = setting(
        "Experiments on integer lattices (ISDP, Sections 5, E.2 and E.3)."
    )
    congenial: CongenialSettings = setting("The congenial mechanism (CDP).")
    exactness: ExactnessSettings = setting("Exact draws, which are compared with every chain.")
    subspace: SubspaceSettings = setting("Subspace differential privacy (SDP).")
    topdown: TopDownSettings = setting(
        "The Census Bureau's algorithm on the published 2010 counts (TDA)."
    )
    swapping: SwappingSettings = setting("Permutation swapping (SWAP).")
    nested: NestedSettings = setting(
        "Noise with a term for each measured total, and TopDown with the same queries."
    )
    comparison: ComparisonSettings = setting(
        "The comparison of all systems on the published 2010 counts by race, Hispanic origin and "
        "adulthood."
    )
    national: NationalSettings = setting(
        "Releases of all states by all systems at many budgets, and a TopDown run down to "
        "synthetic blocks (`make national`). No other target uses this block."
    )
    from_the_papers: FromThePapers = setting(
        "Values that the papers print and our text copies of them lack. A value that you fill in "
        "replaces ours.",
        default=None,
    )
    sweep: Sweep = setting(
        "The county experiment with many combinations of settings. Put this block into its own "
        "file, such as `sweep.yaml`.",
        default=None,
    )


def read_config(config: dict, base: Path) -> dict:
    """Check a configuration, and convert it in place to the form that the rules read.

    The function removes null entries, and replaces settings by the values of `from_the_papers`.
    File names are relative to the folder `base`. The function returns the settings that are stored
    with the results. Null entries remain in them, and `from_the_papers` lists only the values that
    the user filled in. Raises ConfigError if the configuration is not valid.
    """
    given = copy.deepcopy(config)
    _leave_out_nulls(config)
    check_config(config, base)
    recorded = {
        key: given[key] for key, field in Config.model_fields.items() if field.is_required()
    }
    if printed := select_filled(config.get("from_the_papers", {})):
        for key, value in list_replacements(printed):
            *parents, last = key.split(".")
            for kept in (config, recorded):
                block = _find(kept, parents)
                if last in block:  # the key is missing if its entry was null
                    block[last] = copy.deepcopy(value)
        check_config(config, base)
        recorded["from_the_papers"] = printed
    return recorded


def check_config(config: dict, base: Path) -> None:
    """Raise ConfigError if a configuration is not valid, or a file or a state does not exist."""
    try:
        checked = Config.model_validate(config)
    except ValidationError as error:
        raise ConfigError(_first_error(error.errors(include_url=False), config)) from None
    for name in Config.model_fields:
        block = getattr(checked, name)
        if hasattr(block, "check"):
            block.check(checked, base)


def _leave_out_nulls(config: dict) -> None:
    for path in (["lattices", "experiments"], ["subspace", "workloads"], ["topdown", "runs"]):
        _drop_nulls(_find(config, path))
    for entry in _find(config, ["lattices", "experiments"]).values():
        for law in _drop_nulls(_find(entry, ["laws"])):
            _find(entry, ["printed"]).pop(law, None)


def _drop_nulls(block: dict) -> list:
    nulls = [key for key, value in block.items() if value is None]
    for key in nulls:
        del block[key]
    return nulls


def _find(node: Any, path: Sequence[str]) -> dict:
    """Return the block with a path, or an empty block if there is none."""
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _first_error(errors: Sequence[ErrorDetails], config: dict) -> str:
    """Describe the first error by the dotted key, the requirement, and the value given."""
    # for a union, pydantic reports an error for each type, with the name of the type in the path
    place, path = errors[0]["loc"], _path(errors[0], config)
    common = next((depth for depth, part in enumerate(path) if place[depth] != part), len(path))
    of_union = [each for each in errors if each["loc"][:common] == place[:common] != place]
    tried = of_union or errors[:1]
    # the type that fits best is the one whose error is deepest in the configuration
    best = max(tried, key=lambda each: len(_path(each, config)))
    path = _path(best, config)
    first, *others = dict.fromkeys(_requirement(e) for e in tried if _path(e, config) == path)
    others = [each.removeprefix("must ").removeprefix("be ") for each in others]
    given = "" if best["type"] == "keys" else f", got {_shown(best['input'])}"
    key = ".".join(map(str, path)) or "top level"
    return f"config: {key}: {' or '.join([first, *others])}{given}"


def _requirement(error: ErrorDetails) -> str:
    template = REQUIREMENTS.get(error["type"])
    return template.format(**error.get("ctx", {})) if template else error["msg"]


def _path(error: ErrorDetails, config: Any) -> list:
    """Return the keys and indices that lead to an error, without pydantic's names of types."""
    path, node = [], config
    for part in error["loc"]:
        with suppress(KeyError, IndexError, TypeError):
            node = node[part]
            path.append(part)
    return path


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"the keys {', '.join(map(str, value))}" if value else "no keys"
    text = repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}..."
