import numpy as np

from isdp import Invariants
from isdp.io.draws import Draws, write_draws
from reproduction.jobs.draws import label_draws, read_draws_by, verify_draws


def kept(path, law, noise=0, experiment="table"):
    draws = Draws(np.full((2, 3, 2), [noise, -noise]), Invariants.total(2), ["p", "q"], {"thin": 4})
    names = {"study": "lattices", "experiment": experiment, "law": law, "sampler": "mcmc"}
    write_draws(path, label_draws(draws, **names, mechanism={"epsilon": 0.25}))
    return path


def test_draws_are_told_apart_by_the_law_that_they_name(tmp_path):
    paths = [kept(tmp_path / "one.nc", "l2", 2), kept(tmp_path / "two.nc", "l1", 1)]
    read = read_draws_by("law", paths)
    assert [draws.noise.max() for draws in (read["l1"], read["l2"])] == [1, 2]
    settings = {"wing": "lattices", "experiment": "table", "law": "l1", "unit": ""}
    assert read["l1"].settings == settings | {
        "sampler": "mcmc",
        "thin": 4,
        "mechanism": {"epsilon": 0.25},
    }


def test_verification_finds_a_draw_that_breaks_an_invariant(tmp_path):
    good = kept(tmp_path / "good.nc", "l1", 3)
    noise = np.zeros((2, 3, 2), dtype=np.int64)
    noise[0, 1, 0] = 1
    bad = Draws(noise, Invariants.total(2), ["p", "q"])
    names = {"study": "counties", "experiment": "counties", "law": "l1", "unit": "IL"}
    kept_bad = label_draws(bad, **names, sampler="exact", mechanism={"epsilon": 0.25})
    write_draws(tmp_path / "bad.nc", kept_bad)
    table = verify_draws([good, tmp_path / "bad.nc"])
    assert table["draws_of"].tolist() == ["good", "bad"]
    assert table["wing"].tolist() == ["lattices", "counties"]
    assert table["unit"].tolist() == ["", "IL"]
    assert table["sampler"].tolist() == ["mcmc", "exact"]
    assert table["draws"].tolist() == [6, 6]
    assert table["violations"].tolist() == [0, 1]
