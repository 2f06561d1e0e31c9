"""What the schema cannot tell of the settings of swapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError


def check(swapping: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless rates rise, margins fit each other and the file is there."""
    if swapping["rates"] != sorted(swapping["rates"]):
        raise ConfigError("config: swapping.rates: wanted: rates in rising order")
    for place, (counties, categories) in enumerate(swapping["tables"]):
        if sum(counties) != sum(categories):
            raise ConfigError(
                f"config: swapping.tables.{place}: the counties have {sum(counties)} records, the "
                f"categories {sum(categories)}"
            )
    path = swapping["households"]
    if path is not None and not Path(path).is_file():
        raise ConfigError(f"config: swapping.households: there is no file {path}")
