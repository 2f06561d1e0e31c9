"""The description of the tables of a release as a Frictionless Data Package, version 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from isdp.io.csv_files import Column
from isdp.io.tables import is_parquet

PROFILES = "https://datapackage.org/profiles/2.0"
MEDIA_TYPES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
TABLES = {
    "noisy": "The table with noisy counts. A count may be negative.",
    "nonnegative": "The nearest table to the noisy table without negative counts. It is biased.",
    "totals": "The exact totals.",
    "margins": "The margins of error of cells and sums.",
    "margins_full": "The margins of error with their methods, errors and probabilities.",
    "levels": "The levels of the noise, with their shares of the budget and their errors.",
    "released": "The released counts of all levels.",
    "measurements": "The noisy measurements, which are unbiased.",
    "budget": "The privacy loss of each measured query.",
    "swapped": "The swapped records, sorted by their columns.",
}
FIELDS = {
    "totals.name": "the total, by its columns and values",
    "totals.total": "persons",
    "margins.name": "the sum, or the cells with the same noise",
    "margins.cells": "number of cells",
    "margins.sd": "standard deviation of the noise, in persons",
    "margins.limit_95": "persons; the noise is at most this number in either direction with a "
    "probability of 95 % or more",
    "margins.how": "exact, bound, simulated or unknown",
    "released.level": "the level of the region",
    "released.region": "the name of the region",
    "released.margin_simulated": "simulated margin of error of the count, in persons",
    "measurements.measured": "noisy count, in persons",
    "measurements.variance": "variance of the noise, or an upper bound",
}
KEYS = {
    "totals": ["name"],
    "measurements": ["level", "region", "query", "answer"],
    "budget": ["level", "query"],
}


def data_package(
    certificate: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    digests: Mapping[str, str],
    *,
    counts: str | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the content of `datapackage.json`. The publisher adds the license.

    Parameters
    ----------
    certificate : mapping
        The content of `certificate.json`.
    tables : mapping from file name to columns
        The tables of the release, as for `isdp.io.output_folder.OutputFolder.write`.
    digests : mapping from file name to str
        The SHA-256 digest of each table.
    counts : str, optional
        The column of released counts.
    keys : mapping from the name of a table to columns, optional
        The columns whose values together identify a row.
    """
    all_keys = KEYS | {name: list(columns) for name, columns in (keys or {}).items()}
    command = certificate["made_by"]
    mark = "" if certificate["for_release"] else f"{certificate['status']}. "
    return {
        "$schema": f"{PROFILES}/datapackage.json",
        "name": command.replace(" ", "-"),
        "title": f"{mark}Tables released by {command}",
        "description": " ".join(certificate["summary"].values()),
        "created": certificate["date"],
        "resources": [
            _resource(file, columns, digests[file], counts, all_keys)
            for file, columns in tables.items()
        ],
    }


def _resource(
    file: str,
    columns: Mapping[str, Any],
    digest: str,
    counts: str | None,
    keys: Mapping[str, list[str]],
) -> dict[str, Any]:
    name, form = PurePath(file).stem, PurePath(file).suffix[1:]
    schema: dict[str, Any] = {
        "fields": [_field(file, key, columns[key], counts) for key in columns]
    }
    if name in keys:
        schema["primaryKey"] = keys[name]
    return {
        "$schema": f"{PROFILES}/dataresource.json",
        "name": name,
        "path": file,
        "type": "table",
        "format": form,
        "mediatype": MEDIA_TYPES[form],
        **({} if is_parquet(file) else {"encoding": "utf-8"}),
        "description": TABLES[name],
        "hash": f"sha256:{digest}",
        "schema": schema,
    }


def _field(file: str, name: str, values: Any, counts: str | None) -> dict[str, str]:
    field = {"name": name, "type": _type(file, values)}
    words = "persons" if name == counts else FIELDS.get(f"{PurePath(file).stem}.{name}")
    return field | ({"description": words} if words else {})


def _type(file: str, values: Any) -> str:
    if isinstance(values, Column):
        # a column of a Parquet file may have another type than string
        return "any" if is_parquet(file) else "string"
    if pd.api.types.is_integer_dtype(values.dtype):
        return "integer"
    return "number" if pd.api.types.is_float_dtype(values.dtype) else "string"
