"""Getting the demonstration data: from this disk, from the addresses on record, or not at all."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pandas as pd
import pooch
import requests

from isdp.errors import InputError
from isdp.io.counts import check_unique, quoted, read_cells
from reproduction.data.demonstration import (
    LANDING_PAGE,
    UNKNOWN_VINTAGE,
    Demonstration,
    check_demonstration,
    expected_population_column,
    read_demonstration,
)
from reproduction.data.obtained import cached, file_of
from reproduction.running.yaml_files import read_yaml


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
        """Attributes as a plain dict, for JSON."""
        return asdict(self)


def read_ledger(path, schema) -> pd.DataFrame:
    """Read and check the ledger of addresses.

    Parameters
    ----------
    path : path-like
        A CSV file in UTF-8; one row an address.
    schema : path-like
        JSON schema of a row, in YAML; it names the columns.

    Returns
    -------
    DataFrame
        The schema's columns, all text, in the order of the file; sha256 in small letters, ""
        where it is not on record.

    Raises
    ------
    InputError
        If a column is missing or unknown, or a row is wrong: the message says which.
    """
    place = Path(path).name
    rules = read_yaml(schema)
    rows = read_cells(path)
    if {*rows} != {*rules["required"]}:
        raise InputError(
            f"{place}: line 1: the columns are {' '.join(rows)}; wanted: "
            f"{' '.join(rules['required'])}"
        )
    validator = jsonschema.Draft202012Validator(rules)
    for line, row in rows.iterrows():
        for problem in validator.iter_errors(row.to_dict()):
            (column,) = problem.absolute_path
            raise InputError(
                f"{place}: line {line}: {column}: {quoted(row[column])} will not do; wanted: "
                f"{problem.schema['description']}"
            )
        if row["population_column"] != expected_population_column(row["vintage"]):
            raise InputError(
                f"{place}: line {line}: population_column: vintage {row['vintage']} has "
                f"{expected_population_column(row['vintage'])}"
            )
    check_unique(rows["url"], "url:", place)
    rows = rows[rules["required"]].astype("str").reset_index(drop=True)
    return rows.assign(sha256=rows["sha256"].str.lower())


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
        From `reproduction.data.published.read_published`.
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
        words = f"of {_vintage_words(demonstration)} from the local file {demonstration.file_name}"
        if demonstration.vintage != vintage:
            words += f", which stands in for the vintage asked for, {vintage}"
        return demonstration, _provenance("local file", demonstration, "", words)
    addresses = ledger[ledger["vintage"] == vintage].to_dict("records")
    if not addresses:
        known = " ".join(dict.fromkeys(ledger["vintage"])) or "none"
        raise InputError(f"vintage {vintage}: the ledger has no address for it; it has {known}")
    names = {row["url"]: cached(row["url"]) for row in addresses}
    downloads = pooch.create(
        path=cache,
        base_url="",
        registry={
            names[row["url"]]: f"sha256:{row['sha256']}" if row["sha256"] else None
            for row in addresses
        },
        urls={name: url for url, name in names.items()},
        retry_if_failed=retries,
    )
    reasons = []
    for row in sorted(addresses, key=lambda row: not (Path(cache) / names[row["url"]]).is_file()):
        try:
            path = _download(downloads, names[row["url"]], row, timeout)
        except requests.RequestException as error:
            reasons.append(_reason(error, row["url"]))
            continue
        demonstration = _checked_download(path, row, published)
        words = f"of {_vintage_words(demonstration)}, downloaded from {row['url']}"
        return demonstration, _provenance("download", demonstration, row["url"], words)
    return None, _no_provenance(vintage, reasons)


def _download(downloads: pooch.Pooch, name: str, row: dict, timeout: tuple[float, float]) -> Path:
    """Download a file, unless the cache holds it as it is on record; return where it is."""
    try:
        with _quiet(pooch.get_logger()):
            return Path(downloads.fetch(name, downloader=pooch.HTTPDownloader(timeout=timeout)))
    except requests.RequestException:
        raise
    except ValueError as error:  # pooch has deleted the file
        raise InputError(
            f"{row['url']}: gave a file whose sha256 is not the one in the ledger, "
            f"{row['sha256']}; it was not kept: run again, or correct the ledger"
        ) from error
    except OSError as error:
        raise InputError(
            f"{downloads.path}: the download cannot be kept there ({error.strerror}); make the "
            f"folder writable or free some space"
        ) from error


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
    return replace(demonstration, file_name=file_of(row["url"]))


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


def _provenance(source: str, demonstration: Demonstration, address: str, words: str) -> Provenance:
    return Provenance(
        source=source,
        file_name=demonstration.file_name,
        address=address,
        sha256=demonstration.sha256,
        vintage=demonstration.vintage,
        population_column=demonstration.population_column,
        das_available=True,
        message=f"NHGIS demonstration data {words}.",
    )


def _no_provenance(vintage: str, reasons: list[str]) -> Provenance:
    message = (
        f"Published 2010 counts alone, without the errors of the Census DAS: the NHGIS "
        f"demonstration data of vintage {vintage} could not be had "
        f"({'; '.join(dict.fromkeys(reasons))}; by hand: {LANDING_PAGE})."
    )
    return Provenance("published counts", "", "", "", "", "", False, message)
