import json

import numpy as np
import pytest

from isdp import Invariants
from isdp.errors import InputError
from isdp.io.draws import Draws, as_dataset, as_inference_data, read_draws, write_draws


@pytest.fixture
def draws():
    invariants = Invariants.partition(["a", "b", "a", None, "b"])
    noise = np.zeros((2, 3, 5), dtype=np.int64)
    noise[1, 2] = [2**40, 3, -(2**40), -7, -3]
    return Draws(noise, invariants, ["p", "q", "r", "s", "t"], {"epsilon": 0.25})


def test_draws_come_back_with_their_invariants(tmp_path, draws):
    write_draws(tmp_path / "d.nc", draws)
    back = read_draws(tmp_path / "d.nc")
    assert back.noise.dtype == np.int64
    assert (back.noise == draws.noise).all()
    assert back.invariants == draws.invariants
    assert back.cells == draws.cells
    assert back.settings == draws.settings


def test_noise_is_joined_to_cells_by_name_and_never_by_place(draws):
    assert (draws.noise_of(["t", "p", "q", "r", "s"])[1, 2] == [-3, 2**40, 3, -(2**40), -7]).all()
    for cells in (["p", "q", "r", "s"], ["p", "q", "r", "s", "u"], ["p", "q", "r", "s", "s"]):
        with pytest.raises(InputError, match="not those asked for"):
            draws.noise_of(cells)


def test_draws_are_datasets_with_named_cells():
    import arviz  # takes half a second, also of those who run other tests

    noise = np.arange(24).reshape(2, 4, 3)
    draws = Draws(noise, Invariants.total(3), ["a", "b", "c"], {"epsilon": 0.25})
    data = as_dataset(draws)
    assert data["noise"].sel(cell="b").values.tolist() == noise[:, :, 1].tolist()
    assert json.loads(data.attrs["settings"]) == {"epsilon": 0.25}
    inference = as_inference_data(draws)
    assert set(arviz.summary(inference).index) == {"noise[a]", "noise[b]", "noise[c]"}
