"""Base class, types of values, and checks for the models of the configuration.

The module `settings` of each study describes its block of the configuration by a subclass of
`Block`. This class gives the meaning, the source and the valid values of each key. A method `check`
performs the checks that need a file or another block. `reproduction.config.model` combines the
blocks.
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
BOTH = "paper and ours"  # comments in config.yaml give the source of each entry


class ConfigError(Exception):
    """Error of an invalid configuration, with a message of one line."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))


def setting(description: str, source: str = "", **limits) -> Any:
    """Describe a key of the configuration.

    `source` is the source of the value in config.yaml, such as `PAPER`. It is empty for blocks,
    paths and choices of a run. `limits`, such as `ge=1`, are arguments of `pydantic.Field`.
    """
    return Field(description=description, json_schema_extra={"source": source}, **limits)


class Block(BaseModel):
    """Base class of all blocks of the configuration, which refuses unknown keys."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    # shown in config/README.md instead of a name that users choose
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
    return f"unknown key {key}{meant}. The known keys are {_list(known)}."


def _list(keys: Collection[str]) -> str:
    return ("; " if any(" " in key for key in keys) else ", ").join(keys)


def requirement(wanted: str, fits: Callable[[Any], Any], kind: type = AfterValidator) -> Any:
    """Return a validator for which a value `fits`. The error says that it must be `wanted`."""

    def check(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"must be {wanted}")
        return value

    return kind(check)


def _matches(pattern: str) -> Callable[[Any], Any]:
    return lambda text: isinstance(text, str) and re.fullmatch(pattern, text)


_DIFFERENT = requirement(
    "a list of different entries",
    lambda values: all(value not in values[:index] for index, value in enumerate(values)),
)
Entry = TypeVar("Entry")
Different = Annotated[list[Entry], Field(min_length=1), _DIFFERENT]
TwoDifferent = Annotated[list[Entry], Field(min_length=2), _DIFFERENT]
Positive = Annotated[float, Field(gt=0)]
Probability = Annotated[float, requirement("between 0 and 1, both excluded", lambda x: 0 < x < 1)]
Whole = Annotated[int, Field(ge=1)]
TwoOrMore = Annotated[int, Field(ge=2)]
Pair = Annotated[list[Entry], Field(min_length=2, max_length=2)]
Chains = Annotated[
    int, requirement("from 2 to 100, as R-hat compares chains", lambda n: 2 <= n <= 100)
]
Norm = Literal["l1", "l2"]
Basis = Literal["smith", "lll"]
Acceptance = Literal["coordinate", "joint"]
PathText = Annotated[str, Field(min_length=1)]
State = Annotated[str, requirement("a two-letter state such as IL", _matches("[A-Z]{2}"))]
Vintage = Annotated[
    str,
    requirement(
        'eight digits in quotes, such as "20201116"', _matches("[0-9]{8}"), BeforeValidator
    ),
]
Name = Annotated[
    str,
    requirement("lower-case letters and digits, with a letter first", _matches("[a-z][a-z0-9]*")),
]
SweepName = Annotated[
    str,
    requirement(
        "lower-case letters, digits and hyphens, with a letter first",
        _matches("[a-z][a-z0-9-]{0,40}"),
    ),
]
States = Different[State]
AllOrStates = Literal["all"] | States
Epsilons = Different[Positive]
Rhos = Different[Positive | Literal["published"]]
Rates = Different[Probability]


def find_local_file(config: Mapping) -> str | None:
    """Return the path of the local file of demonstration data, or None if none is given."""
    return config["data"]["file"] or os.environ.get("NHGIS_PPDD_FILE") or None


def check_file(key: str, file: str | None, base: Path = Path()) -> None:
    """Raise ConfigError if the file of a key does not exist."""
    if file is not None and not (base / file).is_file():
        raise ConfigError(f"config: {key}: the file {file} does not exist. Correct the path.")


def read_known_states(config: Any, base: Path) -> list[str]:
    """List the states of the published counts."""
    return read_column(base / config.data.published, "usps")


def check_states(key: str, states: list[str], known: list[str]) -> None:
    """Raise ConfigError if a state is not in the list `known`."""
    for position, state in enumerate(states):
        if state not in known:
            missing = f"config: {key}.{position}: {state!r} is not a known state"
            raise ConfigError(f"{missing}. Choose from {' '.join(sorted(known))}.")


def check_vintage(key: str, vintage: str, ledger: Path) -> None:
    """Raise ConfigError if the ledger lacks the vintage."""
    vintages = read_column(ledger, "vintage")
    if vintage not in vintages:
        there = " ".join(vintages)
        raise ConfigError(
            f"config: {key}: {vintage!r} is not in {ledger.name}. Choose from {there}."
        )


def read_column(path: Path, name: str) -> list[str]:
    """Return the distinct entries of one column of a CSV file, in their order."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(dict.fromkeys(row.get(name, "") for row in csv.DictReader(file)))
