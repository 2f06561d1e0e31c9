import numpy as np
import pytest

from isdp import Invariants
from isdp.io.draws import Draws, read_draws, verification_table, write_draws


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


def test_verification_finds_a_draw_that_breaks_an_invariant(tmp_path, draws):
    write_draws(tmp_path / "good.nc", draws)
    noise = draws.noise.copy()
    noise[0, 1, 0] += 1
    write_draws(tmp_path / "bad.nc", Draws(noise, draws.invariants, draws.cells))
    table = verification_table([tmp_path / "good.nc", tmp_path / "bad.nc"])
    assert table["draws_of"].tolist() == ["good", "bad"]
    assert table["draws"].tolist() == [6, 6]
    assert table["violations"].tolist() == [0, 1]
