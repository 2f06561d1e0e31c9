"""Draws on disk: noise together with the invariants it must meet and how it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.io.files import write_atomically


@dataclass(frozen=True)
class Draws:
    """Noise with its invariants.

    Attributes
    ----------
    noise : int64 array, shape (chain, draw, cell)
    cells : list of str
        A name for each cell.
    settings : dict
        How the noise was made; must be JSON.
    """

    noise: np.ndarray
    invariants: Invariants
    cells: list[str]
    settings: dict = field(default_factory=dict)

    def noise_of(self, cells: Sequence[str]) -> np.ndarray:
        """Take the noise of the named cells, in the order asked for.

        Returns
        -------
        int64 array, shape (chain, draw, cell)

        Raises
        ------
        InputError
            If the draws are not of these very cells.
        """
        place = {name: i for i, name in enumerate(self.cells)}
        if len(place) != len(self.cells) or sorted(place) != sorted(cells):
            other = sorted(set(place) ^ set(cells))
            raise InputError(
                f"draws: their cells are not those asked for: {' '.join(other[:5]) or 'one twice'}"
            )
        return np.take(self.noise, [place[name] for name in cells], axis=-1)


def write_draws(path, draws: Draws) -> None:
    """Write draws as netCDF (through h5netcdf), compressed."""
    import xarray

    matrix = draws.invariants.sparse.tocoo()
    data = xarray.Dataset(
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
    with write_atomically(path) as temporary:
        data.to_netcdf(temporary, engine="h5netcdf", encoding={"noise": {"zlib": True}})


def read_draws(path) -> Draws:
    """Read draws that `write_draws` wrote."""
    import xarray

    with xarray.open_dataset(path, engine="h5netcdf") as data:
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
