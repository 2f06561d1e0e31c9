"""Draws on disk: noise together with the invariants it must meet and how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.sparse import coo_array

from isdp.constraints.invariants import Invariants
from isdp.io.files import whole


@dataclass(frozen=True)
class Draws:
    """Noise with its invariants.

    Attributes
    ----------
    noise : int64 array, shape (chain, draw, cell)
    invariants : Invariants
    cells : list of str
        A name for each cell.
    settings : dict
        How the noise was made; must be JSON.
    """

    noise: np.ndarray
    invariants: Invariants
    cells: list[str]
    settings: dict = field(default_factory=dict)


def write_draws(path, draws: Draws) -> None:
    """Write draws as netCDF (through h5netcdf), compressed."""
    matrix = draws.invariants.sparse.tocoo()
    data = xr.Dataset(
        {
            "noise": (("chain", "draw", "cell"), np.asarray(draws.noise, dtype=np.int64)),
            "invariant_row": ("entry", matrix.coords[0].astype(np.int64)),
            "invariant_cell": ("entry", matrix.coords[1].astype(np.int64)),
            "invariant_value": ("entry", matrix.data),
            "invariant_name": ("invariant", np.array(draws.invariants.names, dtype=object)),
        },
        coords={"cell": np.array(draws.cells, dtype=object)},
        attrs={"settings": json.dumps(draws.settings, sort_keys=True)},
    )
    with whole(path) as temporary:
        data.to_netcdf(temporary, engine="h5netcdf", encoding={"noise": {"zlib": True}})


def read_draws(path) -> Draws:
    """Read draws that `write_draws` wrote."""
    with xr.open_dataset(path, engine="h5netcdf") as data:
        data.load()
    names = [str(name) for name in data["invariant_name"].values]
    entries = (
        data["invariant_value"].values,
        (data["invariant_row"].values, data["invariant_cell"].values),
    )
    matrix = coo_array(entries, shape=(len(names), data.sizes["cell"]), dtype=np.int64)
    return Draws(
        noise=data["noise"].values,
        invariants=Invariants(matrix, names),
        cells=[str(cell) for cell in data["cell"].values],
        settings=json.loads(data.attrs["settings"]),
    )


def verification_table(paths: Iterable) -> pd.DataFrame:
    """Check A u = 0 once more, in exact integers, for every draw of every file.

    Returns
    -------
    DataFrame with columns draws_of (the file's name), constraints, cells, draws and violations
        (draws in which some invariant is not met)
    """
    rows = []
    for path in paths:
        draws = read_draws(path)
        values = draws.invariants.apply(draws.noise)
        rows.append(
            {
                "draws_of": Path(path).stem,
                "constraints": draws.invariants.constraints,
                "cells": draws.invariants.cells,
                "draws": int(np.prod(draws.noise.shape[:-1])),
                "violations": int(values.any(axis=-1).sum()),
            }
        )
    return pd.DataFrame(rows)
