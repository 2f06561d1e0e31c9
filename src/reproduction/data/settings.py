"""What the schema cannot tell of the block `data`: which files and vintages there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError, check_vintage, local_file


def check(data: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the files are there and the ledger has the vintage."""
    for key in ("ledger", "published"):
        if not (base / data[key]).is_file():
            raise ConfigError(f"config: data.{key}: there is no file {data[key]}")
    check_vintage("data.vintage", data["vintage"], base / data["ledger"])
    file = local_file(config)
    if file and not Path(file).is_file():
        raise ConfigError(
            f"config: data.file (or NHGIS_PPDD_FILE): there is no file {file}; give the path of "
            f"the downloaded zip or csv, or leave it out"
        )
