"""Obtain the demonstration data from a local file, the cache, or the address in the ledger."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pooch
import requests

from isdp.errors import InputError
from isdp.io.csv_files import check_cells, check_unique, read_cells
from reproduction.data.demonstration import (
    LANDING_PAGE,
    UNKNOWN_VINTAGE,
    Demonstration,
    check_demonstration,
    read_demonstration,
)

LEDGER_COLUMNS = {  # each column with the regular expression that its cells match
    "dataset": ".+",
    "vintage": "[0-9]{8}",
    "file": "[A-Za-z0-9][A-Za-z0-9._-]*",
    "url": r"https?://[^\s/@:?#]+(:[0-9]{1,5})?/\S+",
    "sha256": "([0-9a-fA-F]{64})?",
    "population_column": "H7V001|H72001",
    "address_known_from": ".+",
    "note": ".*",
}


def read_ledger(path) -> pd.DataFrame:
    """Read the ledger of addresses, which has one row per vintage. All columns contain strings."""
    place, rows = Path(path).name, read_cells(path)
    if {*rows} != {*LEDGER_COLUMNS}:
        raise InputError(f"{place}: line 1: the columns must be {' '.join(LEDGER_COLUMNS)}.")
    for column, pattern in LEDGER_COLUMNS.items():
        where = (f"{place}: line {{}}: {column}").format
        check_cells(rows[column], pattern, "is not valid", where, f"It must match {pattern}.")
    check_unique(rows["vintage"], "vintage:", place)
    return rows


def obtain_demonstration(
    *,
    vintage: str,
    local_file,
    ledger: pd.DataFrame,
    cache,
    published: pd.DataFrame,
    timeout: tuple[float, float] = (5.0, 30.0),
    retries: int = 2,
) -> tuple[Demonstration | None, dict]:
    """Obtain the demonstration data, check them, and return them with their provenance.

    A local file takes precedence and may have another vintage. Without a local file, the data come
    from the cache or, by download, from the address in the ledger. If the address does not answer,
    the function returns None instead of data, and the provenance states the reason.
    The folder `cache` is created if it does not exist. `timeout` gives the seconds to wait for a
    connection and the seconds to wait for data. `retries` is the number of further
    attempts after a failed download. Raises InputError if the ledger lacks the vintage, a file is
    incorrect, or the download cannot be saved.

    The provenance does not depend on the machine. Its keys are `source` ("local file", "download"
    or "published counts"), `address`, `das_available` and `message` (a sentence on the origin). It
    also contains the attributes of the data, which are "" if there are no data.
    """
    if local_file is not None:
        demonstration = read_demonstration(local_file)
        check_demonstration(demonstration, published)
        words = f"from the local file {demonstration.file_name}"
        if demonstration.vintage != vintage:
            words += f" (the configuration asks for vintage {vintage})"
        return demonstration, _provenance("local file", words, demonstration)
    rows = ledger[ledger["vintage"] == vintage].to_dict("records")
    if not rows:
        known = " ".join(ledger["vintage"]) or "none"
        raise InputError(f"vintage: {vintage} is not in the ledger. Choose from {known}.")
    (row,) = rows
    url = row["url"]
    try:
        path = _download(row, cache, timeout, retries)
    except requests.RequestException as error:
        return None, _provenance(
            "published counts",
            f"Published 2010 counts alone, without the errors of the Census DAS: the NHGIS "
            f"demonstration data of vintage {vintage} are not available ({_reason(error, url)}). "
            f"You can download them from {LANDING_PAGE}.",
        )
    try:
        demonstration = read_demonstration(path)
        check_demonstration(demonstration, published)
        for column in ("vintage", "population_column"):
            found = getattr(demonstration, column)
            if found not in (row[column], UNKNOWN_VINTAGE):
                raise InputError(f"{column} is {found} in the file and {row[column]} in the ledger")
    except InputError as error:
        path.unlink(missing_ok=True)
        raise InputError(
            f"{url}: the downloaded file is incorrect and was deleted. Run again, or give a local "
            f"file. Cause: {error}"
        ) from error
    return demonstration, _provenance("download", f"downloaded from {url}", demonstration, url)


def _download(row: Mapping, cache, timeout: tuple[float, float], retries: int) -> Path:
    known_hash = row["sha256"].lower() or None
    downloads = pooch.create(
        path=cache,
        base_url="",
        registry={row["file"]: known_hash},
        urls={row["file"]: row["url"]},
        retry_if_failed=retries,
    )
    pooch.get_logger().setLevel("WARNING")
    try:
        return Path(downloads.fetch(row["file"], downloader=pooch.HTTPDownloader(timeout=timeout)))
    except requests.RequestException:
        raise
    except ValueError as error:  # pooch has deleted the file
        raise InputError(
            f"{row['url']}: the downloaded file does not have the sha256 {known_hash} of the "
            f"ledger, and was deleted. Run again, or correct the ledger."
        ) from error
    except OSError as error:
        raise InputError(
            f"{cache}: the download cannot be saved ({error.strerror}). Make the folder writable, "
            f"or free disk space."
        ) from error


def _reason(error: requests.RequestException, url: str) -> str:
    # the message of the error contains memory addresses, which differ between runs
    host = urlsplit(url).hostname
    if error.response is not None:
        return f"{host} answered HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"{host} did not answer in time"
    return f"{host} could not be reached"


def _provenance(
    source: str, words: str, demonstration: Demonstration | None = None, address: str = ""
) -> dict:
    own = dict.fromkeys(("file_name", "sha256", "vintage", "population_column"), "")
    if demonstration is not None:
        own = {name: getattr(demonstration, name) for name in own}
        known = own["vintage"] != UNKNOWN_VINTAGE
        vintage = f"vintage {own['vintage']}" if known else "unknown vintage"
        words = f"NHGIS demonstration data of {vintage} {words}."
    available = {"das_available": demonstration is not None}
    return {"source": source, "address": address, **own, **available, "message": words}
