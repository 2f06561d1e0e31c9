"""Obtain the demonstration data: from a local file, from the ledger's address, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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

LEDGER = {  # each column of the ledger: the pattern of its cells, and its description in messages
    "dataset": (".+", "the name of the data"),
    "vintage": ("[0-9]{8}", "the date of the release as YYYYMMDD"),
    "file": ("[A-Za-z0-9][A-Za-z0-9._-]*", "the name of the file, without a folder"),
    "url": (
        r"https?://[^\s/@:?#]+(:[0-9]{1,5})?/\S+",
        "an http or https address without a user's name",
    ),
    "sha256": ("([0-9a-fA-F]{64})?", "64 hexadecimal digits, or blank if not recorded"),
    "population_column": (
        "H7V001|H72001",
        "H7V001 or H72001, the column of the total population without its suffix",
    ),
    "address_known_from": (".+", "the source of the address"),
    "note": (".*", "a note, or blank"),
}


@dataclass(frozen=True)
class Provenance:
    """The origin of the data of a run; the same on every machine for the same data.

    Attributes
    ----------
    source : str
        "local file", "download" or "published counts" (no demonstration data).
    file_name : str
        Name of the file without its folder; "" without demonstration data.
    address : str
        URL of a download; "" otherwise.
    sha256 : str
        Of the file on disk, zipped or not; "" without demonstration data.
    vintage : str
        Eight digits, "unknown", or "" without demonstration data.
    population_column : str
        "H7V001", "H72001" or "".
    das_available : bool
        Whether there are DAS errors.
    message : str
        The origin in one sentence, for the console and the captions.
    """

    source: str
    file_name: str
    address: str
    sha256: str
    vintage: str
    population_column: str
    das_available: bool
    message: str

    def as_dict(self) -> dict:
        """Attributes as a plain dict, for JSON."""
        return asdict(self)


def read_ledger(path) -> pd.DataFrame:
    """Read and check the ledger of addresses.

    Parameters
    ----------
    path : path-like
        A CSV file in UTF-8 with the columns of `LEDGER` and one row per vintage.

    Returns
    -------
    DataFrame
        All columns are text.

    Raises
    ------
    InputError
        If a column is missing or unknown, or a cell is wrong: the message names line and column.
    """
    place, rows = Path(path).name, read_cells(path)
    if {*rows} != {*LEDGER}:
        raise InputError(f"{place}: line 1: the columns must be {' '.join(LEDGER)}")
    for column, (pattern, description) in LEDGER.items():
        check_cells(
            rows[column],
            pattern,
            "is not valid",
            lambda line, column=column: f"{place}: line {line}: {column}",
            f"write {description}",
        )
    check_unique(rows["vintage"], "vintage:", place)
    return rows


def obtain(
    *,
    vintage: str,
    local_file,
    ledger: pd.DataFrame,
    cache,
    published: pd.DataFrame,
    timeout: tuple[float, float] = (5.0, 30.0),
    retries: int = 2,
) -> tuple[Demonstration | None, Provenance]:
    """Obtain the demonstration data and check them.

    A local file is used if one is given. Otherwise the file at the ledger's address is used, from
    the cache or by download. If the address does not answer, there are no demonstration data, and
    the provenance gives the reason. A file that is wrong is an error.

    Parameters
    ----------
    vintage : str
        The vintage to download, eight digits. A local file may have another vintage.
    local_file : path-like or None
        Zip or CSV.
    ledger : DataFrame
        From `read_ledger`.
    cache : path-like
        Folder of downloads; created if needed.
    published : DataFrame
        From `reproduction.data.published.read_published`.
    timeout : (float, float)
        Seconds to wait for a connection, and for data on it.
    retries : int
        Further attempts after a failed download.

    Returns
    -------
    demonstration : Demonstration or None
    provenance : Provenance

    Raises
    ------
    InputError
        If the local file is missing, a file is wrong (see `read_demonstration` and
        `check_demonstration`), a download does not match its row of the ledger, or the ledger does
        not have the vintage.
    """
    if local_file is not None:
        demonstration = read_demonstration(local_file)
        check_demonstration(demonstration, published)
        words = f"from the local file {demonstration.file_name}"
        if demonstration.vintage != vintage:
            words += f" (the configuration asks for vintage {vintage})"
        return demonstration, _provenance(demonstration, "local file", "", words)
    rows = ledger[ledger["vintage"] == vintage].to_dict("records")
    if not rows:
        known = " ".join(ledger["vintage"]) or "none"
        raise InputError(f"vintage {vintage}: the ledger has no address for it; it has {known}")
    (row,) = rows
    try:
        path = _download(row, cache, timeout, retries)
    except requests.RequestException as error:
        return None, _no_provenance(vintage, _reason(error, row["url"]))
    try:
        demonstration = read_demonstration(path)
        check_demonstration(demonstration, published)
        for column in ("vintage", "population_column"):
            found = getattr(demonstration, column)
            if found not in (row[column], UNKNOWN_VINTAGE):
                raise InputError(f"its {column} is {found}, the ledger has {row[column]}")
    except InputError as error:
        path.unlink(missing_ok=True)
        raise InputError(
            f"{row['url']}: the download is not the right file and was deleted; run again, or give "
            f"a local file: {error}"
        ) from error
    return demonstration, _provenance(
        demonstration, "download", row["url"], f"downloaded from {row['url']}"
    )


def file_obtained(provenance: Mapping, local_file, cache) -> Path | None:
    """Path of the demonstration data behind a provenance, or None where there are none."""
    if local_file is not None:
        return Path(local_file)
    return Path(cache) / provenance["file_name"] if provenance["address"] else None


def _download(row: Mapping, cache, timeout: tuple[float, float], retries: int) -> Path:
    """Return the path of a file in the cache, downloaded unless it is there with the right hash."""
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
            f"{row['url']}: the download has not the ledger's sha256 ({known_hash}) and was "
            f"deleted; run again, or correct the ledger"
        ) from error
    except OSError as error:
        raise InputError(
            f"{cache}: the download cannot be saved there ({error.strerror}); make the folder "
            f"writable or free some space"
        ) from error


def _reason(error: requests.RequestException, url: str) -> str:
    # the text of the error contains memory addresses, which differ from run to run
    host = urlsplit(url).hostname
    if error.response is not None:
        return f"{host} answered HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"{host} did not answer in time"
    return f"{host} could not be reached"


def _provenance(demonstration: Demonstration, source: str, url: str, words: str) -> Provenance:
    known = demonstration.vintage != UNKNOWN_VINTAGE
    vintage = f"vintage {demonstration.vintage}" if known else "unknown vintage"
    return Provenance(
        source=source,
        file_name=demonstration.file_name,
        address=url,
        sha256=demonstration.sha256,
        vintage=demonstration.vintage,
        population_column=demonstration.population_column,
        das_available=True,
        message=f"NHGIS demonstration data of {vintage} {words}.",
    )


def _no_provenance(vintage: str, reason: str) -> Provenance:
    message = (
        f"Published 2010 counts alone, without the errors of the Census DAS: the NHGIS "
        f"demonstration data of vintage {vintage} are not available ({reason}). You can download "
        f"them from {LANDING_PAGE}."
    )
    return Provenance("published counts", "", "", "", "", "", False, message)
