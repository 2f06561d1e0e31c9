"""The job that describes an experiment, where no perfect sampler is practical for its laws."""

import contextlib
import runpy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from isdp import Invariants
from isdp.io.draws import Draws, write_draws
from isdp.io.files import write_csv
from reproduction.running import jobs
from reproduction.running.draws import labelled
from reproduction.running.tables import read_csv
from tests import ROOT

SCRIPT = ROOT / "workflow/scripts/lattices/describe_lattice.py"
TABLE = Invariants.margins((3, 3))
CELLS = [f"cell {i}" for i in range(TABLE.cells)]
LAW = {"norm": "l1", "epsilon": 0.25}
REFUSED = {"method": "none", "refused": "too large"}
CURVE = pd.DataFrame({"t": [0, 9], "bound": [1.0, 0.0], "low": 0.0, "high": 1.0, "at_least": 0.0})
LAG = {"law": "l1", "variant": "reduced", "lag": 4, "chosen": True, "censored": 0, "bound_at_0": 1}
KINDS = {"svg": "svg", "png": "png", "csv": "csv", "boxes": "csv"}


class Outputs(dict):
    """Paths by key, asked for as Snakemake's are."""

    __getattr__ = dict.__getitem__


def walked(rng):
    """Tables whose margins are zero, as if from chains."""
    sides = rng.integers(-3, 4, (2, 4, 20, 3))
    sides[..., -1] -= sides.sum(axis=-1)
    return np.einsum("ndi,ndj->ndij", *sides).reshape(4, 20, -1)


@pytest.fixture
def variant():
    """What the noise is drawn with."""
    return "reduced"


@pytest.fixture
def written(tmp_path, monkeypatch, variant):
    """Run the job in place of Snakemake; give the paths of what it writes, by key."""

    def saved(sampler, noise, settings):
        path = tmp_path / f"{sampler}.nc"
        names = {"wing": "lattices", "experiment": "large", "law": "l1", "sampler": sampler}
        draws = Draws(noise, TABLE, CELLS, settings)
        write_draws(path, labelled(draws, **names, mechanism=LAW))
        return [path]

    def table(name, content):
        write_csv(content, tmp_path / name)
        return tmp_path / name

    nowhere = pd.DataFrame(columns=["law", "variant", "t", "statistic", "distance", "error"])
    files = {
        "draws": saved("mcmc", walked(np.random.default_rng(1)), {}),
        "paper": saved("paper", walked(np.random.default_rng(2)), {}),
        "exact": saved("exact", np.zeros((4, 0, TABLE.cells), np.int64), REFUSED),
        "curves": table("curves.csv", CURVE.assign(**LAG)),
        "trails": table("trails.csv", CURVE.assign(**LAG)),
        "distances": table("distances.csv", nowhere),
    }
    numbers = {
        "variant": variant,
        "realisations": 80,
        "exact_realisations": 40,
        "seed": 1,
        "runs": 10,
    }
    keys = [f"{what}_{kind}" for what in ("noise", "exact", "laws", "bound") for kind in KINDS]
    found = Outputs({key: tmp_path / f"{key}.{KINDS[key.split('_')[1]]}" for key in keys})
    found |= {key: tmp_path / f"{key}.csv" for key in ("norms", "agreement", "laws", "bound_data")}
    job = SimpleNamespace(
        log=["log"],
        params=SimpleNamespace(laws={"l1": LAW}, **numbers),
        input=SimpleNamespace(**files),
        output=found,
        wildcards=SimpleNamespace(experiment="large"),
    )
    monkeypatch.setattr(jobs, "job_log", lambda _: contextlib.nullcontext())
    runpy.run_path(str(SCRIPT), {"snakemake": job})
    return found


def test_where_no_law_has_a_perfect_sampler_tables_are_empty_and_say_so(written):
    for kind in ("csv", "boxes"):
        found, like = (read_csv(written[f"{what}_{kind}"]) for what in ("exact", "noise"))
        assert found.empty
        assert not like.empty
        assert found.columns.tolist() == like.columns.tolist()
    assert "No perfect sampler is practical here" in written.exact_svg.read_text()
    assert "no perfect sampler is practical here" in written.laws_svg.read_text()
    page = written.exact_csv.with_suffix(".html").read_text()
    assert "exact draws (no perfect sampler is practical)" in page
    agreement = read_csv(written.agreement)
    assert agreement["sampler"].tolist() == ["paper", "mcmc"]
    assert agreement["note"].tolist() == ["too large"] * 2
    assert set(read_csv(written.laws)["sampler"]) == {"paper", "mcmc"}


@pytest.mark.parametrize("variant", ["paper"])
def test_noise_that_is_of_the_papers_chain_is_not_called_quicker(written):
    assert read_csv(written.agreement)["sampler"].tolist() == ["paper"]
    assert "our quicker chain" not in written.laws_svg.read_text()
