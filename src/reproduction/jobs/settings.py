"""Shared parts of the configuration's models: the base model, types of values, and checks.

The module `settings` of each study describes its block by a model derived from `Block`: the meaning
of each key, the source of its value, and the values allowed. The method `check` of the model covers
checks that need a file or another block. `reproduction.config.model` combines the blocks.
"""

import csv
import difflib
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

# sources of the values in config.yaml
PAPER = "paper"
READ_OFF = "read off a figure of the paper"
INFERRED = "inferred"
OURS = "ours"
BOTH = "paper and ours"  # entries of both kinds; the comments in config.yaml say which


class ConfigError(Exception):
    """The configuration is not valid; the message is one line."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))


def setting(description: str, source: str = "", **limits) -> Any:
    """Describe a key of the configuration, for config/README.md.

    `source` states whose number the value in config.yaml is. It is empty for blocks, for paths and
    for choices of a run. `limits`, such as `ge=1`, are passed to `pydantic.Field`.
    """
    return Field(description=description, json_schema_extra={"source": source}, **limits)


class Block(BaseModel):
    """Base class of all blocks: types are strict, and unknown keys are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    # replaces the entry's name in config/README.md where users choose the name
    placeholder: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Any) -> Any:
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        if not isinstance(given, Mapping):
            raise PydanticCustomError("block", "must have the keys {keys}", {"keys": _list(fields)})
        for key in given:
            if key not in fields:
                raise PydanticCustomError("keys", "{text}", {"text": _unknown(str(key), fields)})
        missing = [key for key, field in fields.items() if field.is_required() and key not in given]
        if missing:
            text = f"missing key{'s' * (len(missing) > 1)} {_list(missing)}"
            raise PydanticCustomError("keys", "{text}", {"text": text})
        return given


def _unknown(key: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown key {key}{meant}; known here: {_list(known)}"


def _list(keys: Collection[str]) -> str:
    return ("; " if any(" " in key for key in keys) else ", ").join(keys)


def _check(wanted: str, fits: Callable[[Any], Any], kind: type = AfterValidator) -> Any:
    """Make a validator that refuses a value unless `fits` accepts it."""

    def check(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"must be {wanted}")
        return value

    return kind(check)


def _matches(pattern: str) -> Callable[[Any], Any]:
    return lambda text: isinstance(text, str) and re.fullmatch(pattern, text)


_DIFFERENT = _check(
    "a list of different entries",
    lambda values: all(value not in values[:place] for place, value in enumerate(values)),
)
Entry = TypeVar("Entry")
Different = Annotated[list[Entry], Field(min_length=1), _DIFFERENT]
TwoDifferent = Annotated[list[Entry], Field(min_length=2), _DIFFERENT]
Positive = Annotated[float, Field(gt=0)]
Probability = Annotated[float, _check("between 0 and 1, both excluded", lambda x: 0 < x < 1)]
Whole = Annotated[int, Field(ge=1)]
TwoOrMore = Annotated[int, Field(ge=2)]
Pair = Annotated[list[Entry], Field(min_length=2, max_length=2)]
Chains = Annotated[int, _check("from 2 to 100, as R-hat compares chains", lambda n: 2 <= n <= 100)]
Norm = Literal["l1", "l2"]
Basis = Literal["smith", "lll"]
Acceptance = Literal["coordinate", "joint"]
PathText = Annotated[str, Field(min_length=1)]
State = Annotated[str, _check("a two-letter state such as IL", _matches("[A-Z]{2}"))]
Vintage = Annotated[
    str,
    _check('eight digits in quotes, such as "20201116"', _matches("[0-9]{8}"), BeforeValidator),
]
Name = Annotated[
    str, _check("a name of small letters and digits, a letter first", _matches("[a-z][a-z0-9]*"))
]
States = Different[State]
AllOrStates = Literal["all"] | States
Epsilons = Different[Positive]
Rhos = Different[Positive | Literal["published"]]
Rates = Different[Probability]


def find_local_file(config: Mapping) -> str | None:
    """Return the path of a local file of demonstration data, from the config or the environment."""
    return config["data"]["file"] or os.environ.get("NHGIS_PPDD_FILE") or None


def check_file(key: str, file: str | None, base: Path = Path()) -> None:
    """Raise ConfigError if a named file does not exist."""
    if file is not None and not (base / file).is_file():
        raise ConfigError(f"config: {key}: the file {file} does not exist; correct the path")


def read_known_states(config: Any, base: Path) -> list[str]:
    """List the states of the published counts."""
    return read_column(base / config.data.published, "usps")


def check_states(key: str, states: list[str], known: list[str]) -> None:
    """Raise ConfigError unless every state is known."""
    for position, state in enumerate(states):
        if state not in known:
            missing = f"config: {key}.{position}: {state!r} is not a known state"
            raise ConfigError(f"{missing}; choose from {' '.join(sorted(known))}")


def check_vintage(key: str, vintage: str, ledger: Path) -> None:
    """Raise ConfigError unless the ledger has the vintage."""
    vintages = read_column(ledger, "vintage")
    if vintage not in vintages:
        there = " ".join(vintages)
        raise ConfigError(
            f"config: {key}: {vintage!r} is not in {ledger.name}; choose from {there}"
        )


def read_column(path: Path, name: str) -> list[str]:
    """Return the distinct entries of one column of a csv, in their order."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(dict.fromkeys(row.get(name, "") for row in csv.DictReader(file)))
