import numpy as np
import pytest

from isdp import Invariants
from isdp.errors import InputError
from isdp.io.draws import Draws, read_draws, write_draws


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
        with pytest.raises(InputError, match="cells"):
            draws.noise_of(cells)
