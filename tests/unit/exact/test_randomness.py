"""Noise for release is a function of the operating system's random bytes, and of nothing else."""

import inspect
import io
import os
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isdp import (
    SYSTEM_RANDOMNESS,
    GeneralizedGaussian,
    GeneralizedLaplace,
    InputError,
    Invariants,
    draw_noise,
)
from isdp.cli import main
from isdp.commands.privatize.dataframe import privatize_frame
from isdp.mechanisms import CrossingGaussian, NestedGaussian, NestedLaplace, SetTree
from isdp.swapping import permutation_for_release
from isdp.swapping.mechanism.permutation import Strata
from isdp.topdown import draw_noise_for_release
from tests.exact_noise import exact_noise

TYPES = ("Generator", "RandomState", "BitGenerator", "SeedSequence")  # libraries ask for them
STATES_BY_SEX = np.arange(1200).reshape(6, 2, 100)
TYPED = Invariants.subsets(
    [*(cells.ravel() for cells in STATES_BY_SEX), STATES_BY_SEX[:, 0].ravel()], 1200
)
TABLES_APART = Invariants(np.kron(np.eye(3, dtype=int), Invariants.margins((3, 3)).matrix))
REGIONS = SetTree.from_columns({"state": np.arange(30) // 10}, root="nation")
GROUPS = SetTree.from_columns({"age": [0, 0, 1, 1]}, root="total")
NESTED = {"state": 2, "cell": 1}
CROSSING = {("state", "age"): 3, ("cell", "total"): 4, ("cell", "cell"): 2}
PATHS = {
    "Laplace, one total": lambda: draw_noise(
        GeneralizedLaplace("1/4"), Invariants.total(3000), rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, small epsilon": lambda: draw_noise(
        GeneralizedLaplace("1/1000"), Invariants.total(300), n_draws=10, rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, blocks and free cells": lambda: draw_noise(
        GeneralizedLaplace(1),
        Invariants.partition([None, *(i % 5 for i in range(299))]),
        n_draws=10,
        rng=SYSTEM_RANDOMNESS,
    ),
    "Laplace, sums of types": lambda: draw_noise(
        GeneralizedLaplace("1/4"), TYPED, n_draws=3, rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, rejection": lambda: draw_noise(
        GeneralizedLaplace(1), Invariants.margins((3, 3)), n_draws=300, rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, messages": lambda: draw_noise(
        GeneralizedLaplace("1/4"), Invariants.margins((4, 4)), n_draws=10_000, rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, tied cells": lambda: draw_noise(
        GeneralizedLaplace("1/4"), Invariants.margins((2, 3)), n_draws=500, rng=SYSTEM_RANDOMNESS
    ),
    "Laplace, independent parts": lambda: draw_noise(
        GeneralizedLaplace(1), TABLES_APART, n_draws=100, rng=SYSTEM_RANDOMNESS
    ),
    "Gaussian, one total": lambda: draw_noise(
        GeneralizedGaussian(rho=1), Invariants.total(50), n_draws=60, rng=SYSTEM_RANDOMNESS
    ),
    "Gaussian, free cells": lambda: draw_noise(
        GeneralizedGaussian(rho="1/18"), Invariants(np.zeros((0, 3000), int)), rng=SYSTEM_RANDOMNESS
    ),
    "Gaussian, Klein": lambda: draw_noise(
        GeneralizedGaussian(rho="1/2"),
        Invariants.margins((3, 3)),
        n_draws=300,
        rng=SYSTEM_RANDOMNESS,
    ),
    "nested Laplace": lambda: draw_noise(
        NestedLaplace(REGIONS, NESTED), Invariants.total(30), n_draws=30, rng=SYSTEM_RANDOMNESS
    ),
    "nested Gaussian": lambda: draw_noise(
        NestedGaussian(REGIONS, NESTED), Invariants.total(30), n_draws=30, rng=SYSTEM_RANDOMNESS
    ),
    "crossing": lambda: draw_noise(
        CrossingGaussian(REGIONS, GROUPS, CROSSING),
        Invariants.total(120),
        n_draws=30,
        rng=SYSTEM_RANDOMNESS,
    ),
    "TopDown, pure": lambda: draw_noise_for_release(None, "pure", [1, 1], [1500, 1500]),
    "TopDown, zCDP": lambda: draw_noise_for_release(None, "zCDP", [1, 1], [1500, 1500]),
    "swap": lambda: permutation_for_release(Strata.from_sizes(np.full(60, 50)), "1/2"),
}


class System:
    """The operating system's random source, of bytes that a seed decides; counts them."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(os, "urandom", self.bytes)
        self.start(0)

    def start(self, seed):
        """Begin again, and set all other random sources to another state."""
        self.asked, self.rng = 0, np.random.default_rng([7, seed])
        np.random.seed(None)  # noqa: NPY002 (what no release may use)
        random.seed()

    def bytes(self, count):
        self.asked += count
        return self.rng.bytes(count)


@pytest.fixture
def system(monkeypatch):
    return System(monkeypatch)


def set_up():
    """Whether a sampler is being set up, which may simulate to choose what it does."""
    at = inspect.currentframe()
    while at is not None and at.f_code.co_name != "__init__":
        at = at.f_back
    return at is not None


def forbid(monkeypatch):
    """Make every random function of NumPy and of Python fail, but while samplers are set up."""

    def guarded(function):
        def call(*arguments, **options):
            assert set_up(), f"{function} was called during a release"
            return function(*arguments, **options)

        return call

    for module in (np.random, random):
        for name in dir(module):
            function = getattr(module, name)
            if not name.startswith("_") and callable(function) and name not in TYPES:
                monkeypatch.setattr(module, name, guarded(function))


@pytest.mark.parametrize("path", PATHS)
def test_a_release_draws_from_the_system_alone(path, system, monkeypatch):
    forbid(monkeypatch)
    noise = PATHS[path]()
    assert noise.any()
    # each entry takes 16 bits at least, but for cells that others determine
    assert system.asked > noise.size


@pytest.mark.parametrize("path", PATHS)
def test_the_system_s_bytes_decide_the_noise(path, system):
    found = []
    for seed in (1, 1, 1, 2):  # the first time, compilation takes random names of files as well
        system.start(seed)
        found.append(PATHS[path]())
    assert (found[1] == found[2]).all()
    assert (found[1] != found[3]).any()


@pytest.mark.parametrize("path", PATHS)
def test_draws_of_equal_settings_differ(path, system):
    noise = PATHS[path]()
    draws = noise if noise.ndim == 2 and len(noise) > 1 else noise.reshape(2, -1)
    assert len(np.unique(draws, axis=0)) > 1


def test_the_words_that_select_records_do_not_choose_their_values_too():
    """At a rate of 1/2 the highest bit of a record's word selects it, and no other bit matters."""
    words = np.random.default_rng(5).integers(0, 2**64, 2000, dtype=np.uint64)
    found = []
    for flipped in (0, 2**62, 1):
        given = words.copy()
        given[:60] ^= np.uint64(flipped)
        stream = io.BytesIO(given.tobytes())
        found.append(permutation_for_release(Strata.from_sizes([60]), "1/2", stream.read))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


@pytest.mark.parametrize("mechanism", [GeneralizedLaplace(1), GeneralizedGaussian(rho=1)])
@pytest.mark.parametrize("invariants", [Invariants.total(3), Invariants.margins((3, 3))])
def test_a_source_that_gives_too_few_bytes_is_refused(invariants, mechanism):
    for source in (lambda count: b"", lambda count: bytes(count - 1)):
        with pytest.raises(InputError):
            exact_noise(mechanism, invariants, source=source)


def people():
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "county": rng.choice(["a", "b", "c"], 400),
            "size": rng.integers(1, 4, 400),
            "tenure": rng.choice(["own", "rent"], 400),
        }
    )


def counts():
    table = people().groupby(["county", "size", "tenure"]).size().rename("count").reset_index()
    return table.astype({"size": str})


RULES = ["--invariants", "rules.yaml"]
LEVELS = [*RULES, "--levels", "county"]
COMMANDS = {
    "privatize": (counts, [*RULES, "--epsilon", "1"], "noisy.csv"),
    "privatize, zCDP": (counts, [*RULES, "--rho", "1"], "noisy.csv"),
    "privatize, levels": (counts, [*LEVELS, "--epsilon", "1"], "noisy.csv"),
    "privatize, levels, zCDP": (counts, [*LEVELS, "--rho", "1"], "noisy.csv"),
    "privatize, groups": (counts, [*LEVELS, "--groups", "size", "--rho", "1"], "noisy.csv"),
    "topdown, groups that are present": (
        counts,
        ["--levels", "county", "--epsilon", "1", "--present", "present.csv"],
        "measurements.csv",
    ),
    "topdown": (counts, ["--levels", "county", "--epsilon", "1"], "measurements.csv"),
    "topdown, zCDP": (counts, ["--levels", "county", "--rho", "1"], "measurements.csv"),
    "swap": (people, ["--swap", "county", "--match", "size", "--rate", "0.3"], "swapped.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_system_s_bytes_decide_what_a_command_releases(command, system, tmp_path, monkeypatch):
    table, options, file = COMMANDS[command]
    monkeypatch.chdir(tmp_path)
    table().to_csv("table.csv", index=False)
    Path("rules.yaml").write_text("total: true\n")
    Path("present.csv").write_text("county,tenure\na,own\n")
    found = []
    for run, seed in enumerate((1, 1, 1, 2)):  # the first time as above
        system.start(seed)
        arguments = [command.split(",")[0], "table.csv", "--out", str(run)]
        assert main([*arguments, *options]) == 0
        assert system.asked > 0
        found.append(Path(str(run), file).read_bytes())
    assert found[1] == found[2] != found[3]


def test_a_data_frame_is_released_with_the_noise_of_the_release(system):
    table = counts()
    noisy = privatize_frame(table, count="count", total=True, epsilon="1/2").frame["count"]
    system.start(0)
    noise = draw_noise(
        GeneralizedLaplace("1/4"), Invariants.total(len(table)), rng=SYSTEM_RANDOMNESS
    )[0]
    assert (noisy - table["count"]).tolist() == noise.tolist()
