"""Files of noise with its invariants and the settings of its sampler."""

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
        The names of the cells.
    settings : dict
        The settings of the sampler, as JSON values.
    """

    noise: np.ndarray
    invariants: Invariants
    cells: list[str]
    settings: dict = field(default_factory=dict)

    def noise_of(self, cells: Sequence[str]) -> np.ndarray:
        """Return the noise with its cells in the given order.

        Raise `InputError` if `cells` does not contain each cell of the draws exactly once.
        """
        index = {name: i for i, name in enumerate(self.cells)}
        if len(index) != len(self.cells) or sorted(index) != sorted(cells):
            other = " ".join(sorted(set(index) ^ set(cells))[:5]) or "a repeated name"
            raise InputError(
                f"draws: the names of the cells differ ({other}). Draw the noise again"
            )
        return np.take(self.noise, [index[name] for name in cells], axis=-1)


def write_draws(path, draws: Draws) -> None:
    """Write draws as a compressed netCDF file with h5netcdf."""
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
    """Read a file of `write_draws`."""
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
