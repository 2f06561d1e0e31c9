"""Getting the demonstration data: from this disk, from the addresses on record, or not at all."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pandas as pd
import pooch
import requests

from isdp.errors import InputError
from reproduction.data.demonstration import (
    LANDING_PAGE,
    POPULATION_COLUMNS,
    UNKNOWN_VINTAGE,
    Demonstration,
    check_demonstration,
    decode_utf8,
    expected_population_column,
    plain,
    read_bytes,
    read_demonstration,
    shown,
    table_rows,
)

LEDGER_COLUMNS = (
    "dataset",
    "vintage",
    "file",
    "url",
    "sha256",
    "population_column",
    "address_known_from",
    "note",
)
LEDGER_BYTES = 10_000_000


@dataclass(frozen=True)
class Provenance:
    """Where the data of a run came from; the same on every machine for the same data.

    Attributes
    ----------
    source : str
        "local file", "download" or "published counts" (no demonstration data).
    file_name : str
        Name of the file without its folder; "" when there is none.
    address : str
        URL of a download; "" otherwise.
    sha256 : str
        Of the file as it came; "" when there is none.
    vintage : str
        Eight digits, "unknown", or "" when there are no demonstration data.
    population_column : str
        "H7V001", "H72001" or "".
    das_available : bool
        Whether there are DAS errors.
    message : str
        All this in a sentence, for the console and the captions.
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
        """Give the attributes as a plain dict, for JSON."""
        return asdict(self)


# -- the ledger -----------------------------------------------------------------------------------


def read_ledger(path) -> pd.DataFrame:
    """Read and check the ledger of addresses.

    Parameters
    ----------
    path : path-like
        A CSV file in UTF-8 with exactly the columns dataset, vintage, file, url, sha256,
        population_column, address_known_from and note; one row an address.

    Returns
    -------
    DataFrame
        These columns, all text, in the order of the file; sha256 in small letters, "" where it is
        not on record.

    Raises
    ------
    InputError
        If a column is missing or unknown, or a row is wrong: the message says which.
    """
    path = Path(path)
    place = path.name
    rows = table_rows(decode_utf8(read_bytes(path, LEDGER_BYTES), place), place)
    _, header = next(rows)
    if sorted(header) != sorted(LEDGER_COLUMNS):
        raise InputError(
            f"{place}: row 1: the columns are {' '.join(map(plain, header))}; wanted: "
            f"{' '.join(LEDGER_COLUMNS)}"
        )
    records, lines = [], {}
    for line, cells in rows:
        row = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
        problem = _ledger_problem(row)
        if not problem and row["url"] in lines:
            problem = f"url: {row['url']} stands on row {lines[row['url']]} already; remove one"
        if problem:
            raise InputError(f"{place}: row {line}: {problem}")
        lines[row["url"]] = line
        records.append(row | {"sha256": row["sha256"].lower()})
    return pd.DataFrame(records, columns=list(LEDGER_COLUMNS), dtype="str")


def _ledger_problem(row: dict[str, str]) -> str:
    """Say what is wrong with a row, or nothing."""
    if not row["dataset"]:
        return "dataset: empty; give the name of the data"
    if not re.fullmatch("[0-9]{8}", row["vintage"]):
        return f"vintage: {shown(row['vintage'])} is not eight digits (YYYYMMDD)"
    if not re.fullmatch(r"[^/\\]+", row["file"]):
        return f"file: {shown(row['file'])} is not a file name without a folder"
    if not _is_address(row["url"]):
        return f"url: {shown(row['url'])} is not an http or https address of a file"
    if not re.fullmatch("([0-9a-fA-F]{64})?", row["sha256"]):
        return f"sha256: {shown(row['sha256'])} is neither empty nor 64 hexadecimal digits"
    if row["population_column"] not in POPULATION_COLUMNS:
        wanted = " or ".join(POPULATION_COLUMNS)
        return f"population_column: {shown(row['population_column'])}; wanted: {wanted}"
    if row["population_column"] != expected_population_column(row["vintage"]):
        wanted = expected_population_column(row["vintage"])
        return f"population_column: vintage {row['vintage']} has {wanted}"
    if not row["address_known_from"]:
        return "address_known_from: empty; say how the address is known"
    return ""


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a port that is no number shows only here
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and parts.username is None  # the address goes into captions, a password must not
        and not re.search(r"\s", url)
        and bool(_file_of(url))
    )


def _file_of(url: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).name.lstrip(".")
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


# -- getting the data -----------------------------------------------------------------------------


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
    """Get the demonstration data from where they can be had, and check them.

    A local file is taken if one is named; else the addresses in the ledger are tried in their
    order, those already in the cache first. Where no address gives a file there are no
    demonstration data, and the provenance says why. A file that is there but wrong is an error.

    Parameters
    ----------
    vintage : str
        The vintage to download, eight digits. A local file goes by its own vintage.
    local_file : path-like or None
        Zip or CSV.
    ledger : DataFrame
        From `read_ledger`.
    cache : path-like
        Folder of downloads; made when needed.
    published : DataFrame
        From `reproduction.data.demonstration.read_published`.
    timeout : (float, float)
        Seconds to wait for a connection, and for data on it.
    retries : int
        Further attempts at an address that cannot be reached.

    Returns
    -------
    demonstration : Demonstration or None
    provenance : Provenance

    Raises
    ------
    InputError
        If the local file is missing, a file is wrong (see `read_demonstration` and
        `check_demonstration`; a download may also differ from the ledger in its hash, vintage or
        population column, and is removed from the cache), or the ledger has no such vintage.
    """
    if local_file is not None:
        demonstration = read_demonstration(local_file)
        check_demonstration(demonstration, published)
        return demonstration, _local_provenance(demonstration, vintage)
    addresses = ledger[ledger["vintage"] == vintage].to_dict("records")
    if not addresses:
        known = " ".join(dict.fromkeys(ledger["vintage"])) or "none"
        raise InputError(f"vintage {vintage}: the ledger has no address for it; it has {known}")
    cache = Path(cache)
    reasons = []
    for row in sorted(addresses, key=lambda row: not _cached(row["url"], cache).is_file()):
        try:
            path = _download(row, cache, timeout, retries)
        except requests.RequestException as error:
            reasons.append(_reason(error, row["url"]))
            continue
        demonstration = _checked_download(path, row, published)
        return demonstration, _download_provenance(demonstration, row)
    return None, _no_provenance(vintage, reasons)


def file_obtained(provenance: dict, local_file, cache) -> Path | None:
    """Path of the demonstration data behind a provenance, or None where there are none."""
    if local_file is not None:
        return Path(local_file)
    return _cached(provenance["address"], Path(cache)) if provenance["address"] else None


def _cached(url: str, cache: Path) -> Path:
    # two mirrors may call their file the same, but each has its own address
    return cache / f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{_file_of(url)[-100:]}"


def _download(row: dict, cache: Path, timeout: tuple[float, float], retries: int) -> Path:
    for attempt in range(retries + 1):
        try:
            return _retrieve(row, cache, timeout)
        except requests.RequestException as error:
            if attempt == retries or not _may_pass(error):
                raise
            time.sleep(attempt + 1)
    raise ValueError(f"retries must not be negative: {retries}")


def _retrieve(row: dict, cache: Path, timeout: tuple[float, float]) -> Path:
    path = _cached(row["url"], cache)
    try:
        with _quiet(pooch.get_logger()):
            pooch.retrieve(
                row["url"],
                known_hash=f"sha256:{row['sha256']}" if row["sha256"] else None,
                fname=path.name,
                path=cache,
                downloader=pooch.HTTPDownloader(timeout=timeout),
            )
    except requests.RequestException:
        raise
    except ValueError as error:  # pooch has deleted the file
        raise InputError(
            f"{row['url']}: gave a file whose sha256 is not the one in the ledger, "
            f"{row['sha256']}; it was not kept: run again, or correct the ledger"
        ) from error
    except OSError as error:
        raise InputError(
            f"{cache}: the download cannot be kept there ({error.strerror}); make the folder "
            f"writable or free some space"
        ) from error
    return path


def _may_pass(error: requests.RequestException) -> bool:
    """Whether another attempt may do better: a refusal by the server will stand."""
    response = error.response
    return response is None or response.status_code >= 500 or response.status_code in (408, 429)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    # pooch's logger stands outside the hierarchy, so that a change of its level may be overlooked
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _checked_download(path: Path, row: dict, published: pd.DataFrame) -> Demonstration:
    try:
        demonstration = read_demonstration(path)
        check_demonstration(demonstration, published)
        _check_against_ledger(demonstration, row)
    except InputError as error:
        path.unlink(missing_ok=True)
        raise InputError(
            f"{row['url']}: gave a wrong file, which was removed from the cache; run again, or "
            f"give a local file: {error}"
        ) from error
    return replace(demonstration, file_name=_file_of(row["url"]))


def _check_against_ledger(demonstration: Demonstration, row: dict) -> None:
    if demonstration.vintage not in (row["vintage"], UNKNOWN_VINTAGE):
        raise InputError(
            f"{demonstration.file_name}: is of vintage {demonstration.vintage}, but the ledger "
            f"says {row['vintage']}; correct the ledger"
        )
    if demonstration.population_column != row["population_column"]:
        raise InputError(
            f"{demonstration.file_name}: has the column {demonstration.population_column}, but the "
            f"ledger says {row['population_column']}; correct the ledger"
        )


def _reason(error: requests.RequestException, url: str) -> str:
    # the text of the error itself holds addresses in memory, which differ from run to run
    host = urlsplit(url).hostname
    if error.response is not None:
        return f"{host} answered HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"{host} did not answer in time"
    return f"{host} could not be reached"


def _vintage_words(demonstration: Demonstration) -> str:
    if demonstration.vintage == UNKNOWN_VINTAGE:
        return "unknown vintage (no file name tells it)"
    return f"vintage {demonstration.vintage}"


def _local_provenance(demonstration: Demonstration, vintage: str) -> Provenance:
    asked = ""
    if demonstration.vintage != vintage:
        asked = f", which stands in for the vintage asked for, {vintage}"
    message = (
        f"NHGIS demonstration data of {_vintage_words(demonstration)} from the local file "
        f"{demonstration.file_name}{asked}."
    )
    return _provenance("local file", demonstration, "", message)


def _download_provenance(demonstration: Demonstration, row: dict) -> Provenance:
    words = _vintage_words(demonstration)
    message = f"NHGIS demonstration data of {words}, downloaded from {row['url']}."
    return _provenance("download", demonstration, row["url"], message)


def _provenance(
    source: str, demonstration: Demonstration, address: str, message: str
) -> Provenance:
    return Provenance(
        source=source,
        file_name=demonstration.file_name,
        address=address,
        sha256=demonstration.sha256,
        vintage=demonstration.vintage,
        population_column=demonstration.population_column,
        das_available=True,
        message=message,
    )


def _no_provenance(vintage: str, reasons: list[str]) -> Provenance:
    message = (
        f"Published 2010 counts alone, without the errors of the Census DAS: the NHGIS "
        f"demonstration data of vintage {vintage} could not be had "
        f"({'; '.join(dict.fromkeys(reasons))}; by hand: {LANDING_PAGE})."
    )
    return Provenance("published counts", "", "", "", "", "", False, message)
