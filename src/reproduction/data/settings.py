"""The block `data` of the configuration: files and vintages."""

from pathlib import Path
from typing import Any

from reproduction.jobs.settings import (
    PAPER,
    Block,
    ConfigError,
    PathText,
    Vintage,
    check_file,
    check_vintage,
    find_local_file,
    setting,
)


class DataSettings(Block):
    """The files of counts."""

    vintage: Vintage = setting(
        "The vintage of the demonstration data to download: eight digits in quotes.", PAPER
    )
    file: PathText | None = setting(
        "The zip or CSV file to use instead of a download, or `null`. The environment variable "
        "`NHGIS_PPDD_FILE` has the same effect."
    )
    ledger: PathText = setting("The table of addresses, with one row per vintage.")
    published: PathText = setting(
        "The published 2010 counts, which the experiments use as confidential counts."
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a file does not exist, or if the ledger lacks the vintage."""
        check_file("data.ledger", self.ledger, base)
        check_file("data.published", self.published, base)
        check_vintage("data.vintage", self.vintage, base / self.ledger)
        file = find_local_file({"data": {"file": self.file}})
        if file and not Path(file).is_file():
            raise ConfigError(
                f"config: data.file (or NHGIS_PPDD_FILE): the file {file} does not exist. Give the "
                f"path of the downloaded zip or CSV file, or remove the setting."
            )
